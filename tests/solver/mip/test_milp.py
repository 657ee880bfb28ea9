"""The one-shot programmes: answers checked by hand or by scipy, limits kept."""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from tabprotect.errors import SolverError
from tabprotect.solver.highs import SilentHighs
from tabprotect.solver.limits import Budget, Limits
from tabprotect.solver.mip import milp as milp_module
from tabprotect.solver.mip.milp import solve_milp


def random_programme(seed, n=12, m=6):
    rng = np.random.default_rng(seed)
    A = rng.integers(-3, 6, (m, n)).astype(float)
    return (
        A,
        np.full(m, -np.inf),
        A.clip(0).sum(axis=1) * 0.4,
        np.zeros(n),
        np.full(n, 3.0),
        -rng.integers(1, 9, n) * 1.0,
    )


@pytest.mark.parametrize("seed", range(10))
def test_integer_programmes_agree_with_scipy(seed):
    A, low, high, lower, upper, cost = random_programme(seed)
    whole = np.arange(12) % 2 == 0
    mine = solve_milp(A, low, high, lower, upper, cost, whole)
    other = milp(cost, constraints=LinearConstraint(A, low, high), bounds=Bounds(lower, upper), integrality=whole)
    assert mine.status == "optimal"
    assert mine.objective == pytest.approx(other.fun)
    assert mine.bound == pytest.approx(other.fun)
    assert np.all(A @ mine.x <= high + 1e-7)
    assert np.allclose(mine.x[whole], np.rint(mine.x[whole]), atol=1e-7)


@pytest.mark.parametrize("method", ["choose", "simplex", "ipm"])
def test_linear_programmes_and_their_duals(method):
    A, low, high, lower, upper, cost = random_programme(3)
    mine = solve_milp(A, low, high, lower, upper, cost, method=method)
    other = linprog(cost, A_ub=A, b_ub=high, bounds=np.c_[lower, upper])
    assert mine.objective == pytest.approx(other.fun)
    assert np.allclose(mine.duals, other.ineqlin.marginals)
    rough = solve_milp(A, low, high, lower, upper, cost, method=method, crossover=False)
    assert rough.objective == pytest.approx(other.fun, rel=1e-5)


def test_endings():
    one = np.ones(1)
    assert solve_milp([[1.0]], [2], [3], [0], [1], one, one > 0).status == "infeasible"
    assert solve_milp([[1.0]], [2], [3], [0], [1], one).status == "infeasible"
    assert solve_milp([[1.0]], [-9], [np.inf], [-9], [np.inf], -one).status == "unbounded"


def test_a_start_is_kept_when_nothing_else_is_allowed():
    A, low, high, lower, upper, cost = random_programme(5)
    answer = solve_milp(A, low, high, lower, upper, cost, np.ones(12, bool), start=np.zeros(12), seconds=0.0)
    assert answer.status in ("feasible", "optimal")
    assert answer.objective <= 0


def test_stop_is_asked_and_work_is_charged():
    rng = np.random.default_rng(0)
    n = 60
    A = rng.integers(5, 50, (12, n)).astype(float)
    programme = A, np.full(12, -np.inf), A.sum(axis=1) / 2, np.zeros(n), np.ones(n), -rng.integers(5, 50, n) * 1.0
    budget = Budget(Limits(stop=lambda: budget.work >= 0))
    assert solve_milp(*programme, np.ones(n, bool), budget=budget).status in ("unknown", "feasible")
    one, two = Budget(Limits(work=4000)), Budget(Limits(work=4000))
    first, second = (solve_milp(*programme, np.ones(n, bool), budget=b) for b in (one, two))
    assert first.status == "feasible"
    assert (first.objective, first.bound, first.work) == (second.objective, second.bound, second.work)
    assert one.work == first.work > 0


@pytest.mark.parametrize("fails", [1, 2])
@pytest.mark.parametrize("method", ["choose", "ipm"])
def test_an_error_of_highs_is_followed_by_a_plain_simplex(monkeypatch, method, fails):
    """Interior point can end with 'solve error' in the crossover of a large programme; the programme is fine."""

    class Failing(highspy.Highs):
        runs = 0

        def run(self):
            self.runs += 1
            return super().run()

        def getModelStatus(self):
            return highspy.HighsModelStatus.kSolveError if self.runs <= fails else super().getModelStatus()

    A, low, high, lower, upper, cost = random_programme(3)
    expected = solve_milp(A, low, high, lower, upper, cost)
    monkeypatch.setattr(milp_module, "SilentHighs", Failing)
    if fails == 2:
        with pytest.raises(SolverError, match="solve error"):
            solve_milp(A, low, high, lower, upper, cost, method=method)
        return
    again = solve_milp(A, low, high, lower, upper, cost, method=method, seconds=60)
    assert again.status == "optimal"
    assert again.objective == pytest.approx(expected.objective)


class Mistaken(SilentHighs):
    """Takes a start for free and therefore for the best, as a version of HiGHS did; without the start it is right."""

    forgets, limit, bound = True, False, 0.0
    wrong = begun = False

    def setSolution(self, solution: Any) -> Any:
        self.begun = True
        return super().setSolution(solution)

    def clearSolver(self) -> Any:
        self.begun &= not self.forgets
        return super().clearSolver()

    def run(self) -> Any:
        self.wrong = self.begun
        if not self.begun and self.limit:
            self.setOptionValue("time_limit", 0.0)
        return super().run()

    def getInfo(self) -> Any:
        info = super().getInfo()
        if self.wrong:
            info.mip_dual_bound = self.bound
        return info

    def getSolution(self) -> Any:
        solution = super().getSolution()
        if self.wrong:
            solution.col_value = [1.0, 1.0, 1.0]
        return solution


@pytest.mark.parametrize(
    ("behaves", "answer"),
    [
        ({}, ("optimal", 1.0, 1.0)),
        ({"forgets": False}, ("feasible", 6.0, 0.0)),
        ({"forgets": False, "bound": 7.0}, ("feasible", 6.0, None)),
        ({"limit": True}, ("feasible", 6.0, 0.0)),
    ],
    ids=["right without the start", "wrong again", "bound beyond the answer", "no time without the start"],
)
def test_an_optimum_that_its_own_bound_contradicts_is_none(
    monkeypatch: pytest.MonkeyPatch, behaves: dict[str, Any], answer: tuple[str, float, float | None]
) -> None:
    monkeypatch.setattr(milp_module, "SilentHighs", type("Solver", (Mistaken,), behaves))
    programme = [[1.0, 1.0, 1.0]], [1.0], [3.0], np.zeros(3), np.ones(3), np.array([3.0, 1.0, 2.0]), np.ones(3, bool)
    found = solve_milp(*programme, start=np.ones(3))
    assert (found.status, found.objective, found.bound) == answer
    assert (found.message == "optimal") is (found.status == "optimal")
