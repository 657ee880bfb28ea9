"""Fully synthetic numbers: Cholesky decomposition, bootstrap of a fitted distribution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy import linalg, stats
from scipy.special import ndtri

from tabprotect.counted import counted
from tabprotect.errors import Problems
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.masking.noise import root
from tabprotect.microdata.method import Masking, Method, MethodCall
from tabprotect.microdata.parameters import as_columns, need_choice, need_number
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import NUMERIC, Scale

__all__ = ["Bootstrap", "Cholesky", "Numbers", "exactly_uncorrelated"]

Floats = npt.NDArray[np.float64]

MARGINALS = ("smoothed", "normal", "lognormal")


@dataclass(frozen=True)
class Numbers(Method):
    """What methods that make numbers anew share: columns, the number of records, the sample they look at."""

    family: ClassVar[str] = "fully synthetic"
    scales: ClassVar[tuple[Scale, ...]] = NUMERIC
    random: ClassVar[bool] = True

    columns: Sequence[str] | str
    n: int | None = None

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        as_columns(self, "columns", problems)
        need_number(self, "n", problems, least=2, whole=True, optional=True)

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the columns."""
        return tuple(self.columns)

    def check(self, records: Records, problems: Problems) -> None:
        """Note what the records do not allow."""
        whole = self._sample(records)
        if len(whole) <= len(self.columns):
            problems.add(
                f"{counted(len(whole), 'complete record does', 'complete records do')} not determine the "
                f"covariances of {counted(len(self.columns), 'column')}"
            )
        if self.n is not None and self.n <= len(self.columns):
            problems.add(f"n must be above the number of columns ({len(self.columns)}), not {self.n}")

    def _sample(self, records: Records) -> Floats:
        values = records.matrix(self.columns)
        return values[~np.isnan(values).any(axis=1)]

    def _release(
        self, call: MethodCall, values: Floats, facts: dict[str, Any], claims: tuple[Claim, ...] = ()
    ) -> Masking:
        """Return new records with these columns and no others."""
        records = call.records.blank(self.columns, len(values))
        for j, name in enumerate(self.columns):
            records = records.with_numbers(name, values[:, j])
        dropped = [name for name in call.records.columns if name not in self.columns]
        identifiers = call.records.schema.identifiers
        lost = [name for name in dropped if name not in identifiers]
        left = int(len(call.records) - len(self._sample(call.records)))
        notes = [f"not synthesised and so not released: {', '.join(lost)}"] if lost else []
        notes += [f"{left} records with a missing value were not looked at"] if left else []
        return Masking(records, facts, claims, np.full(len(values), -1, dtype=np.int64), tuple(notes))

    def _count(self, call: MethodCall) -> int:
        return len(call.records) if self.n is None else int(self.n)


@dataclass(frozen=True)
class Cholesky(Numbers):
    """New records with exactly the means and covariances of the file (Mateo-Sanz, Martinez-Balleste, Domingo-Ferrer).

    Normal numbers are centred, made exactly uncorrelated and multiplied by a root of the covariance matrix, in time
    linear in the number of records. Records with a missing value are not looked at; weights and strata are not either.
    Only the columns named are released.

    Parameters
    ----------
    columns : sequence of str
        Continuous columns.
    n : int, optional
        How many records; by default as many as there are. It must exceed the number of columns.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"x": [1.0, 2.0, 4.0, 9.0], "y": [3.0, 1.0, 5.0, 8.0]})
    >>> new = md.mask(frame, None, md.Cholesky(["x", "y"]), seed=1).frame
    >>> bool((new.cov() - frame.cov()).abs().max().max() < 1e-12)
    True
    """

    name: ClassVar[str] = "cholesky"
    claim_kinds: ClassVar[tuple[str, ...]] = ("moments",)
    source: ClassVar[str] = "Ciriani et al. 2007, section 5.1 (Cholesky decomposition)"

    def apply(self, call: MethodCall) -> Masking:
        """Draw."""
        x = self._sample(call.records)
        mean, cov = x.mean(axis=0), np.atleast_2d(np.cov(x, rowvar=False))
        drawn = exactly_uncorrelated(self._count(call), len(mean), call.rng)
        names = list(self.columns)
        given = {"columns": names, "mean": mean.tolist(), "covariance": cov.tolist(), "tolerance": 1e-7}
        claim = Claim(
            "moments", tuple(names), f"means and covariances of {', '.join(names)} are those of the file", given
        )
        # whole numbers would not keep them
        return self._release(call, mean + drawn @ root(cov), {"records": len(drawn)}, (claim,))


