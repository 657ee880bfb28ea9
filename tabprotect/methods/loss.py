"""What a published table has lost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabprotect.methods.margins import margins
from tabprotect.problem import Problem
from tabprotect.solver.tolerances import CHANGED_VALUE

__all__ = ["Loss", "loss"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Loss:
    """Information lost. Distances are over the cells that are published; hidden ones are counted apart.

    Attributes
    ----------
    hidden, changed : int
        Cells without a value, and cells with another one.
    distance, mean : float
        Sum and mean of |v - a|.
    relative : float
        Mean of |v - a| / |a| over published cells whose value is not 0.
    largest : float
        Largest |v - a|.
    margins, kept : int
        Cells that are the sum of others, and how many of them are published unchanged.
    off : float
        Largest |A v - b| over equations of which every cell is published: 0 where the table adds up.
    hellinger : float or None
        Distance from 0 to 1 of the shares of the published inner cells; None where values are negative or all 0.
    ranks : float or None
        Spearman's correlation of published and true values; None where one of them is constant.
    """

    hidden: int
    changed: int
    distance: float
    mean: float
    relative: float
    largest: float
    margins: int
    kept: int
    off: float
    hellinger: float | None
    ranks: float | None


def loss(problem: Problem, values: Floats) -> Loss:
    """Measure what published values (nan where hidden) have lost.

    Parameters
    ----------
    problem : Problem
        Cells behind those that have a published value are sums, and not counted.
    values : ndarray, shape (cells of the table,)

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1]], [9, 4, 5], primary=[1], lpl=1, upl=1)
    >>> found = loss(p, np.array([10.0, np.nan, 5.0]))
    >>> found.hidden, found.changed, found.distance, found.largest, found.kept
    (1, 1, 1.0, 1.0, 0)
    """
    n = len(values)
    equations = problem.system.n_equations - (problem.n_cells - n)
    a, A, b = problem.values[:n], problem.system.A[:equations, :n], problem.system.b[:equations]
    shown = ~np.isnan(values)
    v = np.where(shown, values, a)
    off = np.abs(v - a)
    moved = off > CHANGED_VALUE * np.abs(a)
    off[~moved] = 0.0
    some = shown & (a != 0)
    margin = np.isin(np.arange(n), margins(problem.system))
    whole = np.asarray(abs(A).sign() @ (~shown).astype(np.float64)) == 0
    sums = np.where(whole, np.abs(A @ v - b), 0.0)
    noise = 1e-9 * np.asarray(abs(A) @ np.abs(v))
    count = max(1, int(shown.sum()))
    return Loss(
        int(np.sum(~shown)),
        int(np.sum(moved & shown)),
        float(off[shown].sum()),
        float(off[shown].sum() / count),
        float(np.mean(off[some] / np.abs(a[some]))) if some.any() else 0.0,
        float(off[shown].max(initial=0.0)),
        int(margin.sum()),
        int(np.sum(margin & shown & ~moved)),
        float(np.where(sums > noise, sums, 0.0).max(initial=0.0)),
        _hellinger(a[shown & ~margin], v[shown & ~margin]),
        _ranks(a[shown], v[shown]),
    )


def _hellinger(a: Floats, v: Floats) -> float | None:
    if not len(a) or np.any(a < 0) or np.any(v < 0) or a.sum() <= 0 or v.sum() <= 0:
        return None
    difference = np.sqrt(a / a.sum()) - np.sqrt(v / v.sum())
    return float(min(1.0, np.sqrt(np.sum(difference**2) / 2)))


def _ranks(a: Floats, v: Floats) -> float | None:
    one, two = _places(a), _places(v)
    one, two = one - one.mean() if len(one) else one, two - two.mean() if len(two) else two
    size = float(np.sqrt(np.sum(one**2) * np.sum(two**2)))
    return float(np.sum(one * two)) / size if size > 0 else None


def _places(values: Floats) -> Floats:
    """Return the rank of every value, 1 for the smallest; equal ones share the mean of theirs."""
    _, place, many = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(many) - (many - 1) / 2)[place]
