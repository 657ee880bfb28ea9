"""Whole numbers that no float is are refused from every kind of column: their last digits would be others."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.errors import InputError

SAID = r"column 'v' holds whole numbers beyond 2\^53 in row 1: not exact as floats"
LOST = 2**53 + 1


def frame(number: object) -> pd.DataFrame:
    return pd.DataFrame({"region": ["N", "S"], "v": [number, type(number)(5)]})


@pytest.mark.parametrize("number", [LOST, str(LOST), f"{LOST}.0", "123456789012345678901"])
def test_of_frames(number: object) -> None:
    with pytest.raises(InputError, match=SAID):
        tp.tabulate(frame(number), "region", "v")
    records = frame(number)
    with pytest.raises(InputError, match=SAID):
        tp.tabulate(duckdb.sql("SELECT * FROM records"), "region", "v")
    assert len(records) == 2


@pytest.mark.parametrize(
    "text", [f"region,v\nN,{LOST}\nS,5\n", "region;v\nN;9.007.199.254.740.993\nS;1.500,5\n", f"region\tv\nN\t-{LOST}\n"]
)
def test_of_files(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InputError, match=SAID):
        tp.tabulate(tp.File(tmp_path / "a.csv"), "region", "v")
    frame(LOST).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match=SAID):
        tp.tabulate(tp.File(tmp_path / "a.parquet"), "region", "v")


@pytest.mark.parametrize(
    "number", ["9007199254740992", "1e20", "100000000000000000000", "12345678901234567000", "9e15"]
)
def test_those_that_a_float_is_are_kept(tmp_path: Path, number: str) -> None:
    """Those, too, that other programs write of a float in its shortest digits."""
    for given in (number, float(number)):
        assert tp.tabulate(frame(given), "region", "v").values[1] == float(number)
    frame(number).to_csv(tmp_path / "a.csv", index=False)
    assert tp.tabulate(tp.File(tmp_path / "a.csv"), "region", "v").values[1] == float(number)
