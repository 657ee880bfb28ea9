"""The table of unsafe combinations of keys (mu-ARGUS; Eustat notebook, protection of microdata)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError, did_you_mean
from tabprotect.kinds import of_kinds
from tabprotect.microdata.combinations import (
    Thresholds,
    document_of,
    keys_of_choice,
    limits_of_choice,
    look,
    sorted_table,
    summary_of,
)
from tabprotect.microdata.keys import KeyCodes, Patterns, key_codes, match_counts, row_numbers
from tabprotect.microdata.large.open import is_spark
from tabprotect.microdata.large.options import Large, as_large
from tabprotect.microdata.large.unsafe import LargeUnsafeCombinations, large_unsafe
from tabprotect.microdata.records import read_records
from tabprotect.microdata.schema import Schema, require
from tabprotect.table.reading import Recognised

__all__ = ["UnsafeCombinations", "unsafe_combinations"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class UnsafeCombinations:
    """Which combinations of keys too few records share; confidential.

    Attributes
    ----------
    table : pandas.DataFrame
        A row for every set of keys: ``keys``, ``size``, ``combinations`` (that occur), ``unsafe`` (of these),
        ``minimal`` (unsafe ones that hold no smaller unsafe one), ``records`` (in unsafe ones); most unsafe first.
    records : ndarray of int, shape (records,)
        In how many minimal unsafe combinations each record is.
    keys : tuple of str
    thresholds : Thresholds
    recognised : tuple of Recognised
        How the file was read.
    """

    table: pd.DataFrame
    records: Ints
    keys: tuple[str, ...]
    thresholds: Thresholds
    _coded: KeyCodes = field(repr=False)
    _patterns: Patterns = field(repr=False)
    recognised: tuple[Recognised, ...] = ()

    @property
    def value(self) -> int:
        """How many records are in an unsafe combination."""
        return int((self.records > 0).sum())

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
        if not 1 <= len(set(keys)) <= self.thresholds.up_to or len(set(keys)) < len(keys):
            raise InputError(f"name 1 to {self.thresholds.up_to} different keys, not {', '.join(keys) or 'none'}")
        chosen = [self.keys.index(key) for key in keys]
        rows = self._patterns.codes[:, chosen]
        sizes = [self._patterns.sizes[j] for j in chosen]
        stated = (rows >= 0).all(axis=1)
        different, first = np.unique(row_numbers(rows[stated], sizes)[0], return_index=True)
        mine = rows[stated][first]
        counts = match_counts(mine, rows, sizes, self._patterns.counts)
        unsafe = counts < self.thresholds[chosen]
        columns: dict[str, Any] = {
            key: [self._coded.values[j][code] for code in mine[unsafe, i]]
            for i, (key, j) in enumerate(zip(keys, chosen, strict=True))
        }
        assert len(different) == len(mine)
        frame = pd.DataFrame({**columns, "records": counts[unsafe]})
        return frame.sort_values("records", kind="stable", ignore_index=True)

    def summary(self) -> str:
        """Return the table as text, without sets of keys that have no unsafe combination."""
        return summary_of(self.table, self.value, len(self.records), self.keys, self.thresholds)

    def to_dict(self) -> dict[str, Any]:
        """Return the table as JSON; confidential."""
        return document_of(self.table, self.value, len(self.records), self.keys, self.thresholds)


@overload
def unsafe_combinations(
    data: Any,
    schema: Schema | None = None,
    *,
    keys: Sequence[str] | None = None,
    up_to: int | None = 3,
    threshold: int | Mapping[int, int] = 3,
    decimal: str | None = None,
    large: Literal[False] = False,
) -> UnsafeCombinations: ...


@overload
def unsafe_combinations(
    data: Any,
    schema: Schema | None = None,
    *,
    keys: Sequence[str] | None = None,
    up_to: int | None = 3,
    threshold: int | Mapping[int, int] = 3,
    decimal: str | None = None,
    large: Literal[True] | Large,
) -> LargeUnsafeCombinations: ...


@of_kinds()
def unsafe_combinations(
    data: Any,
    schema: Schema | None = None,
    *,
    keys: Sequence[str] | None = None,
    up_to: int | None = 3,
    threshold: int | Mapping[int, int] = 3,
    decimal: str | None = None,
    large: bool | Large = False,
) -> UnsafeCombinations | LargeUnsafeCombinations:
    """Count the unsafe combinations of up to so many keys.

    A combination is unsafe that fewer records share than its threshold. A record has no combination of keys that it
    does not state; for others a missing value counts as one that matches.

    Parameters
    ----------
    data : pandas, polars or pyarrow frame, DuckDB relation, path or File
    schema : Schema, optional
    keys : sequence of str, optional
        By default those of the schema.
    up_to : int, optional
        The largest number of keys in a combination; None for all.
    threshold : int or mapping of int to int
        One for all sizes, or by the number of keys. (mu-ARGUS calls a combination unsafe up to its threshold D: that
        is ``threshold = D + 1``.)
    decimal : str, optional
        Decimal sign of numbers in text files; recognised.
    large : bool or Large
        Count in DuckDB, or in Spark where the data are a Spark frame: memory grows with the unsafe combinations, not
        with the records.

    Returns
    -------
    UnsafeCombinations
        Or `LargeUnsafeCombinations` with `large`.

    Raises
    ------
    InputError
        Unknown columns, thresholds that cannot be, too many sets of keys.

    Examples
    --------
    >>> frame = pd.DataFrame({"zip": [1, 1, 1, 2], "sex": ["f", "f", "m", "m"]})
    >>> found = unsafe_combinations(frame, keys=["zip", "sex"], up_to=2, threshold=2)
    >>> print(found.summary())
    2 of 4 records are in an unsafe combination of up to 2 of 2 keys
        keys  size  combinations  unsafe  minimal  records
    zip, sex     2             3       2        1        2
         zip     1             2       1        1        1
    >>> found.listing("zip", "sex").values.tolist()
    [[1, 'm', 1], [2, 'm', 1]]
    """
    schema = require(schema)
    names = keys_of_choice(schema, keys)
    limits = limits_of_choice(len(names), up_to, threshold)
    if large is not False:
        return large_unsafe(data, schema, names, limits, decimal, as_large(large))
    if is_spark(data):
        raise InputError("combinations of a Spark frame are counted in Spark: give large=True")
    records = read_records(data, schema, decimal=decimal)
    for name in names:
        if name not in records.columns:
            raise InputError(f"no column '{name}'{did_you_mean(name, records.columns)}")
    coded = key_codes(records, names)
    patterns = coded.patterns()
    rows = []
    often = np.zeros(len(patterns.counts), dtype=np.int64)
    for found in look(patterns, limits):
        often += found.minimal
        rows.append(
            (
                ", ".join(names[j] for j in found.keys), len(found.keys),
                _different(found.numbers[found.numbers >= 0] if found.numbers.min() < 0 else found.numbers),
                _different(found.numbers[found.unsafe]), _different(found.numbers[found.minimal]),
                int(patterns.counts[found.unsafe].sum()),
            )
        )  # fmt: skip
    return UnsafeCombinations(
        sorted_table(rows), often[patterns.index], names, limits, coded, patterns, records.recognised
    )


def _different(numbers: Ints) -> int:
    """Count different numbers of at least 0."""
    if not len(numbers):
        return 0
    most = int(numbers.max())
    if most <= 4 * len(numbers) + 1_000_000:
        return int(np.count_nonzero(np.bincount(numbers)))
    return len(pd.unique(numbers))
