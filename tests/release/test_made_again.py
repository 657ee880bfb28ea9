"""Public files that somebody made again, from the same layout or another one, and names that are proven."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.alterations import CERTIFICATE, FORGERIES, LAYOUT, new_digests, published_again, resealed
from tabprotect.certificate.document import Malformed
from tabprotect.cli.app import run
from tests.release.kinds import KINDS

LAYOUTS: dict[str, Callable[[dict[str, Any]], object]] = {
    "rows of other cells": lambda d: d["cell"].reverse(),
    "cells that are not there": lambda d: d["cell"].__setitem__(0, 10**6),
    "another title": lambda d: d.update(title="5 = 3 + 2"),
    "other decimals": lambda d: d.update(decimals=3),
    "decimals of the wrong type": lambda d: d.update(decimals=True),
    "other codes": lambda d: d["columns"][0]["words"].__setitem__(0, "a1"),
    "a code twice": lambda d: d["columns"][0].update(row=[0] * len(d["cell"])),
    "no parts": lambda d: d.update(parts=[]),
    "malformed nodes": lambda d: d["parts"][0]["axes"][0].update(nodes=[[0, -1]]),
    "an unknown format": lambda d: d.update(formats=["csv", "html"]),
    "no columns": lambda d: d.update(columns=[]),
    "an entry too many": lambda d: d.update(further=1),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_that_was_altered_is_found(folder: Path, name: str) -> None:
    path = folder / "internal" / "layout.json"
    document = json.loads(path.read_text())
    LAYOUTS[name](document)
    path.write_text(json.dumps(document))
    new_digests(folder)
    assert run(["verify", str(folder)]) in (1, 2)
    path.unlink()
    assert run(["verify", str(folder)]) == 2


def forged(folder: Path, change: Callable[[dict[str, Any], list[str]], object]) -> None:
    path = folder / LAYOUT
    layout = json.loads(path.read_text())
    change(layout, json.loads((folder / CERTIFICATE).read_text())["problem"]["values"])
    path.write_text(json.dumps(layout))
    with contextlib.suppress(Malformed):  # changed values have no statuses
        published_again(folder)


@pytest.mark.parametrize("folder", KINDS, indirect=True)
def test_public_files_made_again_from_the_same_layout_are_the_same(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in (folder / "publish").iterdir()}
    forged(folder, lambda *_: None)
    assert {path.name: path.read_bytes() for path in (folder / "publish").iterdir()} == before
    assert run(["verify", str(folder)]) == 0


@pytest.mark.parametrize("folder", KINDS, indirect=True)
@pytest.mark.parametrize("name", FORGERIES)
def test_public_files_made_again_from_another_layout_are_refused(folder: Path, name: str) -> None:
    before = {path.name: path.read_bytes() for path in (folder / "publish").iterdir()}
    forged(folder, FORGERIES[name])
    if {path.name: path.read_bytes() for path in (folder / "publish").iterdir()} == before:
        pytest.skip("nothing of that is shown")
    assert run(["verify", str(folder)]) == 2
    assert run(["audit", str(folder)]) == 2


def _as_before(folder: Path) -> None:
    """Make the certificate one of an earlier version, which stated no names."""
    path = folder / CERTIFICATE
    document = json.loads(path.read_text())
    del document["problem"]["shown"]
    path.write_text(json.dumps(resealed(document)))
    new_digests(folder)


def test_a_certificate_that_states_no_names_leaves_names_alone_unchecked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    original = Path(shutil.copytree(folder, folder.parent / "original"))
    _as_before(folder)
    assert run(["verify", str(folder)]) == 0
    assert "names of columns" in capsys.readouterr().out
    assert run(["verify", str(folder), "--against", str(original)]) == 1
    for name in ("rows doubled, with the true values", "rows more that tell values", "a column more"):
        again = Path(shutil.copytree(folder, folder.parent / name))
        forged(again, FORGERIES[name])
        assert run(["verify", str(again)]) == 2


def test_names_that_the_certificate_states_otherwise_are_found_against_the_own_release(folder: Path) -> None:
    original = Path(shutil.copytree(folder, folder.parent / "original"))
    assert run(["verify", str(folder), "--against", str(original)]) == 0
    path = folder / CERTIFICATE
    document = json.loads(path.read_text())
    document["problem"]["shown"]["value"] = "turnover: 7"
    path.write_text(json.dumps(resealed(document)))
    forged(folder, lambda layout, _: layout.update(value="turnover: 7"))
    assert run(["verify", str(folder)]) == 0
    assert run(["verify", str(folder), "--against", str(original)]) == 1
