"""Small count rounding as a method."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from tabprotect.errors import InputError
from tabprotect.methods.base.method import Call, Changed, Method, held
from tabprotect.methods.base.options import ABOVE_ZERO
from tabprotect.methods.distance import Norm, Weights
from tabprotect.methods.inner_cells import inner_cells
from tabprotect.problem import Status

__all__ = ["SmallCounts"]


@dataclass(frozen=True)
class SmallCounts(Method):
    """Small counts become 0 or the base, all else is added up anew; see `tabprotect.methods.small_counts`.

    Parameters
    ----------
    base : int
        At least 2.
    norm, weights
        What near means.
    """

    name: ClassVar[str] = "small-counts"
    claims: ClassVar[tuple[str, ...]] = ("small",)

    base: int = field(default=3, metadata=ABOVE_ZERO)
    norm: Norm = "l1"
    weights: Weights = "unit"

    def change(self, call: Call) -> Changed:
        """Round small counts."""
        from tabprotect.methods.small_counts import small_counts

        p = call.problem
        if not p.integer:
            raise InputError(f"{self.name} is for tables of counts; this one holds other values: use round or adjust")
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
