"""Cells, and patterns, as one bool a cell: from bools or from positions."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tabprotect.counted import counted
from tabprotect.errors import InputError

__all__ = ["cell_mask", "pattern_mask"]

Bools = npt.NDArray[np.bool_]


class _Sized(Protocol):
    """How many cells a problem has, and how many of them are sums behind those of its table."""

    @property
    def n_cells(self) -> int:
        """Cells and sums."""

    @property
    def sums(self) -> int:
        """The last so many of them."""


def cell_mask(given: Any, n: int, name: str) -> npt.NDArray[np.bool_]:
    """Return cells as one bool a cell, from bools or from positions.

    Raises
    ------
    InputError
        If there are neither as many bools as cells nor valid positions, each of them once.

    Examples
    --------
    >>> cell_mask([1, 2], 3, "primary").tolist()
    [False, True, True]
    """
    array = np.asarray(given)
    if array.dtype == np.bool_:
        if array.shape != (n,):
            raise InputError(f"{name} has shape {array.shape}; {n} cells need ({n},)")
        return array
    whole = not array.size or (array.dtype.kind in "iuf" and np.array_equal(array, np.trunc(array)))
    if not whole or (array.size and not (array.min() >= 0 and array.max() < n)):
        raise InputError(f"{name} must be one bool a cell or positions in 0..{n - 1}")
    positions = array.astype(np.int64).ravel()
    mask = np.zeros(n, dtype=bool)
    mask[positions] = True
    if int(mask.sum()) < len(positions):
        raise InputError(_twice(positions, name))
    return mask


def pattern_mask(problem: _Sized, pattern: Any) -> Bools:
    """Return a pattern as one bool a cell, from bools or from positions.

    Sums of hidden cells are hidden whether the pattern names them or not, so that it may be one of the table alone.

    Raises
    ------
    InputError
        If there are neither as many bools as cells nor valid positions.

    Examples
    --------
    >>> from tabprotect.problem import Problem
    >>> p = Problem.from_arrays([[-1, 1, 1]], [3, 1, 2], [1], lpl=1, upl=1)
    >>> pattern_mask(p, [1, 2]).tolist()
    [False, True, True]
    """
    given, n = np.asarray(pattern), problem.n_cells
    own = n - problem.sums
    if not problem.sums or given.shape == (n,):
        return cell_mask(pattern, n, "the pattern")
    if given.dtype == np.bool_ and given.shape != (own,):
        raise InputError(
            f"the pattern has shape {given.shape}; {counted(own, 'cell')} need ({own},), or ({n},) with "
            f"{counted(problem.sums, 'sum')} of them"
        )
    hidden = np.zeros(n, dtype=bool)
    hidden[:own] = cell_mask(pattern, n, "the pattern")[:own] if given.dtype != np.bool_ else given
    hidden[own:] = True
    return hidden


def _twice(positions: npt.NDArray[np.int64], name: str) -> str:
    """Say what is wrong with positions of which some are there more than once, and what to give instead."""
    if positions.max() <= 1:
        cure = "give booleans (an array's .astype(bool)), or the positions of its ones (numpy.flatnonzero)"
        return f"{name} is {len(positions):,} numbers of 0 and 1, which are no positions of cells; {cure}"
    found, times = np.unique(positions, return_counts=True)
    more = found[times > 1]
    shown = ", ".join(map(str, more[:5])) + (", ..." if len(more) > 5 else "")
    return f"{name} names cells more than once: {shown}; give each position once, or one bool a cell"
