"""The neighbourhood search around the incumbent."""

import numpy as np
import pytest

from tabprotect.attack.audit import audit
from tabprotect.attack.witness import Witnesses
from tabprotect.instances import family
from tabprotect.methods.suppression import suppress
from tabprotect.methods.suppression.options import DEFAULTS, changed
from tabprotect.methods.suppression.search.improvement import Improver
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget


def improved(problem: Problem, start: np.ndarray, seed: int, steps: int, **options: object) -> list[np.ndarray]:
    """Return the patterns found one after the other."""
    changes = DEFAULTS
    for name, value in options.items():
        changes = changed(changes, f"improvement.{name}", value)
    improver = Improver(problem, Witnesses(problem), seed, best=start, easy_first=True, options=changes)
    found = [improver.step(Budget()) for _ in range(steps)]
    return [pattern for pattern in found if pattern is not None]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("options", [{}, {"stored_share": 0.0}, {"stored_share": 1.0, "deviation": 0.0}])
def test_patterns_are_safe_and_near_the_optimum(seed: int, options: dict[str, object]) -> None:
    problem = family("thin", seed, sizes=(3, 3, 4))
    found = improved(problem, problem.may_hide | problem.must_hide, seed, 40, **options)
    costs = [problem.cost(pattern) for pattern in found]
    assert costs == sorted(costs, reverse=True)
    assert len(set(costs)) == len(costs)
    assert all(audit(problem, pattern, intervals=False).safe for pattern in found)
    optimum = suppress(problem, method="exact").cost
    assert optimum is not None
    assert optimum - 1e-6 <= costs[-1] <= 1.02 * optimum


def test_same_seed_same_patterns() -> None:
    problem = family("thin", 3, sizes=(3, 3, 4))
    everything = problem.may_hide | problem.must_hide
    one, other = (improved(problem, everything, 5, 12) for _ in range(2))
    assert len(one) == len(other) > 0
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_a_pattern_little_dearer_than_the_best_leads_elsewhere_but_never_up() -> None:
    problem = family("thin", 1, sizes=(3, 3, 4))
    everything = problem.may_hide | problem.must_hide
    courses = [
        [
            [problem.cost(pattern) for pattern in improved(problem, everything, seed, 25, deviation=d)]
            for seed in range(4)
        ]
        for d in (0.0, 0.2)
    ]
    assert courses[0] != courses[1]
    assert all(costs == sorted(costs, reverse=True) for course in courses for costs in course)
