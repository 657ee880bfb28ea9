"""What is known of hidden cells because of what is published, and releases attacked with that from the frame alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

import tabprotect as tp
from tabprotect.problem import Status
from tabprotect.sensitivity.knowledge import least_hidden
from tabprotect.table.system import LinearSystem
from tabprotect.table.table import Table
from tabprotect.table.tabulate import tabulate
from tests.quick import first

TOTAL = "Total"


def counted(values: list[float], **more: Any) -> Table:
    system = LinearSystem.from_equations([("t", ["a", "b", "c"])])
    return Table(system, np.array(values, float), kind="frequency", **more)


def safe(n: int = 4) -> Any:
    return np.zeros(n, np.int8)


def records(counts: dict[tuple[str, str], int]) -> pd.DataFrame:
    return pd.DataFrame([key for key, n in counts.items() for _ in range(n)], columns=["r", "c"])


def nine_ones() -> pd.DataFrame:
    """Rows r1 to r3 count 1, 1, 1 and 9, row r4 9, 9, nothing and 9."""
    counts = {(f"r{i}", f"c{j}"): 1 for i in (1, 2, 3) for j in (1, 2, 3)}
    counts |= {(f"r{i}", "c4"): 9 for i in (1, 2, 3, 4)} | {("r4", f"c{j}"): 9 for j in (1, 2)}
    return records(counts)


def reach(frame: pd.DataFrame, least: float) -> dict[tuple[str, str], tuple[float, float]]:
    """The interval of every hidden count from the published frame: whole numbers, at least so many, that add up."""
    shown = {(r, c): v for r, c, v in zip(frame["r"], frame["c"], frame["count"], strict=True)}
    rows, columns = (sorted(set(frame[name]) - {TOTAL}) for name in ("r", "c"))
    cells = [cell for cell, value in shown.items() if pd.isna(value)]
    place = {cell: i for i, cell in enumerate(cells)}
    sums = [((r, TOTAL), [(r, c) for c in columns]) for r in [*rows, TOTAL]]
    sums += [((TOTAL, c), [(r, c) for r in rows]) for c in [*columns, TOTAL]]
    A, b = [], []
    for margin, parts in sums:
        row, right = np.zeros(len(cells)), 0.0
        for cell, sign in [(margin, -1), *((part, 1) for part in parts)]:
            if cell in place:
                row[place[cell]] = sign
            elif cell in shown:
                right -= sign * float(shown[cell])
        A.append(row)
        b.append(right)
    found = {}
    for cell in cells:
        ends = []
        for sign in (1, -1):
            cost = np.zeros(len(cells))
            cost[place[cell]] = sign
            answer = milp(
                cost,
                integrality=np.ones(len(cells)),
                bounds=Bounds(least, 200),
                constraints=LinearConstraint(np.array(A), b, b),
            )
            assert answer.status == 0
            ends.append(sign * answer.fun)
        found[cell] = (ends[0], ends[1])
    return found


@pytest.mark.parametrize("empty", ["drop", "structural"])
def test_a_hidden_count_is_at_least_one_where_empty_cells_are_shown(empty: Any) -> None:
    """Hiding the nine ones alone, as with empty='zero', leaves no doubt about any of them."""
    made = tp.protect(nine_ones(), "threshold=2", by=["r", "c"], empty=empty)
    assert made.safe
    assert made.verify().safe
    assert made.problem.lower[made.pattern].tolist() == [1] * int(made.pattern.sum())
    found = reach(made.published, 1)
    ones = [(f"r{i}", f"c{j}") for i in (1, 2, 3) for j in (1, 2, 3)]
    assert all(found[cell][1] >= 2 for cell in ones)
    audit = made.audit()
    for cell, (low, high) in found.items():
        below, above = audit.interval(made.table.system.cells.get_loc(cell))
        assert (below, min(above, 200)) == (low, high)
    assert any("a hidden cell counts at least 1" in note for note in made.problem.notes)
    few = tp.protect(nine_ones(), "threshold=2", by=["r", "c"], empty="zero")
    assert few.pattern.sum() == 9
    assert not any(np.ptp(ends) for ends in reach(few.published, 1).values())
    assert not tp.audit(made.problem, made.table.system.cells.isin(ones)).safe


@pytest.mark.parametrize("order", [("t0", "t1"), ("t1", "t0")])
@pytest.mark.parametrize("empty", ["drop", "structural"])
def test_what_one_of_linked_tables_shows_is_known(empty: Any, order: tuple[str, str]) -> None:
    """A second table whose empty cells may be hidden takes nothing away from what the first one tells."""
    data = nine_ones().assign(s=lambda frame: np.where(np.arange(len(frame)) % 3 == 0, "s1", "s2"))
    data.loc[data["r"] == "r4", "s"] = "s1"  # so that an empty cell of the second table may be hidden
    made_of = {"t0": tabulate(data, ["r", "c"], empty=empty), "t1": tabulate(data, ["r", "s"], empty="zero")}
    made = tp.protect(tp.link({name: made_of[name] for name in order}), "threshold=2")
    assert made.safe
    assert made.verify().safe
    first = made.published[made.published["table"] == "t0"]
    found = reach(first, 1)
    ones = [(f"r{i}", f"c{j}") for i in (1, 2, 3) for j in (1, 2, 3)]
    assert all(found[cell][1] >= 2 for cell in ones)
    both = tp.link(made_of)
    first_too = np.array([cell[2] == TOTAL for cell in both.system.cells])
    least = least_hidden(both, np.where(first_too & (both.values == 0), Status.ZERO, Status.SAFE).astype(np.int8))
    assert set(least[~first_too]) == {-np.inf}
    assert set(least[first_too & (both.values > 0)]) == {1.0}


@pytest.mark.parametrize("empty", ["drop", "structural", "zero"])
@pytest.mark.parametrize("seed", first(2, range(5)))
def test_levels_hold_against_whole_numbers_from_what_is_published(seed: int, empty: Any) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.choice([0, 1, 2, 3, 5, 9, 14], (4, 4))
    data = records({(f"r{i}", f"c{j}"): int(counts[i, j]) for i in range(4) for j in range(4)})
    made = tp.protect(data, "threshold=3", by=["r", "c"], empty=empty, intervals=False)
    if not made.safe:
        assert made.result.status == "infeasible"
        return
    found = reach(made.published, 0 if empty == "zero" else 1)
    cells = made.table.system.cells
    for i in made.problem.primaries[made.problem.primaries < len(cells)]:
        low, high = found[cells[i]]
        assert low <= made.table.values[i] - made.problem.lpl[i]
        assert high >= made.table.values[i] + made.problem.upl[i]
        assert made.problem.upl[i] >= 1


def test_what_the_statuses_and_the_table_show() -> None:
    zeros = counted([5, 3, 2, 0])
    assert least_hidden(zeros, safe()).max() == -np.inf
    for status in (Status.ZERO, Status.PROTECTED):
        marked = safe()
        marked[3] = status
        assert least_hidden(zeros, marked).tolist() == [1, 1, 1, -np.inf]
    occupied = counted([6, 3, 2, 1])
    assert least_hidden(occupied, safe()).max() == -np.inf
    assert least_hidden(replace(occupied, empty_shown=True), safe()).tolist() == [1] * 4
    assert least_hidden(replace(zeros, empty_shown=True), safe()).max() == -np.inf
    assert least_hidden(replace(occupied, empty_shown=True, kind="magnitude"), safe()).max() == -np.inf
    light = counted([5.5, 3, 2, 0.5], empty_shown=True)
    assert least_hidden(light, safe()).max() == -np.inf
    assert least_hidden(counted([6.5, 3.5, 2, 1], empty_shown=True), safe()).min() == 1


def test_tables_say_whether_empty_cells_are_shown() -> None:
    data = pd.DataFrame({"a": ["x", "x", "y"], "b": ["1", "2", "1"]})
    for empty, shown in (("zero", False), ("structural", True), ("drop", True), (None, False)):
        table = tabulate(data, ["a", "b"], empty=empty)
        assert table.empty_shown is shown
        assert tp.make_problem(table, "threshold=2").lower.max() == (1 if shown else 0)
    known = tabulate(data, ["a", "b"], empty="structural")
    assert tp.make_problem(known, "threshold=2", empty="safe").lower.max() == 0
    assert tp.make_problem(tabulate(data, ["a", "b"]), "threshold=2", empty="zero").lower.max() == 1
    cells = pd.DataFrame({"a": [TOTAL, "x", "y"], "n": [4, 3, 1]})
    finished = Table.from_cells(cells, ["a"], "n", kind="frequency", empty="drop")
    assert tp.make_problem(finished, "threshold=2").lower.tolist() == [1, 1, 1]
    assert tp.make_problem(Table.from_cells(cells, ["a"], "n", kind="frequency"), "threshold=2").lower.max() == 0
    by_a, by_b = (tabulate(data, [name], empty=empty) for name, empty in (("a", "drop"), ("b", "zero")))
    assert tp.link({"a": by_a, "b": by_a}, measure="count").empty_shown
    assert not tp.link({"a": by_a, "b": by_b}, measure="count").empty_shown


def test_levels_of_small_counts_where_empty_cells_are_shown() -> None:
    table = counted([12, 1, 2, 9], empty_shown=True)
    problem = tp.make_problem(table, "threshold=3")
    assert problem.lower.tolist() == [1] * 4
    assert (problem.lpl[[1, 2]].tolist(), problem.upl[[1, 2]].tolist()) == ([0, 1], [1, 1])
    # a level that asked for the lower side only still asks for something
    lower_only = replace(
        table,
        columns={"lpl": np.array([0, 1.0, 0, 0]), "upl": np.zeros(4), "status": np.array(["", "u", "", ""], object)},
    )
    assert tp.make_problem(lower_only, "manual").upl.tolist() == [0, 1, 0, 0]
    given = tp.make_problem(table, "threshold=3", bounds=(0, None))
    assert given.lower.tolist() == [1] * 4
    assert given.lpl.tolist() == problem.lpl.tolist()


def test_what_cannot_be_protected_is_said() -> None:
    """Two counts of 1 and a published total: they are 1 and 1, whatever is hidden."""
    cells = pd.DataFrame({"a": [TOTAL, "x", "y"], "n": [2, 1, 1], "status": ["p", "", ""]})
    table = Table.from_cells(cells, ["a"], "n", kind="frequency", status="status", empty="drop")
    made = tp.protect(table, "threshold=2")
    assert not made.safe
    assert made.result.status == "infeasible"
    assert {u.cell for u in made.result.unprotectable} == {1, 2}
