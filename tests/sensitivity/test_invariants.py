"""Sums of hidden cells over several equations, against all subsets of small tables."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import tabprotect as tp
from tabprotect.attack.asked_sums import known_too_closely
from tabprotect.attack.sums import with_sums
from tabprotect.attack.witness import Witnesses
from tabprotect.problem import Attacker
from tabprotect.sensitivity.invariants import MOST, Reach, disjoint, invariant_sums
from tabprotect.sensitivity.union_exposure import UnionExposure
from tabprotect.sensitivity.unions import dominated_sums, union_exposures
from tabprotect.table.tabulate import tabulate
from tests.quick import first

P = 15


def determined(A: Any, cells: tuple[int, ...], known: tuple[int, ...] = ()) -> bool:
    """Whether a sum of unknowns follows from the equations and from what is known besides."""
    rows = np.vstack([A, np.eye(A.shape[1])[list(known)]])
    wanted = np.isin(np.arange(A.shape[1]), cells).astype(float)
    return bool(np.linalg.matrix_rank(np.vstack([rows, wanted])) == np.linalg.matrix_rank(rows))


def smallest(A: Any, most: int, known: tuple[int, ...] = ()) -> set[tuple[int, ...]]:
    """All determined sets up to a size that no smaller determined set is part of."""
    free = [i for i in range(A.shape[1]) if i not in known]
    found: set[tuple[int, ...]] = set()
    for size in range(1, most + 1):
        for cells in combinations(free, size):
            if not any(set(one) <= set(cells) for one in found) and determined(A, cells, known):
                found.add(cells)
    return {cells for cells in found if len(cells) > 1}


def grid(seed: int, n: int) -> Any:
    """Equations of n random cells of a 4 x 4 table, with one hidden margin."""
    rng = np.random.default_rng(seed)
    cells = rng.permutation(16)[:n]
    A = np.vstack([[cells // 4 == i for i in range(4)], [cells % 4 == j for j in range(4)]]).astype(float)
    margin = np.zeros((8, 1))
    margin[rng.integers(8)] = -1
    return np.hstack([A, margin])


@pytest.mark.parametrize("seed", range(8))
def test_all_smallest_sums_are_found(seed: int) -> None:
    A = grid(seed, 9)
    n = A.shape[1]
    found = invariant_sums(sparse.csr_array(A), np.ones(n, bool), [np.ones(n)])
    assert (found.size, found.left_out) == (MOST, 0)
    sets = {tuple(cells.tolist()) for _, cells in found.sums}
    assert smallest(A, 6) <= sets
    assert all(determined(A, cells) for cells in sets)


@pytest.mark.parametrize("seed", range(8))
def test_sums_that_only_a_respondent_can_compute(seed: int) -> None:
    A = grid(seed, 9)
    n = A.shape[1]
    attackers = [Attacker("a", (0,)), Attacker("b", (2, 5, 100))]
    found = invariant_sums(sparse.csr_array(A), np.ones(n, bool), [np.ones(n)], attackers)
    public = smallest(A, 5)
    sets = {tuple(cells.tolist()): who for who, cells in found.sums}
    assert all(sets[cells] == -1 for cells in public)
    for known in ((0,), (2, 5)):
        assert smallest(A, 5, known) <= set(sets) | public
    for cells, who in sets.items():
        assert determined(A, cells, ((), (0,), (2, 5))[who + 1])
        assert who < 0 or not determined(A, cells)


def test_what_measures_clear_is_left_out() -> None:
    A = grid(1, 9)
    n = A.shape[1]
    rng = np.random.default_rng(1)
    measure = rng.normal(-0.5, 1, n)
    found = invariant_sums(sparse.csr_array(A), np.ones(n, bool), [measure])
    assert {tuple(cells.tolist()) for _, cells in found.sums if len(cells) <= 6} >= {
        cells for cells in smallest(A, 6) if measure[list(cells)].sum() > 0
    }
    assert all(measure[cells].sum() > 0 for _, cells in found.sums)
    assert invariant_sums(sparse.csr_array(A), np.ones(n, bool), [np.full(n, -1.0)]).sums == ()
    assert invariant_sums(sparse.csr_array(A), np.ones(n, bool), []).sums == ()


def all_of(A: Any, most: int) -> set[tuple[int, ...]]:
    """All determined sets up to a size, whatever is part of them, but for cells that are determined by themselves."""
    free = [i for i in range(A.shape[1]) if not determined(A, (i,))]
    return {c for size in range(2, most + 1) for c in combinations(free, size) if determined(A, c)}


@pytest.mark.parametrize("seed", range(6))
def test_all_sums_of_few_cells_are_found_unions_of_determined_ones_too(seed: int) -> None:
    """With sampling weights a union of two determined sums may be sensitive although neither is."""
    A = grid(seed, 10)
    n = A.shape[1]
    found = {
        tuple(cells.tolist()) for _, cells in invariant_sums(sparse.csr_array(A), np.ones(n, bool), [np.ones(n)]).sums
    }
    assert {cells for cells in found if len(cells) <= 4} == all_of(A, 4)


@pytest.mark.parametrize("seed", range(6))
def test_all_sums_of_few_cells_are_found_that_a_respondent_can_compute(seed: int) -> None:
    """A respondent is an intruder for whom equations say what his cells are; only what is his own is told."""
    A = grid(seed, 10)
    n = A.shape[1]
    known = tuple(sorted(np.random.default_rng(seed).choice(n, 2, replace=False).tolist()))
    mine = np.vstack([A, np.eye(n)[list(known)]])
    found = invariant_sums(sparse.csr_array(A), np.ones(n, bool), [np.ones(n)], [Attacker("a", known)])
    his = {tuple(cells.tolist()) for who, cells in found.sums if who == 0 and len(cells) <= 4}
    assert his == {cells for cells in all_of(mine, 4) if not determined(A, cells)}


def test_sums_of_four_cells_are_found_however_many_steps_larger_ones_take() -> None:
    """Sixty hidden cells of a table of three dimensions: the search for larger sums ends early, and says so."""
    rng = np.random.default_rng(0)
    cells = np.array([(i, j, k) for i in range(5) for j in range(5) for k in range(4)])
    cells = cells[rng.permutation(100)[:60]]
    lines = {(d, tuple(np.delete(cell, d))) for cell in cells for d in range(3)}
    A = np.array([[np.array_equal(np.delete(cell, d), at) for cell in cells] for d, at in sorted(lines)], float)
    found = invariant_sums(sparse.csr_array(A), np.ones(60, bool), [np.ones(60)])
    assert found.size >= 4
    _, singular, basis = np.linalg.svd(A)
    null = basis[np.sum(singular > 1e-9) :]
    sums = {tuple(cells.tolist()) for _, cells in found.sums}
    free = [i for i in range(60) if np.abs(null[:, i]).max() > 1e-9]
    few = [c for size in (2, 3) for c in combinations(free, size) if np.abs(null[:, c].sum(axis=1)).max() < 1e-9]
    assert few
    assert {c for c in sums if len(c) <= 3} == set(few)
    four = [c for c in sums if len(c) == 4]
    assert four
    assert all(np.abs(null[:, c].sum(axis=1)).max() < 1e-9 for c in four)


def test_how_far_the_search_went_is_said() -> None:
    A = sparse.csr_array(grid(2, 9))
    assert invariant_sums(A, np.ones(10, bool), [np.ones(10)], reach=Reach(steps=3)).size == 4
    assert invariant_sums(A, np.ones(10, bool), [np.ones(10)], reach=Reach(steps=3, pairs=3)).size < 4
    assert invariant_sums(A, np.ones(10, bool), [np.ones(10)], reach=Reach(largest=3)).left_out > 3


def test_a_margin_and_its_part_are_not_disjoint() -> None:
    A = sparse.csr_array([[-1.0, 1, 1, 0, 0, 0], [0, -1, 0, 1, 1, 0], [0, 0, 0, -2, 0, 1]])
    sets = [np.array(cells) for cells in ([1, 2], [1, 3], [0, 4], [2, 3, 4], [3, 5])]
    assert disjoint(A, sets) == [True, False, False, True, True]


def hexagon() -> pd.DataFrame:
    """Holding G alone in (r1, c1) and (r2, c2); small firms in the ring around (r3, c3)."""
    rows: list[tuple[str, str, str, float]] = [("r1", "c1", "G", 100.0), ("r2", "c2", "G", 90.0)]
    for k, (r, c) in enumerate([("r1", "c3"), ("r2", "c3"), ("r3", "c1"), ("r3", "c2")]):
        rows += [(r, c, f"s{k}{i}", 20.0 + i) for i in range(12)]
    return pd.DataFrame(rows, columns=["r", "c", "group", "v"])


def test_the_turnover_of_a_holding_over_three_equations() -> None:
    table = tabulate(hexagon(), ["r", "c"], "v", contributor="group")
    ring = [("r1", "c1"), ("r1", "c3"), ("r2", "c2"), ("r2", "c3"), ("r3", "c1"), ("r3", "c2")]
    hidden = table.system.cells.isin(ring)
    (exposure,) = union_exposures(table, f"p%={P}", hidden)
    assert [table.system.cells[i] for i in exposure.cells] == [("r1", "c1"), ("r2", "c2")]
    assert (exposure.value, exposure.upl, exposure.attacker) == (190, 28.5, "")
    made = tp.protect(hexagon(), f"p%={P}", by=["r", "c"], value="v", contributor="group")
    assert made.safe
    assert made.verify().safe
    assert union_exposures(table, f"p%={P}", made.pattern) == ()
    assert made.problem.n_cells == table.n_cells + 1
    only_found = tp.protect(hexagon(), f"p%={P}", by=["r", "c"], value="v", contributor="group", unions="audit")
    assert not only_found.safe
    assert "r1 x c1 + r2 x c2 = 190 can be computed" in str(only_found.summary())


def economy(seed: int) -> pd.DataFrame:
    """Few firms in 4 x 3 cells, several of them in more than one."""
    rng = np.random.default_rng(seed)
    n = 26
    return pd.DataFrame(
        {
            "r": rng.integers(0, 4, n).astype(str),
            "c": rng.integers(0, 3, n).astype(str),
            "firm": rng.integers(0, 14, n).astype(str),
            "v": np.ceil(rng.lognormal(3, 1, n)),
        }
    )


def exposed_by_force(data: pd.DataFrame, table: Any, hidden: Any, most: int) -> list[Any]:
    """Sums of hidden inner cells that the p% rule finds sensitive, and who computes them, from the records."""
    cells = table.system.cells
    A = table.system.A.toarray()[:, hidden]
    places = np.flatnonzero(hidden)
    inner = [i for i, k in enumerate(places) if "Total" not in cells[k]]
    parts = {i: data[(data["r"] == cells[places[i]][0]) & (data["c"] == cells[places[i]][1])] for i in inner}
    alone: dict[str, list[int]] = {}
    for k, position in enumerate(places):
        r, c = cells[position]
        here = data[((data["r"] == r) | (r == "Total")) & ((data["c"] == c) | (c == "Total"))]
        if here["firm"].nunique() == 1:
            alone.setdefault(here["firm"].iloc[0], []).append(k)
    found = []
    for size in range(2, most + 1):
        for one in combinations(inner, size):
            sums = pd.concat([parts[i] for i in one]).groupby("firm")["v"].sum().sort_values(ascending=False)
            total = sums.sum()
            if total - sums.iloc[:2].sum() < P / 100 * sums.iloc[0] and determined(A, one):
                found.append(("", tuple(places[list(one)].tolist())))
            for firm, known in alone.items():
                others = sums.drop(firm, errors="ignore")
                sensitive = len(others) and others.iloc[1:].sum() < P / 100 * others.iloc[0]
                if sensitive and not set(one) & set(known) and determined(A, one, tuple(known)):
                    found.append((firm, tuple(places[list(one)].tolist())))
    return found


@pytest.mark.parametrize("seed", first(2, [1, 2, 0, 3, 4, 5]))
def test_no_subset_gives_a_release_away_to_anybody(seed: int) -> None:
    data = economy(seed)
    made = tp.protect(data, f"p%={P}", by=["r", "c"], value="v", contributor="firm", intervals=False)
    if made.safe:
        assert exposed_by_force(data, made.table, made.pattern, 4) == []
        assert made.verify().safe


@pytest.mark.parametrize("seed", first(3, [0, 1, 4, 2, 3, 5]))
def test_random_patterns_give_away_what_is_found(seed: int) -> None:
    data = economy(seed)
    table = tabulate(data, ["r", "c"], "v", contributor="firm", top=20)
    rng = np.random.default_rng(seed)
    hidden = (rng.random(table.n_cells) < 0.7) & (table.values > 0)
    attackers = tp.make_problem(table, f"p%={P}").attackers
    found = {(e.attacker, e.cells) for e in union_exposures(table, f"p%={P}", hidden, attackers=attackers)}
    public = {cells for who, cells in found if not who}
    A = table.system.A.toarray()[:, hidden]
    places = np.flatnonzero(hidden).tolist()
    for who, cells in exposed_by_force(data, table, hidden, 4):
        local = [places.index(cell) for cell in cells]
        if not who:
            # or it is made of smaller ones, of which one is sensitive
            assert cells in public or any(set(one) < set(cells) for one in public) or _single(A, local)
        else:
            mine = {one for name, one in found if name == who} | public
            known = tuple(places.index(k) for a in attackers if a.name == who for k in a.known if k in places)
            assert any(set(one) <= set(cells) for one in mine) or _single(A, local, known)


def _single(A: Any, cells: list[int], known: tuple[int, ...] = ()) -> bool:
    """Whether one of the cells is determined alone: that is the business of the audit of cells."""
    return any(determined(A, (cell,), known) for cell in cells)


def near_sums() -> pd.DataFrame:
    """G dominates a and b; c is sensitive, and a + b is known to within 19.5 if everybody knows c to within 30 %."""
    rows = [("a", "G", 100.0), ("a", "x", 5.0), ("a", "y", 1.0), ("b", "G", 90.0), ("b", "z", 4.0), ("b", "w", 1.0)]
    rows += [("c", "u", 40.0), ("c", "v", 20.0), ("c", "t", 5.0)] + [("d", f"d{i}", 15.0) for i in range(8)]
    return pd.DataFrame(rows, columns=["r", "firm", "v"])


def test_a_sum_that_is_known_too_closely_is_protected() -> None:
    how: dict[str, Any] = {"by": ["r"], "value": "v", "contributor": "firm", "bounds": "30%", "singletons": False}
    table = tabulate(near_sums(), ["r"], "v", contributor="firm")
    (candidate,) = dominated_sums(table, f"p%={P}", np.array([False, True, True, True, True]))
    assert (candidate.value, candidate.upl) == (201, 22.5)
    found = tp.protect(near_sums(), f"p%={P}", unions="audit", **how)
    assert [table.system.label(i) for i in np.flatnonzero(found.pattern)] == ["a", "b", "c"]
    assert not found.safe
    assert "a + b = 201 can be known more closely than its protection level" in str(found.summary())
    made = tp.protect(near_sums(), f"p%={P}", **how)
    assert made.safe
    assert made.verify().safe
    assert made.pattern.sum() == 4
    assert np.ptp(made.audit().interval(table.n_cells)) >= 2 * 22.5


def test_sums_ask_no_more_than_the_whole_table_leaves_a_respondent() -> None:
    """Who knows 90 of a sum of 100 is never in doubt about these; the cells keep their levels, and others are asked."""
    problem = tp.Problem.from_arrays(
        [[-1, 1, 1, 1]], [130, 90, 10, 30], primary=[1], lpl=[0, 9, 0, 0], upl=9, attackers=[Attacker("a", (1,))]
    )
    exposure = UnionExposure((1, 2), 100.0, ("p%=15",), 15.0, 15.0, 0.0, True, "")
    grown = with_sums(problem, [exposure])
    assert grown.lpl.tolist() == [0, 9, 0, 0, 9.999, 15]
    assert grown.upl.tolist() == [9, 9, 9, 9, 15, 0]
    assert grown.attackers[0].spared == (5,)
    assert not Witnesses(grown).check(np.ones(6, bool))
    assert known_too_closely(grown, np.ones(6, bool), [exposure]) == ()
    (close,) = known_too_closely(problem, np.array([False, True, True, False]), [exposure])
    assert close.cells == (1, 2)
