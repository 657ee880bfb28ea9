"""Inequalities that every protected pattern of minimal cost satisfies, with the reason why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.methods.suppression.presolve.core import Core
from tabprotect.solver.mip.rows import Origins, Row
from tabprotect.solver.tolerances import COEFFICIENT, LEVEL, MULTIPLIER

__all__ = ["Bridge", "Capacity", "Cover", "Own", "bridges", "capacity", "own_equations", "pairs"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Capacity:
    """Why a capacity cut holds: the target and the multipliers of the equations.

    Attributes
    ----------
    target : int
        Position in the targets of the core.
    attacker : int
        The attacker whose known cells have coefficient zero (-1: nobody).
    up, down : ndarray or None
        Multipliers of ``core.rows`` for the attack upwards and downwards; one of them is None unless the target is a
        sliding level.
    """

    target: int
    attacker: int
    up: Floats | None
    down: Floats | None


@dataclass(frozen=True, eq=False)
class Own:
    """A capacity cut from one equation of the problem: its multiplier is 1 over the coefficient of the target's cell.

    Attributes
    ----------
    target : int
        Position in the targets of the core.
    attacker : int
    equation : int
        In the problem.
    coefficient : float
        Of the cell, in the core.
    """

    target: int
    attacker: int
    equation: int
    coefficient: float


@dataclass(frozen=True, eq=False)
class Bridge:
    """Why a bridge inequality holds: `cell` is in an equation of the problem in which nothing is hidden anyway."""

    cell: int
    equation: int


@dataclass(frozen=True, eq=False)
class Cover:
    """Why a cover cut holds: some cells of a row cannot satisfy it alone, so one of its other cells must be hidden.

    Attributes
    ----------
    parent : object
        The origin of the row; None where only the judge says that what does not hide one of the cells is unsafe.
    others : ndarray of int
        The cells that cannot satisfy it alone.
    """

    parent: Any
    others: Ints


def reduced(core: Core, cell: int, side: int, multipliers: Floats) -> Floats:
    """Return d = side e_p - A' multipliers, noise set to zero."""
    d = -(core.A.T @ multipliers)
    d[cell] += side
    d[np.abs(d) < MULTIPLIER] = 0.0
    return np.asarray(d)


def potential(core: Core, d: Floats, known: Ints | None = None) -> Floats:
    """c_i = up_i max(d_i, 0) + down_i max(-d_i, 0): how much cell i can add to the attack; 0 for known cells."""
    c = np.zeros(core.n)
    rise, fall = d > 0, d < 0
    c[rise] = core.up[rise] * d[rise]
    c[fall] = -core.down[fall] * d[fall]
    if known is not None:
        c[known] = 0.0
    return c


def capacity(core: Core, c: Floats, cell: int, level: float, kept: float = 0.0) -> Row | None:
    """Return the capacity (Benders) cut of an attack, tightened; None when hidden cells alone satisfy it.

    Weak duality: for all multipliers, every z with A z = 0 and -down x <= z <= up x has side z_p <= sum_i c_i x_i,
    where c is the `potential` of d = side e_p - A' multipliers and d_p = 0 (the box of p itself is left out, because a
    deviation that overshoots can be scaled down: z = 0 is one). So a protected pattern has sum_i c_i x_i >= level.
    The same sum over both directions must reach a sliding level; there the box of p stays in the attack and its term
    `kept` is a constant, since x_p = 1. Cells that are hidden anyway move to the right-hand side, and no coefficient
    needs to be larger than what is then asked for, as x is binary (Fischetti and Salazar 2000, cuts (11)-(12)).

    Returns
    -------
    Row or None
        Coefficients in (0, 1], right-hand side 1.
    """
    c = c.copy()
    c[cell] = 0.0
    rest = level - kept - float(c[core.hidden].sum())
    if not rest > LEVEL * level:
        return None
    c[core.hidden] = 0.0
    cells = np.flatnonzero(c)
    return Row(cells, np.minimum(c[cells] / rest, 1.0), 1.0)


def _equations(core: Core) -> tuple[sparse.csr_array, Ints]:
    """Every equation of a core, implied ones too, and which one it is in the problem."""
    A = sparse.csr_array(sparse.vstack((core.A, core.implied))) if core.implied.shape[0] else core.A
    A.sort_indices()
    return A, np.concatenate((core.rows, core.implied_rows))


def bridges(core: Core, x: Floats | None = None, violation: float = 0.0) -> tuple[sparse.csr_array, Floats, Origins]:
    """For every equation without a cell that is hidden anyway: x_i <= sum of the other x of the equation.

    A cell that is the only hidden one of an equation follows from the others: z_i = 0 for every intruder, so that
    hiding it protects nothing. Take a protected pattern of minimal cost; publishing such a cell keeps it protected and
    makes it cheaper, as the cells that are not hidden anyway have positive weight. So no pattern of minimal cost has
    one.

    Parameters
    ----------
    core : Core
    x : ndarray of float, optional
        Then only those that it violates by more than `violation`.

    Returns
    -------
    matrix, rhs, origins
        Rows as `RowPool.extend` takes them.
    """
    A, names = _equations(core)
    sizes = np.diff(A.indptr)
    row = np.repeat(np.arange(A.shape[0]), sizes)
    asked = (np.bincount(row[core.hidden[A.indices]], minlength=A.shape[0]) == 0)[row]
    if x is not None:
        mine = x[A.indices]
        asked &= 2 * mine - np.bincount(row, mine, A.shape[0])[row] > violation
    cells, row = A.indices[asked].astype(np.int64), row[asked]
    found = A[row] if len(row) else sparse.csr_array((0, core.n))  # an equation for each of its cells
    found.data = np.where(found.indices == np.repeat(cells, sizes[row]), -1.0, 1.0)
    return found, np.zeros(len(row)), Origins(Bridge, cells, names[row])


