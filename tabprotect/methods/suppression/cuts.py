"""Inequalities that every protected pattern of minimal cost satisfies, with the reason why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabprotect.methods.suppression.presolve import Core
from tabprotect.solver.rows import Row
from tabprotect.solver.tolerances import LEVEL, MULTIPLIER

__all__ = ["Bridge", "Capacity", "Cover", "Own", "bridges", "capacity", "own_equations"]

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
    """Why a cover cut holds: what hides no more than an unsafe choice is unsafe, so one of the others must be hidden.

    Attributes
    ----------
    capacity : Capacity or None
        The capacity cut that proves the choice unsafe; None where only the judge says so.
    missing : ndarray of int
        The cells that the choice shows.
    """

    capacity: Capacity | None
    missing: Ints


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


def equations(core: Core) -> Iterator[tuple[int, Ints, Floats]]:
    """Every equation of a core, implied ones too: which one it is in the problem, its cells and coefficients."""
    for A, names in ((core.A, core.rows), (core.implied, core.implied_rows)):
        for r, name in enumerate(names.tolist()):
            lo, hi = A.indptr[r], A.indptr[r + 1]
            yield name, A.indices[lo:hi].astype(np.int64), A.data[lo:hi]


def bridges(core: Core) -> list[tuple[Row, Bridge]]:
    """For every equation without a cell that is hidden anyway: x_i <= sum of the other x of the equation.

    A cell that is the only hidden one of an equation follows from the others: z_i = 0 for every intruder, so that
    hiding it protects nothing. Take a protected pattern of minimal cost; publishing such a cell keeps it protected and
    makes it cheaper, as the cells that are not hidden anyway have positive weight. So no pattern of minimal cost has
    one.
    """
    found = []
    for name, cells, _ in equations(core):
        if core.hidden[cells].any():
            continue
        cells = np.sort(cells)
        values = 1.0 - 2.0 * np.eye(len(cells))
        found += [(Row(cells, own, 0.0), Bridge(i, name)) for i, own in zip(cells.tolist(), values, strict=True)]
    return found


def own_equations(core: Core, targets: Ints) -> list[tuple[Row, Own]]:
    """For each of some targets and every equation of its cell: the capacity cut of that equation alone."""
    asked: dict[int, list[int]] = {}
    for t in targets.tolist():
        if core.targets.side[t]:
            asked.setdefault(int(core.targets.cell[t]), []).append(t)
    found = []
    for name, cells, values in equations(core):
        for own in np.flatnonzero(core.hidden[cells]).tolist():
            for t in asked.get(int(cells[own]), ()):
                row = _own_equation(core, t, np.delete(cells, own), -np.delete(values, own) / values[own])
                if row is not None:
                    found.append((row, Own(t, int(core.targets.attacker[t]), name, float(values[own]))))
    return found


def _own_equation(core: Core, t: int, cells: Ints, d: Floats) -> Row | None:
    d = d * core.targets.side[t]
    c = np.abs(d) * np.where(d > 0, core.up[cells], core.down[cells])
    if (k := int(core.targets.attacker[t])) >= 0:
        c[np.isin(cells, core.attackers[k])] = 0.0
    hidden = core.hidden[cells]
    level = float(core.targets.level[t])
    rest = level - float(c[hidden].sum())
    if not rest > LEVEL * level:
        return None
    cells, c = cells[~hidden & (c > 0)], c[~hidden & (c > 0)]
    order = np.argsort(cells)
    return Row(cells[order], np.minimum(c[order] / rest, 1.0), 1.0)
