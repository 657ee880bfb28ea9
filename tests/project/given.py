"""What is given to a call, and what it was before: a deep copy of every kind of argument, compared afterwards."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

__all__ = ["Given", "snapshot"]


class Given:
    """Hands out arguments, and knows what they were.

    Calling it with an argument notes a deep copy of it and returns the argument itself.
    """

    def __init__(self) -> None:
        self._noted: list[tuple[Any, Any]] = []

    def __call__(self, argument: Any) -> Any:
        self._noted.append((argument, snapshot(argument)))
        return argument

    def __len__(self) -> int:
        return len(self._noted)

    def changed(self) -> list[str]:
        """Return which arguments are no longer what they were."""
        return [
            f"{type(argument).__name__}: {before!r:.300} became {after!r:.300}"
            for argument, before in self._noted
            if (after := snapshot(argument)) != before
        ]


def snapshot(thing: Any) -> Any:
    """Return everything that a caller can see of a thing, sharing no memory with it; equal if nothing changed."""
    if isinstance(thing, enum.Enum):
        return thing
    if isinstance(thing, pd.DataFrame):
        columns = [_of_array(thing.iloc[:, k].to_numpy()) for k in range(thing.shape[1])]
        return ("pandas", list(map(str, thing.dtypes)), snapshot(thing.columns), snapshot(thing.index), columns,
                dict(thing.attrs), thing.flags.allows_duplicate_labels)  # fmt: skip
    if isinstance(thing, pd.Series):
        return ("series", thing.name, snapshot(thing.index), _of_array(thing.to_numpy()))
    if isinstance(thing, pd.Index):
        return ("index", list(map(str, thing.names)), str(thing.dtype), list(map(repr, thing)))
    if isinstance(thing, pl.LazyFrame):
        thing = thing.collect()
    if isinstance(thing, pl.DataFrame):
        return ("polars", list(map(str, thing.schema.items())), list(map(repr, thing.rows())))
    if isinstance(thing, pa.Table):
        return ("pyarrow", thing.schema.to_string(), repr(thing.to_pydict()))
    if isinstance(thing, duckdb.DuckDBPyRelation):
        return ("duckdb", list(thing.columns), list(map(str, thing.types)), list(map(repr, thing.fetchall())))
    if sparse.issparse(thing):
        return ("sparse", thing.format, thing.shape, *map(_of_array, (thing.data, thing.indices, thing.indptr)))
    if isinstance(thing, np.ndarray):
        return _of_array(thing, flags=True)
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        return (type(thing).__name__, [(f.name, snapshot(getattr(thing, f.name))) for f in dataclasses.fields(thing)])
    if isinstance(thing, Mapping):
        return ("mapping", [(repr(key), snapshot(value)) for key, value in thing.items()])
    if isinstance(thing, list | tuple):
        return (type(thing).__name__, list(map(snapshot, thing)))
    if isinstance(thing, set | frozenset):
        return (type(thing).__name__, sorted(map(repr, thing)))
    return repr(thing)


def _of_array(array: Any, *, flags: bool = False) -> Any:
    """Return an array as bytes, or its items in words where they are objects."""
    array = np.asarray(array)
    content = list(map(repr, array.ravel())) if array.dtype.hasobject else array.tobytes()
    return (str(array.dtype), array.shape, content, *((array.flags.writeable,) if flags else ()))
