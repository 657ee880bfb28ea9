"""Top and bottom coding: extreme values are replaced (survey of Ciriani et al., section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

from tabprotect.errors import Problems
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.method import Masking, Method, MethodCall
from tabprotect.microdata.parameters import as_columns, need_choice, need_number
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import NUMERIC, Scale

__all__ = ["BottomCoding", "TopCoding"]

Floats = npt.NDArray[np.float64]

TAILS = ("normal", "lognormal", "pareto")


@dataclass(frozen=True)
class _Coding(Method):
    family: ClassVar[str] = "non-perturbative"
    scales: ClassVar[tuple[Scale, ...]] = NUMERIC
    source: ClassVar[str] = "Ciriani et al. 2007, section 4.1"

    columns: Sequence[str] | str
    threshold: float | None = None
    quantile: float | None = None
    tail: Literal["normal", "lognormal", "pareto"] | None = None
    replace: Literal["threshold", "mean", "missing"] = "threshold"

    def check_parameters(self, problems: Problems) -> None:
        as_columns(self, "columns", problems)
        need_number(self, "threshold", problems, optional=True)
        need_number(self, "quantile", problems, above=0, below=1, optional=True)
        need_choice(self, "replace", problems, ("threshold", "mean", "missing"))
        if (self.threshold is None) == (self.quantile is None):
            problems.add(f"{self.name}: give either threshold or quantile")
        if self.tail is not None:
            need_choice(self, "tail", problems, TAILS)
            if self.quantile is None:
                problems.add(f"{self.name}: tail={self.tail!r} fits a distribution; give the quantile of it")

    def targets(self, records: Records) -> tuple[str, ...]:
        return tuple(self.columns)

    def check(self, records: Records, problems: Problems) -> None:
        if self.tail in ("lognormal", "pareto"):
            for name in self.columns:
                values = records.numbers(name)
                if (values[~np.isnan(values)] <= 0).any():
                    problems.add(f"column '{name}' has values of 0 or less; a {self.tail} distribution has none")

    def _limit(self, records: Records, name: str) -> float:
        """Return the value beyond which values are replaced; quantiles respect the weights."""
        if self.threshold is not None:
            return float(self.threshold)
        assert self.quantile is not None
        values = records.numbers(name)
        there = ~np.isnan(values)
        x, w = values[there], records.weights()[there]
        if not len(x):
            return float("nan")
        if self.tail is None:
            return weighted_quantile(x, w, self.quantile)
        return _tail_quantile(self.tail, x, w, self.quantile)

    def _code(self, call: MethodCall, above: bool) -> Masking:
        records = call.records
        facts, claims = {}, []
        for name in self.columns:
            values = call.records.numbers(name)
            limit = self._limit(call.records, name)
            out = values > limit if above else values < limit
            if not out.any():
                into = limit
            elif self.replace == "mean":
                into = float(np.average(values[out], weights=call.records.weights()[out]))
            else:
                into = np.nan if self.replace == "missing" else limit
            if out.any():
                records = records.with_numbers(name, np.where(out, into, values))
            facts[name] = {"limit": limit, "replaced": int(out.sum()), "by": None if np.isnan(into) else into}
            if self.replace != "mean" and not np.isnan(limit):
                word, kind, key = ("above", "at-most", "most") if above else ("below", "at-least", "least")
                claims.append(
                    Claim(kind, (name,), f"no value of '{name}' is {word} {limit:g}", {"column": name, key: limit})
                )
        return Masking(records, facts, tuple(claims))


@dataclass(frozen=True)
class TopCoding(_Coding):
    """Values above a limit are replaced.

    Missing values stay missing. With weights, quantiles, fitted distributions and means are weighted. Strata are not
    looked at: one limit for the file.

    Parameters
    ----------
    columns : str or sequence of str
        Continuous columns.
    threshold : float, optional
        The limit, in the unit of the column.
    quantile : float, optional
        Or the share of records (of weight) at or below the limit, such as 0.99.
    tail : {'normal', 'lognormal', 'pareto'}, optional
        The quantile is that of a distribution fitted by maximum likelihood, not of the data.
    replace : {'threshold', 'mean', 'missing'}
        By what: the limit, the (weighted) mean of the replaced values, or nothing. With 'mean' the (weighted) total
        stays as it is.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"income": [10, 20, 30, 400]})
    >>> md.mask(frame, md.Schema(), md.TopCoding("income", threshold=100, replace="missing")).frame["income"].tolist()
    [10, 20, 30, <NA>]
    """

    name: ClassVar[str] = "top-coding"
    claim_kinds: ClassVar[tuple[str, ...]] = ("at-most",)

    def apply(self, call: MethodCall) -> Masking:
        """Replace what is above the limit."""
        return self._code(call, above=True)


@dataclass(frozen=True)
class BottomCoding(_Coding):
    """Values below a limit are replaced; see `TopCoding`.

    Missing values stay missing; weights and strata as in `TopCoding`.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"age": [3, 20, 30, 40]})
    >>> md.mask(frame, md.Schema(), md.BottomCoding("age", threshold=18)).frame["age"].tolist()
    [18, 20, 30, 40]
    """

    name: ClassVar[str] = "bottom-coding"
    claim_kinds: ClassVar[tuple[str, ...]] = ("at-least",)

    def apply(self, call: MethodCall) -> Masking:
        """Replace what is below the limit."""
        return self._code(call, above=False)


def weighted_quantile(values: Floats, weights: Floats, share: float) -> float:
    """Return the smallest value such that values up to it carry at least a share of the weight.

    Examples
    --------
    >>> weighted_quantile(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]), 0.5)
    2.0
    """
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    at = int(np.searchsorted(reached, share * reached[-1] * (1 - 1e-12)))
    return float(values[order][min(at, len(values) - 1)])


def _tail_quantile(tail: str, x: Floats, w: Floats, share: float) -> float:
    """Quantile of a distribution fitted by weighted maximum likelihood."""
    total = w.sum()
    if tail == "pareto":
        shape = total / (w * np.log(x / x.min())).sum() if (x > x.min()).any() else np.inf
        return float(x.min() * (1 - share) ** (-1 / shape))
    y = np.log(x) if tail == "lognormal" else x
    mean = float((w * y).sum() / total)
    spread = float(np.sqrt((w * (y - mean) ** 2).sum() / total))
    found = mean + spread * float(stats.norm.ppf(share))
    return float(np.exp(found)) if tail == "lognormal" else found
