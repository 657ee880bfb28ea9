"""Sums that do not depend on the order of their terms, so that every engine and every run gives the same bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, frexp, ldexp, log2
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["LARGEST", "SCALES", "Limbs"]

Floats = npt.NDArray[np.float64]


SCALES: Final = tuple(10.0**digits for digits in range(7))
"""Numbers with up to six decimals are added up as whole numbers of their last decimal."""

LARGEST: Final = 2.0**53
"""Whole numbers below this are exact as floats."""


@dataclass(frozen=True)
class Limbs:
    """Splits numbers into limbs on fixed grids, whose sums are exact in float64 in any order.

    Numbers with few decimals (amounts in cents) are whole multiples of 1/scale, and so are their sums: tables of such
    numbers add up exactly as decimals. Others are split in binary. Limb i is a multiple of ``quanta[i]`` and small
    enough that the sum over all records fits into 53 bits. (Pre-rounded summation as in Demmel and Nguyen, Fast
    Reproducible Floating-Point Summation, ARITH 2013.)

    Parameters
    ----------
    quanta : tuple of float
        Powers of two, falling; in units of 1/scale.
    scale : float
        A power of ten, 1 if the numbers are not decimal.
    decimal : bool
        The scaled numbers are whole.

    Examples
    --------
    >>> x = np.array([1e16, 1.0, -1e16, 1 / 3])
    >>> limbs = Limbs.of(x)
    >>> float(limbs.join(limbs.split(x).sum(axis=0)[None])[0]), float(x.sum())
    (1.3333333333333333, 0.3333333333333333)
    >>> x = np.array([0.1, 0.2])
    >>> limbs = Limbs.of(x)
    >>> float(limbs.join(limbs.split(x).sum(axis=0)[None])[0]), float(x.sum())
    (0.3, 0.30000000000000004)
    """

    quanta: tuple[float, ...]
    scale: float = 1.0
    decimal: bool = True

    @classmethod
    def of(cls, numbers: Floats, *, fractions: bool = False) -> Limbs:
        """Choose the grids for sums over all of the given numbers; `fractions` if multiples of them come in too."""
        sizes = np.abs(numbers[numbers != 0])
        scales = [] if fractions else [s for s in SCALES if _decimal(sizes[:1000], s)]
        scale = next((s for s in scales if _decimal(sizes, s)), None)
        return cls.over(len(numbers), float(sizes.max(initial=0.0)), float(sizes.min(initial=np.inf)), scale)

    @classmethod
    def over(cls, count: int, largest: float, smallest: float, scale: float | None) -> Limbs:
        """Choose the grids from statistics of the numbers.

        Parameters
        ----------
        count : int
            How many numbers there are to be summed.
        largest, smallest : float
            Of the absolute values; the smallest among those that are not zero.
        scale : float, optional
            The power of ten of which all numbers are whole multiples of the inverse; None if there is none.
        """
        if largest == 0:
            return cls((1.0,))
        bits = 50 - ceil(log2(count + 1))
        top = frexp(largest * (scale or 1.0))[1]
        lowest = max(frexp(smallest)[1] - 53, -1022) if scale is None else 0
        limbs = min(max(1, ceil((top - lowest) / bits)), 12)
        quanta = tuple(ldexp(1.0, max(top - bits * (i + 1), lowest)) for i in range(limbs))
        return cls(quanta, scale or 1.0, scale is not None)

    def split(self, x: Floats) -> Floats:
        """Return the limbs of every number: shape (numbers, limbs)."""
        limbs = np.empty((len(x), len(self.quanta)))
        rest = np.rint(x * self.scale) if self.decimal else np.asarray(x, dtype=np.float64)
        for i, quantum in enumerate(self.quanta):
            limbs[:, i] = np.trunc(rest / quantum) * quantum
            rest = rest - limbs[:, i]
        return limbs

    def join(self, sums: Floats) -> Floats:
        """Return the numbers whose limbs (or sums of limbs) are given: shape (numbers,)."""
        if len(self.quanta) == 1:
            return np.asarray(sums[:, 0] / self.scale + 0.0)
        carried = self._carry(sums.copy())
        negative = carried[:, 0] < 0
        if negative.any():
            carried[negative] = self._carry(-carried[negative])
        total = carried[:, -1].copy()
        for i in range(len(self.quanta) - 2, -1, -1):
            total += carried[:, i]
        total[negative] *= -1
        return np.asarray(total / self.scale + 0.0)

    def _carry(self, limbs: Floats) -> Floats:
        for i in range(len(self.quanta) - 1, 0, -1):
            over = np.floor(limbs[:, i] / self.quanta[i - 1]) * self.quanta[i - 1]
            limbs[:, i] -= over
            limbs[:, i - 1] += over
        return limbs

    def sql(self, x: str, name: str) -> list[tuple[str, str]]:
        """Return the limbs as SQL: pairs of column name and expression, each using the columns before it."""
        steps = []
        rest: Sequence[str] = [f"round(({x}) * {self.scale!r}::DOUBLE)" if self.decimal else x]
        for i, quantum in enumerate(self.quanta):
            expression = " - ".join(rest)
            steps.append((f"{name}_{i}", f"trunc(({expression}) / {quantum!r}::DOUBLE) * {quantum!r}::DOUBLE"))
            rest = [*rest, f"{name}_{i}"]
        return steps


def _decimal(sizes: Floats, scale: float) -> bool:
    """Return whether all numbers are whole multiples of 1/scale (the floats nearest to them) below 2^53 of these."""
    return bool(((np.rint(sizes * scale) / scale == sizes) & (sizes * scale < LARGEST)).all())
