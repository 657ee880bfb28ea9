"""Tabulation by worked examples: what single cells and rows are."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tabprotect.errors import InputError
from tabprotect.table.dimension import Dimension
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.tabulate import tabulate
from tests.table.tabulate.by_hand import SECTOR, same

FLAT = pd.DataFrame({"region": ["N", "N", "S"], "size": [1, 10, 1], "turnover": [20.0, 5.0, 7.0]})


def test_worked_example() -> None:
    """One contributor with two records, one holding of two contributors."""
    data = pd.DataFrame(
        {
            "region": ["N", "N", "N", "S"],
            "unit": ["a", "a", "b", "c"],
            "group": [None, None, "g", "g"],
            "turnover": [20.0, 5.0, 22.0, 7.0],
        }
    )
    table = tabulate(data, "region", "turnover", contributor="unit", holding="group", top=2)
    c = table.contributions
    assert c is not None
    assert table.values.tolist() == [54, 47, 7]
    assert table.counts is not None
    assert table.counts.tolist() == [2, 2, 1]
    # in the total the holding is one contributor of 29
    assert c.values.tolist() == [[29, 25], [25, 22], [7, 0]]
    assert c.names[c.holders[0]].tolist() == ["g", "unit a"]
    assert c.names[table.sole[2]] == "g"


def test_a_weight_is_a_number_of_contributors_of_the_value() -> None:
    data = pd.DataFrame({"region": ["N", "N"], "turnover": [100.0, 30.0], "weight": [4.0, 1.0]})
    table = tabulate(data, "region", "turnover", weight="weight", top=2)
    c = table.contributions
    assert c is not None
    assert (table.values[0], table.counts[0], table.weighted_counts[0]) == (430, 2, 5)  # type: ignore[index]
    assert (c.values[0].tolist(), c.weights[0].tolist(), c.total[0]) == ([100, 30], [4, 1], 430)


def test_sums_do_not_drift() -> None:
    data = pd.DataFrame({"g": ["a", "b"] * 500, "v": [0.1, 1e15] * 500})
    table = tabulate(data, "g", "v")
    assert table.values[1] == pytest.approx(50, abs=1e-12)
    assert tabulate(data.iloc[::-1], "g", "v").values.tolist() == table.values.tolist()


def test_frequency_tables() -> None:
    table = tabulate(FLAT, ["region", "size"])
    assert (table.kind, table.value_name) == ("frequency", "count")
    assert table.rows["count"].tolist() == [3, 2, 1, 2, 1, 1, 1, 1, 0]
    # a count of nothing is a zero like any other, unless said otherwise
    assert "status" not in table.columns
    counted = FLAT.assign(n=[4, 1, 2])
    table = tabulate(counted, ["region", "size"], "n", kind="frequency")
    assert table.rows["n"].tolist() == [7, 6, 1, 5, 4, 1, 2, 2, 0]
    assert table.contributions is None
    assert table.counts is not None
    assert np.array_equal(table.counts, table.values)


def test_numeric_codes_are_sorted_as_numbers_and_named_without_a_point() -> None:
    table = tabulate(FLAT.assign(size=[1.0, 10.0, 9.0]), ["size"], "turnover")
    assert table.dimensions[0].codes == ("Total", "1", "9", "10")


def test_empty_cells() -> None:
    structural = tabulate(FLAT, ["region", "size"], "turnover")
    assert structural.columns["status"].tolist() == [""] * 8 + ["z"]
    zero = tabulate(FLAT, ["region", "size"], "turnover", empty="zero")
    assert "status" not in zero.columns
    assert zero.values[-1] == 0
    drop = tabulate(FLAT, ["region", "size"], "turnover", empty="drop")
    assert drop.n_cells == 8
    assert drop.rows.shape == (8, 3)
    assert structural.values[:8].tolist() == drop.values.tolist()
    # records that add up to zero are no empty cell
    sampled = tabulate(FLAT.assign(turnover=[20, 5, 0]), ["region", "size"], "turnover")
    assert sampled.columns["status"].tolist() == [""] * 8 + ["z"]
    assert sampled.values[7] == 0


def test_large_sparse_grids_need_a_word() -> None:
    data = pd.DataFrame({"region": np.arange(6000), "size": np.arange(6000), "turnover": 1.0})
    with pytest.raises(InputError, match=r"more than 30,000,000; .*empty='drop'"):
        tabulate(data, ["region", "size"], "turnover")
    assert tabulate(data, ["region", "size"], "turnover", empty="drop").n_cells == 3 * 6000 + 1


def test_records_without_a_code() -> None:
    data = FLAT.assign(region=["N", None, "S"])
    with pytest.raises(InputError, match=r"no code in row 2; .* Dimension\('region', missing=\['unknown'\]\)"):
        tabulate(data, "region", "turnover")
    table = tabulate(data, Dimension("region", missing=["?"]), "turnover")
    assert table.dimensions[0].codes == ("Total", "N", "S", "?")
    assert table.missing is not None
    assert table.missing.tolist() == [False, False, False, True]
    known = Hierarchy.from_hrc("N\nS\nX\n@99\n@98")
    coded = tabulate(FLAT.assign(region=["99", "N", "S"]), Dimension("region", known, missing=["99"]), "turnover")
    assert coded.missing is not None
    assert [coded.dimensions[0].codes[i] for i in np.flatnonzero(coded.missing)] == ["99"]
    # codes that nobody uses mark nothing
    assert tabulate(FLAT, Dimension("region", missing=["99"]), "turnover").missing is None


def test_nested_columns_and_names() -> None:
    data = pd.DataFrame({"a": ["X", "X", "Y"], "b": ["1", "2", "3"], "v": [1.0, 2.0, 4.0]})
    table = tabulate(data, [Dimension(("a", "b"), name="area")], "v")
    assert table.rows.to_dict("list") == {
        "area": ["Total", "X", "1", "2", "Y", "3"],
        "v": [7, 3, 1, 2, 4, 4],
    }
    # Y and its only part are one cell
    assert table.row_cell.tolist() == [0, 1, 2, 3, 4, 4]
    assert tabulate(data, [("a", "b")], "v").dimensions[0].name == "b"


def test_a_group_with_one_leaf_may_be_given_instead_of_the_leaf() -> None:
    data = pd.DataFrame({"sector": ["B", "05", "01"], "v": [1.0, 2.0, 4.0]})
    table = tabulate(data, Dimension("sector", SECTOR), "v")
    assert table.rows.set_index("sector")["v"].to_dict() == {
        "Total": 7, "A": 4, "01": 4, "02": 0, "B": 3, "05": 3, "C": 0,
    }  # fmt: skip


def test_rows_tell_the_same_as_a_group_by(shared: Callable[[str], Path]) -> None:
    """Real microdata: 9,786 enterprises with sampling weights, two hierarchies."""
    path = shared("instances/tables/rtauargus_indiv_dt.csv")
    data = pd.read_csv(path, dtype={"A88": str})
    by = [("A10", "A21", "A88"), ("NUTS1", "NUTS2", "NUTS3"), "SIZE"]
    table = tabulate(data, by, "TURNOVER", weight="WEIGHT", empty="drop")
    rows = table.rows.assign(
        n=table.counts[table.row_cell],  # type: ignore[index]
        top=table.contributions.values[table.row_cell, 0],  # type: ignore[union-attr]
    ).set_index(["A88", "NUTS3", "SIZE"])
    data["weighted"] = data.TURNOVER * data.WEIGHT
    for a, nuts, size in product(["A10", "A21", "A88", None], ["NUTS1", "NUTS2", "NUTS3", None], ["SIZE", None]):
        keys = [data[c] if c else pd.Series("Total", data.index) for c in (a, nuts, size)]
        groups = data.groupby(keys)
        expected = pd.DataFrame({"v": groups.weighted.sum(), "n": groups.size(), "top": groups.TURNOVER.max()})
        found = rows.loc[expected.index]
        np.testing.assert_allclose(found.TURNOVER, expected.v, rtol=1e-12)
        np.testing.assert_array_equal(found.n, expected.n)
        np.testing.assert_array_equal(found.top, expected.top)
    same(table, tabulate(path, by, "TURNOVER", weight="WEIGHT", empty="drop"))
