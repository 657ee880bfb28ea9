"""Unsafe combinations of keys: those that too few records share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb, prod
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.counted import counted
from tabprotect.errors import InputError, Problems, collect
from tabprotect.microdata.keys import DENSE, Patterns, match_counts, row_numbers, subsets
from tabprotect.microdata.schema import Schema

__all__ = [
    "MOST_SUBSETS",
    "Looked",
    "Thresholds",
    "as_thresholds",
    "document_of",
    "keys_of_choice",
    "limits_of_choice",
    "look",
    "sorted_table",
    "summary_of",
]

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


def keys_of_choice(schema: Schema, keys: Sequence[str] | None) -> tuple[str, ...]:
    """Return the keys that a caller names, by default those of the schema; at least one, none twice."""
    names = tuple(schema.keys if keys is None else keys)
    if not names or len(set(names)) < len(names):
        raise InputError("name at least one key, and none twice; here or in the schema")
    return names


def limits_of_choice(keys: int, up_to: int | None, threshold: int | Mapping[int, int]) -> Thresholds:
    """Return the thresholds that a caller gives; checked."""
    if up_to is not None and (isinstance(up_to, bool) or not isinstance(up_to, int | np.integer) or up_to < 1):
        raise InputError(f"up_to must be a whole number of at least 1, not {up_to!r}")
    limits = as_thresholds(keys, up_to, threshold)
    with collect() as problems:
        limits.check(keys, problems)
    return limits


def sorted_table(rows: Sequence[tuple[Any, ...]]) -> pd.DataFrame:
    """Return the table of unsafe combinations, a row for every set of keys, most unsafe first."""
    table = pd.DataFrame(rows, columns=["keys", "size", "combinations", "unsafe", "minimal", "records"])
    return table.sort_values(["unsafe", "size"], ascending=[False, True], kind="stable", ignore_index=True)


def summary_of(table: pd.DataFrame, value: int, count: int, keys: Sequence[str], thresholds: Thresholds) -> str:
    """Return the table of unsafe combinations as text, without sets of keys that have none."""
    shown = table[table["unsafe"] > 0]
    head = (
        f"{value:,} of {count:,} records are in an unsafe combination of up to {thresholds.up_to} of "
        f"{counted(len(keys), 'key')}"
    )
    return head if shown.empty else head + "\n" + shown.to_string(index=False)


def document_of(
    table: pd.DataFrame, value: int, count: int, keys: Sequence[str], thresholds: Thresholds
) -> dict[str, Any]:
    """Return the table of unsafe combinations as JSON; confidential."""
    rows = [{str(k): _plain(v) for k, v in row.items()} for row in table.to_dict("records")]
    return {
        "records": count, "unsafe_records": value, "keys": list(keys),
        "thresholds": {str(i + 1): t for i, t in enumerate(thresholds.by_size) if t}, "sets": rows,
    }  # fmt: skip


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


@dataclass(frozen=True, eq=False)
class Looked:
    """What was found for one set of keys.

    Attributes
    ----------
    keys : tuple of int
    numbers : ndarray of int, shape (patterns,)
        Equal for patterns with equal values of these keys; -1 where one of them is missing.
    unsafe : ndarray of bool, shape (patterns,)
    minimal : ndarray of bool, shape (patterns,)
        Unsafe, and no smaller unsafe combination within.
    """

    keys: tuple[int, ...]
    numbers: Ints
    unsafe: Flags
    minimal: Flags


def look(patterns: Patterns, thresholds: Thresholds, strata: Ints | None = None) -> Iterator[Looked]:
    """Look at every set of up to so many keys, small ones first; a missing value matches every value.

    Parameters
    ----------
    patterns : Patterns
    thresholds : Thresholds
        Sizes without a threshold are passed over.
    strata : ndarray of int, shape (patterns,), optional
        Combinations are counted within each.
    """
    sizes = list(patterns.sizes)
    columns = [np.ascontiguousarray(patterns.codes[:, j]) for j in range(len(sizes))]
    gaps = [bool((column < 0).any()) for column in columns]
    if strata is not None:
        columns.append(strata)
        sizes.append(int(strata.max(initial=0)) + 1)
    # whether each set of the size before holds an unsafe combination
    before: dict[tuple[int, ...], Flags] = {}
    now: dict[tuple[int, ...], Flags] = {}
    size = 1
    for keys in subsets(len(patterns.sizes), thresholds.up_to):
        if not thresholds[keys]:
            continue
        if len(keys) > size:
            before, now, size = (now if len(keys) == size + 1 else {}), {}, len(keys)
        chosen = [*keys, len(sizes) - 1] if strata is not None else list(keys)
        numbers, bound = _numbers([columns[j] for j in chosen], [sizes[j] for j in chosen])
        if any(gaps[j] for j in keys):
            numbers[np.logical_or.reduce([columns[j] < 0 for j in keys])] = -1
            unsafe = _unsafe(numbers, bound, patterns.counts, thresholds[keys])
            if unsafe.any():
                unsafe &= ~_matched(unsafe, columns, sizes, chosen, patterns.counts, thresholds[keys])
        else:
            unsafe = _unsafe(numbers, bound, patterns.counts, thresholds[keys])
        smaller = [keys[:left] + keys[left + 1 :] for left in range(len(keys))]
        held = [before[one] for one in smaller if one in before]
        if held:
            inside = np.logical_or.reduce(held)
            found = unsafe & ~inside
            now[keys] = inside | unsafe
        else:
            found = unsafe
            now[keys] = unsafe
        yield Looked(keys, numbers, unsafe, found)


def _numbers(columns: Sequence[Ints], sizes: Sequence[int]) -> tuple[Ints, int]:
    """Return a number for every row, and what all are below; see `keys.row_numbers`."""
    bound = prod(size + 1 for size in sizes)
    if bound > 2**62:
        return row_numbers(np.column_stack(columns), sizes)
    numbers = columns[0] + 1
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        numbers *= size + 1
        numbers += column
        numbers += 1
    return numbers, bound


def _unsafe(numbers: Ints, bound: int, counts: Ints, least: int) -> Flags:
    """Return which rows share their number with fewer than so many records; -1 is no number."""
    there = numbers >= 0
    whole = bool(there.all())
    given, weights = (numbers, counts) if whole else (numbers[there], counts[there])
    if bound > max(DENSE, 4 * len(given)):
        index, found = pd.factorize(given)
        given, bound = index.astype(np.int64), len(found)
    if len(weights) and weights.max() == 1:
        tally = np.bincount(given, minlength=bound)
    else:
        tally = np.bincount(given, weights=weights, minlength=bound)
    few = (tally > 0) & (tally < least)
    unsafe = np.zeros(len(numbers), dtype=bool)
    if few.any():
        unsafe[there] = few[given]
    return unsafe


def _matched(
    unsafe: Flags, columns: Sequence[Ints], sizes: Sequence[int], chosen: Sequence[int], counts: Ints, least: int
) -> Flags:
    """Return which rows reach a number of records when missing values of others match, too."""
    rows = np.column_stack([columns[j] for j in chosen])
    wide = [sizes[j] for j in chosen]
    here = np.flatnonzero(unsafe)
    _, first, index = np.unique(row_numbers(rows[here], wide)[0], return_index=True, return_inverse=True)
    reached = np.zeros(len(unsafe), dtype=bool)
    reached[here] = (match_counts(rows[here][first], rows, wide, counts) >= least)[index]
    return reached
