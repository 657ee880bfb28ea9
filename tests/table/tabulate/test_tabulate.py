"""Tabulation against a slow statement of what a cell holds, record by record, in exact arithmetic; on all backends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tabprotect.errors import InputError
from tabprotect.table.dimension import Dimension
from tabprotect.table.duck import DuckSource
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.table import Table
from tabprotect.table.tabulate import tabulate
from tabprotect.table.tabulate.duck import tabulate_duckdb
from tabprotect.table.tabulate.memory import tabulate_frame
from tabprotect.table.tabulate.roles import Roles

REGION = Hierarchy.merge(
    Hierarchy.from_prefixes(["n1", "n2", "s1", "s2"], [1]),
    Hierarchy.from_pairs(
        [("Total", "coast"), ("Total", "land"), ("coast", "n1"), ("coast", "s1"), ("land", "n2"), ("land", "s2")]
    ),
)
SECTOR = Hierarchy.from_hrc("A\n@01\n@02\nB\n@05\nC")


def exact(x: float) -> Fraction:
    return Fraction(x)


def close(found: float, expected: Fraction) -> bool:
    return found == pytest.approx(float(expected), rel=1e-15, abs=0)


@st.composite
def microdata(draw: st.DrawFn) -> pd.DataFrame:
    n = draw(st.integers(1, 25))

    def column(elements: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(elements, min_size=n, max_size=n))

    values = st.one_of(
        st.integers(-20, 90).map(float),
        st.decimals(-5, 99, places=2).map(float),
        st.sampled_from([0.0, 1e9, 1 / 3]),
    )
    frame = pd.DataFrame(
        {
            "sector": column(st.sampled_from(SECTOR.leaves)),
            "region": column(st.sampled_from(REGION.leaves)),
            "turnover": column(values),
            "staff": column(st.integers(0, 12).map(float)),
            "cost": column(st.integers(0, 9).map(float)),
            "unit": column(st.integers(1, 6)),
            "weight": column(st.sampled_from([1.0, 1.0, 2.0, 2.5])),
            "ask": column(st.sampled_from([0, 0, 1, 2])),
            "free": column(st.booleans()),
        }
    )
    groups = draw(st.lists(st.sampled_from([None, None, "G1", "G2"]), min_size=7, max_size=7))
    frame["group"] = pd.Series([groups[unit] for unit in frame.unit], dtype=object)
    return frame


ROLES = st.fixed_dictionaries(
    {"value": st.sampled_from([None, "turnover"])},
    optional={
        "shadow": st.just("staff"),
        "cost": st.just("cost"),
        "contributor": st.just("unit"),
        "holding": st.just("group"),
        "weight": st.just("weight"),
        "request": st.just("ask"),
        "waiver": st.just("free"),
    },
).map(lambda roles: roles if roles["value"] else {k: v for k, v in roles.items() if k != "shadow"})


def cell_by_hand(records: pd.DataFrame, roles: dict[str, Any], top: int) -> dict[str, Any]:
    """What one cell holds, from its records alone."""
    one = pd.Series(1.0, records.index)
    value = records[roles["value"]] if roles["value"] else one
    shadow = records[roles["shadow"]] if "shadow" in roles else value
    weight = records[roles["weight"]] if "weight" in roles else one
    holders: dict[Any, list[int]] = {}
    for row in records.index:
        holding = records.group[row] if "holding" in roles else None
        own = int(records.unit[row]) if "contributor" in roles else f"row {row + 1}"
        holders.setdefault(("group", holding) if isinstance(holding, str) else ("own", own), []).append(row)
    contributions = []
    for holder, rows in holders.items():
        size = abs(sum((exact(shadow[r]) for r in rows), Fraction(0)))
        absolute = sum((exact(abs(shadow[r])) for r in rows), Fraction(0))
        weighted = sum((exact(abs(shadow[r])) * exact(weight[r]) for r in rows), Fraction(0))
        several = sorted({float(weight[r]) for r in rows})
        if len(several) == 1:
            mean = exact(several[0])
        else:
            mean = weighted / absolute if absolute else exact((several[0] + several[-1]) / 2)
        mixed = any(shadow[r] < 0 for r in rows) and any(shadow[r] > 0 for r in rows)
        contributions.append(
            {
                "holder": holder,
                "size": size,
                "weight": mean,
                "part": mean * size if mixed else weighted,
                "waived": all(records.free[r] for r in rows) if "waiver" in roles else False,
                "asked": min((int(records.ask[r]) for r in rows if records.ask[r]), default=0)
                if "request" in roles
                else 0,
                "first": rows[0],
            }
        )
    return {
        "value": sum((exact(value[r] * weight[r]) for r in records.index), Fraction(0)),
        "count": len(holders),
        "weighted": sum((c["weight"] for c in contributions), Fraction(0)),
        "cost": sum((exact(records.cost[r] * weight[r]) for r in records.index), Fraction(0)),
        "total": sum((c["part"] for c in contributions), Fraction(0)),
        "contributions": contributions,
        "negative": bool(((value < 0) | (shadow < 0)).any()),
    }


def name_of(holder: tuple[str, Any], roles: dict[str, Any]) -> str:
    kind, who = holder
    if kind == "group" or "holding" not in roles or "contributor" not in roles:
        return str(who)
    return f"unit {who}"


def check_against_hand(table: Table, data: pd.DataFrame, roles: dict[str, Any], top: int) -> None:
    first_row = {}
    for row in data.index:
        holding = data.group[row] if "holding" in roles else None
        own = int(data.unit[row]) if "contributor" in roles else f"row {row + 1}"
        first_row.setdefault(("group", holding) if isinstance(holding, str) else ("own", own), row)
    for number, (sector, region) in enumerate(table.system.cells):
        inside = data.sector.isin([SECTOR.leaves[i] for i in SECTOR.members[[SECTOR.position[sector]]].indices])
        inside &= data.region.isin([REGION.leaves[i] for i in REGION.members[[REGION.position[region]]].indices])
        cell = cell_by_hand(data[inside], roles, top)
        assert close(table.values[number], cell["value"])
        assert table.counts is not None
        assert table.counts[number] == cell["count"]
        if "weight" in roles:
            assert table.weighted_counts is not None
            assert close(table.weighted_counts[number], cell["weighted"])
        else:
            assert table.weighted_counts is None
        if "cost" in roles:
            assert close(table.columns["cost"][number], cell["cost"])
        assert bool(table.columns.get("negative", np.zeros(table.n_cells, bool))[number]) == cell["negative"]
        c = table.contributions
        assert c is not None
        assert c.total[number] == pytest.approx(float(cell["total"]), rel=1e-14)
        wanted = sorted(cell["contributions"], key=lambda k: (-k["size"], first_row[k["holder"]]))
        for rank in range(top):
            if rank >= len(wanted):
                assert (c.values[number, rank], c.weights[number, rank], c.holders[number, rank]) == (0, 0, -1)
                continue
            k = wanted[rank]
            assert c.values[number, rank] == pytest.approx(float(k["size"]), rel=1e-15)
            assert c.weights[number, rank] == pytest.approx(float(k["weight"]), rel=1e-15)
            assert c.names[c.holders[number, rank]] == name_of(k["holder"], roles)
            assert bool(c.waived[number, rank]) == k["waived"]
            assert c.requested[number, rank] == k["asked"]
        free = [k for k in wanted if not k["waived"]]
        if free:
            assert c.unwaived[number] == pytest.approx(float(free[0]["size"]), rel=1e-15)
            assert c.names[c.unwaived_holder[number]] == name_of(free[0]["holder"], roles)
        else:
            assert (c.unwaived[number], c.unwaived_holder[number]) == (0, -1)
        expected = c.holders[number, 0] if cell["count"] == 1 and top else -1
        assert table.sole[number] == expected


BY = [Dimension("sector", SECTOR), Dimension("region", REGION)]


@settings(max_examples=12, deadline=None)
@given(microdata(), ROLES, st.integers(1, 4))
def test_every_cell_is_what_its_records_say(data: pd.DataFrame, roles: dict[str, Any], top: int) -> None:
    check_every_cell(data, roles, top)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(microdata(), ROLES, st.integers(1, 4))
def test_every_cell_is_what_its_records_say_many_times(data: pd.DataFrame, roles: dict[str, Any], top: int) -> None:
    check_every_cell(data, roles, top)


def check_every_cell(data: pd.DataFrame, roles: dict[str, Any], top: int) -> None:
    table = tabulate(data, BY, top=top, empty="zero", **roles)
    check_against_hand(table, data, roles, top)
    # 01 and 02 below A, 05 alone below B, C: six codes are cells of their own; the regions form nine
    assert table.n_cells == 6 * 9
    assert table.rows.shape == (7 * 9, 3)
    assert np.array_equal(table.rows[table.value_name].to_numpy(), table.values[table.row_cell])


def same(a: Table, b: Table) -> None:
    """Bit for bit."""
    assert a.dimensions == b.dimensions
    assert a.system.cells.equals(b.system.cells)
    assert (a.system.A != b.system.A).nnz == 0
    for name in ("values", "counts", "weighted_counts", "missing"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    assert set(a.columns) == set(b.columns)
    for name in a.columns:
        np.testing.assert_array_equal(a.columns[name], b.columns[name])
    assert (a.contributions is None) == (b.contributions is None)
    if a.contributions is not None:
        for field in fields(a.contributions):
            one, other = getattr(a.contributions, field.name), getattr(b.contributions, field.name)
            np.testing.assert_array_equal(one, other, err_msg=field.name)
    pd.testing.assert_frame_equal(a.rows, b.rows)
    assert (a.residual, a.kind, a.value_name) == (b.residual, b.kind, b.value_name)


def as_csv(frame: pd.DataFrame, folder: Path) -> str:
    frame.to_csv(folder / "data.csv", index=False)
    return str(folder / "data.csv")


def as_parquet(frame: pd.DataFrame, folder: Path) -> Path:
    frame.to_parquet(folder / "data.parquet")
    return folder / "data.parquet"


def as_relation(frame: pd.DataFrame, folder: Path) -> Any:
    connection = duckdb.connect()
    connection.register("frame", pa.Table.from_pandas(frame))
    return connection.sql("SELECT * FROM frame")


BACKENDS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "polars": lambda frame, _: pl.from_pandas(frame),
    "polars lazy": lambda frame, _: pl.from_pandas(frame).lazy(),
    "pyarrow": lambda frame, _: pa.Table.from_pandas(frame),
    "pandas with arrow types": lambda frame, _: frame.convert_dtypes(dtype_backend="pyarrow"),
    "pandas with categories": lambda frame, _: frame.astype({"sector": "category", "region": "category"}),
    "relation": as_relation,
    "csv": as_csv,
    "parquet": as_parquet,
}


@pytest.mark.parametrize("backend", BACKENDS)
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=microdata(), roles=ROLES, empty=st.sampled_from(["zero", "structural", "drop", None]))
def test_all_backends_give_the_same_bits(
    tmp_path: Path, backend: str, data: pd.DataFrame, roles: dict[str, Any], empty: Any
) -> None:
    table = tabulate(data, BY, empty=empty, **roles)
    same(table, tabulate(BACKENDS[backend](data, tmp_path), BY, empty=empty, **roles))


def test_pieces_of_any_size_give_the_same_bits(tmp_path: Path) -> None:
    """DuckDB hands over entries in pieces; holders with entries in several cells are never split."""
    rng = np.random.default_rng(3)
    n = 9000
    data = pd.DataFrame(
        {
            "sector": rng.choice(SECTOR.leaves, n),
            "region": rng.choice(REGION.leaves, n),
            "turnover": rng.lognormal(3, 3, n) * rng.choice([1, 1, 1, -1], n),
            "unit": rng.integers(0, 5000, n),
            "weight": rng.choice([1.0, 1.5], n),
        }
    )
    roles = {"value": "turnover", "contributor": "unit", "weight": "weight"}
    whole = tabulate(data, BY, **roles)
    known = Roles(whole.dimensions, **roles)
    expected = tabulate_frame(nw.from_native(data), known)
    assert np.array_equal(expected.measures.value.join(expected.summary.value), whole.values)
    for source_data in (as_parquet(data, tmp_path), as_relation(data, tmp_path)):
        with DuckSource(source_data, piece=2048) as source:
            found = tabulate_duckdb(source, known)
        for one, other in ((expected.summary, found.summary), (expected.summary.best, found.summary.best)):
            for field in (f.name for f in fields(one) if f.name != "best"):
                np.testing.assert_array_equal(getattr(one, field), getattr(other, field), err_msg=field)
        holders = expected.summary.best.holder
        assert list(found.name_holders(holders)) == list(expected.name_holders(holders))
    # the order of the records matters for nothing but ties
    shuffled = tabulate(data.sample(frac=1, random_state=1).reset_index(drop=True), BY, **roles)
    assert np.array_equal(whole.values, shuffled.values)
    assert whole.contributions is not None
    assert shuffled.contributions is not None
    assert np.array_equal(whole.contributions.values, shuffled.contributions.values)


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
