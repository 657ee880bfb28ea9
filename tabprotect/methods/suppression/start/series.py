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
from tabprotect.solver.tolerances import CIRCUIT_ENTRY, LEVEL

__all__ = ["Series", "reroute", "series"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_NO_ROOM = 1e100
"""Stands for 1 / 0."""


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
    Z = sparse.coo_array((np.concatenate([d.z for d in found]), (row, place)), shape=(len(found), len(cells))).toarray()
    here = np.isin(cells, gone)
    room = _inverse(problem.up[cells]), _inverse(problem.down[cells])
    lost = lost[np.isin(q.cell[lost], cells)]
    target, side, need = np.searchsorted(cells, q.cell[lost]), q.side[lost], q.need[lost] * (1 - LEVEL)
    open_ = np.ones(len(lost), dtype=bool)
    detours: list[Deviation] = []
    pivot = Z[:, np.flatnonzero(here)[0]]
    moving = np.flatnonzero(pivot)
    size = np.abs(Z[moving]).max(axis=1)
    noise = CIRCUIT_ENTRY * size.max(initial=0.0)
    for way in moving[np.argsort(size / np.abs(pivot[moving]), kind="stable")][: options.reroutes].tolist():
        factor = pivot / pivot[way]
        moved = side * (Z[:, target] - np.outer(factor, Z[way, target]))
        far = np.flatnonzero(((np.abs(moved) >= need) & open_).any(axis=1))
        around = Z[far] - np.outer(factor[far], Z[way])
        around[:, here] = 0.0
        around[np.abs(around) < noise] = 0.0
        excess = np.concatenate((_excess(around, *room), _excess(around, *reversed(room))))
        reach = (np.concatenate((moved[far], -moved[far])) >= need * excess[:, None]) & open_
        while reach.any():
            best = int(np.argmax(reach.sum(axis=1)))
            z = (1 if best < len(far) else -1) * around[best % len(far)] / excess[best]
            detours.append(Deviation(cells[z != 0], z[z != 0]))
            open_ &= ~reach[best]
            reach &= open_
        if not open_.any():
            break
    judge.offer(*detours)


def _inverse(bound: Floats) -> Floats:
    """1 / bound, large where there is no room."""
    return np.asarray(np.divide(1.0, bound, out=np.full(len(bound), _NO_ROOM), where=bound > 0))


def _excess(z: Floats, up: Floats, down: Floats) -> Floats:
    """How many times too large each row is for bounds with these inverses; 1 where it is within them."""
    return np.asarray(np.maximum(z * up, z * -down).max(axis=1, initial=1.0), np.float64)
