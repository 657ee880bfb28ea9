"""Levels that nothing could provide against who knows parts of a cell."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tabprotect.attack.exact_problem import ExactProblem
from tabprotect.attack.insiders import within_reach
from tabprotect.attack.witness import Witnesses
from tabprotect.problem import Attacker, Problem


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


def test_what_is_known_is_felt_equations_away(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = two_equations_away(0)
    played = within_reach(problem)
    monkeypatch.setattr("tabprotect.attack.insiders.LARGEST_ASKED", 0)
    eased = within_reach(problem)
    assert eased.lpl.tolist() == played.lpl.tolist() == [0, 1, 0, 9.999, 0]
    assert not Witnesses(eased).check(problem.may_hide)
    monkeypatch.setattr("tabprotect.attack.insiders.PASSES", 1)
    assert within_reach(problem).lpl.tolist() == problem.lpl.tolist()


def test_what_everybody_can_tell_is_not_lowered(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the external bounds [90, 300] of the known cell the level is out of reach for the public, too."""
    problem = two_equations_away(90)
    monkeypatch.setattr("tabprotect.attack.insiders.LARGEST_ASKED", 0)
    assert within_reach(problem).lpl.tolist() == problem.lpl.tolist()
    assert within_reach(problem).notes == problem.notes


@pytest.mark.parametrize("seed", range(8))
def test_bounds_near_by_never_lower_more_than_playing_all_attackers(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    value = np.rint(rng.lognormal(2, 1, (4, 4))) + 1
    full = np.block([[value, value.sum(1, keepdims=True)], [value.sum(0), np.array([[value.sum()]])]])
    place = np.arange(25).reshape(5, 5)
    A = np.zeros((10, 25))
    for k in range(5):
        A[k, place[k]] = [1, 1, 1, 1, -1]
        A[5 + k, place[:, k]] = [1, 1, 1, 1, -1]
    primary = np.sort(rng.choice(25, 8, replace=False))
    known = [tuple(sorted(rng.choice(primary, 2, replace=False).tolist())) for _ in range(3)]
    level = np.ceil(0.3 * full.ravel())
    problem = Problem.from_arrays(
        A,
        full.ravel(),
        primary=primary,
        lpl=level,
        upl=level,
        attackers=[Attacker(str(k), c) for k, c in enumerate(known)],
    )
    played = within_reach(problem)
    monkeypatch.setattr("tabprotect.attack.insiders.LARGEST_ASKED", 0)
    assert (within_reach(problem).lpl >= played.lpl - 1e-9).all()
