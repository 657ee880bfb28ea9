"""The proof of a lower bound: inequalities that every safe pattern satisfies, and multipliers that combine them.

Over x in {0, 1} per cell (1 = hidden). Primaries and forced cells have x = 1, protected and fixed ones x = 0, and
cells of weight 0 have x = 1, which is no loss for them; all others are open. Claimed is that some cheapest safe pattern
satisfies all rows, namely one of which no open cell can be published:

- `Capacity`: for an attacker, a primary p, a side s and any multipliers lambda of the equations let
  d = s e_p - A' lambda (0 for known cells). Every deviation has s z_p = d z <= sum_i c_i x_i with
  c_i = UB_i max(d_i, 0) + LB_i max(-d_i, 0), so protection needs sum_i c_i x_i >= level (Fischetti and
  Salazar-Gonzalez 2000). The terms of cells that are always hidden, p's own box among them, move to the right-hand
  side, by which the row is divided, and coefficients above 1 are cut down to 1. A sliding level has two multiplier
  vectors, one for either end of the interval (one of them may be empty: then its own box takes its place).
- `Bridge`: x_i <= sum of the other x in an equation, for an open cell i. If i is the only hidden cell of an equation
  then z_i = 0 for all deviations and all intruders, so publishing i changes no deviation and the pattern without it is
  as safe. The row is empty when another cell of the equation is hidden anyway. Cells that are never hidden count as 0,
  and so do cells that never move, which a pattern of that kind does not hide.
- `Tied`: x_i <= x_j for two open cells of one group (below), and `Companion`: x_i >= 1 for an open cell of the group of
  a primary that has a level. If x_j = 0 then z_j = 0 and so z_i = 0: hiding i alone is of no use, and not hiding the
  companion of a primary pins that down.
- `AtLeast0`, `AtMost1`: the bounds of x.
- `Sum`: nonnegative combinations of earlier rows. `Rounded`: coefficients and right-hand side rounded up (Chvatal and
  Gomory; right since x >= 0 is integral). `Truncated`: nonnegative coefficients cut down to the right-hand side.
  `Cover`: if some terms of a row without negative numbers cannot reach its right-hand side, one of the other x is 1.

Facts make proofs of a reduced problem proofs of the problem itself: a combination of equations in which, apart from
cells that never move, one group of cells is left, or two, or only terms of one sign, shows that cells never move or are
multiples of each other (one group) in all deviations. In capacity rows and bridges a group counts as one cell with the
tightest of the bounds, and moves only if any chosen member of it is hidden.

The bound follows by weak duality (`tabprotect.certificate.rebuild.proven_bound`) for any multipliers >= 0, so those of
a floating-point solver need only be rounded.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.facts import Fact
from tabprotect.attack.keys import Key
from tabprotect.attack.statement import problem_statement
from tabprotect.certificate.numbers import Numbers
from tabprotect.certificate.rebuild import Row, proven_bound, rebuild
from tabprotect.problem import Problem
from tabprotect.solver.exact import exact
from tabprotect.solver.lp import LinearProgram

__all__ = [
    "AtLeast0",
    "AtMost1",
    "BoundProof",
    "Bridge",
    "Capacity",
    "Companion",
    "Cover",
    "ExactMultipliers",
    "ProofRow",
    "Rounded",
    "Sum",
    "Tied",
    "Truncated",
    "bound_of",
    "prove_bound",
    "simple_fraction",
    "snap_multipliers",
]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class ExactMultipliers(NamedTuple):
    """Rational multipliers of equations of the problem (not of a reduced one); all others are 0.

    Attributes
    ----------
    equations : tuple of int
        Row numbers of ``problem.system.A``.
    numerators : tuple of int
    denominator : int
        Common to all, positive.
    """

    equations: tuple[int, ...]
    numerators: tuple[int, ...]
    denominator: int


@dataclass(frozen=True)
class Capacity:
    """The capacity (Benders) inequality of one question; a sliding one has an upper and a lower multiplier vector."""

    key: Key
    multipliers: tuple[ExactMultipliers, ...]


@dataclass(frozen=True)
class Bridge:
    """x_cell <= sum of the other x in an equation of the problem."""

    cell: int
    equation: int


@dataclass(frozen=True)
class Tied:
    """x_cell <= x_other, two cells of one group."""

    cell: int
    other: int


@dataclass(frozen=True)
class Companion:
    """x_cell >= 1 for a cell of the group of a primary that has a level."""

    cell: int


@dataclass(frozen=True)
class AtLeast0:
    """x_cell >= 0."""

    cell: int


@dataclass(frozen=True)
class AtMost1:
    """-x_cell >= -1."""

    cell: int


@dataclass(frozen=True)
class Sum:
    """Combination of earlier rows by nonnegative multipliers: pairs (row number, multiplier)."""

    terms: tuple[tuple[int, Fraction], ...]


@dataclass(frozen=True)
class Rounded:
    """An earlier row with coefficients and right-hand side rounded up to integers."""

    row: int


@dataclass(frozen=True)
class Truncated:
    """An earlier row with nonnegative coefficients, none of them larger than the right-hand side."""

    row: int


@dataclass(frozen=True)
class Cover:
    """sum of x >= 1 over the cells of an earlier row but these, which cannot reach its right-hand side alone."""

    row: int
    cells: tuple[int, ...]


ProofRow = Capacity | Bridge | Tied | Companion | AtLeast0 | AtMost1 | Sum | Rounded | Truncated | Cover


@dataclass(frozen=True)
class BoundProof:
    """Inequalities, the multipliers that combine them, and the bound that results.

    Attributes
    ----------
    rows : tuple of ProofRow
        A row refers to earlier ones by their position.
    multipliers : tuple of (int, Fraction)
        Row number and multiplier >= 0.
    bound : Fraction
        As claimed; `bound_of` recomputes it.
    facts : tuple of Fact
        Combinations of equations, in the order in which they build on each other; see `tabprotect.attack.facts`.
    """

    rows: tuple[ProofRow, ...]
    multipliers: tuple[tuple[int, Fraction], ...]
    bound: Fraction
    facts: tuple[Fact, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return the proof as JSON values, the way a certificate holds it."""
        return {
            "facts": [[[*map(int, equations)], [*map(int, factors)]] for equations, factors in self.facts],
            "rows": [_row_document(row) for row in self.rows],
            "multipliers": [[k, str(factor)] for k, factor in self.multipliers],
        }


