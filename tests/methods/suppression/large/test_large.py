"""Patterns and bounds of large tables: safe by an independent check, never a bound above the optimum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from benchmarks.problems import widened
from tabprotect.attack.audit import audit
from tabprotect.formats.jj import read_jj
from tabprotect.instances import family, load
from tabprotect.instances.large import large
from tabprotect.methods.suppression.choice import begins, choose
from tabprotect.methods.suppression.large import local
from tabprotect.methods.suppression.large.bound import LocalBound
from tabprotect.methods.suppression.large.cover import Cover
from tabprotect.methods.suppression.large.nearby import Nearby, Search
from tabprotect.methods.suppression.large.programme import Move
from tabprotect.methods.suppression.large.rebuild import Rebuilder
from tabprotect.methods.suppression.large.rows import LocalRows
from tabprotect.methods.suppression.large.surroundings import Surroundings
from tabprotect.methods.suppression.large.windows import Windows
from tabprotect.methods.suppression.options import DEFAULTS, Options, changed
from tabprotect.methods.suppression.options.local import NearbyOptions
from tabprotect.methods.suppression.suppress import suppress
from tabprotect.problem import Attacker, Problem, Status
from tabprotect.solver.limits import Budget, Limits, Progress
from tabprotect.table.system import LinearSystem
from tests.checker import Judge
from tests.quick import first
from tests.random_problems import random_problem


def check(problem: Problem, name: str) -> bool:
    """Safe by the independent judge, the bound never above the optimum; True when that could be enumerated."""
    result = local(problem, limits=Limits(work=3000))
    judge = Judge(problem)
    if not result.safe:
        assert result.unprotectable or result.message, name
        return False
    assert judge.safe(result.pattern), name
    assert result.cost == pytest.approx(problem.cost(result.pattern))
    try:
        best = judge.optimum(12)
    except ValueError:
        return False
    assert result.bound <= best.cost * (1 + 1e-9), name
    assert best.cost <= result.cost * (1 + 1e-9), name
    return True


@pytest.mark.slow
def test_against_enumeration() -> None:
    assert sum(check(random_problem(seed, max_cells=26), str(seed)) for seed in range(9)) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 80, 40))
def test_against_enumeration_on_many(start: int) -> None:
    """Other units, uneven bounds, sliding levels, attackers, no bounds at all."""
    assert sum(check(*reversed(widened(seed))) for seed in range(start, start + 40)) >= 4


@pytest.mark.slow
@pytest.mark.parametrize(("cells", "dims", "seed"), first(2, [(150, 2, 1), (120, 3, 4), (250, 2, 2)]))
def test_bounds_and_costs_enclose_those_of_the_exact_engine(cells: int, dims: int, seed: int) -> None:
    problem = large(cells, dims=dims, seed=seed)
    exact = suppress(problem, method="exact", limits=Limits(work=10_000))
    mine = local(problem, limits=Limits(work=20_000))
    assert mine.safe
    assert exact.safe
    assert mine.bound is not None
    assert exact.bound is not None
    assert mine.bound <= exact.cost * (1 + 1e-9)
    assert exact.bound <= mine.cost * (1 + 1e-9)
    assert mine.cost <= 1.5 * exact.cost


def test_every_row_holds_for_safe_patterns() -> None:
    """Rows of all reaches at points of all kinds are satisfied by patterns found without them."""
    problem = large(400, seed=5)
    near = Surroundings(problem.system)
    rows = LocalRows(problem, near)
    patterns = [local(problem, seed=s, limits=Limits(work=3000)).pattern.astype(float) for s in range(3)]
    rng = np.random.default_rng(0)
    made = rows.own()
    for hops in (1, 2, 3):
        for question in range(len(rows.questions.cell)):
            for x in (np.zeros(problem.n_cells), rng.random(problem.n_cells)):
                found = rows.separate(question, x, Budget(), hops=hops)
                if found is not None:
                    assert float(found.values @ x[found.cells]) < 1
                    made.append(found)
    assert len(made) > 30
    for row in made:
        for x in patterns:
            assert float(row.values @ x[row.cells]) >= 1 - 1e-9


@given(st.integers(0, 10**6), st.integers(1, 3))
@settings(max_examples=40)
def test_surroundings_against_plain_search(seed: int, hops: int) -> None:
    rng = np.random.default_rng(seed)
    A = sparse.random_array((8, 14), density=0.25, rng=rng, data_sampler=lambda size: rng.choice([-1.0, 1.0], size))
    A = sparse.csr_array(A)
    near = Surroundings(LinearSystem(A, np.zeros(8), range(14)))
    allowed = rng.random(14) < 0.8
    cell = int(rng.integers(14))
    dense = A.toarray() != 0
    seen = {cell}
    for _ in range(hops):
        rows = dense[:, sorted(seen)].any(axis=1)
        seen |= {int(i) for i in np.flatnonzero(dense[rows].any(axis=0)) if allowed[i]}
    ball = near.ball(np.array([cell]), hops, allowed)
    assert set(ball.tolist()) == seen
    block = near.closed(ball, cell)
    kept = np.ones(14, bool)
    kept[np.setdiff1d(np.arange(14), ball)] = False
    while True:  # cells alone in an equation do not move
        alone = (dense & kept).sum(axis=1) == 1
        stuck = [i for i in np.flatnonzero((dense[alone] & kept).any(axis=0)) if i != cell]
        if not stuck:
            break
        kept[stuck] = False
    assert block.cells.tolist() == np.flatnonzero(kept).tolist()
    assert np.array_equal(block.A.array().toarray(), A.toarray()[block.rows][:, block.cells])
    assert not np.delete(A.toarray(), block.rows, axis=0)[:, block.cells].any()


def test_cover_is_the_union_of_its_witnesses() -> None:
    problem = large(1000, seed=2)
    cover = Cover(problem)
    builder = Rebuilder(cover, Nearby(problem, Surroundings(problem.system)), {}, 0)
    budget = Budget()
    assert builder.build(budget)
    rng = np.random.default_rng(0)
    for _ in range(60):
        builder.step(budget)
        union = problem.must_hide
        for witness in cover.witnesses():
            deviation = witness.deviation
            union[deviation.cells] = True
            assert np.abs(problem.system.A[:, deviation.cells] @ deviation.z).max() < 1e-6 * np.abs(deviation.z).max()
        assert np.array_equal(union, cover.pattern)
        assert cover.cost == pytest.approx(problem.cost(union))
        assert np.array_equal(cover.price > 0, ~union & (problem.weights > 0))
    before, question = cover.pattern, int(rng.integers(len(cover.keys)))
    for witness in cover.release(question):
        cover.restore(witness, [question])
    assert np.array_equal(cover.pattern, before)


def test_a_deviation_is_looked_for_further_away_until_there_is_one() -> None:
    n = 40  # a ring: all cells move or none
    ring = sparse.csr_array(np.eye(n) + np.roll(np.eye(n), 1, axis=1))
    problem = Problem.from_arrays(ring.toarray(), [5] * n, primary=[0], lpl=1, upl=1)
    nearby = Nearby(problem, Surroundings(problem.system))
    price = np.where(problem.must_hide, 0.0, problem.weights)
    assert nearby.find(Move(0, 1, 1.0), price, Budget(), Search(widen=False)) is None
    assert nearby.find(Move(0, 1, 1.0), price, Budget(), Search(far=False)) is None
    found = nearby.find(Move(0, 1, 1.0), price, Budget())
    assert found is not None
    assert found.cells.tolist() == list(range(n))
    assert np.allclose(found.z, [1.0, -1.0] * (n // 2))


def test_few_cells_that_can_move_far_are_not_the_last_word() -> None:
    problem = large(400, seed=2)
    nearby = Nearby(problem, Surroundings(problem.system), NearbyOptions(large_cells=3))
    price = np.where(problem.must_hide, 0.0, problem.weights)
    for cell in problem.primaries.tolist():
        found = nearby.find(Move(cell, 1, float(problem.upl[cell])), price, Budget())
        assert found is not None
        assert found.z[found.cells == cell] == pytest.approx(problem.upl[cell])
        assert np.abs(problem.system.A[:, found.cells] @ found.z).max() < 1e-6 * np.abs(found.z).max()


def test_other_charges_find_cheaper_deviations() -> None:
    problem = large(600, dims=3, seed=2)
    near, price = Surroundings(problem.system), np.where(problem.must_hide, 0.0, problem.weights)
    nearby = Nearby(problem, near)
    saved = []
    for cell in problem.primaries.tolist():
        level = float(problem.upl[cell])
        found = nearby.find(Move(cell, 1, level), price, Budget(), Search(hops=2, widen=False))
        block = near.closed(near.ball(np.array([cell]), DEFAULTS.local.nearby.equations[2], nearby.allowed), cell)
        once = nearby.inside(block, Move(cell, 1, level), price, Budget())
        assert (found is None) == (once is None)
        if found is not None and once is not None:
            saved.append(price[once.cells].sum() - price[found.cells].sum())
    assert min(saved) >= 0
    assert max(saved) > 0


def test_ruin_and_recreate_that_gains_little_ends_before_its_limits() -> None:
    problem, limits = large(600, dims=3, seed=1), Limits(work=30_000)
    whole = local(problem, limits=limits)
    hasty = changed(changed(Options(), "local.search.slice_limit_share", 0.05), "local.search.slice_gain", 0.9)
    short = local(problem, limits=limits, options=hasty)
    assert short.work < 0.5 * whole.work
    assert short.safe
    assert short.cost >= whole.cost
    assert short.bound <= whole.cost


@pytest.mark.slow
def test_auto_looks_among_the_cells_of_a_local_pattern_that_gets_no_cheaper() -> None:
    problem, limits = large(600, dims=3, primaries=0.1, seed=1), Limits(work=18_000)
    chosen = changed(changed(Options(), "choice.always_exact_cells", 100), "choice.near_share", 1.0)
    slow = changed(chosen, "local.search.slice_gain", 0.5)
    result = suppress(problem, limits=limits, options=slow)
    assert result.method.startswith("auto: local, then recombination")
    assert Judge(problem).safe(result.pattern)
    assert result.bound <= result.cost
    never = suppress(problem, limits=limits, options=changed(slow, "choice.inside_cells", 0))
    assert never.method.startswith("auto: local, since")


def test_auto_ends_where_local_programmes_name_what_nothing_protects() -> None:
    problem = large(600, dims=3, primaries=0.1, seed=1)
    lonely = int(problem.primaries[0])
    levels = problem.upl.copy()
    levels[lonely] = 1.0
    upper = problem.upper.copy()
    upper[lonely] = problem.values[lonely]
    problem = replace(problem, upl=levels, upper=upper)
    chosen = changed(changed(Options(), "choice.always_exact_cells", 100), "choice.near_share", 1.0)
    result = suppress(problem, limits=Limits(work=15_000), options=chosen)
    assert result.status == "infeasible"
    assert lonely in {one.cell for one in result.unprotectable}
    assert result.method.startswith("auto: local, since")


def windowed(seed: int, steps: int) -> tuple[Cover, list[float]]:
    problem = large(400, seed=seed)
    cover, near, budget = Cover(problem), Surroundings(problem.system), Budget()
    rebuilder = Rebuilder(cover, Nearby(problem, near), {}, 0)
    assert rebuilder.build(budget)
    windows = Windows(rebuilder, near, 0)
    costs = [cover.cost]
    for _ in range(steps):
        gain = windows.step(budget)
        assert gain == pytest.approx(costs[-1] - cover.cost)
        costs.append(cover.cost)
    return cover, costs


def test_windows_save_and_leave_the_pattern_safe() -> None:
    cover, costs = windowed(2, 25)
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < costs[0]
    assert cover.cost == pytest.approx(cover.problem.cost(cover.pattern))
    assert Judge(cover.problem).safe(cover.pattern)
    assert not len(cover.open())
    assert np.array_equal(cover.price > 0, ~cover.pattern & (cover.problem.weights > 0))


def test_windows_are_repeatable() -> None:
    assert windowed(3, 8)[1] == windowed(3, 8)[1]


def test_same_seed_and_work_same_answer() -> None:
    problem = large(2000, seed=3)
    first, second = (local(problem, seed=7, limits=Limits(work=8000)) for _ in range(2))
    assert np.array_equal(first.pattern, second.pattern)
    assert (first.cost, first.bound, first.work) == (second.cost, second.bound, second.work)


def test_limits_are_kept_and_told() -> None:
    problem = large(3000, seed=1)
    nothing = local(problem, limits=Limits(work=10))
    assert (nothing.status, nothing.safe, nothing.stopped) == ("unknown", False, "work")
    lines: list[Progress] = []
    some = local(problem, limits=Limits(work=5000), progress=lines.append)
    assert some.safe
    assert some.stopped == "work"
    costs = [line.cost for line in lines if line.cost is not None]
    assert costs == sorted(costs, reverse=True)
    assert lines[-1].gap == pytest.approx(some.gap)


def test_starts_from_a_pattern() -> None:
    problem = large(2000, seed=4)
    good = local(problem, limits=Limits(work=40_000))
    again = local(problem, start=good.pattern, passes=0)
    first = local(problem, passes=0)
    assert again.safe
    assert first.bound is None
    assert again.cost <= good.cost * 1.05 < first.cost * 1.05


def test_a_safe_start_is_never_made_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = load("linked-small")
    good = suppress(problem, method="exact", limits=Limits(work=20_000))
    monkeypatch.setattr(Rebuilder, "reuse", lambda *_: None)
    dear = changed(Options(), "local.search.start_price", 1e3)
    again = local(problem, start=good.pattern, passes=0, options=dear)
    assert again.safe
    assert again.cost == good.cost


@pytest.mark.slow
def test_attackers_who_know_cells() -> None:
    """Single contributors are found out by the judge, and answered."""
    problem = family("singletons", seed=2, activity=(4, 3), region=(3, 2))
    assert len(problem.attackers) > 3
    result = local(problem, limits=Limits(work=20_000))
    assert {e.key.cell for e in audit(problem, result.pattern, intervals=False).exposures} <= {
        u.cell for u in result.unprotectable
    }
    public = local(replace(problem, attackers=()), limits=Limits(work=20_000))
    assert not audit(problem, public.pattern, intervals=False).safe


@pytest.mark.slow
def test_names_what_cannot_be_protected() -> None:
    problem = large(500, seed=6)
    cell = int(problem.primaries[0])
    row = np.flatnonzero(problem.system.A[:, [cell]].toarray().ravel())[0]
    others = problem.system.A[[row]].indices
    status = problem.status.copy()
    status[others[others != cell]] = Status.PROTECTED
    result = local(replace(problem, status=status), limits=Limits(work=20_000))
    assert result.status == "infeasible"
    assert cell in {u.cell for u in result.unprotectable}


def test_auto_chooses_by_size_and_shape_and_says_why() -> None:
    limits = Limits(work=3000)
    assert suppress(large(200, seed=1), limits=limits).method.startswith("auto: exact")
    assert choose(large(4000, seed=1)) == ("exact", "each of 4,158 cells is in only 2.4 equations on average")
    assert choose(large(4000, primaries=0.15, seed=1))[0] == "local"
    far = suppress(large(4000, dims=3, seed=1), limits=limits)
    assert far.method.removeprefix("first pattern, then ").startswith("auto: local, since 4 equations")


@pytest.mark.slow
def test_auto_hands_over_to_the_exact_engine_where_the_bound_comes_close() -> None:
    options = changed(Options(), "choice.tight_ratio", 4.0)
    table, limits = large(4000, primaries=0.12, seed=1), Limits(work=30_000)
    alone, both = suppress(table, method="local", limits=limits), suppress(table, limits=limits, options=options)
    assert both.method.startswith("auto: local, then exact")
    assert both.safe
    assert both.cost <= alone.cost
    watched = replace(table, attackers=(Attacker("a", (0, 1)),))
    assert suppress(watched, limits=limits, options=options).method.startswith("auto: local, since")
    wide = suppress(table, limits=Limits(work=30_000, gap=0.8), options=options)
    assert wide.method.startswith("auto: local, since")


def test_auto_starts_in_the_first_pool_where_many_cells_are_primary() -> None:
    assert begins(large(1100, primaries=0.1, seed=1)) == "local"
    assert begins(large(1100, primaries=0.3, seed=1)) == "exact"


def test_bound_needs_no_trust_in_the_solver() -> None:
    """Whatever the multipliers are, the sums give a bound below the cost of a safe pattern."""
    problem = large(600, seed=1)
    bound = LocalBound(problem, Surroundings(problem.system))
    for _ in range(4):
        bound.step(Budget())
    cost = local(problem, limits=Limits(work=10_000)).cost
    rng = np.random.default_rng(0)
    for scale in (0.1, 10.0, 1e4):
        assert bound._proven(rng.random(len(bound._kept)) * scale) <= cost


@pytest.mark.slow
@pytest.mark.parametrize("dims", [2, 3])
def test_ten_thousand_cells(dims: int) -> None:
    problem = large(10_000, dims=dims, seed=9)
    result = local(problem, limits=Limits(work=60_000 if dims == 2 else 400_000))
    assert result.safe
    assert audit(problem, result.pattern, intervals=False).safe
    assert result.cost < (2.5 if dims == 2 else 8.0) * result.bound


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hie1372d", "hier13"])
def test_linked_and_hierarchical_instances(name: str, shared: Callable[[str], Path]) -> None:
    problem = read_jj(shared(f"instances/csplib/{name}.jj"))
    result = local(problem, limits=Limits(work=100_000))
    assert result.safe
    assert Problem is type(result.problem)
    assert audit(problem, result.pattern, intervals=False).safe
