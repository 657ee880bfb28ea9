"""Controlled tabular adjustment as a method."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np

from tabprotect.attack.statement import decimals as written
from tabprotect.errors import InputError
from tabprotect.methods.adjustment import adjust
from tabprotect.methods.adjustment.adjust import Method as Search
from tabprotect.methods.adjustment.preserve import Kept, keep
from tabprotect.methods.base.method import Call, Changed, Method, held
from tabprotect.methods.base.options import ABOVE_ZERO
from tabprotect.methods.distance import Norm, Weights
from tabprotect.methods.margins import margins, totals
from tabprotect.problem import Status
from tabprotect.table.decimals import decimals_of

__all__ = ["Adjust"]


@dataclass(frozen=True)
class Adjust(Method):
    """Sensitive cells move by their level or more, others as little as sums demand; see `tabprotect.adjust`.

    Parameters
    ----------
    norm, weights
        What little means.
    senses : {'free', 'up', 'down'}
        Which way sensitive cells move; 'free' leaves that to the search.
    fixed : {'nothing', 'totals', 'margins'}
        Cells that keep their true value, as everybody is told: those that are part of no other, or all that are sums.
    within : float, optional
        The office tells that no value is farther than this from the true one. By default it tells nothing.
    decimals : int, optional
        Of the adjusted values; by default those that the values have, so that no odd digits tell which cells moved.
    preserve : {'nothing', 'means', 'correlation'}
        What the inner cells keep: their mean, or that and a correlation with the true values.
    correlation : float, optional
        The least one, for preserve='correlation'; 0.99 by default.
    search : {'auto', 'exact', 'turns', 'blocks', 'fix-and-relax', 'patterns'}
        How; see `tabprotect.adjust`.
    """

    name: ClassVar[str] = "adjust"
    claims: ClassVar[tuple[str, ...]] = ("near",)
    page: ClassVar[str] = "other-methods.md#adjustment"

    norm: Norm = "l1"
    weights: Weights = "reciprocal"
    senses: Literal["up", "down", "free"] = "free"
    fixed: Literal["nothing", "totals", "margins"] = "nothing"
    within: float | None = field(default=None, metadata=ABOVE_ZERO)
    decimals: int | None = None
    preserve: Kept = "nothing"
    correlation: float | None = field(default=None, metadata=ABOVE_ZERO)
    search: Search = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.correlation is not None and (self.preserve != "correlation" or self.correlation > 1):
            raise InputError(
                f"adjust: correlation={self.correlation:g} is a least correlation, at most 1, for preserve=correlation"
            )

    def change(self, call: Call) -> Changed:
        """Adjust."""
        p = call.problem
        conditions = keep(p, self.preserve, self.correlation)
        kept = {"nothing": lambda _: np.zeros(0, np.int64), "totals": totals, "margins": margins}[self.fixed](p.system)
        if self.within is not None:
            lower, upper = p.values - self.within, p.values + self.within
            p = replace(p, lower=np.maximum(p.lower, lower), upper=np.minimum(p.upper, upper))
        places = decimals_of(p.values) if self.decimals is None else self.decimals
        result = adjust(
            p, norm=self.norm, weights=self.weights, senses=self.senses, fixed=kept, preserve=conditions,
            decimals=places, method=self.search, limits=call.limits, seed=call.seed, progress=call.progress,
        )  # fmt: skip
        known = {*held(p, Status.PROTECTED, Status.ZERO), *(int(i) for i in kept)}
        within = None if self.within is None else written([self.within])[0]
        claim = {"method": "near", "within": within, "fixed": sorted(known)}
        told = "the largest change" if within else "no distance"
        return Changed(
            result.values, claim, told, result.status, result.cost, result.bound, result.seconds, result.message,
            bool(result.stopped_by), levels_moved=True, result=result,
        )  # fmt: skip
