"""The fast yes/no audit, against linear programmes of scipy that share no code with it."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, sparse
from scipy.optimize import linprog

from tabprotect.attack.attackers import AttackProgramme
from tabprotect.attack.region import open_region
from tabprotect.attack.witness import Deviation, Exposure, Key, Witnesses, capacity, keys
from tabprotect.formats.jj import read_jj
from tabprotect.instances import family, load
from tabprotect.problem import Attacker, Problem
from tabprotect.solver.limits import Budget, Limits


def grid(shape: tuple[int, ...]) -> np.ndarray:
    """Equations of a table with margins in every dimension."""
    blocks = [np.concatenate(([-1.0], np.ones(k))) for k in shape]
    identity = [np.eye(k + 1) for k in shape]
    rows = []
    for axis in range(len(shape)):
        factors = [blocks[a][None, :] if a == axis else identity[a] for a in range(len(shape))]
        block = factors[0]
        for factor in factors[1:]:
            block = np.kron(block, factor)
        rows.append(block)
    return np.vstack(rows)


def random_problem(seed: int) -> tuple[Problem, np.ndarray]:
    """A small table with odd features, and a random pattern."""
    rng = np.random.default_rng(seed)
    shape = [(3, 4), (2, 2, 3), (4, 5), (2, 2, 2)][rng.integers(4)]
    A = grid(shape)
    inner = rng.lognormal(2, 1.5, shape).round(1) * (rng.random(shape) < 0.9)
    values = inner
    for axis in range(len(shape)):
        values = np.concatenate((values.sum(axis=axis, keepdims=True), values), axis=axis)
    values = values.ravel()
    n = len(values)
    scale = float(10.0 ** rng.integers(-3, 7))
    values = values * scale
    primary = rng.choice(np.flatnonzero(values > 0), size=min(4, int((values > 0).sum())), replace=False)
    level = values * rng.choice([0.1, 0.5, 1.0])
    spl = np.where(rng.random(n) < 0.3, 2.5 * level, 0.0)
    lpl = np.where(rng.random(n) < 0.2, 0.0, level)
    upper = values + np.where(rng.random(n) < 0.3, np.inf, np.maximum(values, scale) * rng.choice([1.0, 3.0]))
    attackers = [
        Attacker(f"a{k}", tuple(rng.choice(n, size=2, replace=False).tolist())) for k in range(rng.integers(4))
    ]
    zero = np.flatnonzero((values == 0) & (rng.random(n) < 0.5))
    problem = Problem.from_arrays(
        A, values, primary, lpl=lpl, upl=level, spl=spl, upper=upper, attackers=attackers, zero=zero
    )
    hidden = problem.must_hide | (rng.random(n) < rng.choice([0.2, 0.5, 0.8]))
    return problem, hidden & problem.may_hide


def extreme(problem: Problem, hidden: np.ndarray, known: tuple[int, ...], cell: int, side: int) -> float:
    """How far one cell can go, by scipy."""
    free = hidden.copy()
    free[list(known)] = False
    cost = np.zeros(problem.n_cells)
    cost[cell] = -side
    scale = max(1.0, float(np.abs(problem.values).max()))
    down, up = np.where(free, problem.down, 0) / scale, np.where(free, problem.up, 0) / scale
    bounds = [(-lo, None if np.isinf(hi) else hi) for lo, hi in zip(down, up, strict=True)]
    result = linprog(cost, A_eq=problem.system.A, b_eq=np.zeros(problem.system.n_equations), bounds=bounds)
    return np.inf if result.status == 3 else -result.fun * scale


def truth(problem: Problem, hidden: np.ndarray) -> dict[Key, tuple[float, float]]:
    """(reached, needed) for every question."""
    answers = {}
    for key in keys(problem):
        known = problem.attackers[key.attacker].known if key.attacker >= 0 else ()
        if key.side:
            level = problem.upl if key.side > 0 else problem.lpl
            answers[key] = (extreme(problem, hidden, known, key.cell, key.side), level[key.cell])
        else:
            width = sum(extreme(problem, hidden, known, key.cell, s) for s in (1, -1))
            answers[key] = (width, problem.spl[key.cell])
    return answers


def assert_agrees(problem: Problem, hidden: np.ndarray, judge: Witnesses) -> int:
    """Hold every answer of the judge, its witnesses and its proofs against scipy; return the number of exposures."""
    exposed: dict[Key, Exposure] = {e.key: e for e in judge.check(hidden)}
    for key, (reached, need) in truth(problem, hidden).items():
        known = problem.attackers[key.attacker].known if key.attacker >= 0 else ()
        public = Key(-1, key.cell, key.side)
        if key in exposed:
            exposure = exposed[key]
            assert exposure.decided
            assert exposure.reached == pytest.approx(reached, rel=1e-6, abs=1e-6 * need)
            limit = 0.0
            for proof in exposure.proofs:
                cells, c = capacity(problem, key.cell, proof, np.array(known, int), box=key.side == 0)
                limit += c[hidden[cells]].sum()
            assert limit == pytest.approx(reached, rel=1e-6, abs=1e-6 * need)
            assert limit < need
        elif public not in exposed:
            assert reached >= need * (1 - 1e-6)
            parts = judge.witness(key)
            assert len(parts) == (1 if key.side else 2)
            total = 0.0
            for part in parts:
                z = np.zeros(problem.n_cells)
                z[part.cells] = part.z
                assert not z[~hidden].any()
                assert not z[list(known)].any()
                assert np.abs(problem.system.A @ z).max(initial=0) <= 1e-6 * need
                assert (z >= -problem.down - 1e-9 * need).all()
                assert (z <= problem.up + 1e-9 * need).all()
                total += abs(z[key.cell])
            assert total >= need * (1 - 1e-6)
    return len(exposed)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(4))
def test_answers_agree_with_independent_programmes(chunk: int) -> None:
    exposures = 0
    for seed in range(chunk * 12, chunk * 12 + 12):
        problem, hidden = random_problem(seed)
        judge = Witnesses(problem)
        exposures += assert_agrees(problem, hidden, judge)
        rng = np.random.default_rng(seed)
        for _ in range(2):
            other = problem.must_hide | (problem.may_hide & (rng.random(problem.n_cells) < 0.7))
            exposures += assert_agrees(problem, other, judge)
    assert exposures > 10


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_a_fresh_judge_and_an_experienced_one_agree(seed: int) -> None:
    problem, _ = random_problem(seed)
    judge = Witnesses(problem)
    rng = np.random.default_rng(seed)
    for _ in range(4):
        pattern = problem.must_hide | (problem.may_hide & (rng.random(problem.n_cells) < 0.6))
        assert {e.key for e in judge.check(pattern)} == {e.key for e in Witnesses(problem).check(pattern)}


def test_stored_witnesses_answer_without_programmes() -> None:
    problem = Problem.from_arrays(grid((3, 3)), 4 * np.abs(grid((3, 3))).sum(axis=0), primary=[5, 6], lpl=1, upl=1)
    judge = Witnesses(problem)
    assert judge.check(problem.may_hide) == ()
    solved = judge.programmes
    judge.check(problem.may_hide)
    assert solved > 0
    assert judge.programmes == solved


@pytest.mark.parametrize("seed", range(60))
def test_the_table_in_proportion_answers_nothing_that_programmes_deny(seed: int) -> None:
    problem, _ = random_problem(seed)
    judge, everything = Witnesses(problem), problem.may_hide | problem.must_hide
    judge.offer_scaled(everything)
    for deviation in judge.deviations(everything):
        unit = np.abs(deviation.z).max()
        assert np.abs(problem.system.A[:, deviation.cells] @ deviation.z).max() <= 1e-9 * unit
        assert np.all(deviation.z <= problem.up[deviation.cells])
        assert np.all(deviation.z >= -problem.down[deviation.cells])
    q = judge.questions
    answered = {(int(q.cell[k]), int(q.side[k])) for k in np.flatnonzero(judge.stored(everything))}
    denied = {(e.key.cell, e.key.side) for e in Witnesses(problem).check(everything) if e.key.attacker < 0}
    assert not answered & denied


def test_the_table_in_proportion_answers_all_where_little_is_known_and_nothing_where_a_value_is_published() -> None:
    problem = family("flat2d", 1, rows=6, columns=6)
    judge, everything = Witnesses(problem), problem.may_hide | problem.must_hide
    judge.offer_scaled(everything)
    assert judge.stored(everything).all()
    assert judge.programmes == 0
    one = Witnesses(problem)
    pattern = everything.copy()
    pattern[np.flatnonzero(problem.values)[-1]] = False
    one.offer_scaled(pattern)
    assert not len(one.pool)


def test_published_primary_is_exposed_with_a_proof() -> None:
    problem = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=3)
    found = Witnesses(problem).check(np.zeros(4, bool))
    assert [(e.key, e.reached, e.needed) for e in found] == [(Key(-1, 1, 1), 0.0, 3.0), (Key(-1, 1, -1), 0.0, 2.0)]


def test_peeled_chain_is_proven_exposed() -> None:
    # p + a = 5, a + b = 7, b = 4: hiding p, a, b hides nothing
    problem = Problem.from_arrays([[1, 1, 0], [0, 1, 1], [0, 0, 1]], [2, 3, 4], primary=[0], lpl=1, upl=1, b=[5, 7, 4])
    (up, down) = Witnesses(problem).check(np.ones(3, bool))
    for exposure in (up, down):
        cells, _ = capacity(problem, 0, exposure.proofs[0], np.zeros(0, int), box=True)
        assert not len(cells)


def test_attacker_who_is_alone_in_the_other_hidden_cell() -> None:
    problem = Problem.from_arrays(
        [[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2, attackers=[Attacker("only one in 2", (2,))]
    )
    judge = Witnesses(problem)
    assert [e.key for e in judge.check([False, True, True, False])] == [Key(0, 1, 1), Key(0, 1, -1)]
    assert judge.check([False, True, True, True]) == ()


def test_sliding_level_needs_both_sides_together() -> None:
    A = [[-1, 1, 1]]
    problem = Problem.from_arrays(A, [10, 2, 8], primary=[1], lpl=0, upl=0, spl=5, upper=[10, 6, 10])
    assert Witnesses(problem).check([False, True, True]) == ()
    tight = Problem.from_arrays(A, [10, 2, 8], primary=[1], lpl=0, upl=0, spl=5, upper=[10, 6, 10], lower=[0, 1.5, 0])
    (exposure,) = Witnesses(tight).check([False, True, True])
    assert (exposure.key.side, exposure.reached) == (0, pytest.approx(4.5))


def test_an_exhausted_budget_never_says_safe() -> None:
    problem, _ = random_problem(5)
    found = Witnesses(problem).check(problem.may_hide, Budget(Limits(work=0)))
    assert found
    assert not any(e.decided for e in found)


def test_no_programme_is_stated_for_attackers_after_a_limit() -> None:
    problem = load("singletons-small")
    judge = Witnesses(problem)
    everything = np.asarray(problem.may_hide)
    judge.sweep(everything)
    before = judge.programmes
    exposed = judge.check(everything, Budget(Limits(seconds=0.0)))
    assert any(e.key.attacker >= 0 for e in exposed)
    assert not any(e.decided for e in exposed)
    assert judge.programmes == before


def test_stop_at_first() -> None:
    problem, hidden = next((p, h) for p, h in map(random_problem, itertools.count()) if len(Witnesses(p).check(h)) > 2)
    assert len(Witnesses(problem).check(hidden, stop_at_first=True)) == 1


def test_structural_zero_never_protects() -> None:
    problem = Problem.from_arrays([[-1, 1, 1]], [9, 9, 0], primary=[1], lpl=1, upl=1, zero=[2])
    assert len(Witnesses(problem).check([True, True, True])) == 0
    assert len(Witnesses(problem).check([False, True, True])) == 2


def test_widely_different_levels_in_one_component() -> None:
    values = np.array([2e9 + 3e-3, 1e9, 1e9, 1e-3, 2e-3])
    problem = Problem.from_arrays(
        [[-1, 1, 1, 1, 1]], values, primary=[1, 3], lpl=values * 0.5, upl=values * 0.5, b=[-1e-3 * 0]
    )
    judge = Witnesses(problem)
    assert judge.check([False, True, True, True, True]) == ()
    exposed = judge.check([False, True, False, True, True])
    assert {(e.key.cell, e.key.side) for e in exposed} == {(1, 1)}  # down is free: the small cells have no upper bound


def test_region_drops_what_cannot_move() -> None:
    rng = np.random.default_rng(1)
    A = sparse.csc_array(grid((6, 7)))
    for _ in range(20):
        cells = np.flatnonzero(rng.random(A.shape[1]) < 0.4)
        region = open_region(A, cells)
        block = A[:, cells].toarray()
        null = np.linalg.svd(block)[2][np.linalg.matrix_rank(block) :]
        moving = cells[np.abs(null).max(axis=0, initial=0) > 1e-9]
        assert set(moving) <= set(region.cells)
        assert set(region.cells) | set(region.peeled) == set(cells)
        kept = sparse.csc_array(region.A).toarray()
        full = A[:, region.cells].toarray()
        assert np.linalg.matrix_rank(kept) == np.linalg.matrix_rank(full)


def test_csplib_everything_hidden_is_safe(shared) -> None:  # type: ignore[no-untyped-def]
    problem = read_jj(shared("instances/csplib/hie1372d.jj"))
    judge = Witnesses(problem)
    assert judge.check(problem.may_hide) == ()
    assert judge.programmes < 10
    # a lone primary per row or column is recovered exactly
    assert judge.check(problem.must_hide)


def test_sliding_levels_are_asked_for_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two programmes a cell and intruder were more than 400 here."""
    problem = load("singletons-small")
    none = np.zeros(problem.n_cells)
    problem = replace(problem, spl=problem.lpl + problem.upl, lpl=none, upl=none)
    solved: list[int] = []
    solve = AttackProgramme.solve
    monkeypatch.setattr(AttackProgramme, "solve", lambda self, *a, **k: solved.append(1) or solve(self, *a, **k))
    judge = Witnesses(problem)
    assert judge.check(problem.may_hide) == ()
    assert len(problem.attackers) * len(problem.primaries) > 200
    assert len(solved) < 60
    for attacker in (-1, *range(len(problem.attackers))):
        for cell in np.setdiff1d(problem.primaries, judge.known(attacker)).tolist():
            upper, lower = judge.witness(Key(attacker, cell, 0), problem.may_hide)
            ends = [float(d.z[d.cells == cell].sum()) for d in (upper, lower)]
            assert ends[0] - ends[1] >= problem.spl[cell] * (1 - 1e-7)