def _row_document(row: ProofRow) -> dict[str, Any]:
    match row:
        case Capacity(key, multipliers):
            vectors = [[[*map(int, m.equations)], [*map(int, m.numerators)], int(m.denominator)] for m in multipliers]
            return {"kind": "capacity", "key": [int(k) for k in key], "multipliers": vectors}
        case Bridge(cell, equation):
            return {"kind": "bridge", "cell": int(cell), "equation": int(equation)}
        case Tied(cell, other):
            return {"kind": "tied", "cells": [int(cell), int(other)]}
        case Companion(cell):
            return {"kind": "companion", "cell": int(cell)}
        case AtLeast0(cell):
            return {"kind": "at_least_0", "cell": int(cell)}
        case AtMost1(cell):
            return {"kind": "at_most_1", "cell": int(cell)}
        case Sum(terms):
            return {"kind": "sum", "terms": [[k, str(factor)] for k, factor in terms]}
        case Rounded(number):
            return {"kind": "round", "row": number}
        case Truncated(number):
            return {"kind": "truncate", "row": number}
        case Cover(number, cells):
            return {"kind": "cover", "row": number, "cells": [*map(int, cells)]}


def bound_of(problem: Problem, proof: BoundProof) -> Fraction:
    """Return the lower bound that a proof gives, rebuilt from the problem in exact arithmetic.

    Examples
    --------
    One of two other cells of a row has to be hidden; the cheaper one costs 5:

    >>> p = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2, weights=[99, 0, 6, 5])
    >>> cut = Capacity(Key(-1, 1, 1), (ExactMultipliers((0,), (1,), 1),))
    >>> bound_of(p, BoundProof((cut,), ((0, Fraction(5)),), Fraction(5)))
    Fraction(5, 1)
    """
    return proven_bound(Numbers(problem_statement(problem)), proof.document())


def prove_bound(problem: Problem, rows: Sequence[ProofRow], facts: Sequence[Fact] = ()) -> BoundProof:
    """Find the multipliers of rows that give the best bound, and make them exact.

    The linear relaxation of the rows is solved in floating point; its duals, rounded to fractions, prove a bound by
    themselves. Rows that do not take part are left out.

    Parameters
    ----------
    problem : Problem
    rows : sequence of ProofRow
    facts : sequence of Fact
        What the rows rest on; see `tabprotect.attack.facts.facts_of`.

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2, weights=[99, 0, 6, 5])
    >>> prove_bound(p, [Bridge(0, 0), Capacity(Key(-1, 1, 1), (ExactMultipliers((0,), (1,), 1),))])
    BoundProof(rows=(Capacity(key=Key(attacker=-1, cell=1, side=1),
        multipliers=(ExactMultipliers(equations=(0,), numerators=(1,), denominator=1),)),),
        multipliers=((0, Fraction(5, 1)),), bound=Fraction(5, 1), facts=())
    """
    numbers = Numbers(problem_statement(problem))
    whole = BoundProof(tuple(rows), (), Fraction(0), tuple(facts)).document()
    built = rebuild(numbers, whole["facts"], whole["rows"])
    duals = _duals(problem, built)
    chosen = {k: snapped for k, dual in enumerate(duals.tolist()) if (snapped := simple_fraction(dual)) > 0}
    kept, place = _with_ancestors(rows, chosen)
    proof = BoundProof(kept, tuple((place[k], factor) for k, factor in chosen.items()), Fraction(0), tuple(facts))
    return replace(proof, bound=proven_bound(numbers, proof.document()))