def exactly_uncorrelated(n: int, p: int, rng: np.random.Generator) -> Floats:
    """Return n normal vectors whose means are 0 and whose covariance matrix (divisor n - 1) is the identity, exactly.

    Examples
    --------
    >>> x = exactly_uncorrelated(9, 2, np.random.default_rng(1))
    >>> bool(np.allclose(x.mean(axis=0), 0)), bool(np.allclose(np.cov(x, rowvar=False), np.eye(2)))
    (True, True)
    """
    x = rng.standard_normal((n, p))
    x -= x.mean(axis=0)
    factor = linalg.cholesky(x.T @ x / (n - 1), lower=False)
    return np.asarray(linalg.solve_triangular(factor, x.T, trans="T").T)


@dataclass(frozen=True)
class Bootstrap(Numbers):
    """New records from a distribution fitted to the file, its parameters averaged over bootstrap samples.

    The distribution is a normal copula with marginal distributions: the empirical ones made smooth, normal, or
    lognormal. Records with a missing value are not looked at; with weights, bootstrap samples are drawn with
    probabilities proportional to them; strata are not looked at. Only the columns named are released.

    Parameters
    ----------
    columns : sequence of str
        Continuous columns.
    n : int, optional
        How many records; by default as many as there are.
    samples : int
        Bootstrap samples.
    marginal : {'smoothed', 'normal', 'lognormal'}
        'smoothed': quantiles averaged over the bootstrap samples, with linear interpolation between them.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"x": range(100), "y": range(0, 200, 2)})
    >>> new = md.mask(frame, None, md.Bootstrap(["x", "y"], n=200), seed=1).frame
    >>> len(new), bool(new.corr().loc["x", "y"] > 0.99)
    (200, True)
    """

    name: ClassVar[str] = "bootstrap"
    source: ClassVar[str] = "Ciriani et al. 2007, section 5.1 (bootstrap)"

    samples: int = 50
    marginal: Literal["smoothed", "normal", "lognormal"] = "smoothed"

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        super().check_parameters(problems)
        need_number(self, "samples", problems, least=2, whole=True)
        need_choice(self, "marginal", problems, MARGINALS)

    def check(self, records: Records, problems: Problems) -> None:
        """Note columns that the marginal distribution does not fit."""
        super().check(records, problems)
        if self.marginal == "lognormal":
            for j, name in enumerate(self.columns):
                if (self._sample(records)[:, j] <= 0).any():
                    problems.add(f"column '{name}' has values of 0 or less; a lognormal distribution has none")

    def apply(self, call: MethodCall) -> Masking:
        """Fit and draw."""
        values = call.records.matrix(self.columns)
        whole = ~np.isnan(values).any(axis=1)
        x, weights = values[whole], call.records.weights()[whole]
        share, n, p = weights / weights.sum(), *x.shape
        grid = np.linspace(0, 1, min(n, 1001))
        correlation = np.zeros((self.samples, p, p))
        quantiles = np.zeros((self.samples, len(grid), p))
        moments = np.zeros((self.samples, 2, p))
        y = np.log(x) if self.marginal == "lognormal" else x
        for b in range(self.samples):
            one = y[call.rng.choice(n, n, p=share)]
            scores = ndtri((stats.rankdata(one, axis=0) - 0.5) / n)
            with np.errstate(invalid="ignore"):
                correlation[b] = np.nan_to_num(np.atleast_2d(np.corrcoef(scores, rowvar=False)))
            quantiles[b] = np.quantile(one, grid, axis=0)
            moments[b] = one.mean(axis=0), one.std(axis=0, ddof=1)
        np.fill_diagonal(mean := correlation.mean(axis=0), 1.0)
        drawn = call.rng.standard_normal((self._count(call), p)) @ root(mean)
        new = np.empty_like(drawn)
        for j in range(p):
            if self.marginal == "smoothed":
                new[:, j] = np.interp(stats.norm.cdf(drawn[:, j]), grid, quantiles[:, :, j].mean(axis=0))
            else:
                level, spread = moments[:, :, j].mean(axis=0)
                new[:, j] = level + spread * drawn[:, j]
        new = np.exp(new) if self.marginal == "lognormal" else new
        error = dict(zip(self.columns, moments[:, 0].std(axis=0, ddof=1).tolist(), strict=True))
        return self._release(call, new, {"samples": self.samples, "bootstrap error of the mean": error})
