"""Every numerical tolerance of the project, in one place.

Floating point only proposes: what is claimed in the end rests on witnesses and multipliers that are checked in exact
arithmetic (`tabprotect.attack.certificate`), so these numbers decide how often exact work is needed, not what is true.
All are relative: attack programmes are solved in units of the protection level in question (a power of two, so that
scaling is exact), which makes tables in 10^-3 and in 10^9 behave alike.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "AT_BOUND",
    "LEVEL",
    "LP_FEASIBILITY",
    "MULTIPLIER",
    "OPTIMAL",
    "RAY",
    "RESIDUAL",
    "ROUNDING",
    "SUM_ROUNDING",
    "TIGHTENING",
    "WIDTH",
    "WITNESS_ROUNDING",
]

LP_FEASIBILITY: Final = 1e-9
"""Primal and dual feasibility tolerance asked of the LP solver, in units of the protection level."""

LEVEL: Final = 1e-7
"""A protection level L counts as reached by a floating-point deviation of at least (1 - LEVEL) L."""

RESIDUAL: Final = 1e-7
"""A deviation answers a question of level L only if |A z| <= RESIDUAL * L in every equation."""

MULTIPLIER: Final = 1e-10
"""Reduced costs of an attack smaller than this (its objective has coefficient 1) are noise and read as 0."""

AT_BOUND: Final = (1e-9, 1e-6, 1e-12)
"""How near (relative, at least absolute) an entry of a vertex is read as being at its bound; tried in this order."""

TIGHTENING: Final = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
"""Shares by which bounds are narrowed and levels raised when a vertex cannot be made exact; tried in this order.
The more room, the surer: floating point is off by up to 1e-9 of the level in every equation."""

ROUNDING: Final = 1e-4
"""How near (in units of the grid) all entries of a point must be to a grid for a try at rounding to it; the outcome is
checked exactly."""

SUM_ROUNDING: Final = 1e-12
"""A sum of numbers with more decimals than are published is off by less than this share of it: so much of a cell is no
part of what its parts can lose."""

WITNESS_ROUNDING: Final = 1e-2
"""The same for witnesses, which have no objective that rounding could make worse."""

RAY: Final = 1e-6
"""An unbounded direction (entries at most 1) moves a cell if it moves it by more than this."""

WIDTH: Final = 1e-7
"""A hidden cell counts as recomputable when its interval is narrower than this share of its value."""

OPTIMAL: Final = 1e-9
"""A pattern counts as optimal when its cost exceeds the bound by at most this share."""
