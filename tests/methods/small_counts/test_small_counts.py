"""Small count rounding against enumeration, the readable model and its own promises."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.errors import InputError
from tabprotect.methods.distance import distance
from tabprotect.methods.inner_cells import inner_cells
from tabprotect.methods.small_counts import small_counts
from tabprotect.models import small_counts as model
from tabprotect.problem import Problem, Status
from tabprotect.sensitivity import make_problem
from tabprotect.solver.limits import Limits
from tabprotect.table.dimension import Dimension
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.system import LinearSystem
from tabprotect.table.tabulate import tabulate
from tests.quick import examples

TREE = Hierarchy((("Total", ("N", "S")), ("N", ("n1", "n2")), ("S", ("s1", "s2"))))


def counted(grid):
    """A hierarchy of four leaves by a few columns, from the counts of the inner cells."""
    grid = np.asarray(grid)
    rows = [
        (leaf, f"c{j}") for i, leaf in enumerate(TREE.leaves) for j in range(grid.shape[1]) for _ in range(grid[i, j])
    ]
    by = [Dimension("region", TREE), Dimension("kind", Hierarchy.flat([f"c{j}" for j in range(grid.shape[1])]))]
    return make_problem(tabulate(pd.DataFrame(rows or [("n1", "c0")], columns=["region", "kind"]), by), "threshold=1")


grids = st.integers(1, 3).flatmap(
    lambda m: st.lists(st.lists(st.integers(0, 7), min_size=m, max_size=m), min_size=4, max_size=4)
)


def enumerated(problem, base, published, norm, weights):
    """Every choice of ups, from the definition: (necessary inner cells, smallest distance)."""
    A, values = problem.system.A.toarray(), problem.values
    inner = np.flatnonzero(~(A == -1).any(axis=0))
    below = np.zeros((len(values), len(inner)))
    for cell in range(len(values)):
        seen, stack = set(), [cell]
        while stack:
            one = stack.pop()
            if one in inner:
                seen.add(one)
                continue
            row = next(r for r in A if r[one] == -1)
            stack.extend(np.flatnonzero(row == 1).tolist())
        below[cell] = np.isin(inner, list(seen))
    small = published & (values > 0) & (values < base)
    chosen = [j for j in range(len(inner)) if values[inner[j]] and below[small, j].any()]
    best = np.inf
    for ups in product((0, base), repeat=len(chosen)):
        counts = values[inner].copy()
        counts[chosen] = ups
        new = below @ counts
        if np.any((new > 0) & (new < base) & published):
            continue
        if np.any((new != values) & np.isin(problem.status, (Status.PROTECTED, Status.ZERO))):
            continue
        best = min(best, distance((new - values)[published], weights[published], norm))
    return inner[chosen], best


@given(grids, st.integers(2, 5), st.sampled_from(["l1", "l2", "linf"]), st.integers(0, 2**20), st.booleans())
@settings(max_examples=examples(25, 60), deadline=None)
def test_nearest_of_all_choices(grid, base, norm, bits, everything):
    problem = counted(grid)
    published = np.array([everything or bits >> (i % 20) & 1 for i in range(problem.n_cells)], bool)
    weights = 1.0 + np.arange(problem.n_cells) % 3
    chosen, best = enumerated(problem, base, published, norm, weights)
    if len(chosen) > 10:
        return
    result = small_counts(problem, base, publish=published, norm=norm, weights=weights)
    assert result.rounded.tolist() == chosen.tolist()
    assert result.status == "optimal"
    assert result.cost == pytest.approx(best)
    assert result.bound == result.cost
    check(problem, result, base, published)


def check(problem, result, base, published):
    """What the method guarantees, from the values alone."""
    y = result.values
    assert not (problem.system.A @ y).any()
    assert not np.any((y > 0) & (y < base) & published)
    inner, _ = inner_cells(problem.system)
    others = np.setdiff1d(inner, result.rounded)
    assert np.array_equal(y[others], problem.values[others])
    assert set(y[result.rounded]) <= {0.0, float(base)}


@pytest.mark.parametrize("norm", ["l1", "linf"])
@pytest.mark.parametrize("seed", range(4))
def test_fast_and_readable_models_agree(norm, seed):
    assert agree(norm, seed)


@pytest.mark.slow
def test_fast_and_readable_models_agree_on_200_problems():
    assert sum(agree(["l1", "linf"][seed % 2], seed) for seed in range(1000, 1200)) > 150


def agree(norm, seed):
    rng = np.random.default_rng(seed)
    problem = counted(rng.integers(0, 6, (4, int(rng.integers(1, 5)))))
    published = rng.random(problem.n_cells) < 0.7
    result = small_counts(problem, 4, publish=published, norm=norm)
    _, sums = inner_cells(problem.system)
    inner = inner_cells(problem.system)[0]
    if not len(result.rounded):
        # nothing to decide: a model without a variable
        assert (result.status, result.cost) == ("optimal", 0)
        return False
    D = sums.tocsc()[:, np.isin(inner, result.rounded)].tocsr()
    fixed = np.isin(problem.status, (Status.PROTECTED, Status.ZERO))
    m = model.build(problem.values, D, result.rounded, 4, published, fixed, np.ones(problem.n_cells), norm=norm)
    answer, ups = model.solve(m)
    assert answer.status == result.status == "optimal"
    assert answer.objective == pytest.approx(result.cost)
    assert len(ups) == len(result.rounded)
    return True


def test_only_what_stands_behind_published_small_counts_is_rounded():
    """Only regions are published, and of these only n1 is small: its three cells are rounded, nothing else."""
    problem = counted([[1, 2, 1], [1, 1, 4], [1, 9, 9], [7, 1, 1]])
    regions = np.array([cell[1] == "Total" for cell in problem.system.cells])
    result = small_counts(problem, 5, publish=regions)
    assert [problem.system.cells[i] for i in result.rounded] == [("n1", "c0"), ("n1", "c1"), ("n1", "c2")]
    assert result.values[problem.system.cells.get_loc(("n1", "Total"))] == 5
    assert result.cost == 1 + 1 + 1
    everything = small_counts(problem, 5)
    assert len(everything.rounded) == 9


def test_a_margin_must_not_become_small_by_rounding():
    """t = a + b: a = 2 is published and would go down, t = 4 is published and would be 2."""
    system = LinearSystem.from_equations([("t", ["a", "b"])])
    problem = Problem.from_arrays(system.A, [4, 1, 3], primary=[], lpl=0, upl=0, cells=system.cells)
    free = small_counts(problem, 4, publish=np.array([False, True, False]))
    assert free.values.tolist() == [3, 0, 3]
    shown = small_counts(problem, 4, publish=np.array([True, True, False]))
    assert shown.values.tolist() == [7, 4, 3]
    assert shown.status == "optimal"


def test_nothing_to_do():
    problem = counted([[5, 0], [7, 8], [9, 9], [5, 6]])
    result = small_counts(problem, 5)
    assert (result.cost, result.bound, result.status, len(result.changed)) == (0.0, 0.0, "optimal", 0)
    assert result.message == "no published count is small"
    assert np.array_equal(result.values, problem.values)
    assert not result.deviations.any()


def test_fixed_cells_keep_their_value_or_it_is_said_why_not():
    problem = counted([[1, 2, 1], [1, 1, 4], [2, 9, 9], [7, 1, 1]])
    status = problem.status.copy()
    status[0] = Status.PROTECTED
    fixed = replace(problem, status=status)
    result = small_counts(fixed, 3)
    assert problem.values[result.rounded].sum() == 10
    assert result.status == "infeasible"
    assert result.values is None
    assert (
        result.message
        == "cells that must keep their value cannot: what is rounded in Total x Total is no multiple of 3"
    )
    more = counted([[1, 2, 1], [1, 1, 4], [1, 9, 9], [7, 1, 1]])
    kept = small_counts(replace(more, status=status), 3)
    assert kept.status == "optimal"
    assert kept.deviations[0] == 0
    assert kept.cost >= small_counts(more, 3).cost


def test_limits_give_the_best_so_far_with_its_bound():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({name: rng.integers(0, 12, 2500) for name in "abc"}).astype(str)
    problem = make_problem(tabulate(data, list("abc")), "threshold=1")
    lines = []
    result = small_counts(problem, 5, limits=Limits(work=800), progress=lines.append)
    again = small_counts(problem, 5, limits=Limits(work=800))
    assert result.status == "feasible"
    assert result.stopped_by == "work"
    assert np.array_equal(result.values, again.values)
    assert 0 <= result.bound <= result.cost
    assert result.gap == (result.cost - result.bound) / result.cost
    check(problem, result, 5, np.ones(problem.n_cells, bool))
    assert lines
    assert lines[0].cost >= result.cost
    stopped = small_counts(problem, 5, limits=Limits(stop=lambda: True))
    assert stopped.stopped_by == "user"
    check(problem, stopped, 5, np.ones(problem.n_cells, bool))


def test_what_cannot_be_is_refused():
    problem = counted([[1, 2], [1, 1], [1, 9], [7, 1]])
    with pytest.raises(InputError) as error:
        small_counts(problem, 1, publish=[1, 0])
    assert len(error.value.problems) == 2
    with pytest.raises(InputError, match="whole numbers from 0"):
        small_counts(replace(problem, values=problem.values / 2, lower=problem.lower), 3)
    with pytest.raises(InputError, match="unknown norm"):
        small_counts(problem, 3, norm="l3")
    linked = LinearSystem.from_equations([("t", ["a", "b"]), ("t", ["c", "d"])])
    two = Problem.from_arrays(linked.A, [3, 1, 2, 2, 1], primary=[], lpl=0, upl=0, cells=linked.cells)
    with pytest.raises(InputError, match="do not follow from the inner cells"):
        small_counts(two, 3)
    odd = LinearSystem.from_equations([{"a": 2.0, "b": -1.0, "c": 1.0}])
    with pytest.raises(InputError, match="not a sum of parts"):
        inner_cells(odd)
    circle = LinearSystem.from_equations([("a", ["b", "c"]), ("b", ["a", "d"])])
    with pytest.raises(InputError, match="go round in a circle"):
        inner_cells(circle)
