"""Unsafe combinations of keys counted outside of memory, by grouping sets of SQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from tabprotect.errors import InputError, did_you_mean
from tabprotect.microdata.combinations import Thresholds, document_of, sorted_table, summary_of
from tabprotect.microdata.keys import match_counts, row_numbers, subsets
from tabprotect.microdata.large.coded import CodedKeys, coded_keys
from tabprotect.microdata.large.open import open_stage
from tabprotect.microdata.large.options import Large
from tabprotect.microdata.large.stage import RECORDS
from tabprotect.microdata.schema import Schema
from tabprotect.table.reading import Recognised

__all__ = ["LargeUnsafeCombinations", "large_unsafe"]

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

AT_ONCE = 16
"""Sets of keys that are counted in one statement."""

MOST_UNSAFE = 20_000_000
"""So many unsafe combinations are held in memory."""


@dataclass(frozen=True, eq=False)
class Found:
    """The unsafe combinations of one set of keys.

    Attributes
    ----------
    codes : ndarray of int, shape (unsafe, keys of the set)
    stated : ndarray of int, shape (unsafe,)
        How many records state the combination.
    matching : ndarray of int, shape (unsafe,)
        How many records match it, those with missing values among them.
    combinations : int
        How many different ones occur, safe and unsafe.
    minimal : ndarray of bool, shape (unsafe,)
        No smaller unsafe combination within.
    """

    codes: Ints
    stated: Ints
    matching: Ints
    combinations: int
    minimal: Flags


@dataclass(frozen=True, eq=False)
class LargeUnsafeCombinations:
    """Which combinations of keys too few records share; confidential. As `UnsafeCombinations`, without its records.

    Attributes
    ----------
    table : pandas.DataFrame
        A row for every set of keys: ``keys``, ``size``, ``combinations`` (that occur), ``unsafe`` (of these),
        ``minimal`` (unsafe ones that hold no smaller unsafe one), ``records`` (in unsafe ones); most unsafe first.
    often : ndarray of int
        How many records are in 0, 1, 2, ... minimal unsafe combinations.
    keys : tuple of str
    thresholds : Thresholds
    recognised : tuple of Recognised
        How the file was read.
    """

    table: pd.DataFrame
    often: Ints
    keys: tuple[str, ...]
    thresholds: Thresholds
    _found: dict[tuple[int, ...], Found] = field(repr=False)
    _values: tuple[tuple[Any, ...], ...] = field(repr=False)
    recognised: tuple[Recognised, ...] = ()

    @property
    def value(self) -> int:
        """How many records are in an unsafe combination."""
        return int(self.often[1:].sum())

    def listing(self, *keys: str) -> pd.DataFrame:
        """Return the unsafe combinations of some keys: their values, and how many records share each.

        Raises
        ------
        InputError
            If a name is none of the keys, or sets of so many keys are not looked at.
        """
        for key in keys:
            if key not in self.keys:
                raise InputError(f"'{key}' is none of the keys{did_you_mean(key, self.keys)}")
        chosen = [self.keys.index(key) for key in keys]
        if not 1 <= len(set(keys)) <= self.thresholds.up_to or len(set(keys)) < len(keys):
            raise InputError(f"name 1 to {self.thresholds.up_to} different keys, not {', '.join(keys) or 'none'}")
        # sizes without a threshold have no unsafe combination
        none = np.zeros(0, dtype=np.int64)
        nothing = Found(np.zeros((0, len(keys)), dtype=np.int64), none, none, 0, none.astype(bool))
        found = self._found.get(tuple(sorted(chosen)), nothing)
        codes = found.codes[:, np.argsort(np.argsort(chosen))]
        order = np.argsort(row_numbers(codes, [len(self._values[j]) for j in chosen])[0], kind="stable")
        columns: dict[str, Any] = {
            key: [self._values[j][code] for code in codes[order, i]]
            for i, (key, j) in enumerate(zip(keys, chosen, strict=True))
        }
        frame = pd.DataFrame({**columns, "records": found.matching[order]})
        return frame.sort_values("records", kind="stable", ignore_index=True)

    def summary(self) -> str:
        """Return the table as text, without sets of keys that have no unsafe combination."""
        return summary_of(self.table, self.value, int(self.often.sum()), self.keys, self.thresholds)

    def to_dict(self) -> dict[str, Any]:
        """Return the table as JSON; confidential."""
        return document_of(self.table, self.value, int(self.often.sum()), self.keys, self.thresholds)


def large_unsafe(
    data: Any,
    schema: Schema,
    names: tuple[str, ...],
    limits: Thresholds,
    decimal: str | None,
    large: Large,
    most: int = MOST_UNSAFE,
) -> LargeUnsafeCombinations:
    """Count; see `tabprotect.microdata.unsafe_combinations`.

    Raises
    ------
    InputError
        If a column is not there, or there are more than `most` unsafe combinations, too many to be held in memory.
    """
    stage = open_stage(data, large, decimal, False, schema, names)
    coded = coded_keys(stage, schema, names)
    found: dict[tuple[int, ...], Found] = {}
    held = 0
    for size in range(1, min(limits.up_to, len(names)) + 1):
        least = limits.by_size[size - 1]
        sets = [keys for keys in subsets(len(names), size) if len(keys) == size] if least else []
        for start in range(0, len(sets), AT_ONCE):
            for keys, one in _counted(coded, sets[start : start + AT_ONCE], least, most):
                found[keys] = _minimal(coded, keys, one, found)
                held += len(one.stated)
                if held > most:
                    raise _too_many(most)
    rows = [
        (
            ", ".join(names[j] for j in keys), len(keys), one.combinations, len(one.stated),
            int(one.minimal.sum()), int(one.stated.sum()),
        )
        for keys, one in sorted(found.items(), key=lambda item: (len(item[0]), item[0]))
    ]  # fmt: skip
    return LargeUnsafeCombinations(
        sorted_table(rows), _often(coded, found), names, limits, found, coded.values, stage.recognised
    )


def _too_many(most: int) -> InputError:
    return InputError(f"more than {most:,} combinations are unsafe; recode the keys, or lower up_to or threshold")


def _counted(
    coded: CodedKeys, sets: Sequence[tuple[int, ...]], least: int, most: int
) -> Iterator[tuple[tuple[int, ...], Found]]:
    """Count the combinations of several sets of keys of one size; safe ones are only counted, not listed."""
    # only columns of one of the sets can be grouped by, in the order in which they come there first
    cover = list(dict.fromkeys(j for keys in sets for j in keys))
    columns = [coded.columns[j] for j in cover]
    every = ", ".join(columns)
    groups = ", ".join(f"({', '.join(coded.columns[j] for j in keys)})" for keys in sets)
    # a column that is not in the set is null, a missing value is -1
    stated = " AND ".join(f"coalesce({column}, 0) >= 0" for column in columns)
    patterns = f"SELECT {every}, count(*) AS one FROM {RECORDS} GROUP BY {every}"
    tally = (
        f"SELECT grouping_id({every}) AS g, {every}, sum(one) AS n FROM ({patterns}) AS p "
        f"GROUP BY GROUPING SETS ({groups})"
    )
    kept = f"(NOT ({stated}) OR n < {least})"
    wanted = ", ".join(f"CASE WHEN {kept} THEN {column} END AS {column}" for column in columns)
    inner = f"SELECT g, {wanted}, CASE WHEN {kept} THEN n END AS n FROM ({tally}) AS t"
    sql = f"SELECT g, {every}, CAST(n AS BIGINT) AS n, count(*) AS c FROM ({inner}) AS u GROUP BY g, {every}, n"
    tables: list[pa.Table] = []
    size = 0
    for batch in coded.stage.batches(sql):
        tables.append(pa.Table.from_batches([batch]))
        size += batch.num_rows
        if size > most:
            raise _too_many(most)
    table = pa.concat_tables(tables)
    group = np.asarray(table.column("g"), dtype=np.int64)
    count = np.asarray(table.column("n").fill_null(-1), dtype=np.int64)
    several = np.asarray(table.column("c"), dtype=np.int64)
    codes = np.column_stack([np.asarray(table.column(c).fill_null(-2), dtype=np.int64) for c in columns])
    m = len(columns)
    for keys in sets:
        # the number of a grouping has a bit for every column that is not in it
        number = sum(1 << (m - 1 - i) for i, j in enumerate(cover) if j not in keys)
        here = group == number
        safe = here & (count < 0)
        mine = codes[np.ix_(here & (count >= 0), [cover.index(j) for j in keys])]
        n = count[here & (count >= 0)]
        full = (mine >= 0).all(axis=1)
        sizes = [coded.sizes[j] for j in keys]
        rows, stated_by = mine[full], n[full]
        matching = stated_by
        if not full.all() and len(rows):
            matching = stated_by + match_counts(rows, mine[~full], sizes, n[~full])
        unsafe = matching < least
        different = len(rows) + int(several[safe].sum())
        yield (
            keys,
            Found(rows[unsafe], stated_by[unsafe], matching[unsafe], different, np.ones(int(unsafe.sum()), bool)),
        )


def _minimal(coded: CodedKeys, keys: tuple[int, ...], one: Found, found: dict[tuple[int, ...], Found]) -> Found:
    """Mark the combinations that hold no smaller unsafe one (of sizes looked at without a gap)."""
    inside = np.zeros(len(one.stated), dtype=bool)
    for size in range(len(keys) - 1, 0, -1):
        smaller = list(combinations(range(len(keys)), size))
        if tuple(keys[i] for i in smaller[0]) not in found:
            break
        for part in smaller:
            inside |= _among(one.codes[:, list(part)], found[tuple(keys[i] for i in part)].codes, coded, keys, part)
    return Found(one.codes, one.stated, one.matching, one.combinations, ~inside)


def _among(rows: Ints, others: Ints, coded: CodedKeys, keys: Sequence[int], part: Sequence[int]) -> Flags:
    if not len(rows) or not len(others):
        return np.zeros(len(rows), dtype=bool)
    sizes = [coded.sizes[keys[i]] for i in part]
    numbers = row_numbers(np.concatenate([rows, others]), sizes)[0]
    return np.isin(numbers[: len(rows)], numbers[len(rows) :])


def _often(coded: CodedKeys, found: dict[tuple[int, ...], Found]) -> Ints:
    """Return how many records are in 0, 1, 2, ... minimal unsafe combinations."""
    every = ", ".join(coded.columns)
    total = np.zeros(1, dtype=np.int64)
    minimal = {keys: one.codes[one.minimal] for keys, one in found.items() if one.minimal.any()}
    for batch in coded.stage.batches(f"SELECT {every}, count(*) AS n FROM {RECORDS} GROUP BY {every}"):
        codes = np.column_stack([np.asarray(batch.column(c), dtype=np.int64) for c in coded.columns])
        counts = np.asarray(batch.column("n"), dtype=np.int64)
        often = np.zeros(len(codes), dtype=np.int64)
        for keys, wanted in minimal.items():
            often += _among(codes[:, list(keys)], wanted, coded, keys, range(len(keys)))
        here = np.bincount(often, weights=counts, minlength=len(total)).astype(np.int64)
        here[: len(total)] += total
        total = here
    return total
