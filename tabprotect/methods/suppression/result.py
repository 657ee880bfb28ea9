"""What every suppression method returns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.attack.pool import Deviation
from tabprotect.attack.proof_rows import BoundProof
from tabprotect.methods.frames import frame_of
from tabprotect.problem import Problem
from tabprotect.solver.gap import relative_gap
from tabprotect.solver.mip.rows import Inequalities
from tabprotect.views import view

__all__ = ["SolveStatus", "SuppressionResult", "Unprotectable"]

SolveStatus = Literal["optimal", "feasible", "infeasible", "unknown"]


@dataclass(frozen=True)
class Unprotectable:
    """A primary cell that no pattern can protect, and how far it gets when everything allowed is hidden.

    Attributes
    ----------
    cell : int
    attacker : int
        Position in ``problem.attackers``; -1 is the intruder who knows only what is published.
    reachable : tuple of float
        The intruder's widest interval (lowest, highest value), in the unit of the table.
    needed : tuple of float
        The interval that the protection levels ask for.
    reason : str
    """

    cell: int
    attacker: int
    reachable: tuple[float, float]
    needed: tuple[float, float]
    reason: str

    def __repr__(self) -> str:
        return f"Unprotectable(cell {self.cell})"


@dataclass(frozen=True, eq=False)
class SuppressionResult:
    """A pattern, what it costs, how far it can be from the optimum, and how it was reached.

    Attributes
    ----------
    problem : Problem
    pattern : ndarray of bool
        True where a cell is hidden (primaries and forced cells included). Of an 'unknown' answer, what the search had
        hidden by then.
    status : {'optimal', 'feasible', 'infeasible', 'unknown'}
        'feasible': a safe pattern, optimality not proven. 'infeasible': some primary cannot be protected.
        'unknown': no safe pattern was found within the limits.
    safe : bool
        Judged by `tabprotect.attack`, not by the method.
    cost : float or None
        Sum of the weights of the secondary suppressions; None without a safe pattern.
    bound : float or None
        No safe pattern costs less than this.
    unprotectable : tuple of Unprotectable
    method : str
        The method that made the pattern, and why when it was chosen automatically.
    seconds, work :
        What was spent.
    message : str
        Limits reached, cells given up, anything the user must know.
    stopped : str
        What ended the run before its own end ('time', 'work', 'memory', 'cancelled'); empty when nothing did.
    cuts : object
        The inequalities behind `bound`, for the certificate (None when the method has no bound).
    deviations : tuple of Deviation
        How hidden cells can move together, as far as the search knows. An audit checks them, and has fewer to look for.
    rows : Inequalities or None
        What an exact search found out about the cheapest patterns, for the next one to begin with.
    attacker_cuts : Inequalities or None
        What clean-ups met, for those of another search of the same problem: each holds for every safe pattern.
    cleaned : bool
        Whether the search tried to publish each secondary of its pattern by itself, so that another need not.
    """

    problem: Problem = field(repr=False)
    pattern: npt.NDArray[np.bool_] = field(repr=False)
    status: SolveStatus
    safe: bool
    cost: float | None
    bound: float | None
    unprotectable: tuple[Unprotectable, ...] = ()
    method: str = ""
    seconds: float = 0.0
    work: int = 0
    message: str = ""
    stopped: str = ""
    cuts: object = field(default=None, repr=False)
    deviations: tuple[Deviation, ...] = field(default=(), repr=False)
    rows: Inequalities | None = field(default=None, repr=False)
    attacker_cuts: Inequalities | None = field(default=None, repr=False)
    cleaned: bool = field(default=False, repr=False)

    def __repr__(self) -> str:
        cells = self.problem.n_cells - self.problem.sums
        facts = [f"{int(self.pattern[:cells].sum()):,} of {cells:,} cells hidden"]
        facts += [] if self.gap is None else [f"gap {self._gap_in_words(self.gap)}"]
        facts += [f"{len(self.unprotectable):,} unprotectable"] if self.unprotectable else []
        verdict = "safe" if self.safe else "NOT SAFE"
        return f"SuppressionResult({self.status}, {verdict}: {', '.join(facts)})"

    def _gap_in_words(self, gap: float) -> str:
        """Return the gap, and what is proven of it in exact arithmetic where that is less."""
        claimed = f"{100 * gap:.2f} %"
        if not self.cost or not self.bound:
            return claimed
        if not isinstance(self.cuts, BoundProof):
            return f"{claimed} by the solver, none proven"
        proven = f"{100 * max(0.0, 1.0 - float(self.cuts.bound) / self.cost):.2f} %"
        return claimed if proven == claimed else f"{claimed} by the solver, {proven} proven"

    def _repr_html_(self) -> str:
        return view(self)

    @property
    def frame(self) -> pd.DataFrame:
        """One row a cell: its codes, ``value``, ``status`` and ``published``; confidential.

        `InputError` where the cells of the problem have positions only, and no codes.
        """
        return frame_of(self.problem, self.problem.values, self.pattern)

    @property
    def gap(self) -> float | None:
        """(cost - bound) / cost as a fraction; None without both numbers."""
        return relative_gap(self.cost, self.bound)

    def with_message(self, more: str) -> SuppressionResult:
        """Return the result with something more that the user must know."""
        return replace(self, message="; ".join(filter(None, (self.message, more))))

    @property
    def suppressed(self) -> npt.NDArray[np.int64]:
        """Positions of all hidden cells."""
        return np.flatnonzero(self.pattern)

    @property
    def secondaries(self) -> npt.NDArray[np.int64]:
        """Positions of the secondary (complementary) suppressions."""
        return np.flatnonzero(self.pattern & ~self.problem.must_hide)
