"""Linked tables: cells of equal meaning are one variable, whatever they are called, and have to agree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.errors import InputError
from tabprotect.table.dimension import Dimension
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.link import link
from tabprotect.table.table import Table
from tabprotect.table.tabulate import tabulate
from tests.quick import examples

SECTOR = Hierarchy.from_hrc("A\n@01\n@02\nB\n@05\nC")
SIDES = [
    Dimension("sector", SECTOR),
    Dimension("region", Hierarchy.flat(["N", "S"])),
    Dimension("form", Hierarchy.flat(["x", "y"])),
]


def microdata(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    return pd.DataFrame(
        {
            "sector": rng.choice(SECTOR.leaves, n),
            "region": rng.choice(["N", "S"], n),
            "form": rng.choice(["x", "y"], n),
            "unit": rng.integers(0, 8, n),
            "v": rng.integers(0, 50, n).astype(float),
        }
    )


def rank(A: Any) -> int:
    return int(np.linalg.matrix_rank(A.toarray()))


@settings(max_examples=examples(8, 20), deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["zero", "structural", "drop"]), st.integers(0, 3))
def test_tables_of_one_set_of_microdata(seed: int, empty: Any, top: int) -> None:
    """A variable of the linked system is a cell of the table over all dimensions, with everything known of it."""
    data = microdata(seed)
    options: dict[str, Any] = {"value": "v", "contributor": "unit", "top": top, "empty": empty}
    parts = {
        "one": tabulate(data, [SIDES[0], SIDES[1]], **options),
        "two": tabulate(data, [SIDES[2], SIDES[0]], **options),
        "three": tabulate(data, [SIDES[1]], **options),
    }
    linked = link(parts)
    whole = tabulate(data, SIDES, **{**options, "empty": "zero"})
    place = [
        whole.system.cells.get_loc(cell) for cell in linked.system.cells.reorder_levels(["sector", "region", "form"])
    ]
    assert len(set(place)) == linked.n_cells
    assert np.array_equal(linked.values, whole.values[place])
    assert linked.counts is not None
    assert whole.counts is not None
    assert np.array_equal(linked.counts, whole.counts[place])
    if top:
        c, w = linked.contributions, whole.contributions
        assert c is not None
        assert w is not None
        assert np.array_equal(c.values, w.values[place])
        assert np.array_equal(c.total, w.total[place])
        assert [c.names[i] for i in linked.sole if i >= 0] == [w.names[i] for i in whole.sole[place] if i >= 0]
    # every row of every table is there, with its own value
    assert linked.rows["table"].tolist() == [name for name, t in parts.items() for _ in range(len(t.rows))]
    assert np.array_equal(linked.rows["v"], linked.values[linked.row_cell])
    # sizes: margins over the third dimension are shared, and counted once
    union = {c for t in parts.values() for c in _meanings(t)}
    assert linked.n_cells == len({whole.system.cells.get_loc(c) for c in union})
    # the equations are those of the parts, without repetition
    rows = {tuple(zip(r.indices.tolist(), r.data.tolist(), strict=True)) for r in linked.system.A.tocsr()}
    assert len(rows) == linked.system.n_equations
    assert not linked.system.residuals(linked.values).any()
    stacked = np.vstack(
        [_lift(t, cell, linked.n_cells) for t, cell in zip(parts.values(), _cells(parts, linked), strict=True)]
    )
    assert rank(linked.system.A) == np.linalg.matrix_rank(stacked)


def _meanings(t: Table) -> list[tuple[str, ...]]:
    names = list(t.system.cells.names)
    return [tuple(cell[names.index(d.name)] if d.name in names else "Total" for d in SIDES) for cell in t.system.cells]


def _cells(parts: dict[str, Table], linked: Table) -> list[Any]:
    """The variable of every cell of every table, from the rows."""
    found = []
    for name, t in parts.items():
        mine = (linked.rows["table"] == name).to_numpy()
        cell = np.full(t.n_cells, -1)
        cell[t.row_cell] = linked.row_cell[mine]
        found.append(cell)
    return found


def _lift(t: Table, cell: Any, n: int) -> Any:
    A = np.zeros((t.system.n_equations, n))
    np.add.at(A.T, cell, t.system.A.toarray().T)
    return A


def test_a_cell_that_is_shared_under_an_alias() -> None:
    """B has one part in one table; the other knows only that part."""
    rows = pd.DataFrame({"sector": ["Total", "A", "01", "B", "05"], "v": [3.0, 1.0, 1.0, 2.0, 2.0]})
    one = Table.from_cells(rows, SIDES[0], "v", empty="drop")
    flat = Hierarchy.from_pairs([("B", "05"), ("B", "06")])
    frame = pd.DataFrame({"sector": ["B", "05", "06"], "v": [2.0, 2.0, 0.0]})
    two = Table.from_cells(frame, Dimension("sector", flat), "v")
    linked = link([one, two])
    # Total, A, 01, B and 05 (one cell of the first), 06
    assert linked.rows["table"].unique().tolist() == ["table1", "table2"]
    at = {(t, s): c for t, s, c in zip(linked.rows["table"], linked.rows["sector"], linked.row_cell, strict=True)}
    assert at["table1", "B"] == at["table1", "05"] == at["table2", "B"] == at["table2", "05"]
    assert at["table2", "06"] not in (at["table1", "B"], at["table1", "Total"])
    # so the equation B = 05 + 06 says that 06 is zero, which everybody can work out
    row = linked.system.A[[i for i in range(linked.system.n_equations) if linked.system.A[[i]].nnz == 1]]
    assert row.indices.tolist() == [at["table2", "06"]]


def test_the_total_of_a_missing_dimension_is_the_one_above_all() -> None:
    nuts = Hierarchy.from_prefixes(["E1", "E2", "W1"], [1], total="EU")
    data = pd.DataFrame({"nuts": ["E1", "E2", "W1"], "form": ["x", "y", "x"], "v": [1.0, 2.0, 4.0]})
    east = data[data.nuts != "W1"]
    parts = [
        tabulate(east, [Dimension("nuts", nuts.under("E"))], "v"),
        tabulate(data, [Dimension("nuts", nuts)], "v"),
        tabulate(data, ["form"], "v"),
    ]
    linked = link(parts)
    assert ("EU", "x") in linked.system.cells
    assert ("E", "Total") in linked.system.cells
    # two tables of parts of the whole, and one that does not say of which
    west = tabulate(data[data.nuts == "W1"], [Dimension("nuts", Hierarchy.flat(["W1", "W2"], total="W"))], "v")
    with pytest.raises(InputError, match=r"totals 'E', 'W', and none covers the others, .* 'table3' is unclear"):
        link([parts[0], west, parts[2]])
    # the same total under another name is the same cell
    renamed = tabulate(data, [Dimension("nuts", Hierarchy.from_prefixes(["E1", "E2", "W1"], [1], total="ALL"))], "v")
    both = link([parts[1], renamed])
    assert both.n_cells == parts[1].n_cells


def test_tables_that_disagree() -> None:
    a = pd.DataFrame({"a": ["Total", "1", "2"], "v": [9.0, 5.0, 4.0], "n": [3, 1, 2]})
    b = pd.DataFrame({"b": ["Total", "x", "y"], "v": [9.4, 2.0, 7.4], "n": [4, 1, 3]})
    parts = {"by a": Table.from_cells(a, "a", "v", count="n"), "by b": Table.from_cells(b, "b", "v", count="n")}
    with pytest.raises(InputError) as caught:
        link(parts)
    assert (
        "table 'by b' disagrees with earlier tables in the value of 1 cell: Total x Total (9.0 in 'by a', 9.4 here"
        in str(caught.value)
    )
    assert "in the count of 1 cell: Total x Total (3.0 in 'by a', 4.0 here, a difference of 1)" in str(caught.value)
    del a["n"], b["n"]
    linked = link([Table.from_cells(a, "a", "v"), Table.from_cells(b, "b", "v")], tolerance=0.5)
    assert linked.values[0] == 9.0
    assert linked.residual == pytest.approx(0.4)


def test_a_cell_that_is_left_out_elsewhere_is_known_to_be_zero() -> None:
    one = pd.DataFrame({"a": ["Total", "1"], "v": [5.0, 5.0]})
    two = pd.DataFrame({"a": ["Total", "1", "2"], "b": "Total", "v": [5.0, 5.0, 0.0]})
    h = Dimension("a", Hierarchy.flat(["1", "2"]))
    first = Table.from_cells(one, h, "v", empty="drop")
    linked = link([first, Table.from_cells(two, [h, "b"], "v")])
    assert linked.columns["status"].tolist() == ["", "", "z"]
    two["v"] = [6.0, 5.0, 1.0]
    one["v"] = [6.0, 5.0]
    with pytest.raises(InputError, match="does not add up"):
        Table.from_cells(one, h, "v", empty="drop")
    loose = Table.from_cells(one, h, "v", empty="drop", tolerance=1)
    with pytest.raises(InputError, match=r"table 'table1' has no row for 1 cell, .* other tables .*: 2 x Total"):
        link([loose, Table.from_cells(two, [h, "b"], "v")])


def test_columns_are_merged() -> None:
    a = pd.DataFrame(
        {
            "a": ["Total", "1", "2"],
            "v": [9.0, 5.0, 4.0],
            "c": [1.0, 2.0, 3.0],
            "st": ["s", "u", ""],
            "lpl": [None, 1.0, None],
        }
    )
    b = pd.DataFrame(
        {
            "b": ["Total", "x", "y"],
            "v": [9.0, 2.0, 7.0],
            "c": [1.0, 4.0, 5.0],
            "st": ["p", "s", ""],
            "lpl": [2.0, None, 0.5],
        }
    )
    options: dict[str, Any] = {"cost": "c", "status": "st", "lpl": "lpl"}
    linked = link([Table.from_cells(a, "a", "v", **options), Table.from_cells(b, "b", "v", **options)])
    # Total, x, y, 1, 2
    assert linked.columns["status"].tolist() == ["p", "s", "", "u", ""]
    assert linked.columns["cost"].tolist() == [1, 4, 5, 2, 3]
    np.testing.assert_array_equal(linked.columns["lpl"], [2, np.nan, 0.5, 1, np.nan])
    b["st"] = ["p", "s", ""]
    a["st"] = ["u", "s", "s"]
    with pytest.raises(InputError, match=r"in the status of 1 cell: Total x Total \(u in 'table1', p here\)"):
        link([Table.from_cells(a, "a", "v", **options), Table.from_cells(b, "b", "v", **options)])
    with pytest.raises(InputError, match=r"there is no cost of 2 cells .*'table2' have none"):
        link([Table.from_cells(a, "a", "v", **options), Table.from_cells(b, "b", "v")])


def test_measures() -> None:
    a = pd.DataFrame({"a": ["Total", "1", "2"], "turnover": [9.0, 5.0, 4.0]})
    b = pd.DataFrame({"b": ["Total", "x", "y"], "v": [9.0, 2.0, 7.0]})
    parts = {"one": Table.from_cells(a, "a", "turnover"), "two": Table.from_cells(b, "b", "v")}
    with pytest.raises(InputError, match="different measures: 'turnover', 'v'; pass measure='name'"):
        link(parts)
    same = link(parts, measure="turnover")
    assert same.n_cells == 5
    assert same.rows.columns.tolist() == ["table", "a", "b", "turnover"]
    apart = link(parts, measure={"two": "staff"})
    assert apart.n_cells == 6
    assert apart.system.cells.names[0] == "measure"
    assert apart.rows["value"].tolist() == [9, 5, 4, 9, 2, 7]
    with pytest.raises(InputError, match=r"measure names the table 'tow'; did you mean 'two'"):
        link(parts, measure={"tow": "staff"})


def test_what_cannot_be_linked() -> None:
    frame = pd.DataFrame({"a": ["Total", "1", "2"], "v": [9.0, 5.0, 4.0]})
    magnitude, frequency = (Table.from_cells(frame, "a", "v", kind=kind) for kind in ("magnitude", "frequency"))
    with pytest.raises(InputError, match="magnitude and frequency tables cannot be linked"):
        link([magnitude, frequency])
    with pytest.raises(InputError, match="nothing to link"):
        link([])
    with pytest.raises(InputError) as caught:
        link([link([magnitude])])
    assert "has no dimensions (it is linked already" in str(caught.value)
    assert "has a column 'table'" in str(caught.value)


def test_five_tables_of_rtauargus(shared: Callable[[str], Path]) -> None:
    """Turnover by activity, region, size and legal form; the fifth table is of the east, and of other values."""
    codes = {"ACTIVITY": str, "NUTS": str}
    activity = Hierarchy.from_columns(
        pd.read_csv(shared("instances/tables/rtauargus_activity_corr_table.csv"), dtype=str), ["A10", "A21", "A88"]
    )
    nuts = Hierarchy.from_columns(
        pd.read_csv(shared("instances/tables/rtauargus_nuts23_fr_corr_table.csv")), ["NUTS2", "NUTS3"]
    )
    east = Hierarchy.from_pairs(
        [("Total_EAST", c) for c in ("FR41", "FR42", "FR43")]
        + [(c[:4], c) for c in nuts.leaves if c.startswith(("FR41", "FR42", "FR43"))]
    )
    parts = {}
    for name, by in (
        ("act_cj", ["ACTIVITY", "CJ"]),
        ("act_size", ["ACTIVITY", "SIZE"]),
        ("nuts_cj", ["NUTS", "CJ"]),
        ("nuts_size", ["NUTS", "SIZE"]),
        ("act_nuts_size", ["ACTIVITY", "NUTS", "SIZE"]),
    ):
        frame = pd.read_csv(shared(f"instances/tables/rtauargus_turnover_{name}.csv"), dtype=codes)
        known = {"ACTIVITY": activity, "NUTS": east if name == "act_nuts_size" else nuts}
        parts[name] = Table.from_cells(
            frame,
            by,
            "TOT",
            count="N_OBS",
            maxima="MAX",
            empty="drop",
            hierarchies={k: h for k, h in known.items() if k in by},
        )
        assert parts[name].n_cells == len(frame)
        assert parts[name].residual < 1e-7
    four = link({name: t for name, t in parts.items() if name != "act_nuts_size"})
    # 113 activities and 119 regions by total, and 4 forms and 4 sizes of the whole, are in two tables each
    assert (four.n_cells, len(four.rows)) == (406 + 414 + 452 + 460 - (113 + 3) - (119 + 3) - 1, 1732)
    assert four.residual < 1e-7
    with pytest.raises(InputError) as caught:
        link(parts)
    # the counts of the east agree with the regions of the other tables, the values do not
    assert "disagrees with earlier tables in the value of 52 cells: Total x Total x Total x FR41" in str(caught.value)
    assert "in the count" not in str(caught.value)
    five = link(parts, measure={"act_nuts_size": "TOT of the east"})
    assert five.n_cells == four.n_cells + 3168
    assert five.system.n_equations == four.system.n_equations + parts["act_nuts_size"].system.n_equations
