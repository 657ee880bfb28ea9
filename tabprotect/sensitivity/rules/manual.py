"""Statuses and levels that come with the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError, did_you_mean
from tabprotect.problem import Status
from tabprotect.sensitivity.rule import NOTHING, Decisions, Spoken, percentage
from tabprotect.table.table import Table

__all__ = ["COLUMNS", "LETTERS", "Manual"]

COLUMNS: Final = frozenset({"status", "lpl", "upl", "spl"})
"""Columns of a table that `Manual` reads."""

LETTERS: Final = {
    "s": Status.SAFE,
    "u": Status.PRIMARY,
    "m": Status.FORCED,
    "p": Status.PROTECTED,
    "z": Status.ZERO,
}
"""Statuses by the letters of tau-ARGUS and the .jj files."""

_WORDS: Final = {
    **LETTERS,
    **{status.name.lower(): status for status in Status},
    "unsafe": Status.PRIMARY,
}


@dataclass(frozen=True)
class Manual(Spoken):
    """Statuses from the table's column ``status``, levels from its columns ``lpl``, ``upl``, ``spl``.

    The column holds letters (s safe, u sensitive, m suppressed already, p must be published, z fixed zero), the
    words of `tabprotect.problem.Status`, or nothing. 'u' adds to what the rules find, with levels of `range` per
    cent of the value on both sides. Numbers in the level columns replace the levels of the rules (zero throughout
    asks for nothing and does not count). In a table without rules and without the column ``status``, cells with a level
    above 0 are the sensitive ones. 'm' needs no protection of its own unless a rule finds the cell sensitive.
    'p' or 'z' for a cell that a rule finds sensitive is an error. 's' means "not marked by hand"; it does not
    silence the rules unless `overrule` is set, since exported tables carry it in every other cell.

    A table with any of these columns is always read this way, also when no `Manual` is among the rules.

    Parameters
    ----------
    range : float
        Protection levels in per cent of the value, for cells without levels of their own; 20 as in tau-ARGUS.
    overrule : bool
        's' in the column makes a cell safe whatever the rules say.

    Examples
    --------
    >>> str(Manual(10))
    'manual=10'
    """

    range: float = 20.0
    overrule: bool = False
    keywords: ClassVar[tuple[str, ...]] = ("manual", "MAN")
    rank: ClassVar[int] = 2

    def __post_init__(self) -> None:
        percentage(self, "range", self.range, zero=True)

    def decide(self, table: Table) -> Decisions:
        """Return the statuses and levels of the columns.

        Raises
        ------
        InputError
            Names the cells whose status cannot be read.
        """
        decisions = Decisions.none(table.n_cells, self.range)
        if "status" in table.columns:
            decisions.status[:] = _read(table, table.columns["status"])
            if not self.overrule:
                decisions.status[decisions.status == Status.SAFE] = NOTHING
        for name in ("lpl", "upl", "spl"):
            if name in table.columns:
                getattr(decisions, name)[:] = pd.to_numeric(pd.Series(table.columns[name]), errors="coerce")
        return decisions


def _read(table: Table, column: npt.NDArray[Any]) -> npt.NDArray[np.int8]:
    codes, words = pd.factorize(pd.Series(column, dtype=object))
    meaning = np.full(len(words) + 1, NOTHING, np.int8)
    problems = []
    for i, word in enumerate(words):
        text = word.name.lower() if isinstance(word, Status) else str(word).strip().lower()
        if text in _WORDS:
            meaning[i] = _WORDS[text]
        elif text not in ("", "nan", "none"):
            cell = table.system.label(int(np.flatnonzero(codes == i)[0]))
            problems.append(f"status {str(word)!r} of cell {cell} means nothing{did_you_mean(text, LETTERS)}")
    if problems:
        raise InputError(*problems)
    return meaning[codes]
