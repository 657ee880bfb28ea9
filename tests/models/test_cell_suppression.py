"""The compact model finds what enumeration finds, and nothing unsafe."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest

from tabprotect.errors import InputError
from tabprotect.models import cell_suppression
from tabprotect.problem import Attacker, Problem
from tabprotect.solver.limits import Limits
from tests.checker import Judge
from tests.quick import first
from tests.random_problems import random_problem


def agree(problem):
    """Hold the compact model against the judge; returns whether the problem was small enough to enumerate."""
    judge, answer = Judge(problem), cell_suppression.solve(problem)
    assert answer.status in ("optimal", "infeasible")
    if answer.status == "optimal":
        assert judge.safe(answer.pattern)
        assert answer.cost == pytest.approx(problem.cost(answer.pattern), rel=1e-12)
        assert answer.bound == pytest.approx(answer.cost, rel=1e-6, abs=1e-6)
    try:
        best = judge.optimum()
    except ValueError:
        assert judge.safe(problem.may_hide) == (answer.status == "optimal")
        return False
    assert (best.cost is None) == (answer.status == "infeasible")
    if best.cost is not None:
        assert answer.cost == pytest.approx(best.cost, rel=1e-9, abs=1e-9)
    return True


@pytest.mark.parametrize("start", first(2, range(0, 50, 10)))
def test_compact_model_equals_enumeration(start):
    assert sum(agree(random_problem(seed)) for seed in range(start, start + 10)) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1000, 1150, 50))
def test_compact_model_equals_enumeration_on_150_problems(start):
    assert sum(agree(random_problem(seed)) for seed in range(start, start + 50)) >= 20


def unbounded_cube(**changes):
    """A 2 x 2 x 2 table with nothing but y >= 0 known, whose kernel is no network."""
    seed = next(s for s in range(100) if random_problem(s, kinds=["3d"]).n_cells == 27)
    base = random_problem(seed, kinds=["3d"])
    given = {"lpl": 1, "upl": 1, "lower": 0, "weights": np.ones(27)} | changes
    return Problem.from_arrays(
        base.system.A, np.full(27, 4.0), primary=[0], b=base.system.A @ np.full(27, 4.0), **given
    )


def test_infinite_bounds_without_a_safe_capacity_become_ordered_sets():
    problem = unbounded_cube()
    model = cell_suppression.build(problem, largest_ratio=1.0)
    assert len(list(model.component_data_objects(pyo.SOSConstraint))) > 0
    by_sets = cell_suppression.solve(problem, largest_ratio=1.0)
    by_capacity = cell_suppression.solve(problem, largest_ratio=1e9)
    assert by_sets.status == by_capacity.status == "optimal"
    assert by_sets.cost == pytest.approx(by_capacity.cost)
    assert Judge(problem).safe(by_sets.pattern)


def test_every_key_has_its_own_tables():
    problem = random_problem(3, kinds=["2d"])
    primary = int(problem.primaries[0])
    problem = Problem.from_arrays(
        problem.system.A, problem.values, [primary], lpl=0.1, upl=0.1, lower=-99, attackers=[Attacker("a", (primary,))]
    )
    model = cell_suppression.build(problem)
    assert list(model.attacks) == [(-1, primary)], "an attacker does not attack what he knows"
    assert sorted(s for _, _, s in model.tables) == [-1, 1]


def test_integrality_known_to_intruders_needs_integer_witnesses():
    problem = Problem.from_arrays(
        [[2, 1, 1]], [5, 3, 3], primary=[0], lpl=0, upl=0.5, b=[16], lower=[0, 2, 3], upper=[9, 3, 3], integer=True
    )
    assert cell_suppression.solve(problem).cost == 3
    assert cell_suppression.solve(problem, integral=True).status == "infeasible"


def test_a_foreign_solver_counts_no_work():
    with pytest.raises(InputError, match="work limit"):
        cell_suppression.solve(random_problem(1), limits=Limits(work=10))


def test_two_solvers_agree():
    for seed in (5, 8, 13):
        problem = random_problem(seed, kinds=["2d", "hierarchical"])
        one, two = cell_suppression.solve(problem), cell_suppression.solve(problem, solver="scip_direct")
        assert one.status == two.status
        assert one.cost is None or one.cost == pytest.approx(two.cost)
