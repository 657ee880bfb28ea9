"""Random numbers that belong to a row: the same whatever batch the row is in.

Philox is a generator with a counter: the number at any place of its stream is found without those before it (Salmon,
Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3", SC11).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from tabprotect.seeds import part_of

__all__ = ["Draws"]

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]

WORDS = 4
"""Words of 64 bits that Philox makes of one value of its counter."""

SPAN = 1 << 20
"""Numbers that are made at a time."""


class Draws:
    """The random numbers of one step: one stream for every quantity, one number for every row.

    Parameters
    ----------
    seed, step : int

    Examples
    --------
    >>> draws = Draws(1, 0)
    >>> whole = draws.uniform(np.arange(10), 0)
    >>> bool((draws.uniform(np.array([7, 9]), 0) == whole[[7, 9]]).all())
    True
    """

    def __init__(self, seed: int, step: int) -> None:
        self.seed, self.step = seed, step

    def words(self, rows: Ints, stream: int) -> Words:
        """Return 64 random bits for each row."""
        if (np.diff(rows) < 0).any():
            order = np.argsort(rows, kind="stable")
            mixed = np.empty(len(rows), dtype=np.uint64)
            mixed[order] = self.words(rows[order], stream)
            return mixed
        key = part_of(self.seed, self.step, stream).generate_state(2, np.uint64)
        found = np.empty(len(rows), dtype=np.uint64)
        at = 0
        while at < len(rows):
            first = int(rows[at]) // WORDS
            end = int(np.searchsorted(rows, first * WORDS + SPAN))
            generator = np.random.Philox(key=key, counter=[first, 0, 0, 0])
            drawn = generator.random_raw(int(rows[end - 1]) - first * WORDS + 1)
            found[at:end] = drawn[rows[at:end] - first * WORDS]
            at = end
        return found

    def uniform(self, rows: Ints, stream: int) -> Floats:
        """Return a number for each row, uniform in the open interval (0, 1)."""
        whole = (self.words(rows, stream) >> np.uint64(11)).astype(np.float64)
        # the middle of one of 2^53 intervals; the last one would round to 1
        return np.asarray(np.minimum((whole + 0.5) * 2.0**-53, np.nextafter(1.0, 0.0)))

    def normal(self, rows: Ints, stream: int) -> Floats:
        """Return a standard normal number for each row, by the inverse of the distribution."""
        return np.asarray(ndtri(self.uniform(rows, stream)))
