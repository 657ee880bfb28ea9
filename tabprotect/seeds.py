"""What methods that draw at random take as a seed."""

from __future__ import annotations

import secrets

import numpy as np

from tabprotect.errors import InputError

__all__ = ["SOLVER_SEEDS", "Seed", "as_seed", "part_of", "secret_seed"]

Seed = int | np.random.Generator
"""A whole number of at least 0, or a generator that gives the next one."""

SOLVER_SEEDS = 2**31
"""Solvers take seeds below this; HiGHS goes on with another one where it is larger."""


MASKING = 0x6D61736B
"""First number of the spawn keys of masking."""


def part_of(seed: int, *part: int) -> np.random.SeedSequence:
    """Return the randomness of a part of masking, such as a step of a chain, or a step and a stream of numbers.

    It is independent of that of other parts, and of ``numpy.random.default_rng(seed)`` and
    ``default_rng([seed, ...])``, from which the data may have been generated with the same seed: NumPy makes
    ``default_rng([seed, 0])`` the same generator as ``default_rng(seed)``, so that numbers that protect would be
    those in the data.

    Parameters
    ----------
    seed : int
        At least 0.
    *part : int
        At least 0 each.

    Examples
    --------
    >>> one, other = np.random.default_rng(part_of(1, 0)), np.random.default_rng([1, 0])
    >>> bool(np.random.default_rng(1).random() == other.random()), bool(one.random() == other.random())
    (True, False)
    """
    return np.random.SeedSequence(seed, spawn_key=(MASKING, *part))


def as_seed(seed: Seed) -> int:
    """Return a seed as a number; a generator gives its next one.

    Raises
    ------
    InputError
        If it is neither a whole number of at least 0 nor a `numpy.random.Generator`.

    Examples
    --------
    >>> as_seed(7), as_seed(np.random.default_rng(7)) == as_seed(np.random.default_rng(7))
    (7, True)
    """
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**63))
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed must be a whole number of at least 0 or a numpy.random.Generator, not {seed!r}")
    return int(seed)


def secret_seed(seed: Seed | None) -> int:
    """Return a seed as a number, a fresh one that nobody knows by default: for draws that protect somebody."""
    return secrets.randbits(63) if seed is None else as_seed(seed)
