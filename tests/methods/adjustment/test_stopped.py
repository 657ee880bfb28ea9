"""An adjustment that is stopped ends soon after, also where exact decimals of its answer would take long to find."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy import sparse

from tabprotect.methods.adjustment import adjust
from tabprotect.methods.adjustment.exactly import values_of
from tabprotect.methods.adjustment.options import Options
from tabprotect.methods.adjustment.reduce import reduce
from tabprotect.methods.adjustment.statement import Statement, state
from tabprotect.methods.distance import distance_weights
from tabprotect.problem import Problem
from tabprotect.solver.exact.elimination import Stopped, eliminate
from tabprotect.solver.limits import Limits, Progress


def crossed_at_random() -> Problem:
    """A table whose equations share cells at random: eliminating one fills the others, for a quarter of a minute."""
    cells, rows, parts = 1400, 600, 20
    rng = np.random.default_rng(0)
    columns = np.array([rng.choice(cells, parts, replace=False) for _ in range(rows)])
    entries = np.tile(np.r_[-1.0, np.ones(parts - 1)], rows)
    A = sparse.csr_array((entries, columns.ravel(), np.arange(0, rows * parts + 1, parts)), shape=(rows, cells))
    values = 100 + rng.random(cells)
    return Problem.from_arrays(A, values, primary=[7], lpl=values / 7, upl=values / 7, b=A @ values)


def stated(problem: Problem) -> Statement:
    return state(problem, distance_weights(problem, "unit"), "l1", fixed=np.zeros(problem.n_cells, bool))


def test_an_elimination_ends_once_it_is_asked_to() -> None:
    begun = time.monotonic()
    with pytest.raises(Stopped):
        eliminate(crossed_at_random().system.A, stop=lambda: time.monotonic() - begun > 0.1)
    assert time.monotonic() - begun < 5


def test_values_are_the_nearest_floats_where_there_is_no_time_for_exact_decimals() -> None:
    problem = crossed_at_random()
    statement = stated(problem)
    z = np.random.default_rng(1).uniform(15, 20, statement.n)
    begun = time.monotonic()
    values = values_of(problem, statement, z, np.ones(1, np.int64), lambda: True)
    assert time.monotonic() - begun < 5
    assert np.allclose(values, problem.values + z * statement.unit, rtol=1e-12)


def test_a_statement_is_as_it_is_where_there_is_no_time_to_make_it_smaller() -> None:
    statement = stated(Problem.from_arrays([[-1, 1, 1]], [9, 4, 5], primary=[1], lpl=1, upl=1))
    twice = stated(Problem.from_arrays([[-1, 1, 0], [0, 1, -1]], [9, 9, 9], primary=[1], lpl=1, upl=1))
    assert reduce(twice).statement.n == 1
    assert reduce(twice, stop=lambda: True).statement is twice
    assert reduce(statement, stop=lambda: True).back.shape == (3, 3)


@pytest.mark.slow
def test_after_a_stop_the_best_answer_comes_within_seconds() -> None:
    stopped: list[float] = []

    def heard(progress: Progress) -> None:
        if progress.stage == "adjust" and not stopped:
            stopped.append(time.monotonic())

    result = adjust(
        crossed_at_random(),
        method="patterns",
        limits=Limits(stop=lambda: bool(stopped)),
        progress=heard,
        options=Options(reduced_cells=0),
    )
    assert time.monotonic() - stopped[0] < 6
    assert (result.status, result.stopped_by) == ("feasible", "user")
    assert result.verdict is not None
    assert result.verdict.ok
    assert "cancelled" in result.message
    assert "no exact decimals" in result.message
