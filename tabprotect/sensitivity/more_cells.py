"""Determined sums of more cells: one cell is added after the other until their rows add up to nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tabprotect.sensitivity.null_space import Part, Vector
from tabprotect.solver.exact.elimination import PRIME, signed

__all__ = ["Steps", "larger_sets"]

Floats = npt.NDArray[np.float64]

SMALL: Final = 1000
"""Coefficients up to this size are what they seem; others are fractions modulo the prime, and have no sign."""


@dataclass
class Steps:
    """What the search may spend."""

    left: int


def larger_sets(
    part: Part, measure: Floats, anchors: Sequence[int], shut: Sequence[bool], most: int, steps: Steps
) -> Iterator[tuple[int, ...]]:
    """Yield the determined sets of a part that hold an anchor and whose measures add up to more than 0.

    Parameters
    ----------
    part : Part
    measure : ndarray of float, shape (cells of the part,)
    anchors : sequence of int
    shut : sequence of bool
        Positions that no set holds.
    most : int
        Cells of the largest sets.
    steps : Steps
    """
    shut = list(shut)
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
    part : Part
    gain : list of float
        Measure of every cell.
    room : list of float
        What so many further cells add to the measure at most.
    shut : list of bool
        Cells that no set holds any more; sets with them were met.
    most : int
        Cells of the largest sets.
    steps : Steps
    """

    part: Part
    gain: list[float]
    room: list[float]
    shut: list[bool]
    most: int
    steps: Steps

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
