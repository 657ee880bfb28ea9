"""Apply the primary rules to a table: which cells are sensitive, why, and how far they must be able to move."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from tabprotect.counted import counted
from tabprotect.errors import InputError, among, as_number
from tabprotect.problem import Status
from tabprotect.sensitivity.assessment import Assessment
from tabprotect.sensitivity.concentration import counts
from tabprotect.sensitivity.parse import as_rules
from tabprotect.sensitivity.requirements import Rules, check_rules, idle_rules
from tabprotect.sensitivity.rule import NOTHING, Decisions, Override, Rule
from tabprotect.sensitivity.rules.manual import COLUMNS, Manual
from tabprotect.table.table import Table, need_table

__all__ = ["Levels", "assess", "check_levels", "shape_levels", "smallest_level"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Levels = Literal["symmetric", "upper", "sliding"]

MOST_DECIMALS: Final = 6
"""Values with more decimals than this are taken as real numbers; the smallest level is then 10^-6."""


def smallest_level(table: Table) -> float:
    """Return the smallest protection level of a primary cell: one unit of the last decimal place of the values.

    That is 1 for counts and whole numbers. A level of 0 would ask for nothing, so that an exactly recomputable cell
    passed as protected; tau-ARGUS has the same minimum (``CTable::MinLPL``). Values with more than six decimals get
    10^-6.

    Examples
    --------
    >>> from tabprotect.table.system import LinearSystem
    >>> system = LinearSystem.from_equations([("t", ["a", "b"])])
    >>> smallest_level(Table(system, np.array([3.0, 1, 2]))), smallest_level(Table(system, np.array([3.25, 1.25, 2])))
    (1.0, 0.01)
    """
    values = table.values
    for decimals in range(MOST_DECIMALS):
        scaled = values * 10.0**decimals
        if np.all(np.abs(scaled - np.rint(scaled)) <= 1e-9 * np.maximum(np.abs(scaled), 1.0)):
            return float(10.0**-decimals)
    return float(10.0**-MOST_DECIMALS)


def shape_levels(lpl: Floats, upl: Floats, levels: Levels) -> tuple[Floats, Floats, Floats]:
    """Return lower, upper and sliding levels of the wanted shape (see `assess`)."""
    check_levels(levels)
    nothing = np.zeros(len(lpl))
    if levels == "symmetric":
        return lpl, upl, nothing
    if levels == "upper":
        return nothing, upl, nothing.copy()
    return nothing, nothing.copy(), lpl + upl


def check_levels(levels: object) -> None:
    """Refuse a shape of levels that there is not."""
    if not among(levels, ("symmetric", "upper", "sliding")):
        raise InputError(f"levels must be 'symmetric', 'upper' or 'sliding', not {levels!r}")


def assess(
    table: Table,
    rules: Rules,
    *,
    levels: Levels = "symmetric",
    minimum: float | None = None,
    empty: Literal["zero", "safe"] | None = None,
) -> Assessment:
    """Find the sensitive cells of a table and their protection levels.

    A cell is sensitive if any rule says so; its levels are the largest that any of these rules asks for. Then
    `MissingSafe`, the table's own status and level columns (`Manual`) and an a-priori file decide, the later the
    stronger.

    Parameters
    ----------
    table : Table
    rules : Rule, str, or a sequence of them
        Such as ``[PPercent(15), Threshold(3)]`` or ``"p%=15|threshold=3"``.
    levels : {'symmetric', 'upper', 'sliding'}
        'symmetric': lower level = upper level, as tau-ARGUS has it. 'upper': no lower level (the rules' formulas
        justify only the upper one). 'sliding': the interval must be as wide as both together, wherever it lies.
        Levels given by columns or an a-priori file stay as they are.
    minimum : float, optional
        Smallest level of a primary cell; by default `smallest_level`.
    empty : {'zero', 'safe'}, optional
        Cells of value 0 without contributors. By default as the table says: its status 'z' marks zeros that everybody
        knows, which are published, since to hide a zero that an intruder knows protects nothing; others are cells like
        any other. 'zero' makes all of them known zeros (without counts, all cells of value 0), 'safe' none.

    Returns
    -------
    Assessment

    Raises
    ------
    InputError
        Once, for all rules: what the table lacks and how to give it; cells that must be published but are sensitive.

    Notes
    -----
    A cell of value 0 gets a lower level of 0 unless a column gives one: nobody expects it to lie lower.

    Examples
    --------
    >>> from tabprotect.table.system import LinearSystem
    >>> system = LinearSystem.from_equations([("total", ["a", "b", "c"])])
    >>> counted = Table(system, np.array([9.0, 5, 2, 2]), kind="frequency")
    >>> a = assess(counted, "threshold=3")
    >>> a.primaries.tolist(), a.upl.tolist()
    ([2, 3], [0.0, 0.0, 1.0, 1.0])
    >>> print(a.explain("b"))
    b: 2, primary
      threshold=3: sensitive; 2 contributors < 3
      an intruder must find it able to move down by 1, up by 1
    """
    need_table(table, "assess")
    wanted = as_rules(rules)
    if not COLUMNS.isdisjoint(table.columns) and not any(isinstance(rule, Manual) for rule in wanted):
        wanted = (*wanted, Manual())
    check_rules(table, wanted)
    if not among(empty, (None, "zero", "safe")):
        raise InputError(f"empty must be 'zero' or 'safe', not {empty!r}")
    least = smallest_level(table) if minimum is None else as_number(minimum, "minimum")
    if not least > 0:
        raise InputError(f"minimum must be above 0, not {least:g}: a level of 0 asks for no protection at all")
    draft = _Draft(table, least)
    magnitude = [rule for rule in wanted if isinstance(rule, Rule)]
    for rule in magnitude:
        draft.judge(rule)
    draft.status[draft.sensitive] = Status.PRIMARY
    if empty == "zero":
        draft.status[_known_zeros(table) & ~draft.sensitive] = Status.ZERO
    only_levels = "status" not in table.columns and not magnitude
    for override in sorted((rule for rule in wanted if isinstance(rule, Override)), key=lambda rule: rule.rank):
        decisions = override.decide(table)
        if empty == "safe" and isinstance(override, Manual):
            decisions.status[_known_zeros(table) & (decisions.status == Status.ZERO)] = NOTHING
        if isinstance(override, Manual) and only_levels:
            decisions.status[_given_levels(decisions)] = Status.PRIMARY
        draft.apply(override, decisions)
    found = draft.assessment(wanted, levels)
    return replace(found, messages=(*found.messages, *idle_rules(table, wanted)))


class _Draft:
    """What the rules have said so far."""

    def __init__(self, table: Table, least: float) -> None:
        n = table.n_cells
        self.table, self.least = table, least
        self.status = np.full(n, Status.SAFE, np.int8)
        self.sensitive = np.zeros(n, bool)
        self.lpl, self.upl = np.zeros(n), np.zeros(n)
        self.reasons: dict[str, Bools] = {}
        self.fixed = np.full((3, n), np.nan)
        self.cost, self.lower, self.upper = np.full((3, n), np.nan)

    def judge(self, rule: Rule) -> None:
        """Take over what a rule finds sensitive, and its levels where they are larger."""
        verdict = rule.judge(self.table)
        self.reasons[str(rule)] = mask = np.zeros(len(self.status), bool)
        mask[verdict.cells] = True
        for level, asked in ((self.lpl, verdict.lpl), (self.upl, verdict.upl)):
            level[verdict.cells] = np.maximum(level[verdict.cells], np.maximum(asked, self.least))
        self.sensitive |= mask

    def apply(self, override: Override, decisions: Decisions) -> None:
        """Put what an override decides into status, levels and reasons; later ones are stronger."""
        said, sensitive, values = decisions.status, self.sensitive, self.table.values
        clash = sensitive & np.isin(said, (Status.PROTECTED, Status.ZERO))
        if clash.any():
            names = ", ".join(self.table.system.label(int(i)) for i in np.flatnonzero(clash)[:5])
            raise InputError(
                f"{override}: {counted(int(clash.sum()), 'cell')} must be published but a rule finds "
                f"{'it' if clash.sum() == 1 else 'them'} sensitive: {names}; "
                "give them status 's' in an a-priori file if they are safe, or drop the mark"
            )
        by_hand = said == Status.PRIMARY
        if by_hand.any():
            level = np.maximum(np.abs(values[by_hand]) * decisions.default_range / 100, self.least)
            self.lpl[by_hand] = np.maximum(self.lpl[by_hand], level)
            self.upl[by_hand] = np.maximum(self.upl[by_hand], level)
            self.reasons[str(override)] = by_hand.copy()
        decided = (said != NOTHING) & ~(sensitive & (said == Status.FORCED))
        self.status[decided] = said[decided]
        sensitive &= said != Status.SAFE
        for row, given in zip(self.fixed, (decisions.lpl, decisions.upl, decisions.spl), strict=True):
            np.copyto(row, given, where=~np.isnan(given))
        of_cells = ((self.cost, decisions.cost), (self.lower, decisions.lower), (self.upper, decisions.upper))
        for all_of, single in of_cells:
            if single is not None:
                np.copyto(all_of, single, where=~np.isnan(single))

    def assessment(self, rules: tuple[Rule | Override, ...], levels: Levels) -> Assessment:
        """Give the levels their shape, and check them."""
        table, fixed, primary = self.table, self.fixed, self.status == Status.PRIMARY
        self.lpl[table.values == 0] = 0.0
        lpl, upl, spl = shape_levels(self.lpl, self.upl, levels)
        fixed[:, np.nan_to_num(fixed).max(axis=0) == 0] = np.nan
        for array, row in zip((lpl, upl, spl), fixed, strict=True):
            np.copyto(array, row, where=~np.isnan(row) & primary)
            array[~primary] = 0.0
        unused = int(np.sum(~np.isnan(fixed).all(axis=0) & ~primary))
        without_effect = (
            f"protection levels given for {counted(unused, 'cell that is', 'cells that are')} not sensitive "
            "have no effect"
        )
        bad = primary & ~(np.isfinite([lpl, upl, spl]).all(axis=0) & (np.minimum(np.minimum(lpl, upl), spl) >= 0))
        if bad.any():
            names = ", ".join(table.system.label(int(i)) for i in np.flatnonzero(bad)[:5])
            raise InputError(f"protection levels must be numbers of at least 0; they are not for {names}")
        for mask in self.reasons.values():
            mask &= primary
        cost = None if np.isnan(self.cost).all() else self.cost
        bounds = None if np.isnan([self.lower, self.upper]).all() else (self.lower, self.upper)
        messages = (without_effect,) if unused else ()
        return Assessment(table, rules, self.status, lpl, upl, spl, self.reasons, cost, messages, bounds)


def _given_levels(decisions: Decisions) -> Bools:
    """Return the cells with a level above 0: sensitive, where neither a rule nor a status says what is."""
    largest: Floats = np.nan_to_num([decisions.lpl, decisions.upl, decisions.spl]).max(axis=0)
    return largest > 0


def _known_zeros(table: Table) -> Bools:
    """Return the cells of value 0 without contributors, as far as the table knows them."""
    if table.counts is None and table.weighted_counts is None:
        return np.asarray(table.values == 0)
    return np.asarray((table.values == 0) & (counts(table) == 0))
