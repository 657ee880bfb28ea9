"""Levels that nothing could provide against who knows parts of a cell."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.attack.exact_problem import ExactProblem
from tabprotect.attack.insiders import LevelForOthers, within_reach, within_reach_each
from tabprotect.attack.keys import Key
from tabprotect.attack.witness import Witnesses
from tabprotect.problem import Attacker, Problem, Status
from tabprotect.solver.limits import Budget, Limits
from tests.quick import examples
from tests.random_problems import random_problem


@pytest.mark.parametrize("other", [1014, 10, 7003.5, 0.0421])
def test_lowered_levels_are_short_decimals_within_reach(other: float) -> None:
    problem = Problem.from_arrays(
        [[-1, 1, 1]], [1000 + other, 1000, other], primary=[0, 1], lpl=[1.5 * other, 1, 0], upl=1,
        attackers=[Attacker("a", (1,))],
    )  # fmt: skip
    eased = within_reach(problem)
    level = float(eased.lpl[0])
    assert 0.999 * other < level < other
    assert Fraction(repr(level)).denominator <= 10**8
    assert ExactProblem(eased).scale <= 10**8
    assert not Witnesses(eased).check(np.ones(3, bool))
    assert problem.notes != eased.notes


def two_equations_away(lower: float) -> Problem:
    """Who knows 90 of t = 90 + 10 knows 95 of g = t + 5, although no equation holds both."""
    return Problem.from_arrays(
        [[-1, 1, 1, 0, 0], [1, 0, 0, -1, 1]], [100, 90, 10, 105, 5], primary=[1, 3], protected=[4],
        lpl=[0, 1, 0, 15, 0], upl=1, lower=[0, lower, 0, 0, 5], upper=[300, 300, 300, 300, 5],
        attackers=[Attacker("a", (1,))],
    )  # fmt: skip


def test_what_is_known_is_felt_equations_away() -> None:
    problem = two_equations_away(0)
    played = within_reach(problem)
    eased = within_reach(problem, largest=0)
    assert eased.lpl.tolist() == played.lpl.tolist() == [0, 1, 0, 9.999, 0]
    assert not Witnesses(eased).check(problem.may_hide)
    assert within_reach(problem, largest=0, passes=1).lpl.tolist() == problem.lpl.tolist()


def test_what_everybody_can_tell_is_not_lowered() -> None:
    """With the external bounds [90, 300] of the known cell the level is out of reach for the public, too."""
    problem = two_equations_away(90)
    assert within_reach(problem, largest=0).lpl.tolist() == problem.lpl.tolist()
    assert within_reach(problem, largest=0).notes == problem.notes


@pytest.mark.parametrize("seed", range(8))
def test_bounds_near_by_lower_no_level_below_what_an_attacker_leaves(seed: int) -> None:
    """Two sums of three cells, each in a total with a published cell, and the columns; attackers know large cells."""
    rng = np.random.default_rng(seed)
    inner = np.rint(rng.lognormal(3, 1.5, (2, 3))) + 1
    sums, other = inner.sum(axis=1), np.rint(rng.lognormal(4, 1, 2))
    values = np.concatenate([inner.ravel(), sums, sums + other, other, inner.sum(axis=0)])
    A = np.zeros((7, 15))
    for k in range(2):
        A[k, [3 * k, 3 * k + 1, 3 * k + 2, 6 + k]] = [1, 1, 1, -1]
        A[2 + k, [6 + k, 10 + k, 8 + k]] = [1, 1, -1]
    for k in range(3):
        A[4 + k, [k, 3 + k, 12 + k]] = [1, 1, -1]
    largest = [3 * k + int(inner[k].argmax()) for k in range(2)]
    problem = Problem.from_arrays(
        A,
        values,
        primary=[*range(10), 12, 13, 14],
        protected=[10, 11],
        lpl=np.ceil(0.5 * values),
        upl=np.ceil(0.1 * values),
        attackers=[Attacker(str(cell), (cell,)) for cell in largest],
    )
    eased = within_reach(problem, largest=0)
    reach: dict[int, float] = {}
    for exposure in Witnesses(problem).check(problem.may_hide):
        attacker, cell, side = exposure.key
        if attacker >= 0 and side < 0:
            reach[cell] = min(reach.get(cell, np.inf), exposure.reached)
    lowered = np.flatnonzero(eased.lpl < problem.lpl).tolist()
    assert set(lowered) <= set(reach)
    for cell in lowered:
        assert eased.lpl[cell] >= reach[cell] * (1 - 1e-3)
    taught = [set(a.known) - set(b.known) for a, b in zip(eased.attackers, problem.attackers, strict=True)]
    assert lowered or any(taught)


def test_one_attacker_after_the_other_finds_the_same() -> None:
    """What one of them knows is forgotten before the next one is asked."""
    problem = two_equations_away(0)
    others = replace(problem, attackers=(*problem.attackers, Attacker("b", (2,)), *problem.attackers))
    assert within_reach(others, largest=0).lpl.tolist() == within_reach(problem, largest=0).lpl.tolist()
    nobody = replace(problem, attackers=(Attacker("c", (3,)), Attacker("b", (2,))))
    assert within_reach(nobody, largest=0).lpl.tolist() == problem.lpl.tolist()


def test_what_the_limits_kept_from_being_looked_at_is_noted() -> None:
    problem = Problem.from_arrays(
        [[-1, 1, 1]], [100, 90, 10], primary=[0, 1], lpl=15, upl=15, attackers=[Attacker("a", (1,))]
    )
    budget = Budget()
    budget.cancel()
    found, cut = within_reach(problem), within_reach(problem, budget)
    assert [any("the limits ended the look for levels" in note for note in p.notes) for p in (found, cut)] == [
        False,
        True,
    ]
    assert cut.lpl[0] == found.lpl[0] == 9.999  # one equation says so


def test_who_knows_a_whole_cell_is_still_asked_how_much_more_it_may_be() -> None:
    """Others in the total have 0: he knows that it is at least 100, and no more than that unless it is published."""
    problem = Problem.from_arrays(
        [[-1, 1, 1]], [100, 100, 0], primary=[0, 1], lpl=15, upl=15,
        attackers=[Attacker("a", (1,))],
    )  # fmt: skip
    for asked in (1_000_000, 0):
        eased = within_reach(problem, largest=asked)
        assert eased.attackers == problem.attackers
        assert eased.upl.tolist() == problem.upl.tolist()
        assert eased.lpl.tolist() == [0, 15, 15]
        assert Key(0, 0, 1) in {e.key for e in Witnesses(eased).check(np.array([True, True, False]))}
        assert not Witnesses(eased).check(np.ones(3, bool))


def test_a_cell_without_room_on_both_sides_is_known() -> None:
    """The other part is published: whoever knows one part has the total, whatever else is hidden."""
    problem = Problem.from_arrays(
        [[-1, 1, 1]], [110, 100, 10], primary=[0, 1], protected=[2], lpl=15, upl=15, attackers=[Attacker("a", (1,))]
    )
    for asked in (1_000_000, 0):
        eased = within_reach(problem, largest=asked)
        assert eased.attackers == (Attacker("a", (0, 1)),)
        assert eased.lpl.tolist() == problem.lpl.tolist()
        assert any("can compute another one" in note for note in eased.notes)


@pytest.mark.parametrize("largest", [0, 1_000_000])
@pytest.mark.parametrize("other", [False, True])
def test_who_is_alone_in_a_cell_of_zero_knows_cells_equal_to_it(largest: int, other: bool) -> None:
    """A respondent with turnover 0: his activity, and its only size class. Nothing is below, so nothing is lowered."""
    equations = [[-1, 1, 1 if other else 0, 0], [1, 0, 0, -1]]
    problem = Problem.from_arrays(
        equations, [0, 0, 0, 0], primary=[0, 1], lpl=0, upl=3, attackers=[Attacker("a", (1,)), Attacker("b", (0,))]
    )
    assert Witnesses(problem).check(problem.may_hide) or other
    eased = within_reach(problem, largest=largest)
    # beside another cell that may be above 0 he cannot be sure of the sum; a sum of 0 tells its parts
    assert [a.known for a in eased.attackers] == [(1,) if other else (0, 1), (0, 1)]
    assert eased.upl.tolist() == problem.upl.tolist()
    assert not Witnesses(eased).check(problem.may_hide)


def test_a_cell_of_zero_that_everybody_knows_is_no_secret_of_a_respondent() -> None:
    problem = Problem.from_arrays(
        [[-1, 1]], [0, 0], primary=[0, 1], lpl=0, upl=3, upper=0, attackers=[Attacker("a", (1,))]
    )
    eased = within_reach(problem, largest=0)
    assert eased.attackers == problem.attackers
    assert Witnesses(eased).check(problem.may_hide)


def test_a_level_that_the_public_cannot_be_kept_from_is_asked_all_the_same() -> None:
    """t moves by half of what a does: by 1, which single equations do not tell; 2 are asked for."""
    p = Problem.from_arrays(
        [[-1, 1, 1, 0, 0, 0], [0, 1, 2, -1, 0, 0], [-1, 0, 0, 0, 1, 1]],
        [100, 40, 60, 160, 70, 30], primary=[0], lpl=2, upl=0, lower=[0, 38, 0, 160, 0, 29.5],
        upper=[200, 42, 200, 160, 200, 200], attackers=[Attacker("c", (4,))],
    )  # fmt: skip
    eased = within_reach_each(p)
    assert eased.problem.lpl[0] == 0.49999
    assert eased.for_others == (LevelForOthers(0, -1, 2.0, frozenset({0})),)  # everybody but c, the public too


@settings(max_examples=examples(30, 60), deadline=None)
@given(st.integers(0, 10**6))
def test_who_is_the_reason_of_a_lower_level_is_found_without_being_asked(seed: int) -> None:
    """As if everybody had been asked about the full levels, with the whole table hidden."""
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 60, (3, 4))
    grid = np.block([[values.sum(), values.sum(0)], [values.sum(1)[:, None], values]])
    cells = np.arange(20).reshape(4, 5)
    rows = [[(cells[0, j], -1.0), *((cells[i, j], 1.0) for i in range(1, 4))] for j in range(5)]
    rows += [[(cells[i, 0], -1.0), *((cells[i, j], 1.0) for j in range(1, 5))] for i in range(4)]
    A = np.zeros((len(rows), 20))
    for k, row in enumerate(rows):
        for cell, sign in row:
            A[k, cell] = sign
    primary = rng.choice(20, 6, replace=False).tolist()
    attackers = [Attacker(str(k), tuple(rng.choice(20, 3, replace=False).tolist())) for k in range(6)]
    level = rng.integers(1, 40, 20).astype(float)
    p = Problem.from_arrays(A, grid.ravel(), primary=primary, lpl=level, upl=0, attackers=attackers)
    eased = within_reach_each(p)
    lower = eased.problem.lpl < p.lpl
    status = np.where((p.status == Status.PRIMARY) & ~lower, Status.FORCED, p.status).astype(np.int8)
    asked = replace(p, status=status, attackers=eased.problem.attackers)
    short: dict[int, dict[int, float]] = {}
    for e in Witnesses(asked).check(asked.may_hide):
        short.setdefault(e.key.cell, {})[e.key.attacker] = e.reached
    public = {cell for cell, who in short.items() if -1 in who}
    for other in eased.for_others:
        if other.cell not in public:
            expected = {k for k, reached in short[other.cell].items() if reached < other.level * (1 - 1e-4)}
            assert other.spared == expected
    assert {other.cell for other in eased.for_others} == set(short)


def test_who_knows_as_much_as_the_reason_of_a_lower_level_is_not_asked_either() -> None:
    attackers = [Attacker("a", (1,)), Attacker("b", (1,)), Attacker("c", (1,)), Attacker("d", ())]
    p = Problem.from_arrays([[-1, 1, 1]], [100, 90, 10], primary=[0, 1], lpl=15, upl=15, attackers=attackers)
    budget = Budget()
    eased = within_reach_each(p, budget)
    assert eased.complete
    assert eased.for_others == (LevelForOthers(0, -1, 15.0, frozenset({0, 1, 2})),)
    assert budget.work == 1


@pytest.mark.parametrize("seed", [269, 480, 633])
def test_levels_that_a_limit_left_out_are_not_taken_for_levels_in_reach(seed: int) -> None:
    """Single equations do not tell of them: only attackers who are played out do."""
    p = random_problem(seed)
    whole, cut = within_reach_each(p), within_reach_each(p, Budget(Limits(seconds=0)))
    assert (len(whole.for_others), whole.complete) == (1, True)
    assert (len(cut.for_others), cut.complete) == (0, False)
