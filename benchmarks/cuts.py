"""Cut families over a frozen pool of rows ``matrix @ x >= rhs`` for binary x; each is one function of the same shape.

To add a family, write a `Family` and enter it in `FAMILIES`; `tests/benchmarks/test_cut_families.py` then tries it
against every 0/1 vector of small pools.
"""

from __future__ import annotations

import itertools
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.solver.mip.rows import Row
from tabprotect.solver.mip.zerohalf import zero_half

__all__ = ["FAMILIES", "Family", "cover_one", "cover_pairs", "halves", "mir", "mir_pairs", "mir_row"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

VIOLATION = 0.01
"""A cut that is violated by less is left out."""

MOST = 300
"""Cuts of one round."""

PAIRS = 3000
"""Pairs of rows looked at in one round."""

TIGHT = 0.1
"""Rows with more slack take no part in sums."""

NOISE = 1e-9


class Family(Protocol):
    """Cuts of one kind that a point violates."""

    def __call__(self, matrix: sparse.csr_array, rhs: Floats, x: Floats) -> list[Row]:
        """Return rows that every binary solution of ``matrix @ x >= rhs`` satisfies and `x` violates."""


def halves(matrix: sparse.csr_array, rhs: Floats, x: Floats) -> list[Row]:
    """Zero-half cuts over sums of up to six rows, coefficients rounded up first (Caprara and Fischetti 1996)."""
    whole = matrix.copy()
    whole.data = np.ceil(whole.data - NOISE)
    keep = np.flatnonzero(np.abs(rhs - np.rint(rhs)) < NOISE)
    return [cut.row for cut in zero_half(sparse.csr_array(whole[keep]), rhs[keep], x)]


def mir_row(a: Floats, b: float, x: Floats) -> tuple[Floats, float] | None:
    """Return the most violated mixed-integer rounding inequality of a @ x >= b, or None.

    Variables above 1/2 are complemented, the row is divided by each coefficient of a fractional variable, and for
    a x >= b with f0 = b - floor(b) > 0 and x >= 0 integer:
    sum (floor(a_j) + min(1, f_j / f0)) x_j >= ceil(b) (Marchand and Wolsey 2001).

    Examples
    --------
    >>> a, b = mir_row(np.array([0.5, 0.5, 0.5]), 1.0, np.array([1.0, 0.9, 0.1])) or (None, None)
    >>> a is None
    True
    >>> a, b = mir_row(np.array([2.0, 2.0, 2.0]), 3.0, np.array([0.5, 0.5, 0.5]))
    >>> a.tolist(), b
    ([1.0, 1.0, 1.0], 2.0)
    """
    up = x > 0.5
    open_ = (x > 1e-6) & (x < 1 - 1e-6) & (np.abs(a) > 1e-6)
    scales = np.unique(np.round(np.abs(a[open_]), 9))[:12]
    if not len(scales):
        return None
    signs = np.where(up, -1.0, 1.0)
    turned = a * signs
    right = b - float(a[up].sum())
    point = np.where(up, 1 - x, x)
    left, beta = turned[None, :] / scales[:, None], right / scales
    f0 = beta - np.floor(beta)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.minimum(1.0, (left - np.floor(left)) / f0[:, None])
        share[left - np.floor(left) > 1 - 1e-9] = 1.0
        row = np.floor(left) + share
    norm = np.sqrt((row * row).sum(axis=1))
    gain = np.where((f0 > 0.01) & (f0 < 0.99), (np.ceil(beta) - row @ point) / np.maximum(norm, NOISE), -np.inf)
    best = int(np.argmax(gain))
    if not gain[best] > VIOLATION:
        return None
    back = row[best] * signs
    return back, float(np.ceil(beta[best]) - row[best][up].sum())


def mir(matrix: sparse.csr_array, rhs: Floats, x: Floats) -> list[Row]:
    """Mixed-integer rounding of single rows."""
    slack = matrix @ x - rhs
    return _best([_rounded(matrix[[k]], rhs[[k]], np.ones(1), x) for k in np.flatnonzero(slack < TIGHT).tolist()], x)


def mir_pairs(matrix: sparse.csr_array, rhs: Floats, x: Floats) -> list[Row]:
    """Mixed-integer rounding of pairs of rows: sums where signs agree in a shared cell, else the cell is eliminated."""
    found = []
    for k, r, j in _pairs(matrix, rhs, x):
        two = matrix[[k, r]]
        column = two[:, [j]].toarray().ravel()
        factors = [np.ones(2)] if column[0] * column[1] > 0 else [np.abs(column[::-1])]
        found += [_rounded(two, rhs[[k, r]], factor, x) for factor in factors]
    return _best(found, x)


def cover_one(matrix: sparse.csr_array, rhs: Floats, x: Floats) -> list[Row]:
    """Extended covers of single capacity rows: sum of x over C >= k, where what is not in C needs k cells of it."""
    capacity = _capacity(matrix, rhs)
    tight = np.flatnonzero(capacity & (matrix @ x - rhs < TIGHT))
    found = []
    for k in tight.tolist():
        a = matrix[[k]].toarray()
        found += [_cover(a, rhs[[k]], x, need) for need in (1, 2, 3)]
    return _best(found, x)


def cover_pairs(matrix: sparse.csr_array, rhs: Floats, x: Floats) -> list[Row]:
    """Covers of two capacity rows at once: whatever hides one cell of C only violates one row or the other."""
    capacity = _capacity(matrix, rhs)
    rows = np.flatnonzero(capacity)
    part = sparse.csr_array(matrix[rows])
    return _best(
        [
            _cover(part[[k, r]].toarray(), rhs[rows[[k, r]]], x, need)
            for k, r, _ in _pairs(part, rhs[rows], x)
            for need in (2, 3)
        ],
        x,
    )


FAMILIES: dict[str, Family] = {
    "zero-half": halves,
    "MIR, single rows": mir,
    "MIR, pairs of rows": mir_pairs,
    "covers, one target": cover_one,
    "covers, two targets": cover_pairs,
}


def _capacity(matrix: sparse.csr_array, rhs: Floats) -> npt.NDArray[np.bool_]:
    row = np.repeat(np.arange(len(rhs)), np.diff(matrix.indptr))
    return (np.bincount(row[matrix.data < 0], minlength=len(rhs)) == 0) & (rhs > 0)


def _pairs(matrix: sparse.csr_array, rhs: Floats, x: Floats) -> list[tuple[int, int, int]]:
    """Pairs of tight rows with a fractional cell in common, by how fractional that is."""
    tight = np.flatnonzero(matrix @ x - rhs < TIGHT)
    part = sparse.csc_array(matrix[tight])
    cells = np.flatnonzero(np.minimum(x, 1 - x) > 1e-3)
    cells = cells[np.argsort(-np.minimum(x, 1 - x)[cells], kind="stable")]
    each = max(4, PAIRS // max(1, len(cells)))
    seen: dict[tuple[int, int], int] = {}
    for j in cells.tolist():
        mine = tight[part.indices[part.indptr[j] : part.indptr[j + 1]]].tolist()
        for k, r in itertools.islice(itertools.combinations(mine, 2), each):
            seen.setdefault((k, r), j)
        if len(seen) >= PAIRS:
            break
    return [(k, r, j) for (k, r), j in seen.items()][:PAIRS]


def _rounded(rows: sparse.csr_array, rhs: Floats, factors: Floats, x: Floats) -> Row | None:
    cells = np.unique(rows.indices)
    a = factors @ rows[:, cells].toarray()
    answer = mir_row(a, float(factors @ rhs), x[cells])
    if answer is None:
        return None
    values, right = answer
    some = np.abs(values) > NOISE
    return Row(cells[some].astype(np.int64), values[some], right)


def _cover(a: Floats, b: Floats, x: Floats, need: int) -> Row | None:
    """Return sum of x over C >= need, if it is violated: no `need` - 1 cells of C with all outside C satisfy the rows.

    C is what is left when cells of large x leave greedily, as long as for any choice of `need` - 1 of the others some
    row stays short. For two rows and one cell it may be either row, cell by cell; beyond one cell the same row has to
    be short for every choice.
    """
    cells = np.flatnonzero((a > 0).any(axis=0))
    a = a[:, cells]
    inside = np.ones(len(cells), bool)
    total = np.zeros(len(a))
    if not _short(a, b, total, inside, need):
        return None
    for c in np.argsort(-x[cells], kind="stable").tolist():
        if x[cells[c]] < 1e-6 or x[cells[inside]].sum() < need - 0.5:
            break
        inside[c] = False
        if _short(a, b, total + a[:, c], inside, need):
            total = total + a[:, c]
        else:
            inside[c] = True
    if x[cells[inside]].sum() > need - VIOLATION:
        return None
    return Row(cells[inside].astype(np.int64), np.ones(int(inside.sum())), float(need))


def _short(a: Floats, b: Floats, total: Floats, inside: npt.NDArray[np.bool_], need: int) -> bool:
    rest, margin = a[:, inside], b - total - 1e-7
    if need == 1:
        return bool((margin > 0).any())
    if rest.shape[1] < need:
        return False
    if need == 2:
        return bool((rest < margin[:, None]).any(axis=0).all())
    most = -np.sort(-rest, axis=1)
    return bool((most[:, : need - 1].sum(axis=1) < margin).any())


def _best(found: list[Row | None], x: Floats) -> list[Row]:
    known = {row.key: row for row in found if row is not None}
    rows = [row for row in known.values() if row.slack(x) < -VIOLATION]
    return sorted(rows, key=lambda row: row.slack(x) / np.linalg.norm(row.values))[:MOST]
