"""Fully synthetic numbers by Latin hypercube sampling, with rank correlations near to those of the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy import linalg, stats
from scipy.special import ndtri

from tabprotect.errors import Problems
from tabprotect.microdata.masking.noise import root
from tabprotect.microdata.method import Masking, MethodCall
from tabprotect.microdata.parameters import need_number
from tabprotect.microdata.synthesis.gaussian import Numbers

__all__ = ["LatinHypercube", "latin_hypercube", "rank_correlation"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LatinHypercube(Numbers):
    """New records with the marginal distributions of the file, and its rank correlations refined step by step.

    Each column has one value in every n-th part of its distribution (Latin hypercube); then the values are put in an
    order that brings the rank correlations near to those of the file (Iman and Conover 1982, repeated as in Dandekar,
    Cohen and Kirkendall 2002). Records with a missing value are not looked at; weights and strata are not either. Only
    the columns named are released.

    Parameters
    ----------
    columns : sequence of str
        Continuous columns.
    n : int, optional
        How many records; by default as many as there are.
    rounds : int
        Refinements of the rank correlations, at most; the best one is taken.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"x": range(50), "y": [-i * i for i in range(50)]})
    >>> masked = md.mask(frame, None, md.LatinHypercube(["x", "y"]), seed=1)
    >>> bool(masked.frame.corr("spearman").loc["x", "y"] < -0.95)
    True
    """

    name: ClassVar[str] = "latin-hypercube"
    source: ClassVar[str] = "Ciriani et al. 2007, section 5.1 (Latin hypercube sampling)"

    rounds: int = 20

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        super().check_parameters(problems)
        need_number(self, "rounds", problems, least=1, whole=True)

    def apply(self, call: MethodCall) -> Masking:
        """Draw and order."""
        x = self._sample(call.records)
        new, off = latin_hypercube(x, self._count(call), self.rounds, call.rng)
        return self._release(call, new, {"largest difference of rank correlations": off})


def latin_hypercube(x: Floats, n: int, rounds: int, rng: np.random.Generator) -> tuple[Floats, float]:
    """Return n records with the marginals of x and near its rank correlations, and the largest difference of these."""
    p = x.shape[1]
    parts = (np.arange(n)[:, None] + rng.random((n, p))) / n
    values = np.column_stack([np.quantile(x[:, j], parts[:, j]) for j in range(p)])
    want = rank_correlation(x)
    scores = np.tile(ndtri((np.arange(n) + 0.5) / n)[:, None], (1, p))
    scores = rng.permuted(scores, axis=0)
    target, best, least = want.copy(), values, np.inf
    for _ in range(rounds):
        have = np.atleast_2d(np.corrcoef(scores, rowvar=False))
        mixed = scores @ linalg.pinv(root(have)) @ root(_positive(target))
        order = np.argsort(np.argsort(mixed, axis=0), axis=0)
        tried = np.take_along_axis(values, order, axis=0)
        found = rank_correlation(tried)
        off = float(np.abs(found - want).max())
        if off < least:
            best, least = tried, off
        if off < 1e-6:
            break
        target = target + (want - found)
    return best, least


def rank_correlation(x: Floats) -> Floats:
    """Return Spearman's rank correlations, 0 for a constant column."""
    with np.errstate(invalid="ignore"):
        found = np.nan_to_num(np.atleast_2d(np.corrcoef(stats.rankdata(x, axis=0), rowvar=False)))
    np.fill_diagonal(found, 1.0)
    return np.asarray(found)


def _positive(matrix: Floats) -> Floats:
    """Return the nearest correlation matrix by cutting negative eigenvalues."""
    found, vectors = linalg.eigh(matrix)
    if found.min() >= 0:
        return matrix
    lifted = (vectors * np.maximum(found, 1e-12)) @ vectors.T
    scale = np.sqrt(np.diag(lifted))
    return np.asarray(lifted / np.outer(scale, scale))
