"""Rounding as a method: controlled, unbiased, random, conventional."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from tabprotect.attack.statement import decimals
from tabprotect.methods import rounding
from tabprotect.methods.base.method import Acts, Call, Changed, Method, default_base
from tabprotect.methods.base.options import ABOVE_ZERO
from tabprotect.methods.distance import Norm, Weights
from tabprotect.methods.rounding.engine import Method as Search
from tabprotect.methods.rounding.result import RoundingResult

__all__ = ["ConventionalRound", "RandomRound", "Round", "SuccessiveRound", "UnbiasedRound"]


@dataclass(frozen=True)
class Round(Method):
    """Multiples of a base that still add up, as near to the true values as can be; see `tabprotect.round`.

    Parameters
    ----------
    base : float, optional
        By default 5 for counts, else the first of 1, 2, 5, 10, ... that no lower and upper level together exceed.
    steps : int or 'least'
        Bases beyond the neighbouring multiples.
    norm, weights
        What near means.
    levels : bool
        Respect the protection levels: without it a release is often refused by its own judge.
    rise : bool
        Multiples of the base may go to the following multiple, too (Eustat's definition 1).
    search : {'auto', 'exact', 'heuristic'}
        How; see `tabprotect.round`.
    """

    name: ClassVar[str] = "round"
    claims: ClassVar[tuple[str, ...]] = ("multiple", "rising")
    page: ClassVar[str] = "other-methods.md#rounding"

    base: float | None = field(default=None, metadata=ABOVE_ZERO)
    steps: int | Literal["least"] = "least"
    norm: Norm = "l1"
    weights: Weights = "unit"
    levels: bool = True
    rise: bool = False
    search: Search = "auto"

    def change(self, call: Call) -> Changed:
        """Round with control of the sums."""
        result = rounding.round(
            call.problem, _base(self.base, call), steps=self.steps, norm=self.norm, weights=self.weights,
            protect=self.levels, rise=self.rise, method=self.search, limits=call.limits, seed=call.seed,
            progress=call.progress,
        )  # fmt: skip
        return _changed(result, "base, steps, that multiples may rise" if self.rise else "base, steps")


@dataclass(frozen=True)
class _Plain(Method):
    """A method with a base alone.

    Parameters
    ----------
    base : float, optional
        By default 5 for counts, else the first of 1, 2, 5, 10, ... that no lower and upper level together exceed.
    """

    base: float | None = field(default=None, metadata=ABOVE_ZERO)


@dataclass(frozen=True)
class UnbiasedRound(_Plain):
    """Multiples that still add up, right on average, in two dimensions; see `tabprotect.unbiased_rounding`."""

    name: ClassVar[str] = "unbiased-round"
    claims: ClassVar[tuple[str, ...]] = ("multiple",)
    page: ClassVar[str] = "other-methods.md#rounding"
    drawn: ClassVar[bool] = True

    def change(self, call: Call) -> Changed:
        """Round by pushing flow round cycles."""
        return _changed(rounding.unbiased_rounding(call.problem, _base(self.base, call), seed=call.seed), "base")


@dataclass(frozen=True)
class SuccessiveRound(_Plain):
    """Three dimensions layer by layer, less than two bases off, without search; see `tabprotect.successive_rounding`.

    Parameters
    ----------
    along : int
        The dimension (0, 1 or 2, without hierarchy) whose codes are the layers.
    """

    name: ClassVar[str] = "successive-round"
    claims: ClassVar[tuple[str, ...]] = ("multiple",)
    page: ClassVar[str] = "other-methods.md#rounding"
    acts_on: ClassVar[Acts] = "table"

    along: int = 0

    def change(self, call: Call) -> Changed:
        """Round the sums of more and more layers."""
        base = _base(self.base, call)
        result = rounding.successive_rounding(call.problem, base, along=self.along, limits=call.limits)
        claim = {"method": "multiple", "base": decimals([result.base])[0], "steps": 1, "fixed": []}
        return _changed(result, "base, that values are less than two bases off", claim)


@dataclass(frozen=True)
class RandomRound(_Plain):
    """Every cell by itself up or down at random, right on average; see `tabprotect.random_rounding`."""

    name: ClassVar[str] = "random-round"
    claims: ClassVar[tuple[str, ...]] = ("multiple",)
    page: ClassVar[str] = "other-methods.md#rounding"
    drawn: ClassVar[bool] = True

    def change(self, call: Call) -> Changed:
        """Round at random."""
        return _changed(rounding.random_rounding(call.problem, _base(self.base, call), seed=call.seed), "base")


@dataclass(frozen=True)
class ConventionalRound(_Plain):
    """Every cell by itself to the nearest multiple; see `tabprotect.conventional_rounding`."""

    name: ClassVar[str] = "conventional-round"
    claims: ClassVar[tuple[str, ...]] = ("nearest",)
    page: ClassVar[str] = "other-methods.md#rounding"

    def change(self, call: Call) -> Changed:
        """Round to the nearest."""
        result = rounding.conventional_rounding(call.problem, _base(self.base, call))
        claim = {"method": "nearest", "base": decimals([result.base])[0], "fixed": []}
        return _changed(result, "base, that values are the nearest multiples", claim)


def _base(base: float | None, call: Call) -> float:
    return default_base(call.problem) if base is None else base


def _changed(result: RoundingResult, knows: str, claim: dict[str, Any] | None = None) -> Changed:
    if claim is None:
        kind = "rising" if result.rise else "multiple"
        claim = {"method": kind, "base": decimals([result.base])[0], "steps": result.steps, "fixed": []}
    grid = f"base {result.base:.10g}" + (f", steps {result.steps}" if result.steps else "")
    return Changed(
        result.values, claim, knows, result.status, result.cost, result.bound, result.seconds,
        "; ".join(part for part in (grid, result.message) if part), bool(result.stopped_by), result=result,
    )  # fmt: skip
