"""Many attackers: what they share (programmes, deviations of few cells, circuits) changes nothing that is found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from tabprotect.attack.attackers import AttackProgramme
from tabprotect.attack.keys import Key, keys
from tabprotect.attack.region import open_region
from tabprotect.attack.shortest import Shortest
from tabprotect.attack.witness import Witnesses
from tabprotect.instances import family
from tabprotect.problem import Attacker, Problem
from tabprotect.solver.limits import Budget, Limits
from tests.quick import first

NEAR = 1e-6
"""Levels reached within this share may count as reached or not."""

SEEDS = (0, 2, 4, 5, 6, 8, 11)


def asked_one_by_one(problem: Problem, hidden: np.ndarray) -> tuple[set[Key], set[Key]]:
    """Every question of everybody by a programme of its own, from nothing: what is exposed, and what is too near."""
    A, zeros = problem.system.A, np.zeros(problem.system.n_equations)
    exposed, near = set(), set()
    for key in keys(problem):
        free = hidden.copy()
        if key.attacker >= 0:
            free[list(problem.attackers[key.attacker].known)] = False
        need = (problem.spl, problem.upl, problem.lpl)[key.side][key.cell]
        columns = np.flatnonzero(free)
        reached = 0.0
        for side in (key.side,) if key.side else (1, -1):
            bounds = [(-problem.down[i], min(problem.up[i], 1e6)) for i in columns]
            if free[key.cell]:
                solution = linprog(-side * (columns == key.cell), A_eq=A[:, columns], b_eq=zeros, bounds=bounds)
                reached -= solution.fun
        if abs(reached - need) <= NEAR * need:
            near.add(key)
        elif reached < need:
            exposed.add(key)
    public = {k for k in exposed if k.attacker < 0}
    return {k for k in exposed if k in public or Key(-1, k.cell, k.side) not in public}, near


def watched_by_many(seed: int) -> tuple[Problem, np.ndarray]:
    """A small table in which 12 cells have an attacker of their own, and others know several."""
    rng = np.random.default_rng(seed)
    problem = family("thin", seed, sizes=(3, 3, 3)) if seed % 2 else family("flat2d", seed, rows=5, columns=5)
    cells = rng.permutation(problem.n_cells)
    known = [(int(i),) for i in cells[:12]]
    known += [tuple(int(i) for i in rng.choice(cells, 3, replace=False)) for _ in range(3)]
    problem = replace(problem, attackers=tuple(Attacker(f"a{i}", mine) for i, mine in enumerate(known)))
    problem = replace(problem, lpl=np.minimum(3 * problem.lpl, problem.down), upl=3 * problem.upl)
    if seed % 3 == 0:
        problem = replace(problem, spl=np.where(problem.lpl > 0, problem.lpl + problem.upl, 0.0))
    share = (0.35, 0.5, 0.65)[seed // 2 % 3]
    return problem, problem.must_hide | (problem.may_hide & (rng.random(problem.n_cells) < share))


@pytest.mark.parametrize("seed", first(3, SEEDS))
def test_many_attackers_find_what_programmes_of_their_own_find(seed: int) -> None:
    problem, hidden = watched_by_many(seed)
    exposed, near = asked_one_by_one(problem, hidden)
    judge = Witnesses(problem)
    found = {e.key for e in judge.check(hidden)}
    assert found - near == exposed - near
    smaller = hidden & (problem.must_hide | (np.random.default_rng(seed).random(problem.n_cells) < 0.8))
    exposed, near = asked_one_by_one(problem, smaller)
    assert {e.key for e in judge.check(smaller)} - near == exposed - near
    if not near:
        assert bool(judge.check(smaller, stop_at_first=True)) == bool(exposed)


def test_the_problems_of_that_comparison_have_answers_of_both_kinds() -> None:
    counts = []
    for seed in SEEDS:
        problem, hidden = watched_by_many(seed)
        found = Witnesses(problem).check(hidden)
        counts.append(sum(e.key.attacker >= 0 for e in found))
        assert len(problem.attackers) == 15
    assert min(counts) == 0
    assert sum(c > 0 for c in counts) >= 5


def test_witnesses_leave_alone_what_each_attacker_knows() -> None:
    problem = family("holdings", 2, activity=(3, 2), region=(3,), size=2)
    judge = Witnesses(problem)
    exposed = {e.key for e in judge.check(problem.may_hide)}
    assert len(problem.attackers) > 3
    for key in keys(problem):
        if key in exposed or Key(-1, key.cell, key.side) in exposed:
            continue
        (deviation,) = judge.witness(key)
        assert not np.isin(deviation.cells, judge.known(key.attacker)).any()
        assert np.abs(problem.system.A[:, deviation.cells] @ deviation.z).max() <= NEAR * np.abs(deviation.z).max()
        assert problem.may_hide[deviation.cells].all()


def test_attackers_share_programmes() -> None:
    """As many programmes as components and units need, not as many as there are attackers."""
    problem = family("holdings", 1)
    hidden = problem.must_hide | (problem.may_hide & (np.random.default_rng(0).random(problem.n_cells) < 0.4))
    judge = Witnesses(problem)
    asking = {e.key.attacker for e in judge.check(hidden)}
    assert len(asking) > judge.programmes > 0


def test_a_restated_programme_answers_like_a_new_one() -> None:
    problem = family("flat2d", 3, rows=5, columns=5)
    region = open_region(problem.system.A.tocsc(), np.flatnonzero(problem.may_hide))
    columns = np.arange(len(region.cells))
    down, up = problem.down[region.cells], problem.up[region.cells]
    moved = AttackProgramme(region, columns, down, up, 1.0, 2.0**10)
    rng = np.random.default_rng(0)
    for _ in range(20):
        fixed, target = np.sort(rng.choice(columns, 3, replace=False)), rng.choice(columns, 1)
        unit = 2.0 ** int(rng.integers(-2, 3))
        side, level = np.array([rng.choice([1, -1])]), np.array([64.0])
        moved.restate(fixed, unit, unit * 2.0**10)
        bounds = [np.where(np.isin(columns, fixed), 0.0, bound) for bound in (down, up)]
        anew = AttackProgramme(region, columns, *bounds, unit, unit * 2.0**10)
        first, second = (programme.solve(target, side, level, Budget()) for programme in (moved, anew))
        assert first.status == second.status == "optimal"
        assert first.objective == pytest.approx(second.objective, abs=1e-7)
        assert not first.x[fixed].any()


@pytest.mark.parametrize("side", [1, -1])
def test_a_shortest_deviation_is_the_cheapest_of_linprog(side: int) -> None:
    problem = family("flat2d", 4, rows=4, columns=5)
    region = open_region(problem.system.A.tocsc(), np.flatnonzero(problem.may_hide))
    n = len(region.cells)
    down, up = problem.down[region.cells], np.minimum(problem.up[region.cells], 1e4)
    price = np.where(np.arange(n) % 4 == 0, 20.0, 1.0)
    programme = Shortest(region, np.arange(n), down, up, 1.0, price)
    A = region.A.toarray()
    for target in range(0, n, 3):
        level = float(min(down[target], up[target])) / 2
        z = programme.find(target, side, level, Budget())
        bounds = [*((0, b) for b in up), *((0, b) for b in down)]
        mine, other = (target, n + target) if side > 0 else (n + target, target)
        bounds[mine], bounds[other] = (level, level), (0, 0)
        plain = linprog(np.tile(price, 2), A_eq=np.hstack([A, -A]), b_eq=np.zeros(len(A)), bounds=bounds)
        assert (z is None) == (plain.status == 2)
        if z is not None:
            assert side * z[target] == pytest.approx(level)
            assert np.abs(A @ z).max() <= NEAR * max(level, 1.0)
            assert price @ np.abs(z) == pytest.approx(plain.fun, rel=1e-6, abs=1e-6)
    assert programme.find(0, side, 1e9, Budget()) is None


def test_limits_leave_attackers_undecided_and_state_no_programme() -> None:
    problem, hidden = watched_by_many(4)
    judge = Witnesses(problem)
    found = judge.check(hidden, Budget(Limits(work=0)))
    assert found
    assert not any(e.decided for e in found)
