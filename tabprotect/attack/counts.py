"""How many cells a release has and hides: counted here once, and said everywhere in the same words."""

from __future__ import annotations

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
    hidden : int
        Cells of the table that are not published: ``primary + secondary + forced``.
    primary, secondary, forced : int
        Hidden because they are sensitive; to protect others; because they were suppressed before.
    sums : int
        Sums of hidden cells that are protected as cells, too.

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
    hidden: int
    primary: int
    secondary: int
    forced: int = 0
    sums: int = 0

    @classmethod
    def of(
        cls, problem: Problem, pattern: npt.NDArray[np.bool_], *, cells: int | None = None, rows: int | None = None
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
        """
        n = problem.n_cells if cells is None else cells
        hidden, status = np.asarray(pattern, dtype=bool)[:n], problem.status[:n]
        primary, forced = (int(np.sum(hidden & (status == one))) for one in (Status.PRIMARY, Status.FORCED))
        total = int(hidden.sum())
        return cls(
            n, n if rows is None else rows, total, primary, total - primary - forced, forced, problem.n_cells - n
        )

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
    def sums_words(self) -> str:
        """The number of protected sums; empty without any."""
        if not self.sums:
            return ""
        return f"{counted(self.sums, 'sum')} of hidden cells {'was' if self.sums == 1 else 'were'} protected, too"

    def document(self) -> dict[str, int]:
        """Return the numbers by name, as JSON documents hold them."""
        return asdict(self)
