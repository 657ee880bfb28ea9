"""Run the command line in this process."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tabprotect.cli.app import run


class Outcome(NamedTuple):
    """Exit code, standard output, standard error (blanks squeezed)."""

    code: int
    out: str
    err: str


@pytest.fixture
def tabprotect(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Return a function that runs one command line."""

    def call(*arguments: object) -> Outcome:
        code = run([str(a) for a in arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return Outcome(code, out, re.sub(r"\s+", " ", err))

    return call


def tree(folder: Path) -> dict[str, bytes | None]:
    """Return everything below a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in sorted(folder.rglob("*"))}
