"""What spares work at the beginning of a search leaves rows and patterns as they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tabprotect.attack.witness import Witnesses
from tabprotect.instances import load
from tabprotect.methods.suppression.bound.cuts import own_equations
from tabprotect.methods.suppression.presolve.parts import Part
from tabprotect.methods.suppression.presolve.reduce import reduce_problem
from tabprotect.methods.suppression.search.exact import exact
from tabprotect.methods.suppression.start.cleanup import Cleaner
from tabprotect.problem import Status
from tabprotect.solver.limits import Budget, Limits
from tests.quick import first
from tests.random_problems import random_problem


def test_pairs_left_out_before_rows_are_built_have_no_row(monkeypatch):
    cores = [core for seed in range(60) for core in reduce_problem(random_problem(seed)).cores]
    cores += reduce_problem(load("flat2d-20x20")).cores
    found = [own_equations(core, np.arange(len(core.targets))) for core in cores]
    left_out = 0

    def all_of_them(core, A, t, row, own):
        nonlocal left_out
        left_out += len(t)
        return np.ones(len(t), bool)

    monkeypatch.setattr("tabprotect.methods.suppression.bound.cuts._may_ask", all_of_them)
    for core, (matrix, _, origins) in zip(cores, found, strict=True):
        other, _, others = own_equations(core, np.arange(len(core.targets)))
        assert np.array_equal(matrix.toarray(), other.toarray())
        assert all(np.array_equal(a, b) for a, b in zip(origins.arrays, others.arrays, strict=True))
        left_out -= matrix.shape[0]
    assert left_out > 100


@pytest.mark.parametrize("name", first(1, ["flat2d-10x10", "flat3d-6x6x6"]))
def test_a_clean_up_that_knows_a_bound_tries_less_and_ends_as_well(name):
    core = reduce_problem(load(name)).cores[0]
    judge = Witnesses(Part(core).problem)
    pattern = Cleaner(judge, np.ones(core.n, bool)).run(Budget())
    tried = []
    for least in (0.0, 0.9 * core.cost(pattern), core.cost(pattern)):
        cleaner = Cleaner(judge, pattern, least=least)
        assert np.array_equal(cleaner.run(Budget()), pattern)
        assert cleaner.finished
        tried.append(cleaner.tried)
    assert tried[0] > tried[1] >= tried[2] == 0


def test_primaries_that_protect_each_other_need_nothing_else():
    problem = load("flat2d-4x5")
    everything = exact(problem, limits=Limits(seconds=30))
    harder = np.flatnonzero(everything.pattern)
    status = problem.status.copy()
    status[harder] = Status.PRIMARY
    result = exact(replace(problem, status=status), limits=Limits(seconds=30))
    assert result.status == "optimal"
    assert result.cost == 0.0
    assert result.safe
