"""Hidden cells that move together, and new witnesses where these leave a pattern, without a linear programme."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.region import open_region
from tabprotect.attack.witness import Deviation, Witnesses
from tabprotect.methods.suppression.options import DEFAULTS, ConstructionOptions
from tabprotect.solver.exact.elimination import eliminate

__all__ = ["Series", "reroute", "series"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Series(NamedTuple):
    """Classes of hidden cells that move together.

    Attributes
    ----------
    idle : ndarray of int
        Hidden cells that cannot move.
    label : ndarray of int, shape (cells,)
        For every cell the first of its class.
    component : ndarray of int, shape (cells,)
        Cells that move and are joined by equations have the same number; -1 for all others.
    dimensions : ndarray of int, shape (components,)
        Of the deviations in each component.
    """

    idle: Ints
    label: Ints
    component: Ints
    dimensions: Ints


def series(A: sparse.csc_array, pattern: Bools) -> Series:
    """Return the series classes of the hidden cells.

    Examples
    --------
    Two rows of two hidden cells, tied by a column, and a cell that follows from the others:

    >>> A = sparse.csc_array([[1.0, 1, 0, 0, 0], [0, 1, 1, 0, 0], [0, 0, 0, 1, 1]])
    >>> found = series(A, np.array([True, True, True, True, False]))
    >>> found.idle.tolist(), found.label.tolist(), found.component.tolist(), found.dimensions.tolist()
    ([3], [0, 0, 0, 3, 4], [0, 0, 0, -1, -1], [1])
    """
    region = open_region(A, np.flatnonzero(pattern))
    echelon = eliminate(sparse.csr_array(region.A))
    zero, tied = echelon.ties(np.random.default_rng(0))
    label = np.arange(len(pattern))
    for j, i, _ in tied:
        label[region.cells[j]] = region.cells[i]
    component = np.full(len(pattern), -1)
    component[region.cells] = region.component
    ranks = np.bincount(region.component[echelon.pivots], minlength=region.n_components)
    dimensions = np.bincount(region.component, minlength=region.n_components) - ranks
    return Series(np.concatenate([region.peeled, region.cells[zero]]), label, component, dimensions)


def reroute(judge: Witnesses, pattern: Bools, gone: Ints, options: ConstructionOptions = DEFAULTS.construction) -> None:
    """Give a judge witnesses for the questions that a pattern answers only by moving the cells `gone`.

    If z and y both satisfy A z = A y = 0 and move cell g, then z - (z_g / y_g) y satisfies it too and leaves g alone,
    along with every cell that is a multiple of g. Shrunk into the bounds it may still reach what z was kept for. The
    judge checks what it is offered, so that nothing depends on this being right.

    Parameters
    ----------
    judge : Witnesses
    pattern : ndarray of bool
        A pattern judged before, with the cells still in it.
    gone : ndarray of int
        Cells that move together.
    options : ConstructionOptions
    """
    pool, q, problem = judge.pool, judge.questions, judge.problem
    valid = pool.valid(pattern)
    avoiding = pool.avoiding(valid, gone)
    lost = np.flatnonzero(pool.answered(valid) & ~pool.answered(avoiding) & (q.side != 0))
    through = np.setdiff1d(valid, avoiding)[-options.rerouted :]
    if not len(lost) or len(through) < 2:
        return
    found = [pool[int(k)] for k in through]
    cells, place = np.unique(np.concatenate([d.cells for d in found]), return_inverse=True)
    row = np.repeat(np.arange(len(found)), [len(d.cells) for d in found])
    Z = np.asarray(
        sparse.coo_array((np.concatenate([d.z for d in found]), (row, place)), shape=(len(found), len(cells))).toarray()
    )
    up, down = problem.up[cells], problem.down[cells]
    here = np.isin(cells, gone)
    pivot = np.flatnonzero(here)[0]
    inside = np.isin(q.cell[lost], cells)
    lost = lost[inside]
    target = np.searchsorted(cells, q.cell[lost])
    side, need = q.side[lost], q.need[lost]
    moving = np.flatnonzero(Z[:, pivot])
    size = np.abs(Z[moving]).max(axis=1) / np.abs(Z[moving, pivot])
    open_ = np.ones(len(lost), dtype=bool)
    for way in moving[np.argsort(size, kind="stable")][: options.reroutes].tolist():
        around = Z - np.outer(Z[:, pivot] / Z[way, pivot], Z[way])
        around[:, here] = 0.0
        around[np.abs(around) < 1e-9 * np.abs(Z).max()] = 0.0
        both = np.concatenate((around, -around))
        with np.errstate(divide="ignore", invalid="ignore"):  # a bound of zero shrinks to nothing
            shrink = np.where(both > 0, up / both, np.where(both < 0, down / -both, np.inf)).min(axis=1)
        shrink = np.minimum(shrink, 1.0)
        reach = (both[:, target] * side * shrink[:, None] >= need) & open_
        while reach.any():
            best = int(np.argmax(reach.sum(axis=1)))
            z = both[best] * shrink[best]
            moved = np.flatnonzero(z)
            judge.offer(Deviation(cells[moved], z[moved]))
            open_ &= ~reach[best]
            reach &= open_
        if not open_.any():
            return