def test_a_deviation_is_stored_once_however_often_it_is_offered() -> None:
    problem = Problem.from_arrays([[-1, 1, 1]], [20, 12, 8], primary=[1], lpl=2, upl=2)
    judge = Witnesses(problem)
    one = Deviation(np.array([1, 2]), np.array([3.0, -3.0]))
    answered = [judge.offer(one).tolist() for _ in range(2)]
    judge.offer_many([one, Deviation(one.cells, -one.z), one])
    assert len(judge.pool) == 2
    assert answered[0] == answered[1] != []
    assert judge.stored(np.array([False, True, True])).all()


def test_deviations_offered_together_are_split_and_stored_as_those_offered_one_by_one() -> None:
    rng = np.random.default_rng(0)
    A = sparse.block_diag([grid((3, 3)), grid((2, 4))])
    problem = Problem.from_arrays(A, np.full(A.shape[1], 9.0), primary=[5, 6, 22, 24], lpl=0.01, upl=0.01)
    basis = linalg.null_space(A.toarray())
    cells = np.arange(A.shape[1])
    found = [Deviation(cells, basis @ rng.normal(size=basis.shape[1])) for _ in range(5)]
    found.append(Deviation(cells[::-1], found[0].z[::-1]))
    together, alone = Witnesses(problem), Witnesses(problem)
    answered = np.unique(together.offer(*found))
    np.testing.assert_array_equal(answered, np.unique(np.concatenate([alone.offer(d) for d in found])))
    assert len(answered) == 8
    assert len(together.pool) == len(alone.pool) == 10
    for k in range(10):
        for one, other in zip(together.pool[k], alone.pool[k], strict=True):
            np.testing.assert_array_equal(one, other)
    assert len(together.offer()) == 0


