"""Hierarchical tables subtable by subtable, from the top down (the HiTaS idea of de Wolf, 2002)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.counted import counted
from tabprotect.methods.suppression.classic.passes import Passes, Piece
from tabprotect.methods.suppression.classic.subtables import subtables
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.postsolve.completion import complete
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.problem import Problem
from tabprotect.solver.interrupts import cancel_on_interrupt
from tabprotect.solver.limits import Budget, Limits, Progress
from tabprotect.table.system import LinearSystem

__all__ = ["modular", "pieces_of", "rows_within"]

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def modular(
    problem: Problem,
    *,
    limits: Limits | Budget | None = None,
    seed: int = 0,
    progress: Callable[[Progress], None] | None = None,
    start: Bools | None = None,
    options: Options = DEFAULTS,
) -> SuppressionResult:
    """Protect the subtables of a hierarchical or linked table one after the other with the exact engine.

    Subtables nearest to the grand total come first. A cell hidden in one is hidden in every other that has it; where a
    lower subtable hides a margin that was published, those above are looked at again. At the end the whole
    system is judged, repaired and cleaned up, so that the result is safe for the whole table and not only for its
    pieces.

    Parameters
    ----------
    problem : Problem
        Its equations must be sums.
    limits : Limits or Budget, optional
    seed : int
        Of the searches in the subtables.
    progress : callable, optional
    start : ndarray of bool, shape (cells,), optional
        Cells hidden to begin with.
    options : Options

    Returns
    -------
    SuppressionResult
        Without a bound: what is optimal in every subtable need not be so in the table.

    Raises
    ------
    InputError
        If an equation is no sum of parts.

    Examples
    --------
    >>> A = [[-1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, -1, 1, 1, 0, 0, 0],
    ...      [0, 0, 0, 0, 0, 0, -1, 1, 1], [-1, 0, 0, 1, 0, 0, 1, 0, 0],
    ...      [0, -1, 0, 0, 1, 0, 0, 1, 0], [0, 0, -1, 0, 0, 1, 0, 0, 1]]
    >>> p = Problem.from_arrays(A, [20, 9, 11, 8, 3, 5, 12, 6, 6], primary=[4], lpl=1, upl=1)
    >>> result = modular(p)
    >>> result.suppressed.tolist(), result.cost, result.safe
    ([4, 5, 7, 8], 17.0, True)
    """
    budget = Budget.of(limits, progress)
    with cancel_on_interrupt(budget):
        pieces = pieces_of(problem.system)
        passes = Passes(problem, pieces, problem.must_hide if start is None else start, options=options)
        with budget.part(options.classic.passes.subtables_limit_share) as part:
            passes.run(part, seed, "modular")
        return complete(
            problem, passes.pattern, budget, f"modular ({counted(len(pieces), 'subtable')})", options=options
        )


def pieces_of(system: LinearSystem) -> list[Piece]:
    """Return the plain tables that a system is a stack of, from the top down."""
    A = system.A
    faces = [face for table in subtables(system) for face in table.faces()]
    return [Piece(rows_within(A, face.rows, face.cells), face.cells) for face in faces]


def rows_within(A: sparse.csr_array, rows: Ints, cells: Ints) -> Ints:
    """Return those of some equations that have all their cells among the given ones."""
    inside = np.zeros(A.shape[1], bool)
    inside[cells] = True
    mine = A[rows]
    outside = np.add.reduceat(~inside[mine.indices], mine.indptr[:-1]) if mine.nnz else np.zeros(len(rows))
    return np.asarray(rows[outside == 0], np.int64)
