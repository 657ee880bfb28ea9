"""Methods for counts as choices: small count rounding and cell keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError
from tabprotect.methods.choices.base import Call, Changed, Choice, held
from tabprotect.methods.choices.options import ABOVE_ZERO, INNER
from tabprotect.methods.distance import Norm, Weights
from tabprotect.methods.inner_cells import inner_cells
from tabprotect.problem import Problem, Status

__all__ = ["CellKey", "SmallCounts"]


@dataclass(frozen=True)
class SmallCounts(Choice):
    """Small counts become 0 or the base, all else is added up anew; see `tabprotect.methods.small_counts`.

    Parameters
    ----------
    base : int
        At least 2.
    norm, weights
        What near means.
    """

    name: ClassVar[str] = "small-counts"

    base: int = field(default=3, metadata=ABOVE_ZERO)
    norm: Norm = "l1"
    weights: Weights = "unit"

    def change(self, call: Call) -> Changed:
        """Round small counts."""
        from tabprotect.methods.small_counts import small_counts

        p = call.problem
        _counts_only(p, self.name)
        result = small_counts(
            p, self.base, norm=self.norm, weights=self.weights, limits=call.limits, seed=call.seed,
            progress=call.progress,
        )  # fmt: skip
        inner = inner_cells(p.system)[0]
        fixed = held(p, Status.PROTECTED, Status.ZERO)
        claim = {"method": "small", "base": str(int(self.base)), "inner": inner.tolist(), "fixed": fixed}
        return Changed(
            result.values, claim, "base, which cells are inner ones", result.status, result.cost, result.bound,
            result.seconds, result.message, bool(result.stopped_by), result=result,
        )  # fmt: skip


@dataclass(frozen=True)
class CellKey(Choice):
    """Noise on counts that is the same wherever the same records are counted; see `tabprotect.methods.cell_key`.

    Parameters
    ----------
    deviation : int
        Largest noise.
    variance : float
        Of the noise.
    stay : float, optional
        Probability of no change.
    blocked : int
        Counts from 1 to this are never published.
    key : str, optional
        Column of the record keys in microdata; without it they are drawn by the seed.
    keys : ndarray of int, optional
        Keys of the cells, where the table is finished already.
    """

    name: ClassVar[str] = "cell-key"
    drawn: ClassVar[bool] = True

    deviation: int = field(default=3, metadata=ABOVE_ZERO)
    variance: float = field(default=1.5, metadata=ABOVE_ZERO)
    stay: float | None = None
    blocked: int = 0
    key: str | None = None
    keys: npt.NDArray[np.int64] | None = field(default=None, repr=False, compare=False, metadata=INNER)

    def change(self, call: Call) -> Changed:
        """Perturb counts."""
        from tabprotect.methods.cell_key import cell_key, design_perturbation

        p = call.problem
        keys = call.keys if self.keys is None else self.keys
        if keys is None:
            raise InputError("the cell key method needs the keys of records, so a table of counts made from microdata")
        _counts_only(p, self.name)
        table = design_perturbation(self.deviation, self.variance, stay=self.stay, blocked=self.blocked)
        result = cell_key(p, keys, table)
        support = [np.rint(table.noise[row > 0]).astype(int).tolist() for row in table.probabilities]
        claim = {"method": "noise", "support": support, "fixed": held(p, Status.PROTECTED, Status.ZERO)}
        a = result.additivity
        told = f"{a.broken:,} of {a.equations:,} sums do not hold, by up to {a.largest:g}"
        cost = float(np.abs(result.noise).sum())
        return Changed(result.values, claim, "the table of noise", "feasible", cost, message=told, result=result)


def _counts_only(problem: Problem, name: str) -> None:
    if not problem.integer:
        raise InputError(f"{name} is for tables of counts; this one holds other values: use round or adjust")
