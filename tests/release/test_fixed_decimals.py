"""Published values have as many decimals as are asked for, in every row of a text file."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.formats.dialect import Dialect
from tabprotect.report.layout import LAYOUT

FIRMS = pd.DataFrame(
    {"region": list("nnnnnsssss"), "size": list("bbssbbsssb"), "v": [-90.25, 5, 4, 40.5, 50, 20, 30, 60, 10, 20]}
)


def lines(folder: Path, name: str = "table.csv") -> list[str]:
    return (folder / "publish" / name).read_text().splitlines()[1:]


def release(decimals: int | None) -> tp.Release:
    given = {"by": ["region", "size"], "value": "v", "bounds": "100%", "intervals": False}
    return tp.protect(FIRMS, "p%=15", "greedy", **given, decimals=decimals)


@pytest.mark.parametrize("name", ["table.csv", "table.text.csv"])
def test_all_values_have_the_decimals_that_are_asked_for(tmp_path: Path, name: str) -> None:
    folder = release(2).write(tmp_path / "out", ["csv", "text.csv"], dialect=Dialect(";", ","))
    values = [line.split(";")[2] for line in lines(folder, name)]
    assert {"149,25", "144,50", "140,00", "4,75", "9,25"} == {value for value in values if value}
    assert tp.verify(folder).safe


def test_by_default_every_value_has_its_own(tmp_path: Path) -> None:
    folder = release(None).write(tmp_path / "out")
    assert "Total,s,144.5,published" in lines(folder)
    assert "fixed" not in json.loads((folder / "internal" / LAYOUT).read_text())


def test_no_value_is_changed_by_how_it_is_written(tmp_path: Path) -> None:
    fixed, free = (pd.read_csv(release(d).write(tmp_path / str(d)) / "publish" / "table.csv") for d in (2, None))
    pd.testing.assert_frame_equal(fixed, free)


def test_the_flag_writes_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tabprotect.cli.app import run

    monkeypatch.chdir(tmp_path)
    FIRMS.to_csv("firms.csv", index=False)
    flags = "--by region --by size --value v --rule p%=15 --bounds 100% --method greedy --decimals 2 --out out"
    assert run(["protect", "firms.csv", *flags.split()]) == 0
    assert "Total,s,144.50,published" in lines(tmp_path / "out")
