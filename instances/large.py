"""Hierarchical tables of 10^4 to 10^6 cells with p% primaries, without going through their records.

Every inner cell draws how many contributors it has, its two largest contributions and the rest; margins add up, and
the two largest of a margin are the largest of its parts. Same seed and sizes, same problem, on every machine.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError
from tabprotect.instances.streams import Stream
from tabprotect.problem import Problem, Status
from tabprotect.table.grid import Grid
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.system import LinearSystem

__all__ = ["large"]

Floats = npt.NDArray[np.float64]

TAIL = 1.2
"""Tail exponent of the contributions."""

EMPTY = 0.1
"""Share of inner cells without contributors."""

BRANCHES = (3, 8)
"""A code has so many parts at least, and fewer than the second number."""


class _Sums(NamedTuple):
    """Arrays over the grid: the cell total and its two largest contributions."""

    total: Floats
    first: Floats
    second: Floats


def large(cells: int, *, dims: int = 2, primaries: float = 0.03, seed: int = 1) -> Problem:
    """Return a table of about so many cells over hierarchies of about equal size.

    Parameters
    ----------
    cells : int
        At least 4 ** dims.
    dims : int
    primaries : float
        Share of primary cells. The p of the p% rule is chosen such that this share is met; the level on both sides is
        what the rule asks for, at least 1.
    seed : int

    Raises
    ------
    InputError
        If there are too few cells for so many dimensions, or the share is not between 0 and 1.

    Examples
    --------
    >>> p = large(400, seed=3)
    >>> p.n_cells, len(p.primaries), bool(abs(p.system.A @ p.values).max() == 0)
    (462, 14, True)
    """
    if dims < 1 or cells < 4**dims:
        raise InputError(f"{cells} cells are too few for {dims} dimensions (at least {4 ** max(dims, 1)})")
    if not 0 < primaries < 1:
        raise InputError(f"the share of primaries must lie between 0 and 1, not {primaries}")
    stream = Stream(seed, cells, dims)
    each = max(4, round(cells ** (1 / dims)))
    trees = tuple(_tree("abcdefgh"[k], each, stream) for k in range(dims))
    grid = Grid(trees, tuple(f"d{k + 1}" for k in range(dims)))
    sums = _rolled_up(trees, _inner(trees, stream))
    total, first, second = (array.ravel() for array in sums)
    rest = total - first - second
    status = np.where(total > 0, np.int8(Status.SAFE), np.int8(Status.ZERO))
    filled = np.flatnonzero(total > 0)
    share = rest[filled] / first[filled]
    most = filled[np.argsort(share, kind="stable")[: max(1, round(primaries * len(total)))]]
    status[most] = Status.PRIMARY
    p = float((rest[most] / first[most]).max())
    level = np.zeros(len(total))
    level[most] = np.minimum(np.maximum(np.ceil(p * first[most] - rest[most]), 1.0), total[most])
    A = grid.equations()
    return Problem(
        LinearSystem(A, np.zeros(A.shape[0]), grid.index()),
        total,
        status,
        level,
        level,
        np.zeros(len(total)),
        np.maximum(total, 1.0),
        np.zeros(len(total)),
        np.full(len(total), np.inf),
    )


def _tree(prefix: str, codes: int, stream: Stream) -> Hierarchy:
    """A hierarchy of about so many codes, of even depth."""
    splits: list[tuple[str, tuple[str, ...]]] = []
    waiting, made = deque(["Total"]), 1
    while made < codes:
        code = waiting.popleft()
        many = int(stream.integers(*BRANCHES, 1)[0])
        start = prefix if code == "Total" else f"{code}."
        parts = tuple(f"{start}{i + 1}" for i in range(many))
        splits.append((code, parts))
        waiting.extend(parts)
        made += many
    return Hierarchy(tuple(splits))


def _inner(trees: tuple[Hierarchy, ...], stream: Stream) -> _Sums:
    """Contributions of the cells that are not margins, on the grid of leaves."""
    shape = tuple(len(tree.leaves) for tree in trees)
    size = np.ones(shape)
    for k, leaves in enumerate(shape):
        size = size * stream.lognormal(0.0, 0.6, leaves).reshape([-1 if j == k else 1 for j in range(len(shape))])
    n = size.size
    many = np.floor(3 + 12 * size.ravel() * stream.uniform(n) ** 2)
    gamma = -np.log(stream.uniform(n)) / many
    first = gamma ** (-1 / TAIL)
    second = (gamma - np.log(stream.uniform(n)) / many) ** (-1 / TAIL)
    rest = np.minimum((many - 2) * second * stream.uniform(n), (many - 2) * second)
    there = stream.uniform(n) > EMPTY
    first, second, rest = (np.where(there, np.ceil(10 * part), 0.0) for part in (first, second, rest))
    return _Sums(*(array.reshape(shape) for array in (first + second + rest, first, second)))


def _rolled_up(trees: tuple[Hierarchy, ...], leaves: _Sums) -> _Sums:
    """Fill in the margins, one dimension after the other."""
    for axis, tree in enumerate(trees):
        place = {code: k for k, code in enumerate(tree.codes)}
        own = [place[code] for code in tree.leaves]
        shape = leaves.total.shape
        grid = _Sums(*(np.zeros((*shape[:axis], len(place), *shape[axis + 1 :])) for _ in leaves))
        for whole, part in zip(grid, leaves, strict=True):
            np.moveaxis(whole, axis, 0)[own] = np.moveaxis(part, axis, 0)
        total, first, second = (np.moveaxis(array, axis, 0) for array in grid)
        for code, parts in reversed(tree.splits):
            k, below = place[code], [place[part] for part in parts]
            total[k] = total[below].sum(axis=0)
            two = np.sort(np.concatenate((first[below], second[below])), axis=0)[-2:]
            second[k], first[k] = two
        leaves = grid
    return leaves
