"""Sums of hidden cells that several equations determine together: invariants of everything that fits the publication.

Published values leave the hidden cells free along the null space of their equations. A sum of hidden cells is
determined exactly if the sum of their rows in a basis of that space is zero. The search looks for such sets that a
sensitivity measure does not clear: for all of up to four cells (`tabprotect.sensitivity.few_cells`), and for larger
ones of up to `MOST` cells that hold no smaller one. A disjoint union of determined sums is sensitive only if one of
these is where measures are subadditive; with sampling weights it may be although none is, which is looked at for up to
four cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.problem import Attacker
from tabprotect.sensitivity.few_cells import FEW, SortedPairs, determined_sets, factors_of, images_of
from tabprotect.solver.connected import connected
from tabprotect.solver.exact.elimination import PRIME, eliminate, signed

__all__ = ["MOST", "Invariants", "disjoint", "invariant_sums"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Vector = dict[int, int]

MOST: Final = 8
"""The largest number of cells in a sum that is looked for over several equations."""

LARGEST: Final = 800
"""Hidden cells that equations connect, at most, for the search: the null space of more is not computed."""

ALTOGETHER: Final = 8000
"""Hidden cells in all parts together, at most; parts beyond are left out."""

STEPS: Final = 60_000
"""Partial sums that are looked at in all connected parts together, for the public and for respondents each."""

PAIRS: Final = 20_000_000
"""Pairs of cells that are looked up in all connected parts together, for the public and for respondents each."""

SMALL: Final = 1000
"""Coefficients up to this size are what they seem; others are fractions modulo the prime, and have no sign."""


@dataclass(frozen=True)
class Invariants:
    """The determined sums found, and how far the search went.

    Attributes
    ----------
    sums : tuple of (int, ndarray of int)
        Attacker who can compute the sum (-1: everybody), and the hidden cells, ascending.
    size : int
        All sums of up to so many cells were looked at.
    left_out : int
        Hidden cells in parts that are too large; only sums of few equations are known there.
    """

    sums: tuple[tuple[int, Ints], ...]
    size: int
    left_out: int

    def shortcomings(self) -> list[str]:
        """Say what was not looked at."""
        found = []
        if self.size < MOST:
            found.append(f"sums of hidden cells over more than three equations were looked for up to {self.size} cells")
        if self.left_out:
            found.append(
                f"{self.left_out:,} hidden cells are in parts too large for sums over more than three equations"
            )
        return found


@dataclass
class _Steps:
    """What the search may spend."""

    left: int


@dataclass(frozen=True)
class _Part:
    """Hidden cells that equations connect, and their rows in a basis of the null space."""

    cells: Ints
    rows: list[Vector]
    members: dict[int, set[int]] = field(default_factory=dict)
    everybody: _Part | None = None
    """As everybody sees the part, where this is what somebody sees who knows cells."""
    changed: tuple[int, ...] = ()
    """The rows that are other ones then."""

    @classmethod
    def of(cls, cells: Ints, rows: list[Vector]) -> _Part:
        """Note which cells move with every free cell."""
        part = cls(cells, rows)
        for i, row in enumerate(rows):
            for j in row:
                part.members.setdefault(j, set()).add(i)
        return part

    def knowing(self, known: Iterable[int]) -> tuple[_Part, set[int]]:
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
        known_rows = replace(self, rows=rows, members=members, everybody=self, changed=tuple(sorted(changed)))
        return known_rows, changed

    @cached_property
    def factor(self) -> dict[int, int]:
        """Of the images of rows."""
        return factors_of(self.rows) if self.everybody is None else self.everybody.factor

    @cached_property
    def image(self) -> npt.NDArray[np.uint64]:
        """The images of rows."""
        if self.everybody is None:
            return images_of(self.rows, self.factor)
        image = self.everybody.image.copy()
        image[list(self.changed)] = images_of((self.rows[i] for i in self.changed), self.factor)
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


def invariant_sums(
    A: sparse.csr_array, pattern: Bools, measures: Sequence[Floats], attackers: Sequence[Attacker] = ()
) -> Invariants:
    """Find the sums of two or more hidden cells that are determined and may be sensitive.

    Parameters
    ----------
    A : csr_array, shape (equations, cells)
    pattern : ndarray of bool, shape (cells,)
        True where a cell is hidden.
    measures : sequence of ndarray, shape (cells,)
        Of every rule; see `tabprotect.sensitivity.rule.measure`. Only sets whose measures add up to more than 0 for one
        rule are returned.
    attackers : sequence of Attacker
        What each of them can compute is looked for as well, beyond what everybody can; his own cells are left out.

    Returns
    -------
    Invariants

    Examples
    --------
    Three rows and columns, hidden cells in a ring around it: row 1 + row 2 - column 3 is the sum of two of them.

    >>> A = sparse.csr_array([[1.0, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1], [1, 0, 0, 0, 1, 0],
    ...     [0, 0, 1, 0, 0, 1], [0, 1, 0, 1, 0, 0]])
    >>> measure = np.array([5.0, -9, 5, -9, -9, -9])
    >>> [(who, cells.tolist()) for who, cells in invariant_sums(A, np.ones(6, bool), [measure]).sums]
    [(-1, [0, 2])]
    """
    hidden = np.flatnonzero(pattern)
    parts, left_out = _parts(A, hidden, np.any([m > 0 for m in measures], axis=0) if measures else pattern & False)
    found: dict[tuple[int, ...], int] = {}
    public: list[_View] = [(-1, part, [], None) for part in parts]
    respondents = [view for part in parts for view in _views(part, attackers)]
    sizes = [_looked(views, measures, found) for views in (public, respondents)]
    sums = tuple((who, np.array(cells, np.int64)) for cells, who in sorted(found.items()))
    return Invariants(sums, min(sizes), left_out)


_View = tuple[int, _Part, list[int], list[int] | None]


def _looked(views: Sequence[_View], measures: Sequence[Floats], found: dict[tuple[int, ...], int]) -> int:
    """Look for sums in the eyes of somebody, and return up to how many cells all of them were."""

    def each() -> Iterator[tuple[int, _Part, list[int], Floats, list[int] | None, list[int]]]:
        for who, part, known, changed in views:
            for measure in measures:
                local = measure[part.cells]
                anchors = np.flatnonzero(local > 0).tolist() if changed is None else changed
                yield who, part, known, local, changed, anchors

    least = 2
    if sum(_pairs_of(_shut(part, local, known), changed) for _, part, known, local, changed, _ in each()) <= PAIRS:
        for who, part, known, local, changed, anchors in each():
            shut = _shut(part, local, known)
            for chosen in determined_sets(part.rows, part.image, part.pairs, local, anchors, shut, changed):
                found.setdefault(tuple(sorted(part.cells[list(chosen)].tolist())), who)
        least = FEW + 2
    steps = _Steps(STEPS)
    for size in range(least, MOST + 1, 2):
        for who, part, known, local, _, anchors in each():
            for cells in _search(part, local, anchors, known, size, steps):
                found.setdefault(cells, who)
        if steps.left <= 0:
            return size - 2
    return MOST


def _pairs_of(shut: Sequence[bool], changed: Sequence[int] | None) -> int:
    """Return how many pairs of cells are looked up: all, or those with a cell that somebody's knowledge changes."""
    n = len(shut) - sum(shut)
    return n * (n - 1) // 2 if changed is None else n * sum(not shut[i] for i in changed)


