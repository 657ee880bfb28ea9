"""Rows found for one problem, over its own cells, so that a search of a problem with more sums begins with them.

They hold there, too: what protects its targets protects the targets of the other one, and a cell that is alone in an
equation is so there as well.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.methods.suppression.presolve.core import Core, Reduction
from tabprotect.solver.mip.rows import Inequalities, RowPool
from tabprotect.solver.tolerances import CONTRADICTION

__all__ = ["inequalities_of", "rows_of_cores"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def inequalities_of(reduction: Reduction, pools: Iterable[tuple[Core, RowPool | Inequalities]]) -> Inequalities:
    """State the rows of pools of some cores in cells of the problem, one for all those that a cell stands for."""
    n = reduction.problem.n_cells
    matrices, rhs = [sparse.csr_array((0, n))], [np.zeros(0)]
    for core, pool in pools:
        first = np.array([cells[0] for cells, _ in core.members], dtype=np.int64)
        known = pool.matrix
        matrices.append(
            sparse.csr_array((known.data, first[known.indices], known.indptr), shape=(known.shape[0], n)),
        )
        rhs.append(pool.rhs)
    return Inequalities(sparse.csr_array(sparse.vstack(matrices)), np.concatenate(rhs))


def rows_of_cores(known: Inequalities, reduction: Reduction) -> list[tuple[sparse.csr_array, Floats]]:
    """Return for every core the inequalities that speak of it alone, in its own cells.

    Cells hidden in every pattern count on the right-hand side, those that never move are hidden in none. Rows that
    this satisfies, or that not even everything hidden does, are left out.
    """
    columns = sparse.csc_array(known.matrix)
    core_of, place = np.full(known.matrix.shape[1], -1), np.zeros(known.matrix.shape[1], np.int64)
    for number, core in enumerate(reduction.cores):
        for i, (cells, _) in enumerate(core.members):
            core_of[cells], place[cells] = number, i
    rhs = known.rhs - columns[:, reduction.base & (core_of < 0)].sum(axis=1)
    entry = np.repeat(core_of, np.diff(columns.indptr))
    touched = sparse.csr_array(
        (np.ones(int((entry >= 0).sum())), (columns.indices[entry >= 0], entry[entry >= 0])),
        shape=(len(rhs), max(1, len(reduction.cores))),
    )
    alone = np.diff(touched.indptr) == 1
    return [
        _rows(known, rhs, alone & (touched[:, [number]].toarray().ravel() > 0), core, place, core_of == number)
        for number, core in enumerate(reduction.cores)
    ]


def _rows(
    known: Inequalities,
    rhs: Floats,
    mine: npt.NDArray[np.bool_],
    core: Core,
    place: Ints,
    inside: npt.NDArray[np.bool_],
) -> tuple[sparse.csr_array, Floats]:
    cells = np.flatnonzero(inside)
    merge = sparse.csr_array((np.ones(len(cells)), (cells, place[cells])), shape=(len(inside), core.n))
    matrix = sparse.csr_array(known.matrix[mine] @ merge)
    # as other rows of a pool: what is hidden anyway counts on the right-hand side
    rest = rhs[mine] - matrix @ core.hidden.astype(np.float64)
    matrix = sparse.csr_array(matrix @ sparse.diags_array((~core.hidden).astype(np.float64)))
    matrix.eliminate_zeros()
    matrix.sort_indices()
    least = matrix.minimum(0).sum(axis=1)
    says = (rest > least + CONTRADICTION) & (matrix.sum(axis=1) >= rest - CONTRADICTION)
    return matrix[says], rest[says]
