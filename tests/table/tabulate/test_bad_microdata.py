"""Bad microdata: one error that names everything, the same whatever the data come in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tabprotect as tp
from tabprotect.errors import InputError
from tabprotect.table.dimension import Dimension
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.tabulate import tabulate

SECTOR = Hierarchy.from_hrc("A\n@01\n@02\nB\n@05\n@06")
GOOD: dict[str, list[Any]] = {
    "sector": ["01", "02", "05", "06"],
    "turnover": [1.0, 2.0, 3.0, 4.0],
    "unit": ["a", "b", "c", "d"],
    "group": ["g", "g", None, None],
    "weight": [1.0, 1.0, 2.0, 1.0],
    "free": [True, False, False, None],
    "ask": [0, 1, 2, None],
    "cost": [1.0, 1.0, 1.0, 1.0],
}
ROLES = {
    "value": "turnover",
    "contributor": "unit",
    "holding": "group",
    "weight": "weight",
    "waiver": "free",
    "request": "ask",
    "cost": "cost",
}


def as_relation(frame: pd.DataFrame, _: Path) -> Any:
    connection = duckdb.connect()
    connection.register("frame", pa.Table.from_pandas(frame))
    return connection.sql("SELECT * FROM frame")


def as_csv(frame: pd.DataFrame, folder: Path) -> Path:
    frame.to_csv(folder / "data.csv", index=False)
    return folder / "data.csv"


BACKENDS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "pandas": lambda frame, _: frame,
    "polars": lambda frame, _: pl.from_pandas(frame),
    "pyarrow": lambda frame, _: pa.Table.from_pandas(frame),
    "relation": as_relation,
    "csv": as_csv,
}

BAD: dict[str, tuple[dict[str, list[Any]], list[str]]] = {
    "unknown codes": (
        {"sector": ["1", "02 ", "07", "b"]},
        [
            "4 codes that its hierarchy has not",
            "'1' (row 1; '01' is known: they differ by leading zeros only)",
            "'02 ' (row 2; '02' is known: they differ by blanks only)",
            "'b' (row 4; 'B' is known: they differ in upper and lower case only)",
        ],
    ),
    "a group and a total": (
        {"sector": ["A", "A", "Total", "05"]},
        [
            "'A', a group (2 records, first in row 1); records need a leaf of it: 01, 02",
            "'Total', the code of the total (row 3)",
        ],
    ),
    "no code": ({"sector": ["01", None, None, "05"]}, ["no code in 2 records, first in row 2"]),
    "missing values": ({"turnover": [1.0, None, 3.0, None]}, ["'turnover' has no value in 2 rows (rows 2, 4)"]),
    "infinite": ({"turnover": [1.0, np.inf, 3.0, 4.0]}, ["'turnover' is infinite in row 2"]),
    "text": (
        {"turnover": ["1", "2 EUR", "n.a.", "4"]},
        ["'turnover' must hold numbers, but holds '2 EUR', 'n.a.' in rows 2, 3"],
    ),
    "decimal commas": (
        {"turnover": ["1,5", "2,5", "3,0", "4,0"]},
        ["holds '1,5', '2,5', '3,0' in rows 1, 2, 3 and 1 more; numbers with a decimal comma: "],
    ),
    "weights": ({"weight": [1.0, -1.0, 2.0, -3.0]}, ["'weight' holds sampling weights below zero (rows 2, 4)"]),
    "costs": ({"cost": [1.0, -1.0, 2.0, 3.0]}, ["'cost' holds costs below zero (row 2)"]),
    "waivers": ({"free": ["yes", "no", "perhaps", ""]}, ["'free' must be true or false, but is 'perhaps' in row 3"]),
    "requests": ({"ask": [0, 1, 3, 2]}, ["'ask' must be 0 to 2, but is", "in row 3"]),
    "contributors": ({"unit": ["a", None, " ", "d"]}, ["'unit' names no contributor in rows 2, 3"]),
    "holdings": (
        {"unit": ["a", "a", "c", "c"], "group": ["g", "h", "g", None]},
        ["contributors in more than one holding ('group'): 'a', 'c'"],
    ),
    "everything at once": (
        {"sector": ["x", "01", "02", "05"], "turnover": [None, 1.0, 2.0, 3.0], "weight": [-1.0, 1.0, 1.0, 1.0]},
        ["3 problems", "'x' (row 1", "no value in 1 row (row 1)", "below zero (row 1)"],
    ),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", BAD)
def test_problems_are_named(case: str, backend: str, tmp_path: Path) -> None:
    change, words = BAD[case]
    data = BACKENDS[backend](pd.DataFrame({**GOOD, **change}), tmp_path)
    if (case, backend) == ("decimal commas", "csv"):
        # a file says how it is written
        table = tabulate(data, Dimension("sector", SECTOR), **ROLES)
        assert table.values[0] == 14
        assert table.recognised[0].decimal == ","
        return
    with pytest.raises(InputError) as caught:
        tabulate(data, Dimension("sector", SECTOR), **ROLES)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("backend", ["pandas", "polars", "relation"])
@pytest.mark.parametrize(
    ("texts", "what"),
    [
        (["1,5", "2,5", "3,0", "4,0"], "numbers with a decimal comma: "),
        (["1,001.5", "1,002.5", "1,003.0", "1,004.0"], "numbers with signs between thousands: "),
        (["1.001,5", "1.002,5", "1.003,0", "1.004,0"], "numbers with a decimal comma and signs between thousands: "),
    ],
)
def test_numbers_as_text_are_converted_by_the_code_of_the_message(
    backend: str, texts: list[str], what: str, tmp_path: Path
) -> None:
    data = BACKENDS[backend](pd.DataFrame({**GOOD, "turnover": texts}), tmp_path)
    with pytest.raises(InputError) as caught:
        tabulate(data, Dimension("sector", SECTOR), **ROLES)
    code = str(caught.value).partition(what)[2]
    names: dict[str, Any] = {"data": data, "pl": pl}
    exec(code, names)  # noqa: S102 (the cure, literally)
    table = tabulate(names["data"], Dimension("sector", SECTOR), **ROLES)
    assert table.values[0] == (14 if len(texts[0]) == 3 else 5014)


def test_the_good_data_are_good(tmp_path: Path) -> None:
    for make in BACKENDS.values():
        table = tabulate(make(pd.DataFrame(GOOD), tmp_path), Dimension("sector", SECTOR), **ROLES)
        assert table.values[0] == 13


def test_lost_leading_zeros_are_explained() -> None:
    with pytest.raises(InputError, match="the column holds numbers, so leading zeros are lost; read it as text"):
        tabulate(pd.DataFrame({"sector": [1, 2], "v": [1.0, 2.0]}), Dimension("sector", SECTOR), "v")


@pytest.mark.parametrize("backend", ["pandas", "csv"])
def test_decimal_commas_are_read_when_they_are_announced(backend: str, tmp_path: Path) -> None:
    data = BACKENDS[backend](pd.DataFrame({"g": ["a", "b"], "v": ["1,5", "2,25"]}), tmp_path)
    assert tabulate(data, "g", "v", decimal=",").values.tolist() == [3.75, 1.5, 2.25]
    thousands = BACKENDS[backend](pd.DataFrame({"g": ["a", "b"], "v": ["1.000,5", "2,25"]}), tmp_path)
    if backend == "csv":
        assert tabulate(thousands, "g", "v", decimal=",").values.tolist() == [1002.75, 1000.5, 2.25]
        return
    with pytest.raises(InputError, match=r"holds '1\.000,5' in row 1"):
        tabulate(thousands, "g", "v", decimal=",")


def test_columns_must_be_there(tmp_path: Path) -> None:
    frame = pd.DataFrame(GOOD)
    for make in BACKENDS.values():
        with pytest.raises(InputError) as caught:
            tabulate(make(frame, tmp_path), ["sectr"], "turnovr", contributor="unit")
        assert "no column 'sectr'; did you mean 'sector'?" in str(caught.value)
        assert "no column 'turnovr'; did you mean 'turnover'?" in str(caught.value)


ARGUMENTS: dict[str, tuple[dict[str, Any], str]] = {
    "average": ({"kind": "average"}, "not the sum of its parts; protect the tables of numerators and denominators"),
    "kind": ({"kind": "counts"}, "kind must be 'magnitude' or 'frequency', not 'counts'"),
    "empty": ({"empty": "no"}, "empty must be"),
    "top": ({"top": -1}, "top must be a whole number"),
    "magnitude without value": ({"value": None, "kind": "magnitude"}, "needs a value column"),
    "shadow without value": ({"value": None, "shadow": "cost"}, "needs a value column"),
    "counted": ({"kind": "frequency", "contributor": "unit"}, "counts units already, so contributor='unit'"),
    "twice": ({"by": ["sector", "sector"]}, "dimension 'sector' is given more than once"),
    "no dimension": ({"by": []}, "at least one dimension"),
    "hierarchies": ({"hierarchies": {"sectr": SECTOR}}, "'sectr', which is no dimension; did you mean 'sector'?"),
    "value is a dimension": ({"by": ["turnover"]}, "'turnover' is called like the value column"),
}


@pytest.mark.parametrize("case", ARGUMENTS)
def test_arguments_that_cannot_be(case: str) -> None:
    change, word = ARGUMENTS[case]
    with pytest.raises(InputError) as caught:
        tabulate(pd.DataFrame(GOOD), **{"by": ["sector"], "value": "turnover", **change})
    assert word in str(caught.value)


def test_dimensions_that_cannot_be() -> None:
    for build, word in (
        (lambda: Dimension("sector", "nace.hrc"), "must be a Hierarchy"),
        (
            lambda: Dimension("sector", SECTOR, total="all"),
            "gives the total 'all', but that of its hierarchy is 'Total'",
        ),
        (lambda: Dimension("sector", missing="99"), r"missing must be a list of codes: missing=\['99'\]"),
        (lambda: Dimension([]), "needs the name of a column"),
        (lambda: Dimension("sector").codes, "has no hierarchy yet"),
    ):
        with pytest.raises(InputError, match=word):
            build()


def test_counts_must_be_counts(tmp_path: Path) -> None:
    frame = pd.DataFrame({"g": ["a", "b", "c"], "n": [1.0, 2.5, -1.0]})
    for make in BACKENDS.values():
        with pytest.raises(InputError, match=r"must hold counts .* it does not in rows 2, 3"):
            tabulate(make(frame, tmp_path), "g", "n", kind="frequency")


def test_data_that_are_none(tmp_path: Path) -> None:
    empty = tmp_path / "empty.csv"
    empty.write_text("g,v\n")
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"no parquet at all")
    for data, word in (
        (pd.DataFrame({"g": [], "v": []}), "the data hold no records"),
        (empty, "the data hold no records"),
        (tmp_path / "none.csv", r"none\.csv: no such file"),
        (tmp_path / "*.csv.gz", "no file has such a name"),
        (broken, "the data cannot be read"),
        ("data.xlsx", "no such file"),
        ({"g": ["a"], "v": [1.0]}, "data of type dict cannot be read"),
        (3, "data of type int cannot be read"),
    ):
        with pytest.raises(InputError, match=word):
            tabulate(data, "g", "v")
    sheet = tmp_path / "data.xlsx"
    sheet.write_bytes(b"")
    with pytest.raises(InputError, match="the file is empty"):
        tabulate(sheet, "g", "v")


def test_memory_limit(tmp_path: Path) -> None:
    path = as_csv(pd.DataFrame(GOOD), tmp_path)
    assert tabulate(path, "sector", "turnover", memory_limit="200MB").values[0] == 10
    with pytest.raises(InputError, match="write it as '4GB'"):
        tabulate(path, "sector", "turnover", memory_limit="lots")


def test_names_of_columns_do_not_matter(tmp_path: Path) -> None:
    """Names that mean something to SQL, quotes, and signs."""
    names = {"sector": 'leaf "x"', "turnover": "rowid", "unit": "c0", "weight": "select", "cost": "times;--"}
    frame = pd.DataFrame({new: GOOD[old] for old, new in names.items()})
    tables = [
        tabulate(
            make(frame, tmp_path),
            Dimension('leaf "x"', SECTOR),
            "rowid",
            contributor="c0",
            weight="select",
            cost="times;--",
        )
        for make in BACKENDS.values()
    ]
    for table in tables:
        assert table.values.tolist() == tables[0].values.tolist() == [13, 3, 1, 2, 10, 6, 4]
        assert table.columns["cost"][0] == 5


@pytest.mark.parametrize("backend", BACKENDS)
def test_codes_that_differ_by_blanks_only(backend: str, tmp_path: Path) -> None:
    """They once were two rows of the table that looked alike."""
    data = pd.DataFrame({"region": ["N ", "N", "S"], "size": ["a", "b", "a"], "turnover": [1.0, 2.0, 3.0]})
    given = BACKENDS[backend](data, tmp_path)
    with pytest.raises(InputError, match=r"column 'region' holds 'N ?' and 'N ?': codes that differ by blanks only"):
        tabulate(given, ["region", "size"], "turnover")
    alone = BACKENDS[backend](data.assign(region=["N ", "N ", "S"]), tmp_path)
    assert tabulate(alone, "region", "turnover").n_cells == 3


@pytest.mark.parametrize("backend", BACKENDS)
def test_codes_that_differ_by_their_form_in_unicode_only(backend: str, tmp_path: Path) -> None:
    data = pd.DataFrame({"region": ["K\u00e4rnten", "Ka\u0308rnten", "S"], "turnover": [1.0, 2.0, 3.0]})
    with pytest.raises(InputError, match=r"codes that differ by their form in Unicode \(NF[CD], NF[CD]\) only"):
        tabulate(BACKENDS[backend](data, tmp_path), ["region"], "turnover")
    alike = data.assign(region=data.region.str.normalize("NFC"))
    assert tabulate(BACKENDS[backend](alike, tmp_path), ["region"], "turnover").n_cells == 3
    # and so beside a hierarchy
    listed = Dimension("region", Hierarchy.flat(["K\u00e4rnten", "S"]))
    with pytest.raises(InputError, match="form in Unicode"):
        tabulate(BACKENDS[backend](data.iloc[1:], tmp_path), listed, "turnover")


def test_a_word_for_the_cost_of_hiding_is_no_column() -> None:
    with pytest.raises(InputError, match=r"no column 'count'.*; what hiding costs .* method=Suppress\(cost='count'\)"):
        tp.protect(pd.DataFrame(GOOD), "threshold=1", by=["unit"], value="turnover", cost="count")
    method = tp.Suppress(cost="count")
    assert tp.protect(pd.DataFrame(GOOD), "threshold=1", by=["unit"], value="turnover", method=method).safe
