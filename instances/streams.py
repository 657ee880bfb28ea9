"""Random numbers that stay the same for decades.

NumPy promises the raw bits of a `PCG64` for good, but not what its distributions make of them. The few distributions
that the generators need are therefore derived from the raw bits here.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from tabprotect.errors import InputError

__all__ = ["Stream"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Stream:
    """A reproducible source of random numbers.

    Parameters
    ----------
    seed : int or sequence of int
        Same seed, same numbers, on every machine and NumPy.

    Examples
    --------
    >>> Stream(1).integers(0, 10, 5).tolist()
    [5, 9, 1, 9, 3]
    """

    def __init__(self, *seed: int) -> None:
        if min(seed, default=0) < 0:
            raise InputError(f"a seed of generated data must be 0 or more, not {min(seed)}")
        self.seed = seed
        self._bits = np.random.PCG64(np.random.SeedSequence(list(seed)))

    def uniform(self, n: int) -> Floats:
        """Return n numbers in (0, 1), multiples of 2**-53 plus half a step (never 0 or 1)."""
        raw = np.asarray(self._bits.random_raw(n), dtype=np.uint64)
        return ((raw >> np.uint64(12)).astype(np.float64) + 0.5) / 2.0**52

    def integers(self, low: int, high: int, n: int) -> Ints:
        """Return n integers in low, ..., high - 1."""
        return low + np.floor(self.uniform(n) * (high - low)).astype(np.int64)

    def choice(self, weights: npt.ArrayLike, n: int) -> Ints:
        """Return n positions drawn with probabilities proportional to `weights`."""
        steps = np.cumsum(np.asarray(weights, dtype=np.float64))
        return np.searchsorted(steps / steps[-1], self.uniform(n)).astype(np.int64)

    def lognormal(self, mu: float, sigma: float, n: int) -> Floats:
        """Return n numbers whose logarithm is normal with mean `mu` and standard deviation `sigma`."""
        return np.asarray(np.exp(mu + sigma * ndtri(self.uniform(n))), dtype=np.float64)

    def pareto(self, shape: float, n: int) -> Floats:
        """Return n Pareto numbers, at least 1, with tail exponent `shape`."""
        return self.uniform(n) ** (-1.0 / shape)

    def order(self, n: int) -> Ints:
        """Return a random permutation of 0, ..., n - 1."""
        return np.argsort(self.uniform(n), kind="stable").astype(np.int64)