def _shut(part: _Part, measure: Floats, known: Sequence[int]) -> list[bool]:
    """Which cells of a part are in no sum: those that are known, or determined by themselves."""
    shut = [g == -np.inf or not row for g, row in zip(measure.tolist(), part.rows, strict=True)]
    for k in known:
        shut[k] = True
    return shut


def _parts(A: sparse.csr_array, hidden: Ints, anchors: Bools) -> tuple[list[_Part], int]:
    """Return the connected parts that hold sensitive cells and are small enough, and how many cells are in others."""
    inner = sparse.csr_array(A[:, hidden])
    inner = sparse.csr_array(inner[np.diff(inner.indptr) > 0])
    m, n = inner.shape
    label = connected(inner.indices, n + np.repeat(np.arange(m), np.diff(inner.indptr)), n + m)
    row_label = label[n:]
    wanted = np.unique(label[:n][anchors[hidden]])
    parts, left_out, room = [], 0, ALTOGETHER
    by_part = np.argsort(label[:n], kind="stable")
    starts = np.searchsorted(label[:n][by_part], np.arange(int(label.max(initial=-1)) + 2))
    rows = np.argsort(row_label, kind="stable")
    row_starts = np.searchsorted(row_label[rows], np.arange(len(starts)))
    for number in wanted.tolist():
        cells = by_part[starts[number] : starts[number + 1]]
        if len(cells) > min(LARGEST, room):
            left_out += len(cells)
        elif len(cells) > 1:
            room -= len(cells)
            null = eliminate(
                sparse.csr_array(inner[np.sort(rows[row_starts[number] : row_starts[number + 1]])][:, cells])
            ).null_space()
            parts.append(_Part.of(hidden[cells], null))
    return parts, left_out


def _views(part: _Part, attackers: Sequence[Attacker]) -> Iterator[_View]:
    """Yield what is free in the eyes of every attacker who knows hidden cells of a part."""
    place = {cell: i for i, cell in enumerate(part.cells.tolist())}
    for number, attacker in enumerate(attackers):
        known = [place[cell] for cell in attacker.known if cell in place]
        if known:
            view, changed = part.knowing(known)
            rest = sorted(changed - set(known))
            if rest:
                yield number, view, known, rest


