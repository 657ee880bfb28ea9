"""Foreign solvers' answers in our words."""

from __future__ import annotations

import pyomo.environ as pyo
import pytest
from pyomo.opt import TerminationCondition

from tabprotect.errors import InputError, SolverError
from tabprotect.solver import pyomo as layer
from tabprotect.solver.limits import Limits

SOLVERS = ["appsi_highs", "highs", "scip_direct"]


def knapsack(least):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), domain=pyo.Binary)
    m.enough = pyo.Constraint(expr=3 * m.x[0] + 2 * m.x[1] + 2 * m.x[2] >= least)
    m.cost = pyo.Objective(expr=4 * m.x[0] + 3 * m.x[1] + 3 * m.x[2])
    return m


@pytest.mark.parametrize("solver", SOLVERS)
def test_one_model_on_every_installed_solver(solver):
    m = knapsack(4)
    answer = layer.solve_model(m, solver)
    assert (answer.status, answer.objective, answer.bound) == ("optimal", pytest.approx(6), pytest.approx(6))
    assert [round(m.x[i].value) for i in range(3)] == [0, 1, 1]
    assert layer.solve_model(knapsack(8), solver).status == "infeasible"
    free = pyo.ConcreteModel()
    free.x = pyo.Var()
    free.cost = pyo.Objective(expr=free.x)
    assert layer.solve_model(free, solver).status == "unbounded"


def test_maximising_reads_the_other_bound():
    m = knapsack(0)
    m.enough.deactivate()
    m.few = pyo.Constraint(expr=m.x[0] + m.x[1] + m.x[2] <= 1)
    m.cost.sense = pyo.maximize
    answer = layer.solve_model(m)
    assert (answer.status, answer.objective, answer.bound) == ("optimal", 4, 4)


def test_every_ending_of_pyomo_is_mapped_or_an_error():
    failures = {"invalidProblem", "solverFailure", "internalSolverError", "error", "licensingProblems"}
    assert {c.name for c in TerminationCondition} - {c.name for c in layer._STATUS} == failures


def test_an_optimum_contradicted_by_its_own_bound_is_only_feasible():
    class Claim:
        class solver:
            termination_condition = TerminationCondition.optimal

        class problem:
            lower_bound = 5.0
            upper_bound = 6.0

    m = knapsack(4)
    for i in range(3):
        m.x[i].value = int(i > 0)
    assert layer._read(m, Claim, True, 0.0).status == "feasible"


def test_a_time_limit_without_a_solution_is_unknown():
    assert layer.solve_model(knapsack(4), limits=Limits(stop=lambda: True)).status == "unknown"


@pytest.mark.parametrize("solver", ["nosuchsolver", "appsi_higs"])
def test_unknown_solver(solver, capsys):
    with pytest.raises(InputError, match=solver):
        layer.solve_model(knapsack(4), solver)
    assert capsys.readouterr().err == "", "Pyomo's own log stays off the screen"


def test_solver_that_is_not_installed():
    with pytest.raises(SolverError, match="not installed"):
        layer.solve_model(knapsack(4), "glpk")


def test_solver_that_cannot_do_the_model():
    m = knapsack(4)
    m.cost.deactivate()
    m.square = pyo.Objective(expr=m.x[0] ** 2 + m.x[1] * m.x[2])
    with pytest.raises(SolverError, match="appsi_highs"):
        layer.solve_model(m, "appsi_highs")


def test_work_limit_is_refused():
    with pytest.raises(InputError, match="work limit"):
        layer.solve_model(knapsack(4), limits=Limits(work=5))
