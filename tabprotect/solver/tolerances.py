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
    "BOUND_ROUNDING",
    "BRIDGE_VIOLATION",
    "COEFFICIENT",
    "CONTRADICTION",
    "COST_NOISE",
    "COST_ROUNDING",
    "CUT_VIOLATION",
    "DEVIATION_NOISE",
    "LARGEST_MOVE",
    "LEAST_ROOM",
    "LEVEL",
    "LOCAL_CUT_VIOLATION",
    "LP_FEASIBILITY",
    "MULTIPLIER",
    "OPTIMAL",
    "RAY",
    "RESIDUAL",
    "ROUNDING",
    "ROW_ERROR",
    "SUM_ROUNDING",
    "TIGHTENING",
    "TIGHT_ROW",
    "USED_ROW",
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

CUT_VIOLATION: Final = 1e-4
"""A row of a pool is violated when its slack is below minus this (right-hand sides are 1)."""

BRIDGE_VIOLATION: Final = 1e-6
"""The same for bridges in the root solve, whose relaxations are solved to the end."""

ROW_ERROR: Final = 1e-9
"""A pattern that violates a row by more than this is none of those that the row describes."""

CONTRADICTION: Final = 1e-9
"""A row that everything hidden violates by more than this belongs to a target that no pattern protects."""

TIGHT_ROW: Final = 1e-6
"""Rows with less slack than this at a pattern are tight."""

USED_ROW: Final = 1e-9
"""A multiplier above this share of the largest one (or of 1) says that its row carries the bound."""

COEFFICIENT: Final = 1e-6
"""A coefficient smaller than the right-hand side 1 by less than this is read as 1: the cell alone
may satisfy the row."""

COST_ROUNDING: Final = 1e-9
"""A bound may exceed a cost by this share: both are sums in floating point."""

BOUND_ROUNDING: Final = 1e-9
"""What is taken off a bound for rounding errors in its sums, as a share of all that is added up."""

COST_NOISE: Final = 1e-9
"""What a part of a pattern that is made anew may cost more, for rounding errors."""

LOCAL_CUT_VIOLATION: Final = 1e-3
"""As `CUT_VIOLATION`, for the rows of local attacks."""

DEVIATION_NOISE: Final = 1e-9
"""Entries of a deviation smaller than this, in units of the level, are read as 0."""

LARGEST_MOVE: Final = 2.0**20
"""In local programmes no cell moves further than so many levels."""

LEAST_ROOM: Final = 1e-4
"""A cell that can move by less than this share of the level is charged as if it could move so far."""