def _search(
    part: _Part, measure: Floats, anchors: Sequence[int], known: Sequence[int], most: int, steps: _Steps
) -> Iterator[tuple[int, ...]]:
    """Yield the determined sets of a part that hold an anchor and whose measures add up to more than 0."""
    shut = _shut(part, measure, known)
    best = np.sort(np.maximum(measure[~np.array(shut, bool)], 0.0))[::-1][:most]
    room = [0.0, *np.cumsum(best).tolist()]
    room += [room[-1]] * (most + 1 - len(room))
    growing = _Growing(part, measure.tolist(), room, shut, most, steps)
    for anchor in anchors:
        if not shut[anchor]:
            yield from growing.grow([anchor], dict(part.rows[anchor]), growing.gain[anchor])
            shut[anchor] = True


@dataclass(frozen=True, eq=False)
class _Growing:
    """A search for determined sets that adds one cell after the other.

    Attributes
    ----------
    part : _Part
    gain : list of float
        Measure of every cell.
    room : list of float
        What so many further cells add to the measure at most.
    shut : list of bool
        Cells that no set holds any more; sets with them were met.
    most : int
        Cells of the largest sets.
    steps : _Steps
    """

    part: _Part
    gain: list[float]
    room: list[float]
    shut: list[bool]
    most: int
    steps: _Steps

    def grow(self, chosen: list[int], total: Vector, measure: float) -> Iterator[tuple[int, ...]]:
        """Add cells until the rows of those chosen add up to nothing; each set is met once."""
        self.steps.left -= 1
        part, gain, shut, left = self.part, self.gain, self.shut, self.most - len(chosen)
        if not total:
            if len(chosen) > 1 and measure > 0:
                yield tuple(sorted(part.cells[chosen].tolist()))
            return
        if not left or self.steps.left <= 0 or measure + self.room[left] <= 0:
            return
        if left == 1:
            for i in self._closing(chosen, total):
                if measure + gain[i] > 0:
                    yield tuple(sorted(part.cells[[*chosen, i]].tolist()))
            return
        free = min(total, key=lambda j: (len(part.members[j]), j))
        mine = [
            i
            for i in sorted(part.members[free])
            if not shut[i] and i not in chosen and not _same_sign(part.rows[i][free], total[free])
        ]
        for i in mine:
            chosen.append(i)
            yield from self.grow(chosen, _sum(total, part.rows[i]), measure + gain[i])
            chosen.pop()
            shut[i] = True
        for i in mine:
            shut[i] = False

    def _closing(self, chosen: Sequence[int], total: Vector) -> Iterator[int]:
        """Yield the cells whose rows are what is missing, by their images."""
        part = self.part
        wanted = -sum(v * part.factor[j] for j, v in total.items()) % PRIME
        for i in part.by_image.get(wanted, ()):
            if not self.shut[i] and i not in chosen and not _sum(total, part.rows[i]):
                yield i


def _sum(a: Vector, b: Vector) -> Vector:
    """Return the sum of two sparse rows."""
    total = dict(a)
    for j, v in b.items():
        value = signed(total.get(j, 0) + v)
        if value:
            total[j] = value
        else:
            total.pop(j, None)
    return total


def _same_sign(a: int, b: int) -> bool:
    """Return whether two small coefficients cannot cancel each other."""
    return abs(a) <= SMALL and abs(b) <= SMALL and (a > 0) == (b > 0)


def disjoint(A: sparse.csr_array, cells: Sequence[Ints]) -> list[bool]:
    """Return for every set of cells whether no two of them have a part in common.

    A margin has the parts of its parts, down to cells that no equation splits.

    Parameters
    ----------
    A : csr_array
        Equations of a margin (coefficient -1) and its parts (+1), or turned over; others are passed over.
    cells : sequence of ndarray of int

    Examples
    --------
    >>> A = sparse.csr_array([[-1.0, 1, 1, 0, 0], [0, -1, 0, 1, 1]])
    >>> disjoint(A, [np.array([1, 2]), np.array([1, 3])])
    [True, False]
    """
    columns = sparse.csc_array(A)

    def parts_of(cell: int) -> list[int]:
        """Return the parts of a cell by the first equation that splits it."""
        at = slice(columns.indptr[cell], columns.indptr[cell + 1])
        for row, sign in zip(columns.indices[at].tolist(), columns.data[at].tolist(), strict=True):
            whole = slice(A.indptr[row], A.indptr[row + 1])
            others = A.indices[whole] != cell
            if abs(sign) == 1 and np.sum(others) and np.all(A.data[whole][others] == -sign):
                return [int(j) for j in A.indices[whole][others]]
        return []

    known: dict[int, frozenset[int]] = {}

    def below(cell: int) -> frozenset[int]:
        if cell not in known:
            known[cell] = frozenset((cell,))  # where equations go in a circle
            if inner := parts_of(cell):
                known[cell] = frozenset().union(*map(below, inner))
        return known[cell]

    found = []
    for one in cells:
        parts = [below(cell) for cell in one.tolist()]
        found.append(len(frozenset().union(*parts)) == sum(map(len, parts)))
    return found
