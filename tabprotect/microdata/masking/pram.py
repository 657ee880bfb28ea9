"""The post-randomisation method (Kooiman, Willenborg, Gouweleeuw 1998; survey of Ciriani et al., section 4.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.counted import counted
from tabprotect.errors import InputError, Problems, SolverError
from tabprotect.microdata.claims import Claim, claim_kind
from tabprotect.microdata.masking.distances import category_distances
from tabprotect.microdata.method import Masking, Method, MethodCall, as_columns, need_choice, need_number
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import NOMINAL, Scale
from tabprotect.solver.lp import LinearProgram

__all__ = ["EXACT", "PRAM", "invariant", "optimal_matrix", "pram_estimate", "wrong_matrix"]

Floats = npt.NDArray[np.float64]

EXACT = 1e-9
"""How far rows of a Markov matrix may be from 1, and an invariant margin from itself (relative)."""


@dataclass(frozen=True)
class PRAM(Method):
    """Categories are replaced at random, with the probabilities of a Markov matrix.

    Missing values stay missing and take no part. Within each stratum of the schema a matrix of its own is built (a
    given one is used everywhere). Invariant and optimal matrices keep the counts of the categories in expectation,
    with weights the weighted counts.

    Parameters
    ----------
    columns : str or sequence of str
        Columns of categories, each on its own unless `joint`.
    kind : {'invariant', 'optimal', 'given'}
        'invariant': every value stays with probability `floor`, else a new one is drawn with the shares of the file
        (which may be the old one). 'optimal': of all invariant matrices with diagonals between `floor` and
        `ceiling` one with the least expected distance between old and new categories (in their order, along their
        tree, or 0 and 1), by linear programming. 'given': `matrix`.
    matrix : nested sequence of float, optional
        Row i holds the probabilities of what category i becomes; categories in their order (of first appearance
        where they have none, or as `categories` says).
    categories : sequence, optional
        Order of the rows of `matrix`.
    floor : float
        Least probability of staying the same; truly kept by every matrix that is built here.
    ceiling : float, optional
        Only 'optimal': largest probability of staying the same, by default the mean of `floor` and 1.
    joint : bool
        The columns are one variable whose categories are their combinations that occur.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"region": list("nnnnnnsssw")})
    >>> masked = md.mask(frame, None, md.PRAM("region", floor=0.6), seed=1)
    >>> set(masked.frame["region"]) <= set("nsw"), bool(masked.verify())
    (True, True)
    """

    name: ClassVar[str] = "pram"
    family: ClassVar[str] = "perturbative"
    scales: ClassVar[tuple[Scale, ...]] = NOMINAL
    random: ClassVar[bool] = True
    claim_kinds: ClassVar[tuple[str, ...]] = ("markov",)
    source: ClassVar[str] = "Ciriani et al. 2007, section 4.2 (PRAM)"

    columns: Sequence[str] | str
    kind: Literal["invariant", "optimal", "given"] = "invariant"
    matrix: Sequence[Sequence[float]] | None = None
    categories: Sequence[Any] | None = None
    floor: float = 0.8
    ceiling: float | None = None
    joint: bool = False

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        as_columns(self, "columns", problems)
        need_choice(self, "kind", problems, ("invariant", "optimal", "given"))
        need_number(self, "floor", problems, least=0, below=1)
        need_number(self, "ceiling", problems, least=0, most=1, optional=True)
        if (self.matrix is not None) != (self.kind == "given"):
            problems.add("pram: matrix and kind='given' belong together")
        if self.categories is not None and self.kind != "given":
            problems.add("pram: categories say what the rows of a given matrix are")
        if self.ceiling is not None and self.kind != "optimal":
            problems.add("pram: ceiling belongs to kind='optimal'")
        if self.ceiling is not None and not problems.found and self.ceiling < self.floor:
            problems.add(f"pram: ceiling ({self.ceiling:g}) must not be below floor ({self.floor:g})")
        if self.joint and self.kind == "given":
            problems.add("pram: joint matrices are built from the data; a given matrix is for single columns")
        if self.matrix is not None:
            problems.found += wrong_matrix(self.matrix)

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the columns."""
        return tuple(self.columns)

    def check(self, records: Records, problems: Problems) -> None:
        """Note columns that a given matrix does not fit."""
        if self.matrix is None:
            return
        for name in self.columns:
            there = records.categories(name).values
            order = there if self.categories is None else tuple(self.categories)
            if len(order) != len(self.matrix):
                problems.add(
                    f"column '{name}' has {counted(len(order), 'category', 'categories')}, the matrix "
                    f"{counted(len(self.matrix), 'row')}"
                )
            unknown = [value for value in there if value not in order]
            if unknown:
                problems.add(f"column '{name}' holds {unknown[0]!r}, which categories do not list")

    def apply(self, call: MethodCall) -> Masking:
        """Build the matrices and draw."""
        records, facts, claims = call.records, {}, []
        if self.joint:
            return self._joint(call)
        for name in self.columns:
            one = call.records.categories(name)
            values = one.values if self.categories is None else tuple(self.categories)
            place = np.array([values.index(v) for v in one.values] + [-1], dtype=np.int64)
            index = place[one.index]
            distance = category_distances(call.records, name, values) if self.kind == "optimal" else None
            new, made = self._draw(call, index, len(values), distance)
            records = records.with_categories(name, type(one)(values, new))
            given = {"columns": [name], "values": [str(v) for v in values], **made, "floor": self.least()}
            strata = call.records.schema.strata
            claims.append(Claim("markov", (name, *strata), self.statement(name), given, (name, *strata)))
            facts[name] = {
                "changed": int((new != index).sum()),
                "matrices": made["matrices"],
                "values": given["values"],
            }
        return Masking(records, facts, tuple(claims))

    def least(self) -> float:
        """Return the probability with which every value stays, at least."""
        return 0.0 if self.kind == "given" else self.floor

    def statement(self, name: str) -> str:
        """Return what is claimed of a column, in words."""
        if self.kind == "given":
            return f"'{name}' was changed with the given probabilities only"
        return f"'{name}' keeps its counts in expectation; every value stays with probability {self.floor:g} or more"

    def _joint(self, call: MethodCall) -> Masking:
        records = call.records
        index, count = records.groups(self.columns)
        first = np.full(count, -1, dtype=np.int64)
        rows = np.arange(len(records))[::-1]
        first[index[rows]] = rows
        gone = np.any([records.missing(name) for name in self.columns], axis=0)
        index = np.where(gone, -1, index)
        new, made = self._draw(call, index, count, None)
        source = np.where(new < 0, np.arange(len(records)), first[new])
        records = records.with_rows(self.columns, source)
        return Masking(records, {"changed": int((new != index).sum()), "combinations": count, **made})

    def _draw(
        self, call: MethodCall, index: npt.NDArray[np.int64], count: int, distance: Floats | None
    ) -> tuple[npt.NDArray[np.int64], dict[str, Any]]:
        """Return the new categories, and the matrices with the counts they belong to."""
        new = index.copy()
        weights = call.records.weights()
        made: dict[str, Any] = {"matrices": [], "counts": []}
        for rows in call.records.strata():
            there = rows[index[rows] >= 0]
            counts = np.bincount(index[there], weights=weights[there], minlength=count).astype(np.float64)
            matrix = self.matrix_of(counts, distance)
            made["matrices"].append(matrix.tolist())
            made["counts"].append(counts.tolist())
            reached = np.cumsum(matrix, axis=1)
            reached[:, -1] = 1.0
            drawn = call.rng.random(len(there))
            new[there] = (drawn[:, None] >= reached[index[there]]).sum(axis=1)
        return new, made

    def matrix_of(self, counts: Floats, distance: Floats | None) -> Floats:
        """Return the Markov matrix for (weighted) counts of categories, and distances between them if it is optimal."""
        if self.kind == "given":
            return np.asarray(self.matrix, dtype=np.float64)
        if (counts > 0).sum() < 2:
            return np.eye(len(counts))
        if self.kind == "invariant":
            return invariant(counts, self.floor)
        assert distance is not None
        ceiling = (1 + self.floor) / 2 if self.ceiling is None else self.ceiling
        return optimal_matrix(counts, distance, self.floor, ceiling)


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
    if p.ndim != 2 or p.shape[0] != p.shape[1]:
        return ["pram: matrix must be a square table of numbers"]
    if not np.isfinite(p).all() or (p < 0).any() or (p > 1).any():
        return ["pram: matrix must hold probabilities between 0 and 1"]
    off = np.abs(p.sum(axis=1) - 1)
    return [
        f"pram: row {int(np.argmax(off)) + 1} of the matrix adds up to {p.sum(axis=1)[np.argmax(off)]:g}, not 1"
    ] * (bool((off > EXACT).any()))


