"""Folders of releases."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.release.kinds import KINDS


@pytest.fixture(scope="session")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every kind of release; the first in all formats."""
    place = tmp_path_factory.mktemp("releases")
    for name, make in KINDS.items():
        make().write(place / name, ("csv",))
    KINDS["suppression"]().write(place / "all formats", ("csv", "parquet", "xlsx"))
    return place


@pytest.fixture
def folder(originals: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    kind = getattr(request, "param", "suppression")
    return Path(shutil.copytree(originals / kind, tmp_path / "out"))
