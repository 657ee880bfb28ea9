"""What was found for a problem, said of one with more sums of cells to protect."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from tabprotect.attack.asked_sums import moved_with_sums
from tabprotect.attack.pool import Deviation
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.problem import Problem

__all__ = ["extended", "extends"]


def extends(problem: Problem, before: Problem) -> bool:
    """Whether a problem is another one with sums of cells to protect besides: what protects it protects that one."""
    n, m = before.n_cells, before.system.n_equations
    arrays = ("values", "status", "weights", "lower", "upper", "lpl", "upl", "spl")
    if problem.n_cells < n or len(problem.attackers) != len(before.attackers) or problem.integer != before.integer:
        return False
    # who knows a cell or is spared is not asked about it, so that a row about his question says nothing any more
    known = zip(problem.attackers, before.attackers, strict=True)
    A = sparse.csr_array(problem.system.A[:m])
    return (
        all(np.array_equal(getattr(problem, name)[:n], getattr(before, name)) for name in arrays)
        and all({cell for cell in a.known if cell < n} == set(b.known) for a, b in known)
        and all({cell for cell in a.spared if cell < n} == set(b.spared) for a, b in known)
        and A[:, n:].nnz == 0
        and abs(A[:, :n] - before.system.A).nnz == 0
    )


def extended(result: SuppressionResult, problem: Problem) -> SuppressionResult:
    """Return what was found for a problem before its last sums, which are hidden anyway, as found with them."""
    n = result.problem.n_cells
    pattern = np.concatenate([result.pattern, np.ones(problem.n_cells - n, dtype=bool)])
    moved = moved_with_sums(result.deviations, problem, n)
    parts = zip(moved.indptr[:-1].tolist(), moved.indptr[1:].tolist(), strict=True)
    deviations = tuple(Deviation(moved.indices[i:j].astype(np.int64), moved.data[i:j]) for i, j in parts)
    return replace(result, problem=problem, pattern=pattern, deviations=deviations)
