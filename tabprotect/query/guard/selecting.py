"""The rows that a request is about, group by group, and what the database says of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError
from tabprotect.query.audit.groups import Groups
from tabprotect.query.audit.records import Records
from tabprotect.query.guard.columns import numbered, values_at
from tabprotect.query.guard.database import Database
from tabprotect.query.guard.request import Request
from tabprotect.query.guard.source import Rows
from tabprotect.query.guard.unavailable import UnavailableError
from tabprotect.table.duck import quoted

__all__ = ["Selection", "public_aggregate", "select"]

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Selection:
    """The query sets of a request: one, or one for every group.

    Attributes
    ----------
    labels : tuple of tuple
        The group codes.
    sets : sequence of ndarray of bool
        `Groups` for the groups of a table.
    """

    labels: tuple[tuple[Any, ...], ...]
    sets: Sequence[Bools]


def select(database: Database, request: Request, rows: Rows, key: str, fields_: Sequence[str] = ()) -> Selection:
    """Find the rows that a request is about, group by group.

    Parameters
    ----------
    database : Database
    request : Request
    rows : Rows
        Of its table.
    key : str
        Its column.
    fields_ : sequence of str
        Confidential columns whose values are to be compared with those that were read at the start.

    Raises
    ------
    InputError
        Columns that no groups can be made of.
    UnavailableError
        If rows have come that were not there when the guard started, or values differ.
    """
    columns = [f"{quoted(request.table)}.{quoted(key)} AS k"]
    columns += [f"{quoted(request.table)}.{quoted(name)} AS v{i}" for i, name in enumerate(fields_)]
    columns += [f"{quoted(t)}.{quoted(c)} AS g{i}" for i, (t, c) in enumerate(request.groups)]
    got = database.columns(f"SELECT {', '.join(columns)} {request.source}", coded=len(request.groups))
    position = _positions(rows.keys, got[0])
    n = len(rows.keys)
    together = np.zeros(n, bool)
    together[position[position >= 0]] = True
    if int(together.sum()) != len(position):
        raise UnavailableError("the data have changed since the guard started; start it again with a new log")
    for name, values in zip(fields_, got[1:], strict=False):
        if not _same(rows.fields[name], values, position):
            raise UnavailableError(
                f"values of {request.table}.{name} have changed since the guard started; start it again with a new log"
            )
    if not request.groups:
        return Selection(((),), (together,))
    codes = got[1 + len(fields_) :]
    try:
        numbers, first = numbered(codes)
    except TypeError:
        raise InputError("a column of the groups holds lists or bytes, which no groups are made of") from None
    named = [values_at(column, first) for column in codes]
    labels = [tuple(_plain(column[k]) for column in named) for k in range(len(first))]
    label = np.full(n, -1, np.int32)
    label[position] = numbers
    return Selection(tuple(labels), Groups(label, len(labels)))


def _same(field_: Records, values: npt.NDArray[Any], position: npt.NDArray[np.int64]) -> bool:
    try:
        scaled = np.rint(np.asarray(values, np.float64) * field_.scale)
    except (TypeError, ValueError):
        return False
    return bool(np.array_equal(scaled, field_.values[position]))


def _positions(keys: pd.Index, wanted: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    if keys.dtype.kind in "iu" and wanted.dtype.kind in "iu" and len(keys):
        known = keys.to_numpy()
        if known[-1] < 2**62 and int(known[-1]) - int(known[0]) + 1 == len(known):
            where = wanted.astype(np.int64) - int(known[0])
            return np.where((where >= 0) & (where < len(known)), where, -1)
    return np.asarray(keys.get_indexer(pd.Index(wanted)), np.int64)


def _plain(value: Any) -> Any:
    """Return a code or a value as JSON holds it; what is no number (NaN) is no missing value."""
    if value is None or value is pd.NaT:
        return None
    if isinstance(value, np.datetime64):
        day = np.datetime_data(value.dtype)[0] == "D"
        return None if np.isnat(value) else str(value if day else pd.Timestamp(value))
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value if isinstance(value, str | int | float | bool) else str(value)


def public_aggregate(
    database: Database, request: Request, function: str, column: str, selection: Selection
) -> list[Any]:
    """Let the database aggregate a public column; returned in the order of the groups of a selection."""
    groups = [f"{quoted(t)}.{quoted(c)}" for t, c in request.groups]
    shown = ", ".join(
        [f"{function}({quoted(request.table)}.{quoted(column)}) AS v"] + [f"{g} AS g{i}" for i, g in enumerate(groups)]
    )
    sql = f"SELECT {shown} {request.source}" + (f" GROUP BY {', '.join(groups)}" if groups else "")
    got = database.columns(sql)
    labels = zip(*([_plain(v) for v in g] for g in got[1:]), strict=True) if groups else [()]
    found = {tuple(label): _plain(v) for label, v in zip(labels, got[0], strict=True)}
    if not set(selection.labels) <= set(found):
        raise UnavailableError("the data have changed since the query began; ask again")
    return [found[label] for label in selection.labels]
