"""Markov matrices by which categories are replaced: invariant ones, optimal ones, and what released counts say."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.errors import InputError, SolverError
from tabprotect.solver.lp import LinearProgram

__all__ = ["EXACT", "invariant", "optimal_matrix", "pram_estimate", "wrong_matrix"]

Floats = npt.NDArray[np.float64]

EXACT = 1e-9
"""How far rows of a Markov matrix may be from 1, and an invariant margin from itself (relative)."""


def invariant(counts: npt.ArrayLike, floor: float) -> Floats:
    """Return a Markov matrix P with ``counts @ P = counts`` and every diagonal at least `floor`.

    Each record keeps its category with probability `floor`; else it draws one with the shares of the file. Categories
    without records stay what they are.

    Examples
    --------
    >>> invariant([60, 30, 10], 0.5).round(9).tolist()
    [[0.8, 0.15, 0.05], [0.3, 0.65, 0.05], [0.3, 0.15, 0.55]]
    """
    t = np.asarray(counts, dtype=np.float64)
    here = t > 0
    share = np.where(here, t / t.sum(), 0.0)
    drawn = floor * np.eye(len(t)) + (1 - floor) * np.tile(share, (len(t), 1))
    return np.where(here[:, None], drawn, np.eye(len(t)))


def optimal_matrix(counts: npt.ArrayLike, distance: Floats, floor: float, ceiling: float) -> Floats:
    """Return the invariant Markov matrix with the least expected distance and diagonals in [floor, ceiling].

    Stated in `tabprotect.models.pram`. The answer of the solver is checked; what cannot be is an error.

    Parameters
    ----------
    counts : array_like, shape (m,)
    distance : ndarray, shape (m, m)
        What it costs that a category becomes another one.
    floor, ceiling : float

    Raises
    ------
    InputError
        If one category has so much of the records that no matrix gets below the ceiling.
    SolverError
        If the solver's answer is no such matrix.

    Examples
    --------
    >>> p = optimal_matrix([50, 30, 20], np.abs(np.subtract.outer(range(3), range(3))), 0.5, 0.8)
    >>> p.diagonal().round(9).tolist(), p[0].round(9).tolist()
    ([0.8, 0.8, 0.8], [0.8, 0.12, 0.08])
    """
    t = np.asarray(counts, dtype=np.float64)
    here = np.flatnonzero(t > 0)
    share, cost = t[here] / t.sum(), distance[np.ix_(here, here)]
    m = len(here)
    rows = sparse.kron(sparse.eye(m), np.ones((1, m)))
    margins = sparse.kron(share[None, :], sparse.eye(m))
    lower, upper = np.zeros((m, m)), np.ones((m, m))
    np.fill_diagonal(lower, floor)
    np.fill_diagonal(upper, ceiling)
    right = np.concatenate([np.ones(m), share])
    found = LinearProgram(
        sparse.vstack([rows, margins]), right, right, lower.ravel(), upper.ravel(), (share[:, None] * cost).ravel()
    ).solve()
    if found.status == "infeasible":
        top = int(np.argmax(share))
        raise InputError(
            f"pram: no invariant matrix has diagonals of at most {ceiling:g}: one category has "
            f"{100 * share[top]:.1f} % of the records; raise ceiling, or take kind='invariant'"
        )
    if found.status != "optimal":
        raise SolverError(f"the matrix was not found: {found.status}")
    matrix = np.maximum(found.x.reshape(m, m), 0.0)
    off = max(np.abs(matrix.sum(axis=1) - 1).max(), np.abs(share @ matrix - share).max())
    diagonal = matrix.diagonal()
    if off > 1e-7 or diagonal.min() < floor - 1e-7 or diagonal.max() > ceiling + 1e-7:
        raise SolverError("what the solver returned is no invariant Markov matrix between floor and ceiling")
    full = np.eye(len(t))
    full[np.ix_(here, here)] = matrix
    return full


def pram_estimate(counts: npt.ArrayLike, matrix: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Estimate the true counts from released ones: ``counts @ inverse(matrix)``, and the variance of the estimate.

    Parameters
    ----------
    counts : array_like, shape (m,)
        Released counts.
    matrix : array_like, shape (m, m)
        The matrix that was used.

    Returns
    -------
    estimate : ndarray, shape (m,)
        Unbiased; may be negative.
    variance : ndarray, shape (m,)
        Of the randomisation, with the estimate in the place of the true counts.

    Raises
    ------
    InputError
        If the matrix has no inverse: then true counts cannot be estimated.

    Examples
    --------
    >>> estimate, variance = pram_estimate([58, 42], [[0.9, 0.1], [0.2, 0.8]])
    >>> estimate.round(9).tolist()
    [54.285714286, 45.714285714]
    """
    wrong = wrong_matrix(matrix)
    if wrong:
        raise InputError(*wrong)
    p = np.asarray(matrix, dtype=np.float64)
    try:
        released = np.asarray(counts, dtype=np.float64)
    except (ValueError, TypeError):
        released = np.full(1, np.nan)
    if released.shape != (len(p),) or not np.isfinite(released).all():
        raise InputError(f"pram: counts must be {len(p)} finite numbers, one for each row of the matrix")
    if np.linalg.matrix_rank(p) < len(p):
        raise InputError("pram: this matrix has no inverse, so the true counts cannot be estimated")
    back = np.linalg.inv(p)
    estimate = released @ back
    variance = np.zeros(len(p))
    for i, size in enumerate(np.maximum(estimate, 0)):
        spread = np.diag(p[i]) - np.outer(p[i], p[i])
        variance += size * np.einsum("ji,jk,ki->i", back, spread, back)
    return np.asarray(estimate), variance


def wrong_matrix(matrix: Any) -> list[str]:
    """Return why a table is no Markov matrix; empty if it is one."""
    try:
        p = np.asarray(matrix, dtype=np.float64)
    except (ValueError, TypeError):
        return ["pram: matrix must be a square table of numbers"]
    if p.ndim != 2 or p.shape[0] != p.shape[1] or not p.size:
        return ["pram: matrix must be a square table of numbers"]
    if not np.isfinite(p).all() or (p < 0).any() or (p > 1).any():
        return ["pram: matrix must hold probabilities between 0 and 1"]
    off = np.abs(p.sum(axis=1) - 1)
    return [
        f"pram: row {int(np.argmax(off)) + 1} of the matrix adds up to {p.sum(axis=1)[np.argmax(off)]:g}, not 1"
    ] * (bool((off > EXACT).any()))