@claim_kind("markov")
def _markov(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """Changes have a positive probability; matrices are Markov, invariant for the counts, with the stated floor."""
    assert before is not None
    name = given["columns"][0]
    position = {word: i for i, word in enumerate(given["values"])}
    old, new = (
        np.array([-1 if v is None or v != v else position.get(str(v), -2) for v in r.frame[name].to_list()])
        for r in (before, after)
    )
    if (old == -2).any() or (new == -2).any():
        return f"'{name}' holds a value that the matrix does not know"
    if ((old < 0) != (new < 0)).any():
        return f"missing values of '{name}' are not those of before"
    strata = before.strata()
    if len(strata) != len(given["matrices"]):
        return f"{len(given['matrices'])} matrices for {len(strata)} strata"
    for rows, matrix, counts in zip(strata, given["matrices"], given["counts"], strict=True):
        p, t = np.asarray(matrix), np.asarray(counts)
        if wrong_matrix(p.tolist()):
            return wrong_matrix(p.tolist())[0]
        if given["floor"] > 0:
            if p.diagonal()[t > 0].min(initial=1.0) < given["floor"] - EXACT:
                return f"a value stays with probability {p.diagonal().min():g} only"
            if np.abs(t @ p - t).max(initial=0.0) > 1e-6 * t.sum():
                return "the matrix does not keep the counts"
        there = rows[old[rows] >= 0]
        if (p[old[there], new[there]] <= 0).any():
            return f"'{name}' has changes that the matrix rules out"
    return ""
