"""What the rules say of every cell of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.problem import Status
from tabprotect.sensitivity.requirements import readings
from tabprotect.sensitivity.rule import Override, Rule
from tabprotect.sensitivity.rules.manual import Manual
from tabprotect.table.decimals import written
from tabprotect.table.naming import cell_of_table
from tabprotect.table.table import Table
from tabprotect.views import many, view

__all__ = ["Assessment"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


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
        by_hand = {str(rule) for rule in self.rules if isinstance(rule, Manual)}
        lines = []
        for rule, mask in self.reasons.items():
            words = f" ({read[rule]})" if read.get(rule) else ""
            if rule in by_hand and self._levels_given(mask):
                words = " (levels as in the columns)"
            lines.append((f"rule {rule}", f"{int(mask.sum()):,} primary{words}"))
        return lines

    def _levels_given(self, mask: npt.NDArray[np.bool_]) -> bool:
        """Whether columns of the table give both levels of all of some cells, so that a range plays no part."""
        both = [self.table.columns.get(name) for name in ("lpl", "upl")]
        return bool(mask.any()) and all(
            one is not None and pd.to_numeric(pd.Series(one[mask]), errors="coerce").notna().all() for one in both
        )

    def explain(self, cell: Any, status: str | None = None) -> str:
        """Say in words why a cell is sensitive or not, with the numbers (internal).

        Parameters
        ----------
        cell : tuple, str, mapping or int
            The codes of the cell, or its label; its position where no code is a number (see
            `tabprotect.table.naming.cell_of_table`).
        status : str, optional
            What became of the cell, for the first line; by default the status that the rules give it.

        Raises
        ------
        InputError
            If this names no cell, or several.
        """
        i = cell_of_table(self.table, cell)
        found = Status(self.status[i])
        value, *level = (
            written(one[i], self.table.decimal) for one in (self.table.values, self.lpl, self.upl, self.spl)
        )
        lines = [f"{self.table.system.label(i)}: {value}, {status or found.name.lower()}"]
        for rule in self.rules:
            hit = self.reasons.get(str(rule))
            mark = "sensitive" if hit is not None and hit[i] else "not sensitive"
            if isinstance(rule, Rule):
                lines.append(f"  {rule}: {mark}; {rule.explain(self.table, i)}")
                continue
            decided = rule.decide(self.table).status[i]
            if decided >= 0:
                lines.append(f"  {rule}: makes it {Status(decided).name.lower()}")
            elif not isinstance(rule, Manual):
                # columns are read although nobody asks for it, so it is no news where they say nothing
                lines.append(f"  {rule}: silent")
        if found == Status.PRIMARY:
            sliding = f", over a width of {level[2]}" if self.spl[i] else ""
            lines.append(f"  an intruder must find it able to move down by {level[0]}, up by {level[1]}{sliding}")
        return "\n".join(lines)
