"""Data files as they come: small ones whole, large ones by DuckDB, with the same result."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from tabprotect.table.duck import TextFile
from tabprotect.table.reading import open_data
from tabprotect.table.tabulate import tabulate

ROLES = {"contributor": "firm"}


def semicolons(path: Path) -> Path:
    rows = [f"{'ns'[i % 2]};f{i % 7};{i},5" for i in range(60)]
    path.write_text("\n".join(["region;firm;turnover", *rows]) + "\n")
    return path


def test_large_text_gives_the_same_table(tmp_path: Path) -> None:
    path = semicolons(tmp_path / "firms.csv")
    whole = open_data(path, ["region", "firm"], ["turnover"])
    large = open_data(path, ["region", "firm"], ["turnover"], large=100)
    assert isinstance(whole.source, pd.DataFrame)
    assert isinstance(large.source, TextFile)
    assert (large.decimal, whole.decimal) == (",", ".")
    assert whole.recognised.decimal == large.recognised.decimal == ","
    tables = [tabulate(one.source, "region", "turnover", decimal=one.decimal, **ROLES) for one in (whole, large)]
    assert tables[0].values.tolist() == tables[1].values.tolist() == [1800.0, 885.0, 915.0]
    first, second = (table.contributions for table in tables)
    assert first is not None
    assert second is not None
    assert np.array_equal(first.values, second.values)


def test_what_the_beginning_leaves_open_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "firms.csv"
    path.write_text("region;turnover\n" + "n;12\n" * 50 + "s;1.234,5\n")
    found = open_data(path, ["region"], ["turnover"], large=10)
    assert isinstance(found.source, pd.DataFrame)
    assert found.source["turnover"].iloc[-1] == 1234.5
