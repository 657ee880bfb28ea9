"""Tables with nothing sensitive in them, for rounding."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from tabprotect.problem import Problem, Status
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.system import LinearSystem
from tests.checker import exact


def flat(*sizes, seed=0, high=100, scale=1.0):
    """A table of random whole numbers (times `scale`) with its margins."""
    names = [Hierarchy.flat([f"c{i}" for i in range(size)]) for size in sizes]
    system = LinearSystem.from_hierarchies(names)
    values = np.random.default_rng(seed).integers(0, high, sizes)
    for k in range(len(sizes)):
        values = np.concatenate([values.sum(k, keepdims=True), values], k)
    values = values.ravel() / round(1 / scale) if scale < 1 else values.ravel() * scale
    return Problem.from_arrays(system.A, values, primary=[], lpl=0, upl=0, cells=system.cells)


def whole(problem):
    """The same table in which every value adds up (random problems may carry a residual)."""
    sums = problem.system.A @ np.rint(problem.values * 10)
    return problem if not np.any(sums) else None


def check(result):
    """Look at the values alone, in fractions."""
    p, base = result.problem, exact(result.base)
    v, a = [exact(x) for x in result.values], [exact(x) for x in p.values]
    assert all((x / base).denominator == 1 for x in v)
    assert all(abs(x - y) < base * (result.steps + 1) for x, y in zip(v, a, strict=True))
    for row, right in zip(p.system.A.toarray(), p.system.b, strict=True):
        assert sum((exact(c) * v[j] for j, c in enumerate(row) if c), Fraction(0)) == exact(right)
    for i in np.flatnonzero((p.status == Status.ZERO) & (p.values == 0)):
        assert v[i] == 0


def unsensitive(problem):
    status = np.where(problem.status == Status.PRIMARY, Status.SAFE, problem.status).astype(np.int8)
    return replace(problem, status=status)
