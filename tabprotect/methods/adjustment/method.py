"""Controlled tabular adjustment as a method."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, floor
from typing import ClassVar, Final, Literal

import numpy as np
import numpy.typing as npt

from tabprotect.attack.statement import decimals as written
from tabprotect.errors import InputError
from tabprotect.methods.adjustment import adjust
from tabprotect.methods.adjustment.adjust import PROVEN_SENSES
from tabprotect.methods.adjustment.preserve import Kept, keep
from tabprotect.methods.adjustment.result import AdjustmentResult
from tabprotect.methods.adjustment.strategy import Method as Search
from tabprotect.methods.base.method import Call, Changed, Method, held
from tabprotect.methods.base.options import ABOVE_ZERO
from tabprotect.methods.distance import Norm, Weights
from tabprotect.methods.margins import margins, totals
from tabprotect.problem import Problem, Status
from tabprotect.solver.exact import exact
from tabprotect.table.decimals import decimals_of

__all__ = ["Adjust", "ends", "enlarged"]

Floats = npt.NDArray[np.float64]

STREAM: Final = 17
"""Which random numbers of the seed enlarge levels."""


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
        Cells that keep their true value, as everybody knows: those that are part of no other, or all that are sums.
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
    proven_senses : int
        With norm 'l2', up to so many free senses are decided with a proof that trusts no solver; 0 leaves that out.
    enlarge : float
        Levels are enlarged at random by up to this share, and where values have few decimals by one unit of the last of
        them at least; 0 for as they are. An optimal adjustment moves most sensitive cells by exactly their level, so
        whoever is alone in one would learn the parameter of the rule. The draws come from the seed, which is a fresh
        secret one unless it is given. Levels are not enlarged beyond the external bounds, and not at all where no
        adjustment could meet them (which the message then says).
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
    proven_senses: int = PROVEN_SENSES
    enlarge: float = 0.5

    @property
    def secret(self) -> bool:
        """Whether the seed must be secret: it says by how much levels were enlarged."""
        return self.enlarge > 0

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
        places = decimals_of(p.values) if self.decimals is None else self.decimals
        if self.within is not None:
            lower, upper = ends(p.values, self.within, places)
            p = replace(p, lower=np.maximum(p.lower, lower), upper=np.minimum(p.upper, upper))

        def carry_out(problem: Problem) -> AdjustmentResult:
            return adjust(
                problem, norm=self.norm, weights=self.weights, senses=self.senses, fixed=kept, preserve=conditions,
                decimals=places, method=self.search, proven_senses=self.proven_senses,
                limits=call.limits, seed=call.seed, progress=call.progress,
            )  # fmt: skip

        result = carry_out(enlarged(p, self.enlarge, places, call.seed, self.within) if self.enlarge else p)
        message = result.message
        if self.enlarge and result.status == "infeasible":
            result = carry_out(p)
            message = "; ".join([*filter(None, [result.message]), "no adjustment meets enlarged levels: they are not"])
        elif self.enlarge and result.values is not None:
            drawn = f"levels were enlarged at random (enlarge={self.enlarge:g}), so another seed gives another distance"
            message = "; ".join([*filter(None, [message]), drawn])
        known = {*held(p, Status.PROTECTED, Status.ZERO), *(int(i) for i in kept)}
        within = None if self.within is None else written([self.within])[0]
        claim = {"method": "near", "within": within, "fixed": sorted(known)}
        told = "the largest change" if within else "no distance"
        return Changed(
            result.values, claim, told, result.status, result.cost, result.bound, result.seconds, message,
            bool(result.stopped_by), levels_moved=True, result=result,
        )  # fmt: skip


def ends(values: Floats, within: float, places: int | None) -> tuple[Floats, Floats]:
    """Return the least and the largest value with so many decimals that is no further from each value.

    Sums of weighted contributions are decimals but for the last digits of floating-point numbers, which count, too.

    Examples
    --------
    >>> least, most = ends(np.array([66.45, 66.44999999999999]), 5.0, 2)
    >>> least.tolist(), most.tolist()
    ([61.45, 61.45], [71.45, 71.44])
    """
    if places is None:
        return values - within, values + within
    unit, far = Fraction(10) ** -places, exact(within)
    true = [exact(a) for a in values.tolist()]
    least = [float(ceil((a - far) / unit) * unit) for a in true]
    most = [float(floor((a + far) / unit) * unit) for a in true]
    return np.minimum(least, values), np.maximum(most, values)


def enlarged(problem: Problem, share: float, places: int | None, seed: int, within: float | None = None) -> Problem:
    """Return a problem with upper and lower levels enlarged at random, as far as the external bounds have room.

    Parameters
    ----------
    problem : Problem
    share : float
        Levels grow by up to this share, uniformly.
    places : int or None
        Decimals of what is published: levels grow by whole units of the last one, of which one is always possible.
    seed : int
    within : float, optional
        Largest change, which is known: a cell that moves by d leaves ``within - d`` on the other side, where the other
        level must still be reached.

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1]], [900, 400, 500], primary=[1], lpl=30, upl=30, upper=[999, 435, 999])
    >>> e = enlarged(p, 0.5, 0, seed=1)
    >>> bool(30 <= e.lpl[1] <= 46), bool(30 <= e.upl[1] <= 35)
    (True, True)
    """
    rng = np.random.default_rng([seed, STREAM])

    def grown(level: Floats, room: Floats) -> Floats:
        draw = rng.random(len(level))
        if places is None:
            more = draw * share * level
        else:
            unit = 10.0**-places
            more = np.round(np.floor(draw * (share * level / unit + 1)) * unit, max(places, 0))
            # values move by whole units: beyond the last one below the room they would not fit
            room = np.where(np.isfinite(room), np.round(np.floor(room / unit) * unit, max(places, 0)), room)
        return np.where(level > 0, np.minimum(level + more, np.maximum(level, room)), 0.0)

    down, up = problem.down, problem.up
    if within is not None:
        down, up = np.minimum(down, within - problem.upl), np.minimum(up, within - problem.lpl)
    return replace(problem, lpl=grown(problem.lpl, down), upl=grown(problem.upl, up))
