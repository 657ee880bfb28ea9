"""Unsafe combinations of keys: those that too few records share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, Problems
from tabprotect.microdata.keys import Patterns, frequencies, match_counts, subsets

__all__ = ["MOST_SUBSETS", "Thresholds", "as_thresholds", "counted", "minimal_flags"]

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

MOST_SUBSETS = 20_000
"""So many sets of keys may be looked at in one call."""


@dataclass(frozen=True)
class Thresholds:
    """How many records must share a combination of so many keys.

    Attributes
    ----------
    by_size : tuple of int
        For one key, two keys and so on; 0 where nothing is asked.
    """

    by_size: tuple[int, ...]

    @property
    def up_to(self) -> int:
        """The largest number of keys that is looked at."""
        return len(self.by_size)

    def __getitem__(self, keys: Sequence[int]) -> int:
        return self.by_size[len(keys) - 1]

    def check(self, keys: int, problems: Problems) -> None:
        """Note where there are too many sets of keys."""
        count = sum(comb(keys, size) for size in range(1, self.up_to + 1))
        if count > MOST_SUBSETS:
            problems.add(f"{count:,} sets of up to {self.up_to} of {keys} keys are too many; lower up_to")


def as_thresholds(keys: int, up_to: int | None, threshold: int | Mapping[Any, int]) -> Thresholds:
    """Return thresholds by the number of keys; one number holds for all sizes.

    Raises
    ------
    InputError
        If a threshold is no whole number of at least 1, or belongs to a size that is not looked at.

    Examples
    --------
    >>> as_thresholds(4, 2, 3).by_size, as_thresholds(4, None, {1: 10, 2: 3}).by_size
    ((3, 3), (10, 3))
    """
    if not isinstance(threshold, Mapping):
        return Thresholds((_whole(threshold),) * min(keys, up_to or keys))
    try:
        given = {int(size): _whole(number) for size, number in threshold.items()}
    except (TypeError, ValueError) as error:
        raise InputError(f"thresholds must map numbers of keys to numbers of records, not {threshold!r}") from error
    most = up_to or max(given, default=0)
    wrong = [size for size in given if not 1 <= size <= min(most, keys)]
    if wrong or not given:
        what = f"a threshold for {wrong[0]} keys" if wrong else "no threshold"
        raise InputError(f"there is {what}, while sets of 1 to {min(most, keys)} of {keys} keys are looked at")
    return Thresholds(tuple(given.get(size, 0) for size in range(1, most + 1)))


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"a threshold must be a whole number of at least 1, not {value!r}")
    return int(value)


def counted(patterns: Patterns, thresholds: Thresholds, strata: Ints | None = None) -> Iterator[tuple[tuple[int, ...], Ints]]:
    """Count every combination of up to so many keys, a missing value matching every value.

    Parameters
    ----------
    patterns : Patterns
    thresholds : Thresholds
        Sizes without a threshold are passed over.
    strata : ndarray of int, shape (patterns,), optional
        Combinations are counted within each.

    Yields
    ------
    keys : tuple of int
    counts : ndarray of int, shape (patterns,)
        How many records share each pattern's values of these keys; -1 where the pattern does not state all of them.
    """
    base = np.zeros(len(patterns.counts), np.int64) if strata is None else strata
    extra = int(base.max(initial=0)) + 1
    gaps = (patterns.codes < 0).any(axis=0)
    for keys in subsets(patterns.codes.shape[1], thresholds.up_to):
        if not thresholds[keys]:
            continue
        chosen = list(keys)
        rows = np.column_stack([base, patterns.codes[:, chosen]])
        sizes = [extra, *(patterns.sizes[j] for j in chosen)]
        if not gaps[chosen].any():
            yield keys, frequencies(rows, sizes, patterns.counts)
            continue
        stated = (rows >= 0).all(axis=1)
        counts = np.full(len(rows), -1, dtype=np.int64)
        counts[stated] = match_counts(rows[stated], rows, sizes, patterns.counts)
        yield keys, counts


def minimal_flags(
    patterns: Patterns, thresholds: Thresholds, strata: Ints | None = None
) -> Iterator[tuple[tuple[int, ...], Ints, Flags, Flags]]:
    """Return for every set of keys the counts, which patterns are unsafe, and which of these minimally so.

    A minimal unsafe combination holds no smaller one.
    """
    # for every set of the size before: whether it holds an unsafe combination
    before: dict[tuple[int, ...], Flags] = {}
    now: dict[tuple[int, ...], Flags] = {}
    size = 1
    for keys, counts in counted(patterns, thresholds, strata):
        if len(keys) > size:
            before, now, size = (now if len(keys) == size + 1 else {}), {}, len(keys)
        unsafe = (counts >= 0) & (counts < thresholds[keys])
        inside = np.zeros(len(counts), dtype=bool)
        for left in range(len(keys)):
            smaller = before.get(keys[:left] + keys[left + 1 :])
            if smaller is not None:
                inside |= smaller
        now[keys] = inside | unsafe
        yield keys, counts, unsafe, unsafe & ~inside