def _duals(problem: Problem, rows: Sequence[Row]) -> Floats:
    """Multipliers of the linear relaxation, which is solved with rows divided by their right-hand sides."""
    filled = [k for k, (coefficients, _, _) in enumerate(rows) if coefficients]
    duals = np.zeros(len(rows))
    if not filled:
        return duals
    free = np.flatnonzero(problem.may_hide & ~problem.must_hide & (problem.weights > 0))
    place = np.full(problem.n_cells, -1)
    place[free] = np.arange(len(free))
    unit = [abs(float(rows[k][1])) or float(rows[k][2]) for k in filled]
    data = [float(Fraction(c)) / u for k, u in zip(filled, unit, strict=True) for c in rows[k][0].values()]
    index = place[[i for k in filled for i in rows[k][0]]]
    indptr = np.cumsum([0] + [len(rows[k][0]) for k in filled])
    A = sparse.csr_array((data, index, indptr), shape=(len(filled), len(free)))
    rhs = [float(rows[k][1]) / u for k, u in zip(filled, unit, strict=True)]
    one = np.ones(len(free))
    lp = LinearProgram(A, rhs, np.full(len(rhs), np.inf), 0 * one, one, problem.weights[free])
    solution = lp.solve()
    for k, u, dual in zip(filled, unit, solution.duals, strict=True):
        duals[k] = max(0.0, dual) * (float(rows[k][2]) / u)
    return duals


def _with_ancestors(
    rows: Sequence[ProofRow], chosen: Mapping[int, Fraction]
) -> tuple[tuple[ProofRow, ...], dict[int, int]]:
    """Keep the rows chosen and those that they are made of, renumbered."""
    needed = set(chosen)
    for k in range(len(rows) - 1, -1, -1):
        row = rows[k]
        if k in needed:
            needed |= {r for r, _ in row.terms} if isinstance(row, Sum) else set()
            needed |= {row.row} if isinstance(row, (Rounded, Truncated, Cover)) else set()
    place = {k: i for i, k in enumerate(sorted(needed))}
    kept: list[ProofRow] = []
    for k in place:
        match row := rows[k]:
            case Sum(terms):
                kept.append(Sum(tuple((place[r], factor) for r, factor in terms)))
            case Rounded(number):
                kept.append(Rounded(place[number]))
            case Truncated(number):
                kept.append(Truncated(place[number]))
            case Cover(number, cells):
                kept.append(Cover(place[number], cells))
            case _:
                kept.append(row)
    return tuple(kept), place


@lru_cache(maxsize=2**16)
def simple_fraction(value: float) -> Fraction:
    """Return a small fraction if one is meant, else a decimal of 12 digits.

    Examples
    --------
    >>> simple_fraction(0.6666666666), simple_fraction(0.70710678)
    (Fraction(2, 3), Fraction(35355339, 50000000))
    """
    for largest, tolerance in ((100, 1e-8), (10_000, 1e-10)):
        near = Fraction(value).limit_denominator(largest)
        if abs(float(near) - value) <= tolerance * max(1.0, abs(value)):
            return near
    return exact(float(f"{value:.12g}"))


def snap_multipliers(
    equations: Sequence[int] | Ints, duals: Sequence[float] | Floats, own: Sequence[float] | Floats, side: int
) -> ExactMultipliers:
    """Round floating-point multipliers of an attack to rationals with d = 0 exactly for the cell attacked.

    Parameters
    ----------
    equations : sequence of int
        Row numbers of ``problem.system.A``.
    duals : sequence of float
        lambda in d = side e_cell - A' lambda; the row duals of ``max side * z_cell`` as HiGHS reports them.
    own : sequence of float
        Coefficients of the cell attacked (or of its group) in these equations.
    side : int
        +1 or -1; 0 leaves d as it comes (the ends of a sliding level).

    Examples
    --------
    >>> snap_multipliers([0, 7], [0.3333333333, 1e-12], [3.0, 1.0], 1)
    ExactMultipliers(equations=(0,), numerators=(1,), denominator=3)
    """
    fractions = [(int(r), simple_fraction(float(v)), exact(a)) for r, v, a in zip(equations, duals, own, strict=True)]
    snapped = [(r, f, a) for r, f, a in fractions if f]
    total = sum((f * a for _, f, a in snapped), Fraction(0))
    factor = side / total if side and total else Fraction(1)
    found = {r: f * factor for r, f, _ in snapped}
    denominator = math.lcm(1, *(f.denominator for f in found.values()))
    rows = tuple(sorted(found))
    return ExactMultipliers(rows, tuple(int(found[r] * denominator) for r in rows), denominator)
