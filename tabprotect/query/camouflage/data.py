"""Reading a frame: confidential fields, public columns, columns of bounds, and the declared groupings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError, collect, did_you_mean
from tabprotect.query.camouflage.bounds import Bounds, Covering
from tabprotect.query.camouflage.construction import Groups

__all__ = ["Grouping", "Table", "groups_of", "numbers", "read"]

Floats = npt.NDArray[np.float64]
Grouping = tuple[str, ...]
"""Public columns whose groups are declared; no column: the total."""


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a frame by their role.

    Attributes
    ----------
    values : Mapping of str to ndarray of float
        Confidential fields.
    bounds : Mapping of str to ndarray of float
        Columns of l and u, confidential too.
    public : Mapping of str to ndarray
        All others.
    n : int
        Number of records.
    """

    values: Mapping[str, Floats]
    bounds: Mapping[str, Floats]
    public: Mapping[str, npt.NDArray[Any]]
    n: int

    def columns(self) -> dict[str, Any]:
        """Columns that placements may name."""
        return {**self.public, **self.bounds}

    def with_records(self, other: Table) -> Table:
        """Return this table with the records of another one behind its own."""
        return Table(
            {f: np.concatenate([x, other.values[f]]) for f, x in self.values.items()},
            {c: np.concatenate([x, other.bounds[c]]) for c, x in self.bounds.items()},
            {c: np.concatenate([x, other.public[c]]) for c, x in self.public.items()},
            self.n + other.n,
        )

    def only(self, records: npt.NDArray[np.int64]) -> Table:
        """Return the table of some records."""
        return Table(
            {f: x[records] for f, x in self.values.items()},
            {c: x[records] for c, x in self.bounds.items()},
            {c: x[records] for c, x in self.public.items()},
            len(records),
        )


def read(frame: Any, confidential: Sequence[str], bounds: Mapping[str, Bounds], columns: Sequence[str] = ()) -> Table:
    """Read an eager frame of any kind that narwhals knows; with `columns` given, it must have all of them.

    Raises
    ------
    InputError
        No frame; columns that are missing or hold anything but finite numbers.
    """
    try:
        native = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise InputError(f"a table of pandas, polars or pyarrow is needed, not {type(frame).__name__}") from None
    of_bounds = [c for b in bounds.values() if isinstance(b, Covering) for c in (b.lower, b.upper)]
    needed = [*confidential, *of_bounds, *columns]
    with collect() as problems:
        for name in dict.fromkeys(needed):
            if name not in native.columns:
                problems.add(f"there is no column '{name}'{did_you_mean(name, native.columns)}")
    found: dict[str, npt.NDArray[Any]] = {name: native[name].to_numpy() for name in native.columns}
    with collect() as problems:
        values = {f: numbers(found[f], f, problems.add) for f in confidential}
        limits = {c: numbers(found[c], c, problems.add, infinite=True) for c in of_bounds}
    keep = [c for c in found if c not in values and c not in limits and (not columns or c in columns)]
    return Table(values, limits, {c: found[c] for c in keep}, len(native))


def numbers(column: Any, name: str, add: Any, *, infinite: bool = False) -> Floats:
    """Return a column as floats, or note what is wrong with it."""
    try:
        found = np.array(column, np.float64)
    except (TypeError, ValueError):
        add(f"column '{name}' must hold numbers")
        return np.zeros(0)
    bad = np.flatnonzero(np.isnan(found) if infinite else ~np.isfinite(found))
    if bad.size:
        add(f"column '{name}': {bad.size} missing or infinite values, the first in record {bad[0]} (counted from 0)")
    return found


def groups_of(table: Table, workload: Sequence[Grouping]) -> Groups:
    """Number the groups of all declared groupings."""
    codes, sizes, first = np.zeros((len(workload), table.n), np.int64), [], 0
    for at, grouping in enumerate(workload):
        key = np.zeros(table.n, np.int64)
        for column in grouping:
            index, different = pd.factorize(table.public[column], use_na_sentinel=False)
            key = pd.factorize(key * len(different) + index)[0]
        count = np.bincount(key)
        codes[at] = key + first
        sizes.append(count)
        first += len(count)
    return Groups(codes, np.concatenate(sizes) if sizes else np.zeros(0, np.int64))
