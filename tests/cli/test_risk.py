"""``tabprotect risk``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tabprotect.cli.app import run

SPEC = """
data = "p.csv"
[schema]
keys = ["a", "b"]
weight = "w"
[[measures]]
measure = "individual-risk"
[[measures]]
measure = "suda"
up_to = 1
"""


def write(tmp_path: Path, text: str = SPEC) -> str:
    (tmp_path / "p.csv").write_text("a,b,w\nx,1,2\nx,1,3\ny,1,4\n")
    (tmp_path / "s.toml").write_text(text)
    return str(tmp_path / "s.toml")


def test_measures_are_printed_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["risk", write(tmp_path), "--json", str(tmp_path / "out.json")]) == 0
    found = json.loads((tmp_path / "out.json").read_text())
    assert [one["name"] for one in found] == ["individual risk", "SUDA"]
    assert found[1]["records"] == [0.0, 0.0, 1.0]
    assert "SUDA: 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ('"suda"', '"sudda"', "did you mean 'suda'"),
        ("up_to", "upto", "did you mean 'up_to'"),
        ('"p.csv"', '"q.csv"', "no such file"),
        ('keys = ["a", "b"]', 'keys = ["a", "c"]', "no column 'c'"),
        ('"suda"\nup_to = 1', '"distance-linkage"', "compares with a masked file"),
    ],
)
def test_bad_specifications(tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, part: str) -> None:
    assert run(["risk", write(tmp_path, SPEC.replace(old, new))]) == 2
    assert part in capsys.readouterr().err.replace("\n", " ")
