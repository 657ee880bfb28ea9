"""Apply the primary rules to a table: which cells are sensitive, why, and how far they must be able to move."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.counted import counted
from tabprotect.errors import InputError, collect
from tabprotect.problem import Status
from tabprotect.sensitivity.concentration import counts
from tabprotect.sensitivity.level import AtHoldings
from tabprotect.sensitivity.parse import as_rules
from tabprotect.sensitivity.rule import NOTHING, Decisions, Override, Rule, Spoken
from tabprotect.sensitivity.rules.manual import COLUMNS, Manual
from tabprotect.table.naming import cell_of_table
from tabprotect.table.table import Table, need_table
from tabprotect.views import many, view

__all__ = ["Assessment", "Levels", "Rules", "assess", "needs", "readings", "shape_levels", "smallest_level"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Rules = Rule | Override | str | Iterable[Rule | Override | str]
Levels = Literal["symmetric", "upper", "sliding"]

MOST_DECIMALS: Final = 6
"""Values with more decimals than this are taken as real numbers; the smallest level is then 10^-6."""


@dataclass(frozen=True, eq=False)
class Assessment:
    """What the rules say of every cell. Internal: it holds confidential values.

    Attributes
    ----------
    table : Table
    rules : tuple
        As they were applied.
    status : ndarray of int8, shape (cells,)
        A `tabprotect.problem.Status`.
    lpl, upl, spl : ndarray, shape (cells,)
        Lower, upper and sliding protection level of primary cells in the unit of the values; 0 for others.
    reasons : dict of str to ndarray of bool
        For every rule, by its text, the cells that are primary because of it (a cell may have several reasons).
    cost : ndarray, shape (cells,), optional
        Costs from an a-priori file, nan where it gives none.
    messages : tuple of str
        What was adjusted or had no effect.
    bounds : (lower, upper) of ndarray, shape (cells,), optional
        External bounds of single cells from an a-priori file, nan where it gives none.
    """

    table: Table = field(repr=False)
    rules: tuple[Rule | Override, ...]
    status: npt.NDArray[np.int8] = field(repr=False)
    lpl: Floats = field(repr=False)
    upl: Floats = field(repr=False)
    spl: Floats = field(repr=False)
    reasons: Mapping[str, Bools] = field(repr=False)
    cost: Floats | None = field(default=None, repr=False)
    messages: tuple[str, ...] = ()
    bounds: tuple[Floats, Floats] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        found = f"{len(self.primaries):,} of {many(len(self.status), 'cell')}"
        return f"Assessment({found} primary, by {many(len(self.rules), 'rule')})"

    def _repr_html_(self) -> str:
        return view(self)

    @property
    def primaries(self) -> npt.NDArray[np.int64]:
        """Positions of the primary cells."""
        return np.flatnonzero(self.status == Status.PRIMARY)

    @property
    def frame(self) -> pd.DataFrame:
        """Return one row a cell: codes, value, count, status, levels, and a column of True/False for every rule."""
        frame = self.table.system.cells.to_frame(index=False)
        names: list[object] = list(self.table.system.cells.names)
        frame.columns = pd.Index(["cell" if name is None else str(name) for name in names])
        frame[self.table.value_name] = self.table.values
        if self.table.counts is not None:
            frame["count"] = self.table.counts
        frame["status"] = np.array([s.name.lower() for s in Status], dtype=object)[self.status]
        for name in ("lpl", "upl", "spl"):
            frame[name] = getattr(self, name)
        for name, mask in self.reasons.items():
            frame[name] = mask
        return frame

    def by_rule(self) -> list[tuple[str, str]]:
        """Return a line for every rule: how many cells it makes primary, and how its text was read."""
        read = readings(self.rules)
        lines = []
        for rule, mask in self.reasons.items():
            words = f" ({read[rule]})" if read.get(rule) else ""
            lines.append((f"rule {rule}", f"{int(mask.sum()):,} primary{words}"))
        return lines

    def explain(self, cell: Any) -> str:
        """Say in words why a cell is sensitive or not, with the numbers (internal).

        Parameters
        ----------
        cell : tuple, str, mapping or int
            The codes of the cell, or its label; its position where no code is a number (see
            `tabprotect.table.naming.cell_of_system`).

        Raises
        ------
        InputError
            If this names no cell, or several.
        """
        i = cell_of_table(self.table, cell)
        status = Status(self.status[i])
        lines = [f"{self.table.system.label(i)}: {self.table.values[i]:.12g}, {status.name.lower()}"]
        for rule in self.rules:
            hit = self.reasons.get(str(rule))
            mark = "sensitive" if hit is not None and hit[i] else "not sensitive"
            if isinstance(rule, Rule):
                lines.append(f"  {rule}: {mark}; {rule.explain(self.table, i)}")
            else:
                decided = rule.decide(self.table).status[i]
                lines.append(f"  {rule}: " + (f"makes it {Status(decided).name.lower()}" if decided >= 0 else "silent"))
        if status == Status.PRIMARY:
            levels = f"down by {self.lpl[i]:.12g}, up by {self.upl[i]:.12g}"
            sliding = f", over a width of {self.spl[i]:.12g}" if self.spl[i] else ""
            lines.append(f"  an intruder must find it able to move {levels}{sliding}")
        return "\n".join(lines)


def readings(rules: Iterable[Rule | Override]) -> dict[str, str]:
    """Return by the text of each rule how it was read: its parameters by name.

    Examples
    --------
    >>> readings(as_rules(["p%=12,5", "holdings: threshold=3"]))
    {'p%=12,5': 'p = 12, n = 5', 'holdings: threshold=3': 'n = 3, range = 10'}
    """
    found = {str(one): _spoken(one) for one in rules}
    return {text: rule.reading for text, rule in found.items() if rule is not None}


def _spoken(one: Rule | Override) -> Spoken | None:
    rule = one.rule if isinstance(one, AtHoldings) else one
    return rule if isinstance(rule, Spoken) else None


def needs(rules: Rules) -> int:
    """Return how many of the largest contributions `tabulate` must keep for these rules.

    Examples
    --------
    >>> needs("p%=15"), needs(["p%=15,2", "nk=2,85"]), needs("threshold=3")
    (2, 3, 0)
    """
    return max((rule.needs().top for rule in as_rules(rules) if isinstance(rule, Rule)), default=0)


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
    nothing = np.zeros(len(lpl))
    if levels == "symmetric":
        return lpl, upl, nothing
    if levels == "upper":
        return nothing, upl, nothing.copy()
    if levels == "sliding":
        return nothing, nothing.copy(), lpl + upl
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
    _check_commas(table, wanted)
    _check_needs(table, wanted)
    n = table.n_cells
    if empty not in (None, "zero", "safe"):
        raise InputError(f"empty must be 'zero' or 'safe', not {empty!r}")
    least = smallest_level(table) if minimum is None else float(minimum)
    if not least > 0:
        raise InputError(f"minimum must be above 0, not {least:g}: a level of 0 asks for no protection at all")
    lpl, upl = np.zeros(n), np.zeros(n)
    reasons: dict[str, Bools] = {}
    sensitive = np.zeros(n, bool)
    for rule in wanted:
        if isinstance(rule, Rule):
            verdict = rule.judge(table)
            reasons[str(rule)] = mask = np.zeros(n, bool)
            mask[verdict.cells] = True
            lpl[verdict.cells] = np.maximum(lpl[verdict.cells], np.maximum(verdict.lpl, least))
            upl[verdict.cells] = np.maximum(upl[verdict.cells], np.maximum(verdict.upl, least))
            sensitive |= mask
    status = np.where(sensitive, Status.PRIMARY, Status.SAFE).astype(np.int8)
    if empty == "zero":
        status[_known_zeros(table) & ~sensitive] = Status.ZERO
    messages: list[str] = []
    fixed = np.full((3, n), np.nan)
    cost, lower, upper = np.full((3, n), np.nan)
    only_levels = "status" not in table.columns and not any(isinstance(rule, Rule) for rule in wanted)
    overrides = sorted((rule for rule in wanted if isinstance(rule, Override)), key=lambda rule: rule.rank)
    for override in overrides:
        decisions = override.decide(table)
        if empty == "safe" and isinstance(override, Manual):
            decisions.status[_known_zeros(table) & (decisions.status == Status.ZERO)] = NOTHING
        if isinstance(override, Manual) and only_levels:
            decisions.status[_given_levels(decisions)] = Status.PRIMARY
        _apply(table, override, decisions, status, lpl, upl, least, reasons, sensitive)
        for row, given in zip(fixed, (decisions.lpl, decisions.upl, decisions.spl), strict=True):
            np.copyto(row, given, where=~np.isnan(given))
        said = ((cost, decisions.cost), (lower, decisions.lower), (upper, decisions.upper))
        for all_of, single in said:
            if single is not None:
                np.copyto(all_of, single, where=~np.isnan(single))
    primary = status == Status.PRIMARY
    lpl[table.values == 0] = 0.0
    lpl, upl, spl = shape_levels(lpl, upl, levels)
    fixed[:, np.nan_to_num(fixed).max(axis=0) == 0] = np.nan
    for array, row in zip((lpl, upl, spl), fixed, strict=True):
        np.copyto(array, row, where=~np.isnan(row) & primary)
        array[~primary] = 0.0
    unused = int(np.sum(~np.isnan(fixed).all(axis=0) & ~primary))
    if unused:
        messages.append(
            f"protection levels given for {counted(unused, 'cell that is', 'cells that are')} not sensitive "
            "have no effect"
        )
    bad = primary & ~(np.isfinite([lpl, upl, spl]).all(axis=0) & (np.minimum(np.minimum(lpl, upl), spl) >= 0))
    if bad.any():
        names = ", ".join(table.system.label(int(i)) for i in np.flatnonzero(bad)[:5])
        raise InputError(f"protection levels must be numbers of at least 0; they are not for {names}")
    for mask in reasons.values():
        mask &= primary
    given_cost = None if np.isnan(cost).all() else cost
    bounds = None if np.isnan([lower, upper]).all() else (lower, upper)
    return Assessment(table, wanted, status, lpl, upl, spl, reasons, given_cost, tuple(messages), bounds)


def _check_commas(table: Table, rules: Iterable[Rule | Override]) -> None:
    """Refuse rules that a reader of the data, whose decimal sign is a comma, would read as other ones."""
    comma = any((found.decimal or ("," if found.separator == ";" else ".")) == "," for found in table.recognised)
    with collect() as problems:
        for rule in map(_spoken, rules if comma else ()):
            if rule is not None and rule.doubt:
                text, other = rule.doubt
                problems.add(
                    f"rule '{text}' can be read in two ways beside data with a decimal comma: write '{rule.named}' for "
                    f"{rule.reading}, or '{other}'"
                )


def _given_levels(decisions: Decisions) -> Bools:
    """Return the cells with a level above 0: sensitive, where neither a rule nor a status says what is."""
    largest: Floats = np.nan_to_num([decisions.lpl, decisions.upl, decisions.spl]).max(axis=0)
    return largest > 0


def _apply(
    table: Table,
    override: Override,
    decisions: Decisions,
    status: npt.NDArray[np.int8],
    lpl: Floats,
    upl: Floats,
    least: float,
    reasons: dict[str, Bools],
    sensitive: Bools,
) -> None:
    """Put what an override decides into status, levels and reasons."""
    said = decisions.status
    clash = sensitive & np.isin(said, (Status.PROTECTED, Status.ZERO))
    if clash.any():
        names = ", ".join(table.system.label(int(i)) for i in np.flatnonzero(clash)[:5])
        raise InputError(
            f"{override}: {counted(int(clash.sum()), 'cell')} must be published but a rule finds "
            f"{'it' if clash.sum() == 1 else 'them'} sensitive: {names}; "
            "give them status 's' in an a-priori file if they are safe, or drop the mark"
        )
    by_hand = said == Status.PRIMARY
    level = np.maximum(np.abs(table.values[by_hand]) * decisions.default_range / 100, least)
    lpl[by_hand] = np.maximum(lpl[by_hand], level)
    upl[by_hand] = np.maximum(upl[by_hand], level)
    if by_hand.any():
        reasons[str(override)] = by_hand.copy()
    decided = (said != NOTHING) & ~(sensitive & (said == Status.FORCED))
    status[decided] = said[decided]
    sensitive &= said != Status.SAFE


def _known_zeros(table: Table) -> Bools:
    """Return the cells of value 0 without contributors, as far as the table knows them."""
    if table.counts is None and table.weighted_counts is None:
        return np.asarray(table.values == 0)
    return np.asarray((table.values == 0) & (counts(table) == 0))


def _check_needs(table: Table, rules: Iterable[Rule | Override]) -> None:
    """Raise one error for everything that the rules need and the table lacks."""
    rules = tuple(rules)
    held = [rule for rule in rules if isinstance(rule, AtHoldings)]
    c = table.contributions
    with collect() as problems:
        if held and table.holdings is None:
            problems.add(
                f"rule {held[0]} needs the contributions of holdings beside those of individuals, so a table made from "
                "microdata: give holding= and both_levels=True to tabulate"
            )
        elif held and table.holdings is not None:
            try:
                _check_needs(table.holdings, [rule.rule for rule in held])
            except InputError as error:
                problems.found += [f"at the level of holdings: {problem}" for problem in error.problems]
        for rule in rules:
            if not isinstance(rule, Rule) or isinstance(rule, AtHoldings):
                continue
            need = rule.needs()
            kept = 0 if c is None else c.values.shape[1]
            if need.top and table.kind == "frequency" and (c is None or c.shadow is None):
                problems.add(
                    f"rule {rule} looks at the size of contributions, which mean nothing in a frequency table; use "
                    "threshold="
                )
            elif need.top and c is None:
                problems.add(
                    f"rule {rule} needs the {need.top} largest contributions to every cell: give contributor= to "
                    "tabulate, or the columns of maxima to Table.from_cells"
                )
            elif need.top > kept:
                problems.add(
                    f"rule {rule} needs the {need.top} largest contributions to every cell, the table keeps {kept}: "
                    f"give top={need.top} to tabulate, or {counted(need.top, 'column')} of maxima to Table.from_cells"
                )
            if need.requests and c is not None and not c.requested.any():
                problems.add(f"rule {rule} needs request codes, and there are none: give request= to tabulate")
            if need.counts and table.counts is None and table.weighted_counts is None and table.kind != "frequency":
                problems.add(
                    f"rule {rule} needs the number of contributors: give contributor= to tabulate, or the column of "
                    "counts to Table.from_cells"
                )
