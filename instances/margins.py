"""Problems drawn without records behind every rule: margins of tables of many dimensions, and thin tables.

Inner cells draw a value, margins add up, and the primaries are drawn among the cells themselves, so that their size,
number and place can be set. Every primary can be protected: no cell has an upper bound, no level exceeds its value, and
with all cells hidden the whole table may be any multiple of itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from math import comb, prod

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from tabprotect.errors import InputError, collect, did_you_mean
from tabprotect.instances.streams import Stream
from tabprotect.problem import Problem, Status
from tabprotect.table.system import LinearSystem

__all__ = ["DRAWN", "LEVELS", "WEIGHTS", "margins", "thin"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LEVELS = (0.05, 0.10)
"""Protection levels on both sides are one of these shares of the value, as in the CSPLIB files of linked tables."""

#: What hiding a cell costs, by name, of its value.
WEIGHTS: dict[str, Callable[[Floats], Floats]] = {
    "value": lambda values: np.maximum(values, 1.0),
    "log": np.log1p,
    "unit": np.ones_like,
}

MU, SIGMA = 7.3, 1.0
"""Mean and standard deviation of the logarithm of an inner cell: a thousand or two, as in the CSPLIB files."""

SKEW = 0.4
"""Categories are used with probabilities proportional to 1/rank**SKEW."""


def margins(
    stream: Stream,
    *,
    d: int = 5,
    k: int = 3,
    categories: int | Sequence[int] = 5,
    tables: int = 0,
    records: int = 2_000,
    primaries: float = 0.12,
    largest: float = 0.35,
    weights: str = "value",
) -> Problem:
    """Return the k-way margins of a d-way table, linked in all margins that they share.

    Parameters
    ----------
    stream : Stream
    d, k : int
        Dimensions of the table and of every margin, 1 <= k <= d.
    categories : int or sequence of int
        Categories of every dimension, or of each.
    tables : int
        So many of the k-way margins, drawn at random; 0 is all of them. The margins two5in6 and ninenew of the CSPLIB
        are two with d = 6, k = 5, and nine of k = 4.
    records : int
        Inner cells of the d-way table that are drawn (several may be the same); all others are empty, and no cell of a
        margin stands for them.
    primaries : float
        Share of the cells that is primary.
    largest : float
        Primaries are drawn among this share of the cells, the smallest ones; 1: of any size.
    weights : {'value', 'log', 'unit'}

    Returns
    -------
    Problem

    Raises
    ------
    InputError
        If a size is impossible.

    Examples
    --------
    >>> p = margins(Stream(1), d=6, k=2, categories=3, records=400)
    >>> p.n_cells, p.system.n_equations, len(p.primaries)
    (154, 96, 18)
    """
    sizes = _sizes(d, categories)
    with collect() as problems:
        if not 1 <= k <= d:
            problems.add(f"margins of a table of {d} dimensions have 1 to {d}, not k={k}")
        elif not 0 <= tables <= comb(d, k):
            problems.add(f"there are {comb(d, k)} margins with k={k} of d={d} dimensions, not tables={tables}")
        if records < 1:
            problems.add(f"records must be at least 1, not {records}")
    chosen = list(combinations(range(d), k))
    if tables:
        chosen = [chosen[i] for i in np.sort(stream.order(len(chosen))[:tables]).tolist()]
    codes = np.column_stack([1 + stream.choice((stream.order(n) + 1.0) ** -SKEW, records) for n in sizes])
    return _problem(stream, sizes, codes, chosen, primaries, largest, weights)


def thin(
    stream: Stream,
    *,
    sizes: Sequence[int] = (8, 8, 8),
    filled: float = 1.0,
    primaries: float = 0.1,
    largest: float = 1.0,
    weights: str = "value",
) -> Problem:
    """Return one table of several dimensions without subtotals, whose primaries are of any size.

    Parameters
    ----------
    stream : Stream
    sizes : sequence of int
        Categories of each dimension.
    filled : float
        Share of the inner cells that are not empty; no cell stands for empty ones.
    primaries, largest, weights
        See `margins`.

    Returns
    -------
    Problem

    Raises
    ------
    InputError
        If a size is impossible.

    Examples
    --------
    >>> p = thin(Stream(1), sizes=(4, 3, 2))
    >>> p.n_cells, p.system.n_equations, len(p.primaries)
    (60, 47, 6)
    """
    sizes = _sizes(len(sizes), sizes)
    if not 0 < filled <= 1:
        raise InputError(f"the share of filled cells must lie between 0 and 1, not filled={filled}")
    n = prod(sizes)
    place = np.sort(stream.order(n)[: max(1, round(filled * n))])
    codes = 1 + np.column_stack(np.unravel_index(place, tuple(sizes)))
    return _problem(stream, sizes, codes, [tuple(range(len(sizes)))], primaries, largest, weights)


#: The families of this module by name: functions of a stream and sizes.
DRAWN: dict[str, Callable[..., Problem]] = {function.__name__: function for function in (margins, thin)}


def _sizes(d: int, categories: int | Sequence[int]) -> tuple[int, ...]:
    sizes = (categories,) * d if isinstance(categories, int) else tuple(categories)
    with collect() as problems:
        if d < 1 or len(sizes) != d:
            problems.add(f"{d} dimensions need as many numbers of categories, not {len(sizes)}")
        if any(n < 2 for n in sizes):
            problems.add(f"every dimension needs at least 2 categories, not {min(sizes)}")
        if prod(n + 1 for n in sizes) >= 2**62:
            problems.add(f"{d} dimensions cross to too many cells to number them; use fewer categories")
    return sizes


def _problem(
    stream: Stream,
    sizes: tuple[int, ...],
    codes: Ints,
    tables: Sequence[tuple[int, ...]],
    primaries: float,
    largest: float,
    weights: str,
) -> Problem:
    """Tabulate inner cells (rows of codes from 1; 0 is the total) and draw the primaries."""
    with collect() as problems:
        if weights not in WEIGHTS:
            problems.add(f"there are no weights '{weights}'{did_you_mean(weights, WEIGHTS)}")
        for name, share in {"primaries": primaries, "largest": largest}.items():
            if not 0 < share <= 1:
                problems.add(f"the share '{name}' must lie between 0 and 1, not {share}")
    keys, values = _cells(sizes, codes, tables, np.ceil(stream.lognormal(MU, SIGMA, len(codes))))
    n = len(keys)
    # the first key is the grand total: everybody may know it, and nobody hides it for its own sake
    small = 1 + np.argsort(values[1:], kind="stable")[: max(1, round(largest * (n - 1)))]
    chosen = small[stream.order(len(small))[: max(1, round(primaries * n))]]
    level = np.zeros(n)
    shares = np.array(LEVELS)[stream.integers(0, len(LEVELS), len(chosen))]
    level[chosen] = np.maximum(np.floor(shares * values[chosen]), 1.0)
    status = np.full(n, np.int8(Status.SAFE))
    status[chosen] = Status.PRIMARY
    A, cells = _equations(sizes, keys)
    none, free = np.zeros(n), np.full(n, np.inf)
    system = LinearSystem(A, np.zeros(A.shape[0]), cells)
    return Problem(system, values, status, level, level, none, WEIGHTS[weights](values), none, free)


def _cells(
    sizes: tuple[int, ...], codes: Ints, tables: Sequence[tuple[int, ...]], values: Floats
) -> tuple[Ints, Floats]:
    """Return the keys of all cells that are not empty, ascending, and their values."""
    steps = _steps(sizes)
    sets = {part for table in tables for size in range(len(table) + 1) for part in combinations(table, size)}
    found = [np.unique(codes[:, list(part)] @ steps[list(part)], return_inverse=True) for part in sorted(sets)]
    keys = np.concatenate([one for one, _ in found])
    sums = np.concatenate([np.bincount(place.ravel(), weights=values) for _, place in found])
    order = np.argsort(keys, kind="stable")
    return keys[order], sums[order]


def _steps(sizes: tuple[int, ...]) -> Ints:
    """Return what one category more of each dimension adds to the key of a cell."""
    widths = np.array([n + 1 for n in sizes], dtype=np.int64)
    return np.append(np.cumprod(widths[:0:-1])[::-1], 1).astype(np.int64)


def _equations(sizes: tuple[int, ...], keys: Ints) -> tuple[sparse.csr_array, pd.MultiIndex]:
    """Return one equation for every cell and dimension over which its parts are cells, too."""
    steps = _steps(sizes)
    codes = np.column_stack(np.unravel_index(keys, tuple(n + 1 for n in sizes)))
    rows, columns, signs, before = [], [], [], 0
    for step, code in zip(steps, codes.T, strict=True):
        parts = np.flatnonzero(code)
        totals, row = np.unique(np.searchsorted(keys, keys[parts] - step * code[parts]), return_inverse=True)
        rows += [before + row.ravel(), before + np.arange(len(totals))]
        columns += [parts, totals]
        signs += [np.ones(len(parts)), -np.ones(len(totals))]
        before += len(totals)
    where = (np.concatenate(rows), np.concatenate(columns))
    A = sparse.csr_array((np.concatenate(signs), where), shape=(before, len(keys)))
    words = [
        np.array(["Total", *(f"{'abcdefghijklmnopqrstuvwxyz'[j % 26]}{i + 1}" for i in range(n))])
        for j, n in enumerate(sizes)
    ]
    return A, pd.MultiIndex.from_arrays([word[code] for word, code in zip(words, codes.T, strict=True)])
