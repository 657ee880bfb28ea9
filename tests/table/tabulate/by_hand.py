"""Microdata at random, and every cell of their tables worked out by hand in fractions."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st

from tabprotect.table.dimension import Dimension
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.table import Table
from tabprotect.table.tabulate import tabulate

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
