"""Linear programmes that are solved again and again."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from scipy import sparse

from tabprotect.attack.attackers import Patience
from tabprotect.attack.witness import Witnesses
from tabprotect.problem import Problem
from tabprotect.solver.highs import SilentHighs
from tabprotect.solver.lp import LinearProgram


def assignment(n: int, costs: Any, **how: Any) -> LinearProgram:
    """Every row and every column of n x n variables sums to 1."""
    one, eye = np.ones((1, n)), sparse.eye_array(n)
    A = sparse.vstack([sparse.kron(eye, one), sparse.kron(one, eye)])
    return LinearProgram(A, np.ones(2 * n), np.ones(2 * n), np.zeros(n * n), np.ones(n * n), costs, **how)


def answer(lp: LinearProgram) -> tuple[str, float, list[float], list[float], int]:
    found = lp.solve()
    return found.status, found.objective, found.x.tolist(), found.duals.tolist(), found.iterations


@pytest.mark.parametrize("how", ["method", "simplex", "ipm"])
def test_whoever_starts_anew_goes_on_from_nothing(
    how: Literal["method", "simplex", "ipm"], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interior point that goes on from an earlier solution makes HiGHS write beyond its arrays."""
    rng = np.random.default_rng(0)
    n, index = 12, np.arange(144)
    first, second = rng.random(144), rng.random(144)

    def made(costs: Any) -> LinearProgram:
        if how == "method":
            return assignment(n, costs, method="ipm")
        lp = assignment(n, costs)
        lp.solve()
        lp.start_anew(how)
        return lp

    used = made(first)
    alone = answer(used)
    used.set_costs(index, second)
    closed = rng.permutation(144)[:30]
    used.set_bounds(closed, np.zeros(30), np.zeros(30))
    cleared: list[bool] = []
    clear = used._h.clearSolver
    monkeypatch.setattr(used._h, "clearSolver", lambda: cleared.append(True) or clear())
    used.solve()
    assert cleared == [True]
    used.set_bounds(closed, np.zeros(30), np.ones(30))
    again = answer(used)
    assert again == answer(made(second))
    used.set_costs(index, first)
    assert answer(used) == alone
    warm = assignment(n, second).solve()
    assert again[0] == warm.status == "optimal"
    assert again[1] == pytest.approx(warm.objective, rel=1e-9)


@pytest.mark.parametrize("fails", [(), ("ipm",)])
def test_attacks_that_lose_patience_find_the_same(fails: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """From the last basis, by interior point, and by simplex where that does not end."""
    rng = np.random.default_rng(1)
    inner = rng.integers(1, 50, (9, 9))
    table = np.block([[inner, inner.sum(1)[:, None]], [inner.sum(0)[None], inner.sum(keepdims=True)]])
    cell = np.arange(100).reshape(10, 10)
    A = np.zeros((20, 100))
    for k in range(10):
        A[k, cell[k]] = [1] * 9 + [-1]
        A[10 + k, cell[:, k]] = [1] * 9 + [-1]
    small = np.flatnonzero(table.ravel() < 6)
    problem = Problem.from_arrays(A, table.ravel(), primary=small, lpl=3, upl=3)
    hidden = rng.random(100) < 0.4
    hidden[small] = True
    expected = [(e.key, round(e.reached, 6)) for e in Witnesses(problem).check(hidden)]
    assert expected
    started: list[str] = []
    anew = LinearProgram.start_anew

    def start_anew(self: LinearProgram, method: Literal["ipm", "simplex"]) -> None:
        started.append(method)
        anew(self, method)
        if method in fails:
            self._h.setOptionValue("ipm_iteration_limit", 0)

    monkeypatch.setattr(LinearProgram, "start_anew", start_anew)
    impatient = Witnesses(problem, patience=Patience(iterations=0, least=1, small=0))
    found = [(e.key, round(e.reached, 6)) for e in impatient.check(hidden)]
    assert found == expected
    assert set(started) == {"ipm", *(["simplex"] if fails else [])}


def test_nothing_is_printed_by_the_solver(capfd: pytest.CaptureFixture[str]) -> None:
    """Not even by its constructor: standard output may be a file of somebody's."""
    solver = SilentHighs()
    assert solver.getOptionValue("output_flag")[1] is False
    solver.run()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("seed", [0, 6, 11, 12, 17])
def test_values_of_13_digits_beside_values_of_one_have_an_answer(seed: int, later: bool) -> None:
    """Without other units HiGHS ended with 'Unknown', or called the programme infeasible, which x = 0 solves."""
    rng, (r, c) = np.random.default_rng(seed), (6, 8)
    at = np.arange((r + 1) * (c + 1) * 4).reshape(r + 1, c + 1, 4)
    values = np.zeros(at.shape)
    values[1:, 1:, 1:] = np.round(10 ** rng.uniform(-1, 12.95, (r, c, 3)), 1) * (rng.random((r, c, 3)) < 0.8)
    values[0] = values[1:].sum(0)
    values[:, 0] = values[:, 1:].sum(1)
    values[:, :, 0] = values[:, :, 1:].sum(2)
    parts = [
        (part[1:], part[0]) for axis in range(3) for part in np.moveaxis(at, axis, 0).reshape(at.shape[axis], -1).T
    ]
    A = np.zeros((len(parts), at.size))
    for row, (inner, margin) in enumerate(parts):
        A[row, inner], A[row, margin] = 1.0, -1.0
    most = np.where(rng.random(at.size) < 0.2, 0.0, values.ravel())
    smallest = np.argsort(np.where(most > 0, most, np.inf))[int(rng.integers(0, 20))]
    nothing = np.zeros(len(parts))
    cost = 0.5 * (np.arange(at.size) == smallest)
    lp = LinearProgram(A, nothing, nothing, -most, most, cost, maximise=True)
    if later:
        lp = LinearProgram(A, nothing, nothing, 0 * most, 0 * most, cost, maximise=True)
        lp.solve()
        lp.set_bounds(range(at.size), -most, most)
    found = lp.solve()
    noise = 1e-12 * np.abs(found.x).max()
    assert found.status == "optimal"
    assert np.abs(A @ found.x).max() <= noise
    assert np.all(np.abs(found.x) <= most + noise)
    assert 0 <= found.objective <= 0.5 * most[smallest] + noise
