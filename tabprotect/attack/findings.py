"""What an audit has found: the judgement on a pattern, its exposures, and the intervals of its hidden cells."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.attack.counts import Counts
from tabprotect.attack.evidence import Evidence
from tabprotect.attack.exact_problem import ExactProblem
from tabprotect.attack.explore import Intervals, explore
from tabprotect.attack.interval_rows import interval_rows, shortfalls
from tabprotect.attack.keys import Key
from tabprotect.attack.left_open import left_open, left_open_words
from tabprotect.attack.named import cell_or_sum, without_sums
from tabprotect.attack.witness import Exposure
from tabprotect.counted import counted
from tabprotect.errors import InputError
from tabprotect.masks import cell_mask
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget, Limits
from tabprotect.solver.tasks.pieces import check_executor
from tabprotect.table.system import LinearSystem
from tabprotect.table.table import Table
from tabprotect.views import view

__all__ = ["Audit", "asked_cells", "is_complete"]

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Audit:
    """The judgement on a pattern.

    Attributes
    ----------
    problem : Problem
    pattern : ndarray of bool
        True where a cell is hidden.
    public : Intervals
        Of all hidden cells.
    insiders : tuple of Intervals
        Of the attackers who know cells, where they may differ from the public one.
    exposures : tuple of Exposure
        Questions that an intruder answers too precisely, with what he reaches and what is needed; those that were not
        decided within the limits (``decided=False``) count as exposed.
    unproven : tuple of Key
        Questions of an integer problem that no integral witness was found for.
    shown : ndarray of int
        Primary or forced cells that the pattern does not hide.
    evidence : Evidence
        Exact witnesses, which `tabprotect.attack.certificate.certify` takes.
    complete : bool
        False when the limits ended the computation of intervals.
    exhaustive : bool
        False when the audit stopped at the first exposed cell: others may be exposed, too.
    cells : int, optional
        Cells of the table, the first of the problem, where those behind them are sums of hidden cells; None: all.
    rows : int, optional
        Code combinations of the table; None: one a cell.
    changed : bool
        Every value is published, changed, and none is hidden: `pattern` is True where the true value is in question.
    table : Table, optional
        Of a release: its cells have the names that the table gives them.
    not_safe : tuple of str
        Of a release: why it is not safe besides, whatever is said of its cells; such as two releases together.
    """

    problem: Problem = field(repr=False)
    pattern: Bools = field(repr=False)
    public: Intervals = field(repr=False)
    insiders: tuple[Intervals, ...] = field(repr=False)
    exposures: tuple[Exposure, ...]
    unproven: tuple[Key, ...]
    shown: Ints
    evidence: Evidence = field(repr=False)
    complete: bool = True
    exhaustive: bool = True
    cells: int | None = None
    rows: int | None = None
    changed: bool = False
    table: Table | None = field(default=None, repr=False)
    not_safe: tuple[str, ...] = ()

    @property
    def counts(self) -> Counts:
        """How many cells there are, and are hidden, and why."""
        return Counts.of(
            self.problem,
            self.pattern,
            cells=self.cells,
            rows=self.rows,
            exposed=self.exposed.tolist(),
            changed=self.changed,
        )

    @property
    def counts_words(self) -> str:
        """The number of cells, and of those that are hidden; of changed values, of those that are sensitive."""
        counts = self.counts
        return f"{counts.cells_words}, {counts.changed_words if self.changed else f'hidden {counts.hidden_words}'}"

    @property
    def short_words(self) -> str:
        """The number of cells, and of those that are hidden, in a few words."""
        cells = counted(self.counts.cells, "cell")
        return f"{cells}, values changed" if self.changed else f"{self.counts.hidden:,} of {cells} hidden"

    def __repr__(self) -> str:
        facts = [self.short_words]
        facts += [f"{len(self.exposed):,} exposed"] if len(self.exposed) else []
        facts += [] if self.complete else ["incomplete"]
        return f"Audit({self.verdict}: {', '.join(facts)})"

    def _repr_html_(self) -> str:
        return view(self)

    @property
    def verdict(self) -> str:
        """'safe', 'LP-safe only', 'not decided' or 'NOT SAFE'."""
        if self.safe:
            return "safe"
        return "LP-safe only" if self.lp_safe_only else "not decided" if self.undecided else "NOT SAFE"

    @property
    def safe(self) -> bool:
        """True when every protection level is reached, proven by exact witnesses, and nothing else is wrong."""
        return not (self.exposures or self.unproven or len(self.shown) or self.not_safe)

    @property
    def lp_safe_only(self) -> bool:
        """True when only intruders who know that values are integers may conclude too much."""
        return bool(self.unproven) and not (self.exposures or len(self.shown) or self.not_safe)

    @property
    def undecided(self) -> bool:
        """True when no cell is found exposed, and a limit or Ctrl-C left levels that nobody has judged.

        That is no verdict: the pattern may be safe, and must not be taken for it.

        Examples
        --------
        >>> from tabprotect.attack.audit import audit
        >>> p = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
        >>> cancelled = Budget(cancelled=True)
        >>> audit(p, [1, 2], budget=cancelled), audit(p, [1]).undecided
        (Audit(not decided: 2 of 4 cells hidden, 1 exposed, incomplete), False)
        """
        if not self.exposures or len(self.shown) or self.not_safe:
            return False
        return not any(e.decided for e in self.exposures)

    @property
    def recomputable(self) -> Ints:
        """Hidden cells (secondaries too) whose value the public intruder can compute exactly."""
        return self.public.recomputable

    @property
    def left_open(self) -> Ints:
        """Hidden cells without protection level that the public intruder can compute exactly, or to within `NEARLY`.

        They do not make a pattern unsafe, since nothing was asked for them: cells of status 'suppressed already', and
        secondary ones. Where intervals were not computed only what the equations fix exactly is known.
        """
        return left_open(self.problem, self.pattern, self.public)

    def warnings(self) -> list[str]:
        """Return what is not unsafe and should be known all the same; confidential."""
        cells = self.left_open
        words = left_open_words(self.problem, cells, int(np.isin(cells, self.recomputable).sum()))
        return [f"{line}; protect_hidden gives them levels" for line in words]

    @property
    def exposed(self) -> Ints:
        """Primary cells with at least one exposure, ascending."""
        return np.unique(np.concatenate((self.shown, [e.key.cell for e in self.exposures]))).astype(np.int64)

    def interval(self, cell: Any) -> tuple[float, float]:
        """Return the public intruder's interval of a hidden cell (absolute values).

        Parameters
        ----------
        cell : tuple, str, mapping or int
            The codes of the cell, or its label; its position where no code is a number (see
            `tabprotect.table.naming.cell_of_system`). In the audit of a release also codes that are the same cell as
            another, as `explain` takes them. Sums that were judged as cells have the names that `frame` gives them.

        Raises
        ------
        InputError
            If there is no such cell, or it is not hidden.
        """
        i = cell_or_sum(self.problem.system, self._own, self.table, cell)
        place = int(np.searchsorted(self.public.cells, i))
        if place == len(self.public.cells) or self.public.cells[place] != i:
            raise InputError(f"cell {self.problem.system.label(i)} is not hidden: everybody knows its value")
        return float(self.public.low[place]), float(self.public.high[place])

    @cached_property
    def _own(self) -> LinearSystem:
        """The cells of the table, without sums behind them."""
        return without_sums(self.problem.system, self.counts.cells) if self.table is None else self.table.system

    def explored(
        self,
        budget: Budget | Limits | float | None = None,
        executor: Executor | None = None,
        of: npt.ArrayLike | None = None,
    ) -> Audit:
        """Return the judgement with the intervals of all hidden cells, in the eyes of every intruder.

        Parameters
        ----------
        budget : Budget, Limits or float, optional
            When it is exhausted the rest stays NaN, and `complete` is False.
        executor : concurrent.futures.Executor, optional
            Runs the interval programmes side by side, with the same results.
        of : sequence of positions, optional
            As for `audit`.

        Examples
        --------
        >>> from tabprotect.attack.audit import audit
        >>> p = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
        >>> judged = audit(p, [1, 2], intervals=False)
        >>> judged.interval(1), judged.explored().interval(1)
        ((nan, nan), (0.0, 15.0))
        """
        budget = Budget.of(budget, name="budget")
        check_executor(executor)
        seen = ExactProblem(self.problem).problem if self.problem.integer else self.problem
        cells = asked_cells(self.pattern, of)
        public, insiders = explore(seen, self.pattern, cells, of is None, True, budget, executor)
        return replace(self, public=public, insiders=insiders, complete=is_complete(public, *insiders))

    @property
    def frame(self) -> pd.DataFrame:
        """Return one row a hidden cell and intruder; confidential.

        Columns: ``cell`` (position), ``label``, ``attacker`` ('public' or a name), ``status`` (secondaries as
        'secondary', where any are hidden), ``value``, ``low``, ``high``, ``needed_low``, ``needed_high`` (what the
        levels ask for, NaN where nothing), ``missing`` (largest shortfall, in the unit of the values), ``exposed``,
        ``recomputable``.
        """
        return interval_rows(self.problem, (self.public, *self.insiders), self.exposures, changed=self.changed)

    @property
    def computed_frame(self) -> pd.DataFrame:
        """Return the rows of `frame` whose intervals the limits did not leave out (see `left_out`); confidential."""
        seen = tuple(one.computed() for one in (self.public, *self.insiders))
        return interval_rows(self.problem, seen, self.exposures, changed=self.changed)

    def of_table(self, table: Table, *, changed: bool = False) -> Audit:
        """Return the judgement as that of a release: its cells are counted, and named, as those of its table."""
        rows = int(table.published_rows.sum())
        return replace(self, cells=table.n_cells, rows=rows, changed=changed, table=table)

    @property
    def left_out(self) -> str:
        """How many intervals the limits left out, and what that means, in words; empty where they left out none."""
        if self.complete:
            return ""
        low = np.concatenate([one.low for one in (self.public, *self.insiders)])
        gone = f"{int(np.isnan(low).sum()):,} of {counted(len(low), 'interval')}"
        return f"{gone} were not computed within the limits; whether the pattern is safe does not depend on them"

    def shortfalls(self, most: int = 10, decimal: str = ".") -> list[str]:
        """Return a line an exposure, up to so many, and one for all others; confidential."""
        return shortfalls(self.problem, self.exposures, most, decimal)

    def summary(self, decimal: str = ".") -> str:
        """Return the judgement in words, at most ten exposures written out; confidential."""
        label = self.problem.system.label
        lines = [f"{self.verdict}: {self.counts_words}"]
        lines += [words] if (words := self.counts.sums_words) else []
        lines += [f"not safe: {why}" for why in self.not_safe]
        if len(self.shown):
            lines.append(f"published although they must be hidden: {', '.join(label(int(i)) for i in self.shown[:10])}")
        lines += self.shortfalls(decimal=decimal)
        if not self.exhaustive:
            lines.append("the audit stopped here, at the first exposed cell; others may be exposed, too")
        if self.unproven:
            lines.append(f"no integral witness found for {counted(len(self.unproven), 'protection level')}")
        if len(self.recomputable):
            lines.append(f"can be recomputed exactly: {', '.join(label(int(i)) for i in self.recomputable[:10])}")
        lines += [f"warning: {line}" for line in self.warnings()]
        if self.left_out:
            lines.append(f"{self.left_out}; a larger budget computes them")
        return "\n".join(lines)


def is_complete(*intervals: Intervals) -> bool:
    """Whether no interval is missing."""
    return not any(np.isnan(i.low).any() for i in intervals)


def asked_cells(hidden: Bools, of: npt.ArrayLike | None) -> Ints:
    """Return the hidden cells whose intervals are asked for."""
    cells = np.flatnonzero(hidden)
    return cells if of is None else np.intersect1d(cells, np.flatnonzero(cell_mask(of, len(hidden), "of")))
