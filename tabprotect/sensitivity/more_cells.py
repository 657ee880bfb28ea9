"""Determined sums of more cells: one cell is added after the other until their rows add up to nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from tabprotect.sensitivity.null_space import Part, Vector
from tabprotect.solver.exact.elimination import PRIME, signed

__all__ = ["Steps", "larger_sets"]

Floats = npt.NDArray[np.float64]

SMALL: Final = 1000
"""Coefficients up to this size are what they seem; others are fractions modulo the prime, and have no sign."""

HALF: Final = PRIME // 2
"""Residues lie between this and its negative."""


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
    growing = _Growing(part, part.image.tolist(), measure.tolist(), room, shut, most, steps)
    for anchor in anchors:
        if not shut[anchor]:
            shut[anchor] = True
            yield from growing.grow([anchor], dict(part.rows[anchor]), growing.gain[anchor])


@dataclass(frozen=True, eq=False)
class _Growing:
    """A search for determined sets that adds one cell after the other.

    Attributes
    ----------
    part : Part
    image : list of int
        Of every row; see `tabprotect.sensitivity.null_space`.
    gain : list of float
        Measure of every cell.
    room : list of float
        What so many further cells add to the measure at most.
    shut : list of bool
        Cells that are chosen, and those that no set holds any more: sets with them were met.
    most : int
        Cells of the largest sets.
    steps : Steps
    moving : dict
        Of free cells looked at so far: the cells that move with each, and their signs.
    """

    part: Part
    image: list[int]
    gain: list[float]
    room: list[float]
    shut: list[bool]
    most: int
    steps: Steps
    moving: dict[int, list[tuple[int, int]]] = field(default_factory=dict)

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
            for i in self._closing(total):
                if measure + gain[i] > 0:
                    yield tuple(sorted(part.cells[[*chosen, i]].tolist()))
            return
        free = min(total, key=self._order.__getitem__)
        sign = _sign(total[free])
        mine = [i for i, s in self._moving(free) if s * sign <= 0 and not shut[i]]
        image = _image(part, total) if left == 2 else 0
        for i in mine:
            shut[i] = True
            chosen.append(i)
            if left == 2:
                yield from self._before_the_last(chosen, total, (image + self.image[i]) % PRIME, measure + gain[i])
            else:
                yield from self.grow(chosen, _sum(total, part.rows[i]), measure + gain[i])
            chosen.pop()
        for i in mine:
            shut[i] = False

    @cached_property
    def _order(self) -> dict[int, int]:
        """Free cells by how many cells move with them, fewest first."""
        members = self.part.members
        return {j: place for place, j in enumerate(sorted(members, key=lambda j: (len(members[j]), j)))}

    def _moving(self, free: int) -> list[tuple[int, int]]:
        """Return the cells that move with a free one, and in which direction (0 where it has none)."""
        if free not in self.moving:
            self.moving[free] = [(i, _sign(self.part.rows[i][free])) for i in sorted(self.part.members[free])]
        return self.moving[free]

    def _before_the_last(
        self, chosen: list[int], total: Vector, image: int, measure: float
    ) -> Iterator[tuple[int, ...]]:
        """Do what `grow` does where one more cell may follow: rows are added up only where their images fit.

        `total` is the sum without the last of the chosen cells, `image` is that of all.
        """
        self.steps.left -= 1
        part, last = self.part, self.part.rows[chosen[-1]]
        if not image and not _sum(total, last):
            if measure > 0:
                yield tuple(sorted(part.cells[chosen].tolist()))
            return
        if self.steps.left <= 0 or measure + self.room[1] <= 0:
            return
        closing = part.by_image.get(-image % PRIME)
        for i in self._closing(_sum(total, last)) if closing else ():
            if measure + self.gain[i] > 0:
                yield tuple(sorted(part.cells[[*chosen, i]].tolist()))

    def _closing(self, total: Vector) -> Iterator[int]:
        """Yield the cells whose rows are what is missing, by their images."""
        part = self.part
        for i in part.by_image.get(-_image(part, total) % PRIME, ()):
            if not self.shut[i] and not _sum(total, part.rows[i]):
                yield i


def _image(part: Part, total: Vector) -> int:
    """Return the image of a row."""
    return sum(v * part.factor[j] for j, v in total.items()) % PRIME


def _sum(a: Vector, b: Vector) -> Vector:
    """Return the sum of two sparse rows."""
    total = dict(a)
    for j, v in b.items():
        value = total.get(j, 0) + v
        if not -HALF <= value <= HALF:
            value = signed(value)
        if value:
            total[j] = value
        else:
            total.pop(j, None)
    return total


def _sign(v: int) -> int:
    """Return the sign of a small coefficient, and 0 for a fraction: two of one sign cannot cancel each other."""
    return 0 if abs(v) > SMALL else 1 if v > 0 else -1
