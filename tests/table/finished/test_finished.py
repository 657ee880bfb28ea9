"""Finished tables: what is accepted, what is carried along, what is refused and why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.errors import InputError
from tabprotect.sensitivity import assess
from tabprotect.table.dimension import Dimension
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.table import Table
from tabprotect.table.tabulate import tabulate
from tests.table.finished.cells import BY, cross


def test_all_columns_in_any_order_of_rows() -> None:
    frame = cross().assign(
        who=list("abcdefghi"),
        status=["s", "Safe", "u", "PRIMARY", "x", "p", "e", "", None],
        cost=range(9),
        lpl=[np.nan, 1, *[np.nan] * 7],
        lo=0.0,
        hi=[40.0] * 9,
        note=["keep"] * 9,
    )
    frame.loc[6, ["v", "n", "max"]] = 0
    frame.loc[[7, 8], ["v", "n", "max"]] = 0
    frame.loc[[0, 1, 2], ["v", "max"]] = [[8, 4], [3, 2], [5, 4]]
    shuffled = frame.sample(frac=1, random_state=5).reset_index(drop=True)
    table = Table.from_cells(
        shuffled,
        BY,
        "v",
        count="n",
        maxima=["max"],
        holders=["who"],
        status="status",
        cost="cost",
        lpl="lpl",
        lower="lo",
        upper="hi",
    )
    order = [table.system.cells.get_loc((r, s)) for r, s in zip(frame.region, frame["size"], strict=True)]
    assert table.values[order].tolist() == frame.v.tolist()
    assert table.columns["status"][order].tolist() == ["s", "s", "u", "u", "m", "p", "z", "", ""]
    assert table.columns["cost"][order].tolist() == list(range(9))
    assert np.isnan(table.columns["lpl"]).sum() == 8
    assert table.columns["lower"].tolist() == [0] * 9
    assert table.columns["upper"].tolist() == [40] * 9
    c = table.contributions
    assert c is not None
    assert [str(c.names[i]) if i >= 0 else "-" for i in c.holders[order, 0]] == [*"abcdef", "-", "-", "-"]
    # the rows come back as they were, codes first
    assert table.rows.columns.tolist() == [
        "region",
        "size",
        "v",
        "n",
        "max",
        "who",
        "status",
        "cost",
        "lpl",
        "lo",
        "hi",
        "note",
    ]
    assert table.rows["who"].tolist() == shuffled["who"].tolist()
    assert np.array_equal(table.values[table.row_cell], shuffled.v)


@pytest.mark.parametrize("library", ["pandas", "polars", "lazy", "pyarrow", "csv", "parquet"])
def test_every_library(library: str, tmp_path: Path) -> None:
    frame = cross()
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    data: Any = {
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "lazy": pl.from_pandas(frame).lazy(),
        "pyarrow": pa.Table.from_pandas(frame),
        "csv": tmp_path / "t.csv",
        "parquet": str(tmp_path / "t.parquet"),
    }[library]
    table = Table.from_cells(data, BY, "v", count="n", maxima="max")
    assert table.values.tolist() == frame.v.tolist()
    assert table.residual == 0
    assert table.kind == "magnitude"


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["structural", "zero", "drop"]))
def test_a_tabulated_table_survives_the_round_trip(seed: int, empty: Any) -> None:
    rng = np.random.default_rng(seed)
    sector = Hierarchy.from_hrc("A\n@01\n@02\nB\n@05\nC")
    n = int(rng.integers(1, 12))
    data = pd.DataFrame(
        {
            "sector": rng.choice(sector.leaves, n),
            "region": rng.choice(["N", "S"], n),
            "v": rng.lognormal(2, 2, n),
        }
    )
    by = [Dimension("sector", sector), Dimension("region", Hierarchy.flat(["N", "S"]))]
    table = tabulate(data, by, "v", empty=empty)
    again = Table.from_cells(table.rows, table.dimensions, "v", empty="drop" if empty == "drop" else "refuse")
    assert again.system.cells.equals(table.system.cells)
    assert np.array_equal(again.values, table.values)
    assert (again.system.A != table.system.A).nnz == 0
    # from the leaves alone the same table comes back, but for a last bit that is rounded twice
    leaf = table.rows.sector.isin(sector.leaves) & (table.rows.region != "Total")
    added = Table.from_cells(table.rows[leaf], table.dimensions, "v", margins="add", empty="drop")
    label = dict(zip(added.system.cells, added.values, strict=True))
    for cell, value in zip(table.system.cells, table.values, strict=True):
        assert label.get(cell, 0.0) == pytest.approx(value, rel=1e-15)


def test_margins_are_added() -> None:
    frame = cross().iloc[[4, 5, 7, 8]].reset_index(drop=True)[["region", "size", "v"]]
    with pytest.raises(InputError) as caught:
        Table.from_cells(frame, BY, "v")
    assert "column 'region' holds no code 'Total'; name the code of the total" in str(caught.value)
    assert "column 'size' holds no code 'Total'" in str(caught.value)
    table = Table.from_cells(frame, BY, "v", margins="add")
    assert table.values.tolist() == cross().v.tolist()
    assert table.rows.v.tolist() == [3, 5, 6, 6, 20, 9, 11, 8, 12]
    assert np.array_equal(table.values[table.row_cell], table.rows.v)
    partly = cross()[["region", "size", "v"]].iloc[[0, 3, 4, 5, 6, 7, 8]]
    with pytest.raises(InputError, match=r"2 margins are not in the table: Total x 1, Total x 2; .* margins='add'"):
        Table.from_cells(partly, BY, "v")
    assert Table.from_cells(partly, BY, "v", margins="add").values.tolist() == cross().v.tolist()


def test_margins_of_counts_and_maxima_cannot_be_added() -> None:
    partly = cross().drop(index=0)
    with pytest.raises(InputError) as caught:
        Table.from_cells(partly, BY, "v", count="n", maxima="max", margins="add")
    assert "count of a margin is not the sum over its parts" in str(caught.value)
    assert "maxima of a margin" in str(caught.value)
    # a message on what is absent proposes nothing that is refused
    with pytest.raises(InputError, match=r"1 margin is not in the table: Total x Total; add them to the table$"):
        Table.from_cells(partly, BY, "v", count="n", maxima="max")
    with pytest.raises(InputError, match=r"or add the rows of the total to the table"):
        Table.from_cells(cross().iloc[[4, 5, 7, 8]], BY, "v", count="n")
    # nothing is computed where all margins are there
    whole = Table.from_cells(cross(), BY, "v", count="n", maxima="max", margins="add")
    assert whole.values.tolist() == cross().v.tolist()
    frame = cross().iloc[[4, 5, 7, 8]]
    table = Table.from_cells(frame, BY, "n", kind="frequency", margins="add")
    assert table.counts is not None
    assert table.counts.tolist() == table.values.tolist() == [9, 5, 4, 4, 2, 2, 5, 3, 2]


def test_absent_cells() -> None:
    frame = cross()
    frame.loc[[7], "v"] = 0
    frame.loc[[0, 1, 6], ["v", "max"]] = [[14, 6], [3, 2], [6, 6]]
    frame = frame.drop(index=7).reset_index(drop=True)
    with pytest.raises(InputError, match=r"1 inner cell is not in the table: S x 1; .* empty='structural'"):
        Table.from_cells(frame, BY, "v")
    structural = Table.from_cells(frame, BY, "v", count="n", maxima="max", empty="structural")
    assert structural.n_cells == 9
    assert structural.columns["status"].tolist() == [""] * 7 + ["z", ""]
    # rows that are new follow the old ones
    assert structural.rows.iloc[-1].tolist()[:3] == ["S", "1", 0]
    zero = Table.from_cells(frame, BY, "v", empty="zero")
    assert "status" not in zero.columns
    assert zero.values.tolist() == structural.values.tolist()
    drop = Table.from_cells(frame, BY, "v", empty="drop")
    assert drop.n_cells == 8
    assert len(drop.rows) == 8
    assert "S x Total = S x 2" in [drop.system.equation(i) for i in range(drop.system.n_equations)]


def test_rounded_values_are_carried_with_their_residual() -> None:
    frame = cross()
    frame.loc[0, "v"] = 20.4
    with pytest.raises(InputError) as caught:
        Table.from_cells(frame, BY, "v")
    assert "does not add up in 2 of 6 equations of 'v'" in str(caught.value)
    assert "Total x Total = Total x 1 + Total x 2 (20.4 against 20)" in str(caught.value)
    assert "tolerance=0.4" in str(caught.value)
    table = Table.from_cells(frame, BY, "v", tolerance=0.5)
    assert table.residual == pytest.approx(0.4)
    assert table.values[0] == 20.4


def test_averages_are_refused() -> None:
    """The table of Ciriani et al., fig. 1c, whose total is an average of averages."""
    frame = pd.DataFrame({"disease": ["Total", "a", "b", "c"], "days": [20.0, 15.0, 20.0, 25.0]})
    with pytest.raises(InputError, match="looks like averages or percentages: in 1 of 1 equations"):
        Table.from_cells(frame, "disease", "days")
    with pytest.raises(InputError, match="numerators and denominators"):
        Table.from_cells(frame, "disease", "days", kind="average")
    # one wrong margin of many is a mistake, not an average
    wrong = cross()
    wrong.loc[3, "v"] = 4.0
    with pytest.raises(InputError, match="does not add up"):
        Table.from_cells(wrong, BY, "v")


def test_codes_that_are_one_cell() -> None:
    h = Hierarchy.from_hrc("A\n@01\n@02\nB\n@05")
    frame = pd.DataFrame({"s": ["Total", "A", "01", "02", "B", "05"], "v": [6.0, 4.0, 1.0, 3.0, 2.0, 2.0]})
    table = Table.from_cells(frame, Dimension("s", h), "v")
    assert table.n_cells == 5
    assert table.row_cell.tolist() == [0, 1, 2, 3, 4, 4]
    assert Table.from_cells(frame.iloc[:5], Dimension("s", h), "v").values.tolist() == table.values.tolist()
    frame.loc[5, "v"] = 2.5
    with pytest.raises(InputError, match=r"rows 5 and 6 are the same cell, B .* differ in column 'v': 2.0 and 2.5"):
        Table.from_cells(frame, Dimension("s", h), "v")


def test_negative_values_are_flagged() -> None:
    frame = pd.DataFrame(
        {"s": ["Total", "a", "b"], "v": [1.0, 5.0, -4.0], "max": [3.0, 3.0, 4.0], "abs": [9.0, 5.0, 4.0]}
    )
    table = Table.from_cells(frame, "s", "v")
    assert table.columns["negative"].tolist() == [False, False, True]
    with pytest.raises(InputError, match=r"contributions of both signs, .* \(shadow=\.\.\.\): b"):
        Table.from_cells(frame, "s", "v", maxima="max")
    shadowed = Table.from_cells(frame, "s", "v", maxima="max", shadow="abs")
    assert shadowed.contributions is not None
    assert shadowed.contributions.total.tolist() == [9, 5, 4]
    assert shadowed.contributions.shadow == "abs"


def test_missing_codes_are_marked() -> None:
    frame = pd.DataFrame({"s": ["Total", "a", "99"], "v": [3.0, 1.0, 2.0]})
    table = Table.from_cells(frame, Dimension("s", missing=["99"]), "v")
    assert table.missing is not None
    assert table.missing.tolist() == [False, False, True]


# --- real tables ---------------------------------------------------------------------------------------------------


def test_tau_argus_table(shared: Callable[[str], Path]) -> None:
    """Decimal commas, quotes, blanks around codes, statuses S, U and E, and a code list with leading '@'."""
    names = ["size", "region", "v", "n", "shadow", "cost", "top1", "top2", "status", "lpl", "upl"]
    path = shared("instances/tables/tauargus_pp.tab")
    frame = pd.read_csv(path, sep=";", header=None, names=names, dtype=str)
    for column in ("size", "region"):
        frame[column] = frame[column].str.strip()
    region = Hierarchy.read(shared("instances/tables/tauargus_region2.hrc"), total="Total")
    assert (region.total, len(region.leaves), region.under("Ws").leaves) == ("Total", 12, ("8", "9", "10"))
    by = ["size", Dimension("region", region, missing=["99"])]
    columns = {"count": "n", "maxima": ["top1", "top2"], "status": "status", "cost": "cost", "lpl": "lpl", "upl": "upl"}
    with pytest.raises(InputError, match=r"numbers with a decimal comma: data\['v'\] = "):
        Table.from_cells(frame, by, "v", shadow="shadow", **columns)
    # the file is off by one where cell (4, 4) has 4 instead of 5
    with pytest.raises(InputError, match=r"3 of 63 equations of 'v': Total x Os = .*tolerance=1;"):
        Table.from_cells(frame, by, "v", shadow="shadow", decimal=",", **columns)
    table = Table.from_cells(frame, by, "v", shadow="shadow", decimal=",", tolerance=1, **columns)
    assert table.n_cells == 9 * 18
    assert table.system.label(0) == "Total x Total"
    assert table.values[0] == 16847646.84
    letters, times = np.unique(table.columns["status"], return_counts=True)
    assert dict(zip(letters, times, strict=True)) == {"s": 110, "u": 9, "z": 43}
    assert table.missing is not None
    assert table.missing.sum() == 9
    assert table.residual == pytest.approx(1)


def test_teaching_tables(shared: Callable[[str], Path]) -> None:
    frame = pd.read_csv(shared("instances/tables/ssb_d2.csv"), dtype=str)
    county = Hierarchy.from_columns(frame, ["county", "region"])
    group = Hierarchy.from_columns(frame, ["k_group", "region"])
    region = Dimension("region", Hierarchy.merge(county, group))
    options: dict[str, Any] = {"kind": "frequency", "margins": "add"}
    table = Table.from_cells(frame, [region, "main_income"], "freq", **options)
    # 11 regions in 6 counties (one of a single region) and 2 groups, all in one total; 4 incomes and their total
    assert table.n_cells == (11 + 5 + 2 + 1) * 5
    wide = frame.assign(freq=frame.freq.astype(float)).groupby("k_group").freq.sum()
    for code, total in wide.items():
        assert table.values[table.system.cells.get_loc((code, "Total"))] == total
    d4 = pd.read_csv(shared("instances/tables/ssb_d4.csv"), dtype={"region": str})
    area = Dimension("region", Hierarchy.from_columns(d4, ["county", "region"]))
    large = Table.from_cells(d4, [area, "main_income", "months"], "freq", **options)
    assert large.values[0] == d4.freq.sum()
    assert large.residual == 0
    employed = pd.read_csv(shared("instances/tables/ssb_sprt_emp_withEU.csv"))
    geo = Dimension("geo", Hierarchy.from_columns(employed, ["eu", "geo"], total="Europe"))
    persons = Table.from_cells(employed, ["age", geo, "year"], "ths_per", margins="add")
    assert persons.values[0] == pytest.approx(employed.ths_per.sum(), rel=1e-15)


def test_the_range_of_statuses_is_named_only_where_it_plays_a_part() -> None:
    frame = cross()[["region", "size", "v"]].assign(st=["", "", "", "", "u", "", "", "", ""], low=0.5, up=0.5)
    given = Table.from_cells(frame, BY, "v", status="st", lpl="low", upl="up")
    assert assess(given, "manual").by_rule() == [("rule manual", "1 primary (levels as in the columns)")]
    bare = Table.from_cells(frame, BY, "v", status="st")
    assert assess(bare, "manual").by_rule() == [("rule manual", "1 primary (range = 20, overrule = 0)")]
