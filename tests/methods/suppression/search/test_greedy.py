"""Greedy patterns: safe by an independent check, close to brute force, honest about what cannot be protected."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from benchmarks.problems import widened
from tabprotect.attack.audit import audit
from tabprotect.attack.witness import Key, Witnesses, keys
from tabprotect.formats.jj import read_jj
from tabprotect.instances import family
from tabprotect.methods.suppression.options import DEFAULTS, changed
from tabprotect.methods.suppression.search.greedy import greedy
from tabprotect.methods.suppression.search.improvement import Improver
from tabprotect.methods.suppression.start.cleanup import clean
from tabprotect.methods.suppression.start.construct import Constructor
from tabprotect.methods.suppression.suppress import suppress
from tabprotect.problem import Attacker, Problem
from tabprotect.solver.limits import Budget, Limits
from tests.checker import Judge
from tests.quick import examples


def grid(rows: int, columns: int) -> np.ndarray:
    """Equations of a two-way table whose cells are stored row by row, totals first."""
    n = (rows + 1) * (columns + 1)
    at = np.arange(n).reshape(rows + 1, columns + 1)
    lines = [(at[r, 0], at[r, 1:]) for r in range(rows + 1)] + [(at[0, c], at[1:, c]) for c in range(columns + 1)]
    A = np.zeros((len(lines), n))
    for k, (total, parts) in enumerate(lines):
        A[k, total], A[k, parts] = -1, 1
    return A


def table(seed: int, rows: int = 3, columns: int = 4, n_primary: int = 2, scale: float = 1.0) -> Problem:
    """A random two-way table with zeros, bounds, sliding levels, forced and protected cells and attackers."""
    rng = np.random.default_rng(seed)
    inner = rng.integers(1, 60, (rows, columns)) * (rng.random((rows, columns)) < 0.85)
    values = np.block([[inner.sum(), inner.sum(axis=0)], [inner.sum(axis=1)[:, None], inner]]).ravel() * scale
    n = len(values)
    inside = np.flatnonzero((values > 0) & (np.arange(n) % (columns + 1) > 0) & (np.arange(n) > columns))
    primary = rng.choice(inside, n_primary, replace=False)
    others = np.setdiff1d(np.arange(n), primary)
    level = values * rng.choice([0.1, 0.3])
    return Problem.from_arrays(
        grid(rows, columns),
        values,
        primary,
        lpl=level,
        upl=level,
        spl=level * rng.choice([0.0, 2.5]),
        upper=values * 2 + 10 * scale if rng.random() < 0.5 else np.inf,
        weights=np.maximum(values / scale, 1.0),
        forced=rng.choice(others, 1) if rng.random() < 0.3 else (),
        protected=[0],
        attackers=[Attacker("single", tuple(rng.choice(others, 1).tolist()))] if rng.random() < 0.4 else (),
    )


def independently_safe(problem: Problem, pattern: np.ndarray) -> bool:
    """Two programmes of scipy a cell and attacker."""

    def extreme(cell: int, side: int, known: tuple[int, ...]) -> float:
        free = pattern.copy()
        free[list(known)] = False
        cost = np.zeros(problem.n_cells)
        cost[cell] = -side
        size = max(1.0, float(problem.values.max()))
        bounds = [
            (-lo / size, None if np.isinf(hi) else hi / size) if f else (0, 0)
            for lo, hi, f in zip(problem.down, problem.up, free, strict=True)
        ]
        answer = linprog(cost, A_eq=problem.system.A, b_eq=np.zeros(problem.system.n_equations), bounds=bounds)
        return np.inf if answer.status == 3 else -float(answer.fun) * size

    for key in keys(problem):
        known = problem.attackers[key.attacker].known if key.attacker >= 0 else ()
        if key.side:
            need = (problem.upl if key.side > 0 else problem.lpl)[key.cell]
            reached = extreme(key.cell, key.side, known)
        else:
            need, reached = problem.spl[key.cell], sum(extreme(key.cell, s, known) for s in (1, -1))
        if reached < need * (1 - 1e-6):
            return False
    return True


def brute_force(problem: Problem, at_most: float) -> float:
    """Cheapest safe cost below `at_most`, else `at_most`."""
    free = np.flatnonzero(problem.may_hide & ~problem.must_hide)
    judge, best = Witnesses(problem), at_most
    for size in range(len(free) + 1):
        for chosen in itertools.combinations(free.tolist(), size):
            cost = float(problem.weights[list(chosen)].sum())
            if cost < best:
                pattern = problem.must_hide
                pattern[list(chosen)] = True
                if not judge.check(pattern, stop_at_first=True):
                    best = cost
    return best


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e7])
def test_patterns_are_safe_by_an_independent_check(scale: float) -> None:
    costs = []
    for seed in range(examples(6, 12)):
        problem = table(seed, n_primary=3, scale=scale)
        result = greedy(problem, restarts=2)
        assert result.status in ("feasible", "infeasible")
        assert (result.pattern | ~problem.must_hide).all()
        assert not result.pattern[~problem.may_hide].any()
        assert result.safe == independently_safe(problem, result.pattern)
        if result.safe:
            assert result.cost == pytest.approx(problem.weights[result.pattern & ~problem.must_hide].sum())
            costs.append(result.cost)
    assert len(costs) >= examples(3, 6)


@pytest.mark.slow
def test_near_brute_force_on_tiny_tables() -> None:
    ours = best = 0.0
    for seed in range(10):
        problem = table(100 + seed, rows=2, columns=3)
        result = greedy(problem, restarts=6)
        if result.safe and result.cost is not None:
            ours += result.cost
            exact = brute_force(problem, result.cost)
            assert exact <= result.cost
            best += exact
    assert best > 0
    assert ours <= 1.05 * best


def test_infeasible_cells_are_named_with_what_they_reach() -> None:
    A = grid(2, 2)
    values = [20, 9, 11, 8, 3, 5, 12, 6, 6]
    problem = Problem.from_arrays(A, values, primary=[4, 8], lpl=1, upl=1, protected=[5, 7, 3, 1])
    result = greedy(problem)
    assert (result.status, result.safe, result.cost) == ("infeasible", False, None)
    assert {(u.cell, u.reachable) for u in result.unprotectable} == {(4, (3.0, 3.0))}
    assert all("follows from" in u.reason for u in result.unprotectable)
    assert "1 primary cells cannot" in result.message
    # the other one is protected all the same
    exposed = Witnesses(problem).check(result.pattern)
    assert {e.key.cell for e in exposed} == {4}


def test_level_beyond_the_external_bound_is_named() -> None:
    problem = Problem.from_arrays([[-1, 1, 1]], [9, 4, 5], primary=[1], lpl=1, upl=3, upper=[9, 6, 8])
    result = greedy(problem)
    assert result.status == "infeasible"
    assert [(u.cell, u.needed) for u in result.unprotectable] == [(1, (3.0, 7.0))]
    assert "external bounds are closer" in result.unprotectable[0].reason


def test_nothing_to_protect() -> None:
    result = greedy(Problem.from_arrays([[-1, 1, 1]], [9, 4, 5], primary=[], lpl=1, upl=1))
    assert (result.status, result.cost, result.safe) == ("feasible", 0.0, True)
    assert not result.pattern.any()


def test_limits_and_cancelling_are_kept() -> None:
    problem = table(1, 6, 6, 4)
    none = greedy(problem, limits=Limits(work=0), in_bulk=False)
    assert (none.status, none.safe, none.cost, none.stopped) == ("unknown", False, None, "work")
    # nothing is known of the values of a row, and the table in proportion shows that everything hidden is safe
    row = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
    everything = greedy(row, limits=Limits(work=0))
    assert (everything.safe, everything.stopped) == (True, "work")
    assert independently_safe(row, everything.pattern)
    polled = iter(range(10**9))
    some = greedy(problem, limits=Limits(stop=lambda: next(polled) > 60), restarts=10**6)
    assert some.stopped == "cancelled"
    assert some.safe == independently_safe(problem, some.pattern)


def test_cheapest_witnesses_that_seem_to_take_too_long_give_way_to_removal_in_bulk() -> None:
    problem = family("margins", 0, d=5, k=3, categories=3)
    at_once = changed(DEFAULTS, "construction.trial_limit_share", 0.0)
    limits = Limits(work=100_000)
    stopped = greedy(problem, limits=limits, patience=0.0, in_bulk=False, options=at_once)
    assert (stopped.status, stopped.cost) == ("unknown", None)
    told: list[float] = []
    result = greedy(
        problem,
        limits=limits,
        patience=0.0,
        restarts=0,
        progress=lambda line: told.append(line.cost or 0.0),
        options=at_once,
    )
    assert result.cost is not None
    assert audit(problem, result.pattern, intervals=False).safe
    assert result.cost < 0.2 * problem.cost(problem.may_hide)
    assert told == sorted(told, reverse=True)
    assert len(told) > 3
    assert min(told) >= result.cost


def test_cheapest_witnesses_that_do_not_end_leave_time_for_removal_in_bulk() -> None:
    problem = family("margins", 0, d=5, k=4, categories=(4, 3, 3, 3, 2))
    never = changed(changed(DEFAULTS, "construction.late_limit_share", 1.0), "construction.trial_limit_share", 1.0)
    whole = greedy(problem, restarts=0, cleanup=0.0)
    limits, costs = Limits(work=int(0.8 * whole.work)), []
    for share in (1.0, 0.5):
        options = changed(never, "start.before_bulk_limit_share", share)
        result = greedy(problem, limits=limits, patience=1e9, restarts=0, cleanup=0.0, options=options)
        assert audit(problem, result.pattern, intervals=False).safe
        costs.append(result.cost)
    assert costs[0] == problem.cost(problem.may_hide)
    assert costs[1] < 0.3 * costs[0]


def test_what_is_told_on_the_way_is_the_cost_of_all_parts() -> None:
    inner = np.random.default_rng(3).integers(10, 60, (2, 6, 6))
    values = [np.block([[x.sum(), x.sum(axis=0)], [x.sum(axis=1)[:, None], x]]).ravel() for x in inner]
    n = len(values[0])
    both = Problem.from_arrays(
        sparse.block_diag([grid(6, 6)] * 2),
        np.concatenate(values),
        primary=[8, 17, 26, n + 9, n + 18, n + 27],
        lpl=5,
        upl=5,
        weights=np.concatenate(values),
    )
    told: list[float] = []
    result = greedy(both, restarts=3, progress=lambda line: told.append(line.cost or 0.0))
    assert told
    assert min(told) == result.cost


def test_same_seed_same_answer_and_restarts_never_hurt() -> None:
    problem = table(7, 6, 7, 5)
    first, second = greedy(problem, seed=3, restarts=4), greedy(problem, seed=3, restarts=4)
    assert (first.pattern == second.pattern).all()
    assert first.work == second.work
    plain = greedy(problem, seed=3, restarts=0)
    assert first.cost is not None
    assert plain.cost is not None
    assert first.cost <= plain.cost


def test_clean_up_leaves_nothing_that_can_be_taken_out() -> None:
    for seed in range(6):
        problem = table(seed, 4, 5, 3)
        judge = Witnesses(problem)
        start = Constructor(judge).build(problem.weights, Budget())
        assert start is not None
        if judge.check(start):
            continue
        pattern = clean(judge, start | (problem.may_hide & (np.arange(problem.n_cells) % 3 == 0)), Budget())
        assert judge.check(pattern) == ()
        for cell in np.flatnonzero(pattern & ~problem.must_hide):
            smaller = pattern.copy()
            smaller[cell] = False
            assert Witnesses(problem).check(smaller)


def test_improver_takes_guidance_and_keeps_the_best() -> None:
    problem = table(11, 6, 6, 4)
    judge = Witnesses(problem)
    improver = Improver(problem, judge, seed=0)
    costs = []
    for _ in range(5):
        found = improver.step(Budget(), guide=np.full(problem.n_cells, 0.5))
        if found is not None:
            assert problem.cost(found) == improver.cost
            assert judge.check(found) == ()
            costs.append(improver.cost)
    assert costs
    assert costs == sorted(costs, reverse=True)
    assert not improver.learn(problem.may_hide)


def test_singleton_attackers_are_protected_against() -> None:
    A = grid(3, 3)
    inner = np.array([[5.0, 7, 9], [4, 6, 8], [9, 9, 9]])
    values = np.block([[inner.sum(), inner.sum(axis=0)], [inner.sum(axis=1)[:, None], inner]]).ravel()
    plain = Problem.from_arrays(A, values, primary=[5], lpl=1, upl=1)
    base = greedy(plain)
    alone = tuple(int(i) for i in base.secondaries[:1])
    problem = Problem.from_arrays(A, values, primary=[5], lpl=1, upl=1, attackers=[Attacker("alone", alone)])
    assert Key(0, 5, 1) in {e.key for e in Witnesses(problem).check(base.pattern)}
    result = greedy(problem)
    assert result.safe
    assert independently_safe(problem, result.pattern)
    assert result.cost is not None
    assert base.cost is not None
    assert result.cost >= base.cost


@pytest.mark.parametrize(
    ("name", "at_most"),
    [
        ("table8", 105),
        ("osorio", 20),
        ("hie1372d", 660_000),
        pytest.param("hie1327d", 2_340_000, marks=pytest.mark.slow),
    ],
)
def test_csplib(shared, name: str, at_most: float) -> None:  # type: ignore[no-untyped-def]
    problem = read_jj(shared(f"instances/csplib/{name}.jj"))
    result = greedy(problem, restarts=1)
    assert result.safe
    assert result.cost is not None
    assert result.cost <= at_most


def test_a_cell_that_only_an_attacker_can_compute_after_the_repair_is_named_too():
    problem = widened(7311)[1]
    unattainable = {(e.attacker, e.cell) for e in Judge(problem).exposed(problem.may_hide)}
    result = suppress(problem, method="exact")
    assert result.status == "infeasible"
    assert {u.cell for u in result.unprotectable} == {cell for _, cell in unattainable} == {17, 19}
