"""Key columns as whole numbers, outside of memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tabprotect.microdata.large.part import Codebook, Part, records_of
from tabprotect.microdata.large.stage import Stage, distinct
from tabprotect.microdata.schema import Schema

__all__ = ["CodedKeys", "coded_keys"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CodedKeys:
    """Keys as columns k0, k1, ... of whole numbers.

    Attributes
    ----------
    stage : Stage
        -1 where a value is missing.
    names : tuple of str
    values : tuple of tuple
        What the numbers mean; in the order that `Records.categories` gives.
    """

    stage: Stage
    names: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]

    @property
    def sizes(self) -> list[int]:
        """How many different values each key has."""
        return [len(values) for values in self.values]

    @property
    def columns(self) -> list[str]:
        """The columns of the stage."""
        return [f"k{j}" for j in range(len(self.names))]


@dataclass(frozen=True)
class _Coded:
    books: tuple[Codebook, ...]
    places: tuple[Ints, ...]

    def __call__(self, part: Part) -> Part:
        columns = []
        for book, place in zip(self.books, self.places, strict=True):
            at = book.columns(part.table.select(list(book.names)))[:, 0]
            columns.append(pa.array(np.where(at < 0, -1, place[at]), type=pa.int32()))
        return Part(part.rows, pa.table(columns, names=[f"k{j}" for j in range(len(columns))]))


def coded_keys(stage: Stage, schema: Schema, names: Sequence[str]) -> CodedKeys:
    """Number the values of every key."""
    books, places, values = [], [], []
    for name in names:
        found = distinct(stage, [name]).select([name])
        there = records_of(found, schema.only([name])).categories(name)
        book = Codebook.of([name], found)
        at = book.columns(found)[:, 0]
        place = np.full(max(len(book.values[0]), 1), -1, dtype=np.int64)
        place[at[at >= 0]] = there.index[at >= 0]
        books.append(book)
        places.append(place)
        values.append(there.values)
    columns = [f"k{j}" for j in range(len(names))]
    arrow = pa.schema([pa.field(column, pa.int32()) for column in columns])
    return CodedKeys(stage.map(_Coded(tuple(books), tuple(places)), arrow), tuple(names), tuple(values))