def test_what_a_budget_leaves_open_is_named_once_a_question_unless_every_attacker_is_asked_for() -> None:
    # whoever knows a cell of every stored witness is contested, and nothing is decided without time
    A = grid((3, 3))
    values = np.ones(16)
    values[[0]] = 9
    values[[1, 2, 3, 4, 8, 12]] = 3
    insiders = [Attacker(f"{k}", (k,)) for k in (5, 6, 7, 9, 10, 11)]
    problem = Problem.from_arrays(A, values, primary=[5, 6, 10], lpl=0.5, upl=0.5, attackers=insiders)
    everything = np.ones(16, bool)
    budget = Budget()
    budget.cancel()
    judge = Witnesses(problem)
    judge.offer_scaled(everything)
    assert judge.stored(everything).all()  # the public is answered, and each attacker knows a cell that moves
    few = judge.check(everything, budget)
    every = judge.check(everything, budget, every=True)
    assert not any(e.decided for e in (*few, *every))
    asked = [(cell, side) for cell in (5, 6, 10) for side in (1, -1)]
    assert sorted((e.key.cell, e.key.side) for e in few) == sorted(asked)
    assert {tuple(e.key) for e in every} == {tuple(k) for k in keys(problem) if k.attacker >= 0}
    assert judge.check(everything) == ()


def test_the_cheapest_stored_deviation_is_that_of_least_prices_not_of_fewest_cells() -> None:
    A = [[-1, 1, 1, 1, 0], [0, 0, -1, 0, 1]]
    problem = Problem.from_arrays(A, [20, 9, 6, 5, 6], primary=[1], lpl=2, upl=2)
    judge = Witnesses(problem)
    judge.offer(Deviation(np.array([1, 3]), np.array([2.0, -2.0])))
    judge.offer(Deviation(np.array([1, 2, 4]), np.array([2.0, -2.0, -2.0])))
    question = int(judge.questions.place[1][1])
    few, many = (judge.pool.cheapest(question, np.array(p)) for p in ([1.0, 1, 1, 1, 1], [1.0, 1, 1, 9, 1]))
    assert [d.cells.tolist() for d in few] == [[1, 3]]
    assert [d.cells.tolist() for d in many] == [[1, 2, 4]]
    assert judge.pool.cheapest(question, np.array([1.0, 1, np.inf, np.inf, 1])) == ()
    assert judge.pool.cheapest(int(judge.questions.place[-1][1]), np.ones(5)) == ()
