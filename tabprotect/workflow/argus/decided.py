"""Decisions about single cells, by an a-priori file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, Problems
from tabprotect.formats.argus.lists import Change
from tabprotect.problem import Status
from tabprotect.sensitivity.assessment import Assessment
from tabprotect.sensitivity.cells import CellFinder
from tabprotect.sensitivity.rule import Decisions, bound_cell
from tabprotect.table.table import Table

__all__ = ["Decided", "by_hand"]

_STATUS: Final = {
    "s": Status.SAFE,
    "u": Status.PRIMARY,
    "p": Status.PROTECTED,
    "m": Status.FORCED,
    "ml": Status.FORCED,
}


@dataclass(frozen=True, eq=False)
class Decided:
    """Decisions made beforehand, cell by cell; an override as `tabprotect.sensitivity.rule.Override` has it.

    Parameters
    ----------
    label : str
        How it is called in reports.
    decisions : Decisions
    rank : int
    """

    label: str
    decisions: Decisions
    rank: int = 3
    keywords: ClassVar[tuple[str, ...]] = ("decided",)

    def __str__(self) -> str:
        return self.label

    def decide(self, table: Table) -> Decisions:
        """Return the decisions.

        Raises
        ------
        InputError
            If they were made for another number of cells.
        """
        if len(self.decisions.status) != table.n_cells:
            raise InputError(f"{self.label}: decisions for {len(self.decisions.status)} cells, not {table.n_cells}")
        return self.decisions

    def moved(self, cell: npt.NDArray[np.int64], n: int) -> Decided:
        """Return the decisions for a larger table of `n` cells, in which these are the cells `cell`."""
        old, new = self.decisions, Decisions.none(n, self.decisions.default_range)
        new.status[cell] = old.status
        for name in ("lpl", "upl", "spl", "cost", "lower", "upper"):
            if getattr(old, name) is not None:
                getattr(new, name)[cell] = getattr(old, name)
        return replace(self, decisions=new)


def by_hand(
    table: Table, changes: Sequence[Change], label: str, *, margin: float, ignore: bool, sensitive: Assessment
) -> tuple[Decided, tuple[str, ...]]:
    """Return what an a-priori file decides, and which of its lines were left out.

    Parameters
    ----------
    table : Table
    changes : sequence of Change
    label : str
        Name of the file.
    margin : float
        Levels of cells made sensitive here, in per cent of the value.
    ignore : bool
        Leave lines out that name no cell or ask for what cannot be.
    sensitive : Assessment
        What the rules say: such a cell cannot be one that must be published.

    Raises
    ------
    InputError
        Every such line, unless `ignore` is set.
    """
    finder = CellFinder(table)
    d = Decisions.none(table.n_cells, margin)
    assert d.cost is not None
    empty = np.zeros(table.n_cells, bool) if table.counts is None else (table.counts == 0) & (table.values == 0)
    problems = Problems()
    for change in changes:
        cell = finder.find(list(change.codes))
        line = f"{label}: {' x '.join(code or 'total' for code in change.codes)} {change.change}"
        if isinstance(cell, str):
            problems.add(f"{line}: {cell}")
        elif empty[cell]:
            continue
        elif change.change == "ab":
            wrong = bound_cell(d, table, cell, change.numbers)
            if wrong:
                problems.add(f"{line}: {wrong}")
        elif change.change in _STATUS:
            status = _STATUS[change.change]
            if status == Status.PROTECTED and sensitive.status[cell] == Status.PRIMARY:
                problems.add(f"{line}: a rule finds this cell sensitive, so it cannot be one that must be published")
            elif d.status[cell] not in (-1, status):
                problems.add(f"{line}: the cell was {Status(d.status[cell]).name} in an earlier line")
            else:
                d.status[cell] = status
        elif change.change == "pl":
            if min(change.numbers) < 0:
                problems.add(f"{line}: protection levels are at least 0")
            else:
                d.lpl[cell], d.upl[cell] = change.numbers
        else:
            d.cost[cell] = change.numbers[0] if change.numbers[0] > 0 else 1.0
    if problems.found and not ignore:
        raise InputError(*problems.found)
    return Decided(label, d), tuple(problems.found)
