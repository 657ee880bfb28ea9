"""How many records share their keys, counted outside of memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from tabprotect.errors import InputError
from tabprotect.kinds import of_kinds
from tabprotect.microdata.combinations import keys_of_choice
from tabprotect.microdata.large.coded import CodedKeys, coded_keys
from tabprotect.microdata.large.open import open_stage
from tabprotect.microdata.large.options import Large, as_large
from tabprotect.microdata.large.stage import RECORDS
from tabprotect.microdata.schema import Schema, require

__all__ = ["KeyFrequencies", "key_frequencies"]


@dataclass(frozen=True, eq=False)
class KeyFrequencies:
    """How many records share their keys; confidential. A missing value is a value of its own.

    Attributes
    ----------
    table : pandas.DataFrame
        ``size``: so many records share a combination; ``combinations`` of this size; ``records`` in them. Rare ones
        first.
    keys : tuple of str
    """

    table: pd.DataFrame
    keys: tuple[str, ...]
    _coded: CodedKeys = field(repr=False)

    @property
    def records(self) -> int:
        """How many records there are."""
        return int(self.table["records"].sum())

    @property
    def smallest(self) -> int:
        """The largest k for which the file is k-anonymous."""
        return int(self.table["size"].min())

    def below(self, k: int) -> int:
        """Return how many records share their keys with fewer than `k` records, themselves among these."""
        return int(self.table["records"][self.table["size"] < _least(k)].sum())

    def listing(self, k: int, most: int = 1000) -> pd.DataFrame:
        """Return combinations that fewer than `k` records share, the rarest first, and how many records have each.

        Parameters
        ----------
        k : int
        most : int
            Not more rows than these; `below` counts all.
        """
        columns = self._coded.columns
        every = ", ".join(columns)
        found = self._coded.stage.query(
            f"SELECT * FROM (SELECT {every}, count(*) AS n FROM {RECORDS} GROUP BY {every}) AS g WHERE n < {_least(k)} "
            f"ORDER BY n, {every} LIMIT {_least(most)}"
        )
        frame: dict[str, Any] = {}
        for name, column, values in zip(self.keys, columns, self._coded.values, strict=True):
            frame[name] = [None if code < 0 else values[code] for code in found.column(column).to_pylist()]
        return pd.DataFrame({**frame, "records": np.asarray(found.column("n"), dtype=np.int64)})

    def summary(self, k: int = 3) -> str:
        """Return how many records are in combinations below `k`, in words."""
        count = int(self.table["combinations"].sum())
        return (
            f"{self.records:,} records have {count:,} combinations of {', '.join(self.keys)}; "
            f"{self.below(k):,} records share theirs with fewer than {k}"
        )


@of_kinds()
def key_frequencies(
    data: Any,
    schema: Schema | None = None,
    *,
    keys: Sequence[str] | None = None,
    decimal: str | None = None,
    large: bool | Large = True,
) -> KeyFrequencies:
    """Count how many records share their keys, in DuckDB, or in Spark where the data are a Spark frame.

    Parameters
    ----------
    data : pandas, polars or pyarrow frame, DuckDB relation, Spark frame, or path of CSV or Parquet files
    schema : Schema, optional
    keys : sequence of str, optional
        By default those of the schema.
    decimal : str, optional
        Decimal sign of numbers in text files; recognised.
    large : Large
        Memory and batches.

    Raises
    ------
    InputError
        If a column is not there, or has too many different values to be a key.

    Examples
    --------
    >>> frame = pd.DataFrame({"zip": [1, 1, 1, 2], "sex": ["f", "f", "m", "m"]})
    >>> found = key_frequencies(frame, keys=["zip", "sex"])
    >>> print(found.summary(k=2))
    4 records have 3 combinations of zip, sex; 2 records share theirs with fewer than 2
    >>> found.table.values.tolist(), found.listing(2).values.tolist()
    ([[1, 2, 2], [2, 1, 2]], [[1, 'm', 1], [2, 'm', 1]])
    """
    schema = require(schema)
    names = keys_of_choice(schema, keys)
    stage = open_stage(data, as_large(large), decimal, False, schema, names)
    coded = coded_keys(stage, schema, names)
    every = ", ".join(coded.columns)
    found = coded.stage.query(
        f"SELECT n, count(*) AS c FROM (SELECT count(*) AS n FROM {RECORDS} GROUP BY {every}) AS g "
        "GROUP BY n ORDER BY n"
    )
    size, count = (np.asarray(found.column(c), dtype=np.int64) for c in ("n", "c"))
    return KeyFrequencies(pd.DataFrame({"size": size, "combinations": count, "records": size * count}), names, coded)


def _least(k: Any) -> int:
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InputError(f"k and most must be whole numbers of at least 1, not {k!r}")
    return int(k)
