"""Few free senses with squares: brute force over senses, the readable model, multipliers that are wrong."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tabprotect.errors import InfeasibleError, InputError
from tabprotect.methods.adjustment import adjust
from tabprotect.methods.adjustment import senses as module
from tabprotect.methods.adjustment.method import Adjust
from tabprotect.methods.adjustment.search import Search
from tabprotect.methods.adjustment.senses import enumerate_senses, lagrangian
from tabprotect.methods.adjustment.statement import state
from tabprotect.methods.distance import distance_weights
from tabprotect.models import adjustment as model
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget, Limits
from tests.methods.adjustment.test_adjust import check, without_sliding
from tests.quick import examples, first
from tests.random_problems import random_problem

BY_SENSES = "bounded by multipliers"


def stated(problem, weights="unit", decimals=None):
    return state(
        problem, distance_weights(problem, weights), "l2", fixed=np.zeros(problem.n_cells, bool), decimals=decimals
    )


def cheapest(problem, weights="unit", decimals=None):
    """Every combination of senses, each by a programme of its own; None where none is possible."""
    best = None
    for senses in itertools.product((1, -1), repeat=len(problem.primaries)):
        result = adjust(problem, norm="l2", weights=weights, senses=list(senses), decimals=decimals)
        if result.cost is not None and (best is None or result.cost < best):
            best = result.cost
    return best


def small(seed, kinds=None):
    problem = without_sliding(random_problem(seed) if kinds is None else random_problem(seed, kinds=kinds))
    return problem if len(problem.primaries) <= 5 else None


@pytest.mark.parametrize("weights", ["unit", "reciprocal"])
def test_the_bound_is_the_least_of_all_combinations(weights):
    proven = 0
    for seed in range(examples(8, 14)):
        problem = small(seed)
        if problem is None:
            continue
        try:
            st = stated(problem, weights)
        except InfeasibleError:
            continue
        search = Search(st, Budget(), np.random.default_rng(0))
        found = enumerate_senses(search, Budget())
        best = cheapest(problem, weights)
        if best is None:
            assert found.infeasible or search.z is None
            continue
        bound = found.bound * st.objective_unit
        assert search.cost == pytest.approx(best, rel=1e-6, abs=1e-9)
        assert bound <= best * (1 + 1e-9) + 1e-12
        assert bound == pytest.approx(best, rel=1e-6, abs=1e-8)
        proven += 1
    assert proven >= examples(3, 5)


@pytest.mark.parametrize("seed", first(3, [1, 3, 4, 9, 12, 16]))
def test_the_result_equals_the_model_and_is_called_optimal(seed):
    problem = without_sliding(random_problem(seed))
    _, answer = model.solve(problem, distance_weights(problem, "unit"), norm="l2", largest=1e4)
    try:
        result = adjust(problem, norm="l2", weights="unit", proven_senses=40)
    except InfeasibleError:
        assert answer.objective is None
        return
    assert (result.cost is None) == (answer.objective is None)
    if result.cost is not None:
        check(result)
        assert result.status == "optimal"
        assert result.bound <= result.cost
        assert result.cost == pytest.approx(answer.objective, rel=2e-4, abs=1e-6)


def test_no_multipliers_whatever_give_a_bound_above_the_optimum():
    rng = np.random.default_rng(7)
    looked = 0
    for seed in range(8):
        problem = small(seed)
        if problem is None:
            continue
        for decimals in (None, 0):
            try:
                st = stated(problem, decimals=decimals)
            except (InfeasibleError, InputError):
                continue
            best = cheapest(problem, decimals=decimals)
            if best is None:
                continue
            inner = np.full(st.n, np.nan), np.full(st.n, np.nan)
            inner[0][st.primaries], inner[1][st.primaries] = -st.down, st.up
            for size in (0.0, 0.3, 3.0, 1e6):
                y = size * rng.standard_normal(st.A.shape[0])
                bound = lagrangian(st, y, st.weights, st.lower, st.upper, inner) * st.objective_unit
                assert bound <= best * (1 + 1e-6) + 1e-9
                looked += 1
    assert looked >= 15


def test_a_solver_that_lies_changes_the_bound_for_the_worse_only(monkeypatch):
    """Multipliers, values and claims of infeasibility are all wrong: no bound exceeds the optimum."""
    problem = without_sliding(random_problem(9))
    honest = adjust(problem, norm="l2", weights="unit", proven_senses=40)
    solve = module.solve_qp
    turn = itertools.count()

    def lying(*args, **kwargs):
        answer = solve(*args, **kwargs)
        if answer.x is None or next(turn) % 3 == 0:
            return type(answer)("infeasible", None, None, None, None, 1, "")
        return type(answer)("optimal", 1e9, 1e9, answer.x, -3.0 * answer.duals, 1, "")

    monkeypatch.setattr(module, "solve_qp", lying)
    st = stated(problem)
    search = Search(st, Budget(), np.random.default_rng(0))
    found = enumerate_senses(search, Budget())
    assert not found.infeasible
    assert found.bound * st.objective_unit <= honest.cost * (1 + 1e-9)


def three_free():
    """Three primaries in one sum of five move by 2 each: two one way, one the other, and 2 is left for three cells."""
    A = [[-1, 1, 1, 1, 1, 1]]
    return Problem.from_arrays(A, [50, 10, 10, 10, 10, 10], primary=[1, 2, 3], lpl=2, upl=2)


def test_by_hand():
    search = Search(stated(three_free()), Budget(), np.random.default_rng(0))
    found = enumerate_senses(search, Budget())
    assert search.cost == pytest.approx(12 + 3 * (2 / 3) ** 2)
    assert found.bound * search.statement.objective_unit == pytest.approx(search.cost, rel=1e-8)
    assert found.senses == 3
    assert abs(int(search.senses.sum())) == 1


def test_the_option_says_up_to_how_many_senses():
    problem = without_sliding(random_problem(12))
    assert BY_SENSES not in adjust(problem, norm="l2", weights="unit", proven_senses=1).method
    for result in (
        adjust(problem, norm="l2", weights="unit", proven_senses=2),
        adjust(problem, norm="l2", weights="unit"),
    ):
        assert BY_SENSES in result.method
        assert result.status == "optimal"
    assert Adjust(norm="l2", proven_senses=3).proven_senses == 3
    for wrong in (-1, 1.5, True):
        with pytest.raises(InputError, match="proven_senses"):
            adjust(problem, norm="l2", proven_senses=wrong)


def test_nothing_possible_is_proven_by_multipliers():
    """Each sense alone is possible, no combination of the two adds up."""
    problem = Problem.from_arrays(
        [[-1, 1, 1]], [20, 10, 10], primary=[1, 2], lpl=[0, 4, 1], upl=[0, 4, 1], lower=[20, 0, 8], upper=[20.5, 20, 12]
    )
    st = stated(problem)
    search = Search(st, Budget(), np.random.default_rng(0))
    found = enumerate_senses(search, Budget())
    assert found.infeasible
    assert search.z is None


def test_a_limit_leaves_a_bound_that_holds():
    problem = without_sliding(random_problem(12))
    best = adjust(problem, norm="l2", weights="unit", proven_senses=40)
    for work in (1, 20, 100, 400):
        result = adjust(problem, norm="l2", weights="unit", proven_senses=40, limits=Limits(work=work))
        assert result.bound is None or result.bound <= best.cost * (1 + 1e-9)