def own_equations(core: Core, targets: Ints) -> tuple[sparse.csr_array, Floats, Origins]:
    """For each of some targets and every equation of its cell: the capacity cut of that equation alone.

    Returns
    -------
    matrix, rhs, origins
        Rows as `RowPool.extend` takes them.
    """
    A, names = _equations(core)
    t = targets[core.targets.side[targets] != 0]
    columns = sparse.csc_array(A)[:, core.targets.cell[t]]
    t, row, own = np.repeat(t, np.diff(columns.indptr)), columns.indices, columns.data
    few = _may_ask(core, A, t, row, own)
    t, row, own = t[few], row[few], own[few]
    cell, side = core.targets.cell[t], core.targets.side[t]
    attacker, level = core.targets.attacker[t], core.targets.level[t]
    order = np.lexsort((cell, row))
    t, row, own, cell, side, attacker, level = (array[order] for array in (t, row, own, cell, side, attacker, level))
    found = A[row]
    each = np.repeat(np.arange(len(t)), np.diff(found.indptr))
    cells = found.indices
    d = -found.data * (side / own)[each]
    with np.errstate(invalid="ignore"):
        c = np.abs(d) * np.where(d > 0, core.up[cells], core.down[cells])
    c[cells == cell[each]] = 0.0
    if core.attackers:
        known = np.concatenate([k * core.n + local for k, local in enumerate(core.attackers)])
        c[np.isin(attacker[each] * core.n + cells, known)] = 0.0
    hidden = core.hidden[cells]
    rest = level - np.bincount(each[hidden], c[hidden], len(t))
    asked = rest > LEVEL * level
    kept = asked[each] & ~hidden & (c > 0)
    ends = np.concatenate(([0], np.cumsum(np.bincount(each[kept], minlength=len(t))[asked])))
    values = np.minimum(c[kept] / rest[each[kept]], 1.0)
    matrix = sparse.csr_array((values, cells[kept], ends), shape=(int(asked.sum()), core.n))
    return matrix, np.ones(matrix.shape[0]), Origins(Own, t[asked], attacker[asked], names[row[asked]], own[asked])


def _may_ask(core: Core, A: sparse.csr_array, t: Ints, row: Ints, own: Floats) -> Bools:
    """Whether cells hidden anyway may be too few in an equation for a target, told from the sum over all of them."""
    side, cell, level = core.targets.side[t], core.targets.cell[t], core.targets.level[t]
    inside = core.hidden[A.indices]
    cells, size, rises = A.indices[inside], np.abs(A.data[inside]), A.data[inside] > 0
    rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))[inside]
    directions = (np.where(rises, core.up[cells], core.down[cells]), np.where(rises, core.down[cells], core.up[cells]))
    with np.errstate(invalid="ignore"):
        high, low = (np.bincount(rows, size * direction, A.shape[0]) for direction in directions)
        room = np.where(side / own < 0, high[row], low[row]) / np.abs(own)
        room -= np.where(side < 0, core.up[cell], core.down[cell])
    return np.asarray((core.targets.attacker[t] >= 0) | ~(room > level * (1 + LEVEL)))


def pairs(rows: sparse.csr_array, rhs: Floats) -> sparse.csr_array:
    """Return what rows with coefficients in (0, 1] and right-hand side 1 say of whole cells: two may be needed.

    No cell with a coefficient below 1 satisfies such a row alone, so a pattern has a cell with coefficient 1 or two of
    the others: with 1/2 for those the row holds, too. It says more where some of them are above 1/2; others of the rows
    are left out.

    Examples
    --------
    >>> pairs(sparse.csr_array([[1.0, 0.8, 0.4], [1.0, 0.5, 0.3], [0, -1.0, 0.8]]), np.ones(3)).toarray().tolist()
    [[1.0, 0.5, 0.5]]
    """
    row = np.repeat(np.arange(len(rhs)), np.diff(rows.indptr))
    short = rows.data < 1 - COEFFICIENT
    asked = rhs == 1
    asked[row[rows.data <= 0]] = False
    gains = np.zeros(len(rhs), bool)
    gains[row[short & (rows.data > 0.5)]] = True
    chosen = np.flatnonzero(asked & gains)
    found = rows[chosen] if len(chosen) else sparse.csr_array((0, rows.shape[1]))
    found.data = np.where(found.data < 1 - COEFFICIENT, 0.5, 1.0)
    return found
