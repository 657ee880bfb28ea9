"""From a table and its rules to a protection problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from tabprotect.counted import counted
from tabprotect.errors import InputError, as_bool
from tabprotect.problem import Problem, Status
from tabprotect.sensitivity.assess import Levels, assess
from tabprotect.sensitivity.assessment import Assessment
from tabprotect.sensitivity.attackers import of_both_levels
from tabprotect.sensitivity.bounds import Bounds, external_bounds
from tabprotect.sensitivity.costs import Preferences, Transform, costs
from tabprotect.sensitivity.knowledge import ONE, least_hidden, whole_numbers
from tabprotect.sensitivity.requirements import Rules
from tabprotect.sensitivity.rule import TIE
from tabprotect.solver.tolerances import SUM_ROUNDING
from tabprotect.table.decimals import decimals_of
from tabprotect.table.link.groupings import grouped_differently
from tabprotect.table.table import Table, need_table

__all__ = ["make_problem"]

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


def make_problem(
    table: Table,
    rules: Rules | Assessment,
    *,
    cost: str | Sequence[float] | Floats | None = None,
    transform: Transform | None = None,
    preferences: Preferences | None = None,
    bounds: Bounds | None = None,
    singletons: bool = True,
    levels: Levels = "symmetric",
    minimum: float | None = None,
    empty: Literal["zero", "safe"] | None = None,
) -> Problem:
    """State the protection problem of a table.

    Parameters
    ----------
    table : Table
    rules : rules or Assessment
        Rules as `assess` takes them, or what it returned (then `levels`, `minimum` and `empty` must stay at their
        defaults, they were decided there).
    cost, transform, preferences
        What hiding a cell costs; see `tabprotect.sensitivity.costs.costs`. By default the column ``cost`` of the
        table, else the absolute cell value.
    bounds : str or (lower, upper), optional
        What every intruder knows of the cells beforehand; see `tabprotect.sensitivity.bounds.external_bounds`. By
        default the columns ``lower`` and ``upper`` of the table, else y >= 0 without upper bound.
    singletons : bool
        Every respondent who is the only contributor of a cell attacks with the knowledge of all his cells.
    levels, minimum, empty
        See `assess`.

    Returns
    -------
    Problem
        Its `notes` say what was adjusted.

    Raises
    ------
    InputError
        What the table lacks for the rules; negative values without explicit bounds; values outside their bounds.

    Notes
    -----
    Under the default bound y >= 0 a lower protection level above the value cannot be reached by anybody, and every
    intruder knows so: it is lowered to the value, as in tau-ARGUS, and noted. Against bounds that were given,
    levels are not clipped: such a cell cannot be protected and the methods name it so.

    What the publication shows is known as well (`tabprotect.sensitivity.knowledge`): where empty cells are left out or
    published as such, a hidden count is at least 1. So a count of 1 has no lower level; that it may be higher is what
    protects it.

    A frequency table of whole numbers is an integer problem (`Problem.integer`), and its levels are rounded up to whole
    numbers: an interval between integers that reaches 1.2 upwards reaches 2.

    Examples
    --------
    >>> from tabprotect.table.system import LinearSystem
    >>> table = Table(
    ...     LinearSystem.from_equations([("total", ["a", "b", "c"])]), np.array([9.0, 5, 2, 2]), kind="frequency"
    ... )
    >>> p = make_problem(table, "threshold=3")
    >>> p.primaries.tolist(), p.lpl.tolist(), p.weights.tolist(), p.integer
    ([2, 3], [0.0, 0.0, 1.0, 1.0], [9.0, 5.0, 2.0, 2.0], True)
    """
    need_table(table, "make_problem")
    singletons = as_bool(singletons, "singletons")
    if isinstance(rules, Assessment):
        if rules.table is not table:
            raise InputError("the assessment was made of another table; assess this one")
        if (levels, minimum, empty) != ("symmetric", None, None):
            raise InputError("levels, minimum and empty are decided by assess; give them there")
        assessment = rules
    else:
        assessment = assess(table, rules, levels=levels, minimum=minimum, empty=empty)
    lower, upper, by_default = external_bounds(table, bounds, assessment.bounds)
    least = least_hidden(table, assessment.status)
    occupied = least > lower
    lower = np.where(occupied, least, lower)
    weights = costs(table, cost, transform=transform, preferences=preferences, override=assessment.cost)
    integer = whole_numbers(table)
    lpl, upl, spl = (
        np.ceil(level - TIE) + 0.0 if integer else level for level in (assessment.lpl, assessment.upl, assessment.spl)
    )
    lpl, upl, lowered = _within_bounds(table, assessment, lower, (lpl, upl, spl), by_default, occupied)
    problem = Problem(
        table.system,
        table.values,
        assessment.status,
        lpl,
        upl,
        spl,
        weights,
        lower,
        upper,
        integer=integer,
        notes=(*assessment.messages, *lowered, *_apart(table)),
    )
    return replace(problem, attackers=of_both_levels(table, problem.may_hide)) if singletons else problem


def _within_bounds(
    table: Table,
    assessment: Assessment,
    lower: Floats,
    levels: tuple[Floats, Floats, Floats],
    by_default: Bools,
    occupied: Bools,
) -> tuple[Floats, Floats, tuple[str, ...]]:
    """Lower levels that everybody knows to be out of reach; return lower and upper ones, and what is to be noted.

    Parameters
    ----------
    table : Table
    assessment : Assessment
    lower : ndarray of float, shape (cells,)
        Lower bounds.
    levels : tuple of ndarray of float
        Lower, upper and sliding ones.
    by_default : ndarray of bool
        Where it was not given.
    occupied : ndarray of bool
        Where the lower bound is that of a hidden cell that is not empty.
    """
    lpl, upl, spl = levels
    room = table.values - lower
    # sums of many digits are rounded, so that a cell is not its parts to the last digit, and cannot lose all of it
    full = room if decimals_of(table.values) is not None else room * (1 - SUM_ROUNDING)
    unreachable = (by_default | occupied) & (lpl > full)
    lpl = np.where(unreachable, full, lpl)
    # a level of nothing at all would let a cell pass that everybody can compute
    bare = unreachable & occupied & (assessment.status == Status.PRIMARY) & (lpl + upl + spl == 0)
    notes: tuple[str, ...] = ()
    if (zero := unreachable & ~occupied).any():
        lowered = (
            f"{counted(int(zero.sum()), 'lower protection level exceeds', 'lower protection levels exceed')} the "
            f"cell value and {'was' if zero.sum() == 1 else 'were'} lowered to it"
        )
        notes += (f"{lowered}: everybody knows that y >= 0",)
    if (one := unreachable & occupied).any():
        lowered = (
            f"{counted(int(one.sum()), 'lower protection level reaches', 'lower protection levels reach')} below 1 and "
            f"{'was' if one.sum() == 1 else 'were'} lowered"
        )
        notes += (f"{lowered}: empty cells are shown, so everybody knows that a hidden cell counts at least 1",)
    return lpl, np.where(bare, ONE, upl), notes


def _apart(table: Table) -> list[str]:
    """Say where linked tables group codes differently, and nothing ties the groups together."""
    return [
        f"the tables group '{name}' differently: what differences between groups tell is audited only as far as the "
        "codes below them are in the tables, too (link takes such codes as unpublished)"
        for name in grouped_differently(table)
    ]
