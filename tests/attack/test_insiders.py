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
