"""The numerical tolerances of attacks, programmes and methods, in one place.

What counts as equal in a primary rule is in `tabprotect.sensitivity.rule`.

Floating point only proposes: what is claimed in the end rests on witnesses and multipliers that are checked in exact
arithmetic (`tabprotect.attack.certificate`), so these numbers decide how often exact work is needed, not what is true.
All are relative: attack programmes are solved in units of the protection level in question (a power of two, so that
scaling is exact), which makes tables in 10^-3 and in 10^9 behave alike.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "ADJUSTED_ERROR",
    "AT_BOUND",
    "BINARY_INTEGRALITY",
    "BOUND_DIGITS",
    "BOUND_ROUNDING",
    "BRIDGE_VIOLATION",
    "CANCELLED",
    "CHANGED_VALUE",
    "CIRCUIT_ENTRY",
    "COEFFICIENT",
    "CONDITION",
    "CONTRADICTION",
    "COST_NOISE",
    "COST_ROUNDING",
    "CUT_VIOLATION",
    "DEVIATION_NOISE",
    "FARTHER",
    "FLOAT_ERROR",
    "IMPROVEMENT",
    "INTEGRALITY",
    "LARGEST_MOVE",
    "LEAST_ROOM",
    "LEVEL",
    "LEVEL_ROOM",
    "LEVEL_TIE",
    "LITTLE_ROOM",
    "LOCAL_CUT_VIOLATION",
    "LP_FEASIBILITY",
    "MOMENT_ACCURACY",
    "MOMENT_EDGE",
    "MOMENT_ERROR",
    "MULTIPLIER",
    "NARROWED",
    "NO_GAP",
    "OPTIMAL",
    "PROVEN",
    "PROVEN_SQUARES",
    "PRUNED",
    "QP_ACCURACY",
    "QP_FIXED_ROW",
    "QP_LEAST_ACCURACY",
    "QP_NOISE",
    "QP_OBJECTIVE",
    "RAY",
    "REACHED",
    "RESIDUAL",
    "ROUNDED_UP",
    "ROUNDING",
    "ROW_ERROR",
    "ROW_FEASIBILITY",
    "SIZE_VIOLATION",
    "STEP_ROUNDING",
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

BOUND_DIGITS: Final = 34
"""Bounds of linear programmes with more binary digits before the point are scaled to so many."""

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

# --- attacks and exact arithmetic

CIRCUIT_ENTRY: Final = 1e-9
"""Smaller entries of an eliminated column, or of a circuit, are rounding."""

LEVEL_TIE: Final = 1e-9
"""Within this share of a level fractions decide, since floating point cannot."""

LITTLE_ROOM: Final = 1e-7
"""Cells with less room than this share of the largest step take up rounding errors only where no others can."""

FLOAT_ERROR: Final = 1e-13
"""Relative error of a float that went through several operations."""

NARROWED: Final = 1e-9
"""A bound that follows from equations has to become narrower by this share to count."""

LEVEL_ROOM: Final = (1e-6, 1e-4, 1e-2)
"""Room that levels get which an audit does not find reached, in units of the external bounds; tried in this order."""

REACHED: Final = 1e-9
"""An attack on a relaxation reaches a level that it misses by no more than this share: no row cuts that off."""

# --- integer programmes

INTEGRALITY: Final = 1e-6
"""How near to a whole number an entry of a solution, or a bound on what is whole, is read as that number."""

BINARY_INTEGRALITY: Final = 1e-8
"""Integrality asked of a solver where all integer variables are binary, which multiply large capacities. General
integers keep the 1e-6 of the solver: with a tolerance so tight HiGHS has cut off optima and called the next best one
optimal."""

ROW_FEASIBILITY: Final = 1e-6
"""Written rows and integrality may be missed by this (absolute, after division by a row's largest coefficient)."""

ROUNDED_UP: Final = 1e-9
"""A coefficient that exceeds a whole number by less than this is rounded up to that one, not to the next."""

CANCELLED: Final = 1e-12
"""Coefficients smaller than this are what is left of a difference of equal ones."""

NO_GAP: Final = 1e-9
"""A relative gap below this one is none."""

PRUNED: Final = 1e-8
"""A node whose bound is so near to the best cost (relative) is pruned."""

PROVEN: Final = 1e-6
"""An answer counts as optimal when its bound is no farther away than this (relative): rounding, adjustment, and what
other solvers say."""

PROVEN_SQUARES: Final = 1e-5
"""The same where an interior point method, known to fewer digits, has the last word."""

IMPROVEMENT: Final = 1e-9
"""A solution is better than another when it costs less by more than this share."""

# --- quadratic programmes, by an interior point method

QP_ACCURACY: Final = 1e-10
"""Accuracy asked of the solver."""

QP_LEAST_ACCURACY: Final = 1e-7
"""The least accuracy that is taken for an answer."""

QP_OBJECTIVE: Final = 1e-7
"""What is taken off an objective, which is known to about eight digits, for a bound (relative)."""

QP_NOISE: Final = 1e-10
"""Changes below this, in units of the levels, are what is left of 0."""

QP_FIXED_ROW: Final = 1e-9
"""How much a row between fixed columns may be missed by (relative, at least absolute)."""

# --- other values

STEP_ROUNDING: Final = 1e-9
"""How far outside its bound a whole number of steps may be by floating-point error."""

ADJUSTED_ERROR: Final = 1e-9
"""Largest error of adjusted values that are no exact decimals, relative to the terms of an equation or the largest
change, to the value for bounds, to the level or the value for levels."""

CONDITION: Final = 1e-7
"""How far a condition to keep may be broken by floating-point errors, relative to its terms."""

SIZE_VIOLATION: Final = 1e-6
"""A row on the sizes of changes is violated when it is missed by more than this (relative)."""

FARTHER: Final = 1 + 1e-9
"""How much farther than the best cost allows cells are thought to move."""

CHANGED_VALUE: Final = 1e-12
"""A value that differs by less than this share is the same one."""

MOMENT_ACCURACY: Final = 1e-13
"""Largest error of both moments of a perturbation, in units where the largest point is 1."""

MOMENT_EDGE: Final = 1e-9
"""Second moments this near to the end of their range get the distribution on two points that is there."""

MOMENT_ERROR: Final = 1e-9
"""Largest error of the sum, mean and variance of a row of a perturbation table, relative to the deviation."""
