"""A table whose only code is all of its total: nothing around a primary moves, and the method still has an answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse

import tabprotect as tp
from tabprotect.instances.large import large
from tabprotect.solver.limits import Limits


def test_a_cell_with_nothing_around_it() -> None:
    data = pd.DataFrame(
        {"d": list("bbb"), "value": [6.5, 53.8, 8.7], "firm": list("111"), "waiver": [False, True, False]}
    )
    made = tp.protect(
        data, ["pq=10,60"], tp.Suppress(method="local"), by=["d"], value="value", contributor="firm", waiver="waiver",
        bounds="100%", seed=69,
    )  # fmt: skip
    assert made.safe
    assert made.pattern.all()


def test_a_cell_that_nothing_protects_ends_the_search_without_limits() -> None:
    equations = [[-1, 1, 1, 1, 0, 0, 0], [0, 0, 0, 0, -1, 1, 1]]
    problem = tp.Problem.from_arrays(
        equations, [30, 10, 10, 10, 10, 6, 4], primary=[1, 5], lpl=2, upl=2,
        lower=[0, 0, 0, 0, 10, 6, 4], upper=[40, 30, 30, 30, 10, 6, 4],
    )  # fmt: skip
    result = tp.suppress(problem, method="local")
    assert result.status == "infeasible"
    assert {u.cell for u in result.unprotectable} == {5}
    assert result.pattern[[1, 2]].any()


def test_a_cell_in_no_equation_is_not_attacked_for_the_bound() -> None:
    problem = large(120, dims=3, primaries=0.1, seed=3)
    A = sparse.hstack([problem.system.A, sparse.csr_array((problem.system.n_equations, 1))])
    alone = tp.Problem.from_arrays(
        A, np.append(problem.values, 50.0), primary=[*problem.primaries.tolist(), problem.n_cells], lpl=5, upl=5
    )
    result = tp.suppress(alone, method="local", limits=Limits(work=20_000))
    assert result.safe
    assert 0 < result.bound <= result.cost
