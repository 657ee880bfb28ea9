"""The a-priori file of tau-ARGUS."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Final

import numpy as np

from tabprotect.counted import counted
from tabprotect.errors import InputError, Problems, did_you_mean
from tabprotect.problem import Status
from tabprotect.sensitivity.cells import CellFinder
from tabprotect.sensitivity.rule import Decisions, Spoken, bound_cell, percentage
from tabprotect.table.reading.plain import read_plain_text
from tabprotect.table.table import Table

__all__ = ["APriori"]

_STATUS: Final = {
    "S": Status.SAFE,
    "U": Status.PRIMARY,
    "P": Status.PROTECTED,
    "M": Status.FORCED,
    "ML": Status.FORCED,
}
_NUMBERS: Final = {**dict.fromkeys(_STATUS, 0), "C": 1, "W": 1, "PL": 2, "AB": 2}
"""Change codes, and how many numbers follow them."""

_WORDS: Final = {"C": "costs", "W": "costs", "PL": "protection levels"}
"""What the numbers are that have to be 0 or more."""


@dataclass(frozen=True)
class APriori(Spoken):
    """Changes to single cells from a tau-ARGUS a-priori file (.hst): status, cost, protection levels.

    A line has a code for every dimension (empty for the total), a change code, and its numbers::

        Nr;4;u
        Zd;6;p
        5;5;c;1
        5;5;pl;10;20

    ========= ======================================================================================================
    change    meaning
    ========= ======================================================================================================
    s         safe, whatever the rules say
    u         sensitive; levels of `range` per cent of the value unless a rule or a ``pl`` line gives others
    p         must be published; an error for a cell that a rule finds sensitive
    m, ml     suppressed already
    c, w      cost of suppression, replacing the cost variable (transformations still apply); 1 for 0
    pl        lower and upper protection level, replacing those of the rules
    ab        external bounds: every intruder knows that the value lies between these two numbers, whatever
              ``bounds`` says of other cells
    ========= ======================================================================================================

    Fields are separated by semicolons, commas or tabs, found out from the first line; codes may be quoted; blank lines
    do not count. Several lines may change one cell; two different statuses for it are an error. Empty cells are
    left alone, as in tau-ARGUS. The numbers of ``ab`` are values, not distances from the value of the cell, which must
    lie between them; tau-ARGUS 4.1 reads such lines, and does nothing with them.

    Parameters
    ----------
    path : str
    range : float
        Levels of cells made sensitive here, in per cent of the value; 20 is the manual safety range of tau-ARGUS.

    References
    ----------
    tau-ARGUS 4.1 manual, section 5.6, and ``tauargus.model.APriori`` for what the manual leaves out (w, m, ml, ab;
    costs of 0 become 1; the total may be an empty code).
    """

    path: str
    range: float = 20.0
    keywords: ClassVar[tuple[str, ...]] = ("apriori",)
    rank: ClassVar[int] = 3

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", str(self.path))
        percentage(self, "range", self.range, zero=True)

    def located(self, base: Path) -> APriori:
        """Return the rule with its file relative to a folder."""
        return replace(self, path=str(base / self.path))

    def decide(self, table: Table) -> Decisions:
        """Return what the file says about the cells of a table.

        Raises
        ------
        InputError
            Every line that cannot be read or names no cell.
        """
        try:
            text = read_plain_text(self.path)
        except InputError as error:
            raise InputError(*(f"a-priori file {problem}" for problem in error.problems)) from error
        finder = CellFinder(table)
        decisions = Decisions.none(table.n_cells, self.range)
        assert decisions.cost is not None
        empty = np.zeros(table.n_cells, bool) if table.counts is None else (table.counts == 0) & (table.values == 0)
        problems = Problems()
        separator = _separator(text)
        for number, fields in enumerate(csv.reader(text.splitlines(), delimiter=separator, skipinitialspace=True), 1):
            if not any(word.strip() for word in fields):
                continue
            found = _read(finder, [word.strip() for word in fields], separator)
            if isinstance(found, str):
                problems.add(f"{self.path}, line {number}: {found}")
                continue
            cell, change, numbers = found
            if empty[cell]:
                continue
            if change in _STATUS:
                before = decisions.status[cell]
                if before >= 0 and before != _STATUS[change]:
                    name = table.system.label(cell)
                    problems.add(
                        f"{self.path}, line {number}: cell {name} was {Status(before).name} in an earlier line"
                    )
                decisions.status[cell] = _STATUS[change]
            elif change == "PL":
                decisions.lpl[cell], decisions.upl[cell] = numbers
            elif change == "AB":
                wrong = bound_cell(decisions, table, cell, numbers)
                if wrong:
                    problems.add(f"{self.path}, line {number}: {wrong}")
            else:
                decisions.cost[cell] = numbers[0] if numbers[0] > 0 else 1.0
        problems.raise_if_any()
        return decisions


def _separator(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "")
    return next((mark for mark in ";\t," if mark in first), ";")


def _read(finder: CellFinder, fields: list[str], separator: str) -> tuple[int, str, list[float]] | str:
    """Return cell, change and numbers of one line, or what is wrong with it."""
    width = finder.width
    if len(fields) <= width:
        codes = f"{width} codes ({', '.join(finder.names)})"
        return f"{counted(len(fields), 'field')}; wanted are {codes} and a change, with '{separator}' between them"
    change = fields[width].upper()
    if change not in _NUMBERS:
        return f"change '{fields[width]}' means nothing{did_you_mean(change.lower(), [c.lower() for c in _NUMBERS])}"
    words = [word for word in fields[width + 1 :] if word]
    if len(words) != _NUMBERS[change]:
        return f"'{fields[width]}' is followed by {counted(_NUMBERS[change], 'number')}, not {len(words)}"
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        cure = "; decimals are written with a point, such as 500000.5" if "," in "".join(words) else ""
        return f"not a number in {words}{cure}"
    floor = change in ("PL", "C", "W")
    if not np.isfinite(numbers).all() or (floor and min(numbers) < 0):
        return f"{_WORDS.get(change, 'numbers')} must be finite{' and at least 0' if floor else ''}, not {words}"
    cell = finder.find(fields[:width])
    return cell if isinstance(cell, str) else (cell, change, numbers)
