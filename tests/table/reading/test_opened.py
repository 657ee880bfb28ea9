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


def test_large_text_of_whole_numbers_is_not_held_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "firms.csv"
    path.write_text("region;turnover\n" + "n;12\ns;30\n" * 50)
    found = open_data(path, ["region"], ["turnover"], large=10)
    assert isinstance(found.source, TextFile)
    assert tabulate(found.source, "region", "turnover", decimal=found.decimal).values.tolist() == [2100, 600, 1500]


def test_large_patterns_are_read_by_what_all_beginnings_say(tmp_path: Path) -> None:
    (tmp_path / "a-1.csv").write_text("region;turnover\n" + "n;1,5\n" * 50)
    (tmp_path / "a-2.csv").write_text("region;turnover\n" + "s;2\n" * 50)
    found = open_data(tmp_path / "a-*.csv", ["region"], ["turnover"], large=10)
    assert isinstance(found.source, TextFile)
    assert len(found.recognised.files) == 2
    assert tabulate(found.source, "region", "turnover", decimal=found.decimal).values.tolist() == [175, 75, 100]
    (tmp_path / "a-2.csv").write_text("region;turnover\n" + "s;2.5\n" * 50)
    contradicting = open_data(tmp_path / "a-*.csv", ["region"], large=10)
    assert isinstance(contradicting.source, pd.DataFrame)


def test_zstd_is_unpacked_by_what_is_in_the_file(tmp_path: Path) -> None:
    import pyarrow as pa

    text = "region;turnover\n" + "n;1,5\n" * 50
    packed = pa.compress(text.encode(), codec="zstd", asbytes=True)
    for name in ("a.csv.zst", "a.csv"):
        (tmp_path / name).write_bytes(packed)
        for large in (10, 10**9):
            found = open_data(tmp_path / name, ["region"], ["turnover"], large=large)
            assert found.recognised.packed == "zst"
            assert tabulate(found.source, "region", "turnover", decimal=found.decimal).values.tolist() == [75]
            assert isinstance(found.source, TextFile) == (name == "a.csv.zst" and large == 10)
