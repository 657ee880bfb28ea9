"""How many cells a release has and hides: counted here once, and said everywhere in the same words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from tabprotect.counted import counted
from tabprotect.problem import Problem, Status

__all__ = ["Counts"]


@dataclass(frozen=True)
class Counts:
    """Numbers of cells. A cell is counted once, however many rows show it.

    Attributes
    ----------
    cells : int
        Cells of the table; sums that are protected as cells are none of them.
    rows : int
        Code combinations; more than cells where several name the same cell.
    sensitive : int
        Cells of the table that a rule protects, whether they are hidden or their values changed.
    hidden : int
        Cells of the table that are not published: ``primary + secondary + forced``.
    primary, secondary, forced : int
        Hidden because they are sensitive; to protect others; because they were suppressed before.
    sums : int
        Sums of hidden cells that are protected as cells, too.
    levels_for_others : int
        Where values were changed: further levels of cells, which some respondents are not asked about.

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1, 1]], [9, 3, 4, 2], primary=[1], lpl=1, upl=1)
    >>> found = Counts.of(p, np.array([False, True, True, False]))
    >>> found.cells, found.hidden
    (4, 2)
    >>> found.hidden_words
    '2: 1 primary, 1 secondary'
    """

    cells: int
    rows: int
    sensitive: int
    hidden: int
    primary: int
    secondary: int
    forced: int = 0
    sums: int = 0
    levels_for_others: int = 0

    @classmethod
    def of(
        cls,
        problem: Problem,
        pattern: npt.NDArray[np.bool_],
        *,
        cells: int | None = None,
        rows: int | None = None,
        exposed: Sequence[int] = (),
        changed: bool = False,
    ) -> Counts:
        """Count the cells of a problem.

        Parameters
        ----------
        problem : Problem
        pattern : ndarray of bool
            True where a cell is hidden.
        cells : int, optional
            Cells of the table, the first of the problem; those behind them are sums. By default all.
        rows : int, optional
            By default one a cell.
        exposed : sequence of int
            Positions of cells that are not protected; sums among them are not counted.
        changed : bool
            Values were changed, and none is hidden: the pattern says whose true value is in question.
        """
        n = problem.n_cells if cells is None else cells
        hidden, status = np.asarray(pattern, dtype=bool)[:n] & (not changed), problem.status[:n]
        primary, forced = (int(np.sum(hidden & (status == one))) for one in (Status.PRIMARY, Status.FORCED))
        total, sensitive = int(hidden.sum()), int(np.sum(status == Status.PRIMARY))
        further = problem.n_cells - n
        sums, levels = (0, further) if changed else (further - sum(cell >= n for cell in exposed), 0)
        rows = n if rows is None else rows
        return cls(n, rows, sensitive, total, primary, total - primary - forced, forced, sums, levels)

    @property
    def cells_words(self) -> str:
        """The number of cells, and of rows where it is another."""
        return counted(self.cells, "cell") + ("" if self.rows == self.cells else f" in {counted(self.rows, 'row')}")

    @property
    def hidden_words(self) -> str:
        """The number of hidden cells, and why they are hidden."""
        before = f", {self.forced:,} suppressed already" if self.forced else ""
        return f"{self.hidden:,}: {self.primary:,} primary, {self.secondary:,} secondary{before}"

    @property
    def changed_words(self) -> str:
        """The number of sensitive cells where values were changed."""
        return f"{self.sensitive:,} sensitive, values changed and none hidden"

    @property
    def sums_words(self) -> str:
        """The number of protected sums, or of further levels where values were changed; empty without any."""
        if self.levels_for_others:
            level = counted(self.levels_for_others, "further protection level")
            were = "was" if self.levels_for_others == 1 else "were"
            return f"{level} {were} judged, which some respondents are not asked about"
        if not self.sums:
            return ""
        return f"{counted(self.sums, 'sum')} of hidden cells {'was' if self.sums == 1 else 'were'} protected, too"

    def document(self) -> dict[str, int]:
        """Return the numbers by name, as JSON documents hold them."""
        return asdict(self)
