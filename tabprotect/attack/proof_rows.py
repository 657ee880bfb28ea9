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

`tabprotect.attack.proof` finds the multipliers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from tabprotect.attack.facts import Fact
from tabprotect.attack.keys import Key

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
]


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
        As claimed; `tabprotect.attack.proof.bound_of` recomputes it.
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
