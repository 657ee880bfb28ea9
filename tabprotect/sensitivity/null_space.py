"""The null space of the equations of hidden cells, part by part: what published values leave free.

Every row gets a random linear image modulo a prime: where rows add up to nothing, so do their images, and images can be
sorted. Whoever knows cells sees another basis, which differs from that of everybody in few rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.problem import Attacker
from tabprotect.solver.connected import connected
from tabprotect.solver.exact.elimination import PRIME, eliminate, signed

__all__ = ["Images", "Part", "SortedPairs", "Vector", "View", "parts_of", "views_of"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Images = npt.NDArray[np.uint64]
Vector = dict[int, int]

MATCHES: Final = 4_000_000
"""Pairs of pairs, at most, that are held at a time."""


@dataclass(frozen=True, eq=False)
class SortedPairs:
    """Pairs of rows of a null space, with the sums of their images in ascending order.

    Attributes
    ----------
    first, second : ndarray of int
    sums : ndarray of uint64
    """

    first: Ints
    second: Ints
    sums: Images

    @classmethod
    def of(cls, first: Ints, second: Ints, image: Images) -> SortedPairs:
        """Sort the pairs of some positions."""
        sums = (image[first] + image[second]) % PRIME
        order = np.argsort(sums, kind="stable")
        return cls(first[order], second[order], sums[order])

    @classmethod
    def of_all(cls, rows: Sequence[Vector], image: Images) -> SortedPairs:
        """Sort the pairs of all rows that are not empty."""
        there = np.flatnonzero([bool(row) for row in rows])
        first, second = np.triu_indices(len(there), 1)
        return cls.of(there[first], there[second], image)

    def matching(self, wanted: Images) -> Iterator[tuple[Ints, Ints]]:
        """Yield positions in `wanted` and the pairs whose sums are what is wanted there, a part at a time."""
        low, high = (np.searchsorted(self.sums, wanted, side) for side in ("left", "right"))
        count = high - low
        ends = np.cumsum(count)
        begin = 0
        while begin < len(wanted):
            before = int(ends[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, before + MATCHES, "right")))
            some = count[begin:end]
            part = np.repeat(np.arange(begin, end), some)
            inside = np.arange(int(some.sum())) - np.repeat(np.cumsum(some) - some, some)
            yield part, low[part] + inside
            begin = end


@dataclass(frozen=True)
class Part:
    """Hidden cells that equations connect, and their rows in a basis of the null space."""

    cells: Ints
    rows: list[Vector]
    members: dict[int, set[int]] = field(default_factory=dict)
    everybody: Part | None = None
    """As everybody sees the part, where this is what somebody sees who knows cells."""
    changed: tuple[int, ...] = ()
    """The rows that are other ones then."""

    @classmethod
    def of(cls, cells: Ints, rows: list[Vector]) -> Part:
        """Note which cells move with every free cell."""
        part = cls(cells, rows)
        for i, row in enumerate(rows):
            for j in row:
                part.members.setdefault(j, set()).add(i)
        return part

    def knowing(self, known: Iterable[int]) -> tuple[Part, set[int]]:
        """Return what is free for somebody who knows some cells (positions in the part), and the cells that differ."""
        rows, members = list(self.rows), dict(self.members)
        changed: set[int] = set()
        copied: set[int] = set()

        def users(j: int) -> set[int]:
            # of most free cells nothing changes
            if j not in copied:
                members[j] = set(members[j])
                copied.add(j)
            return members[j]

        for k in known:
            own = rows[k]
            if not own:
                continue
            pivot = min(own, key=lambda j: (len(members[j]), j))
            inverse = pow(own[pivot], -1, PRIME)
            for i in sorted(members[pivot]):
                factor = rows[i][pivot] * inverse % PRIME
                row = dict(rows[i])
                for j, v in own.items():
                    value = signed(row.get(j, 0) - factor * v)
                    if value:
                        row[j] = value
                        users(j).add(i)
                    elif j in row:
                        del row[j]
                        users(j).discard(i)
                rows[i] = row
                changed.add(i)
        seen = replace(self, rows=rows, members=members, everybody=self, changed=tuple(sorted(changed)))
        return seen, changed

    @cached_property
    def factor(self) -> dict[int, int]:
        """Of the images of rows."""
        return _factors_of(self.rows) if self.everybody is None else self.everybody.factor

    @cached_property
    def image(self) -> Images:
        """The images of rows."""
        if self.everybody is None:
            return _images_of(self.rows, self.factor)
        image = self.everybody.image.copy()
        image[list(self.changed)] = _images_of((self.rows[i] for i in self.changed), self.factor)
        return image

    @cached_property
    def pairs(self) -> SortedPairs:
        """The pairs of rows as everybody sees them."""
        return SortedPairs.of_all(self.rows, self.image) if self.everybody is None else self.everybody.pairs

    @cached_property
    def by_image(self) -> dict[int, list[int]]:
        """The rows with every image."""
        found: dict[int, list[int]] = {}
        for i, image in enumerate(self.image.tolist()):
            found.setdefault(image, []).append(i)
        return found


View = tuple[int, Part, list[int], list[int] | None]
"""Who looks (-1: everybody), what he sees of a part, the cells he knows, and the others that are his own question."""


def parts_of(
    A: sparse.csr_array, hidden: Ints, anchors: Bools, largest: int, altogether: int
) -> tuple[list[Part], int]:
    """Return the connected parts that hold sensitive cells, and how many cells are in parts that are left out.

    Parameters
    ----------
    A : csr_array
    hidden : ndarray of int
    anchors : ndarray of bool, shape (cells,)
        The sensitive cells.
    largest, altogether : int
        Hidden cells of a part, and of all parts together, at most.
    """
    inner = sparse.csr_array(A[:, hidden])
    inner = sparse.csr_array(inner[np.diff(inner.indptr) > 0])
    m, n = inner.shape
    label = connected(inner.indices, n + np.repeat(np.arange(m), np.diff(inner.indptr)), n + m)
    row_label = label[n:]
    wanted = np.unique(label[:n][anchors[hidden]])
    parts, left_out, room = [], 0, altogether
    by_part = np.argsort(label[:n], kind="stable")
    starts = np.searchsorted(label[:n][by_part], np.arange(int(label.max(initial=-1)) + 2))
    rows = np.argsort(row_label, kind="stable")
    row_starts = np.searchsorted(row_label[rows], np.arange(len(starts)))
    for number in wanted.tolist():
        cells = by_part[starts[number] : starts[number + 1]]
        if len(cells) > min(largest, room):
            left_out += len(cells)
        elif len(cells) > 1:
            room -= len(cells)
            null = eliminate(
                sparse.csr_array(inner[np.sort(rows[row_starts[number] : row_starts[number + 1]])][:, cells])
            ).null_space()
            parts.append(Part.of(hidden[cells], null))
    return parts, left_out


def views_of(part: Part, attackers: Sequence[Attacker]) -> Iterator[View]:
    """Yield what is free in the eyes of every attacker who knows hidden cells of a part."""
    place = {cell: i for i, cell in enumerate(part.cells.tolist())}
    for number, attacker in enumerate(attackers):
        known = [place[cell] for cell in attacker.known if cell in place]
        if known:
            view, changed = part.knowing(known)
            rest = sorted(changed - set(known))
            if rest:
                yield number, view, known, rest


def _factors_of(rows: Sequence[Vector]) -> dict[int, int]:
    """Return a random factor, the same in every run, for every free cell of sparse rows."""
    names = sorted({j for row in rows for j in row})
    rng = np.random.default_rng(0)
    return dict(zip(names, map(int, rng.integers(1, PRIME, len(names))), strict=True))


def _images_of(rows: Iterable[Vector], factor: Mapping[int, int]) -> Images:
    """Return linear images of rows modulo `PRIME`: where rows add up to nothing, so do their images."""
    return np.array([sum(v * factor[j] for j, v in row.items()) % PRIME for row in rows], np.uint64)
