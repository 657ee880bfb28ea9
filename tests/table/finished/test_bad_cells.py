"""What is wrong with finished cells is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tabprotect.errors import InputError
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.table import Table
from tests.table.finished.cells import BY, cross


def change(row: int, column: str, value: Any) -> Callable[[pd.DataFrame], pd.DataFrame]:
    def apply(frame: pd.DataFrame) -> pd.DataFrame:
        frame[column] = frame[column].astype(object)
        frame.loc[row, column] = value
        return frame.infer_objects()

    return apply


BAD: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], dict[str, Any], list[str]]] = {
    "twice": (
        lambda f: pd.concat([f, f.iloc[[4, 8]]], ignore_index=True),
        {},
        ["2 cells are in the table more than once: N x 1 (rows 5, 10), S x 2 (rows 9, 11)"],
    ),
    "no value": (change(4, "v", np.nan), {}, ["'v' has no value in 1 row (row 5)"]),
    "text": (change(4, "v", "3 EUR"), {}, ["holds '3 EUR' in row 5"]),
    "decimal comma": (
        lambda f: f.assign(v=f.v.astype(str).str.replace(".", ",")),
        {},
        [".str.replace(',', '.', regex=False)"],
    ),
    "status": (
        lambda f: f.assign(st=["s"] * 8 + ["primry"]),
        {"status": "st"},
        ["unknown status 'primry' in row 9; did you mean 'primary'?"],
    ),
    "empty with a value": (
        lambda f: f.assign(st=["s"] * 8 + ["E"]),
        {"status": "st"},
        ["says empty, but the value is not"],
    ),
    "unknown code": (
        change(4, "region", "M"),
        {"hierarchies": {"region": Hierarchy.flat(["N", "S"])}},
        ["'region' holds codes that its hierarchy has not: 'M' (row 5"],
    ),
    "no code": (
        change(4, "region", None),
        {},
        ["'region' has no code in row 5; a row of a total needs the total's code"],
    ),
    "total by another name": (
        lambda f: f.assign(region=f.region.replace("Total", "TOTAL")),
        {},
        ["holds no code 'Total', but 'TOTAL'"],
    ),
    "no such columns": (
        lambda f: f.rename(columns={"size": "siz", "v": "value"}),
        {},
        ["no column 'size'; did you mean 'siz'?", "no column 'v'"],
    ),
    "rising maxima": (
        lambda f: f.assign(max2=f["max"] + [0, 0, 0, 0, 0.5, 0, 0, 0, 0]),
        {"maxima": ["max", "max2"]},
        ["the maxima must fall from the first to the last; they do not in: N x 1"],
    ),
    "maxima too large": (change(4, "max", 3.5), {"maxima": "max"}, ["add up to more than the whole cell in: N x 1"]),
    "negative maxima": (change(4, "max", -1.0), {"maxima": "max"}, ["0 or more; they are not in: N x 1"]),
    "more maxima than contributors": (
        change(4, "n", 0),
        {"maxima": "max", "count": "n"},
        ["more largest contributions than contributors in: N x 1"],
    ),
    "holders": (lambda f: f, {"maxima": "max", "holders": ["a", "b"]}, ["holders names 2 columns for 1 maximum"]),
    "options": (
        lambda f: f,
        {"empty": "x", "margins": "y", "tolerance": -1.0, "kind": "median"},
        ["empty must be", "margins must be", "tolerance must be", "kind='median'"],
    ),
    "no rows": (lambda f: f.iloc[:0], {}, ["the table holds no rows"]),
    "everything": (
        lambda f: change(2, "v", "x")(change(4, "region", "M")(f)),
        {"hierarchies": {"region": Hierarchy.flat(["N", "S"])}},
        ["2 problems", "'M' (row 5", "'x' in row 3"],
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_named(case: str) -> None:
    damage, options, words = BAD[case]
    with pytest.raises(InputError) as caught:
        Table.from_cells(damage(cross()), BY, "v", **options)
    for word in words:
        assert word in str(caught.value)


def test_codes_that_differ_by_blanks_only() -> None:
    cells = pd.DataFrame({"region": ["Total", "N ", "N"], "v": [3.0, 1, 2]})
    with pytest.raises(InputError, match="column 'region' holds 'N ' and 'N': codes that differ by blanks only"):
        Table.from_cells(cells, ["region"], "v")
