"""The rows of a table as the auditor needs them: keys, units and confidential values, read once and checked."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.counted import counted
from tabprotect.errors import InputError, Problems
from tabprotect.query.audit.groups import Groups
from tabprotect.query.audit.records import Intruder, Records
from tabprotect.query.guard.database import Database
from tabprotect.query.guard.policy import Policy
from tabprotect.query.guard.sql import Request

__all__ = ["ROWS", "Rows", "Selection", "load", "select"]

Bools = npt.NDArray[np.bool_]

ROWS: Final = "*"
"""Stands for the field of ones that COUNT(*) adds up."""


@dataclass(frozen=True, eq=False)
class Rows:
    """One table. Internal.

    Attributes
    ----------
    keys : pandas.Index
        Of the rows, in ascending order.
    units : ndarray of int
    fields : dict of str to Records
        The confidential columns, and `ROWS`.
    fingerprint : str
        Of keys, units and values: a log speaks of one state of the data.
    intruders : tuple of Intruder
    """

    keys: pd.Index
    units: npt.NDArray[np.int64]
    fields: dict[str, Records] = field(repr=False)
    fingerprint: str = ""
    intruders: tuple[Intruder, ...] = ()


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


def quoted(name: str) -> str:
    """Return a name as both databases read it."""
    return '"' + name.replace('"', '""') + '"'


def load(database: Database, policy: Policy, table: str) -> Rows:
    """Read one table.

    Raises
    ------
    InputError
        Keys that are not unique, missing values and units, a table without a way to the unit; everything at once.
    """
    t = policy.tables[table]
    path = policy.path_to_unit(table)
    if path is None:
        raise InputError(f"table '{table}' has no joins that lead to the unit {policy.unit}; its rows are nobody's")
    unit_table, _, unit = policy.unit.partition(".")
    names = list(t.confidential)
    columns = [f"{quoted(table)}.{quoted(t.key)}", f"{quoted(unit_table)}.{quoted(unit)}"]
    columns += [f"{quoted(table)}.{quoted(name)}" for name in names]
    # the position keeps result columns of one name apart
    text = ", ".join(f"{column} AS c{k}" for k, column in enumerate(columns))
    sql = f"SELECT {text} FROM {quoted(table)}"
    for child, column, parent, key in path:
        sql += f" LEFT JOIN {quoted(parent)} ON {quoted(child)}.{quoted(column)} = {quoted(parent)}.{quoted(key)}"
    got = database.columns(sql + " ORDER BY 1")
    problems = Problems()
    _check_keys(database, policy, table, problems)
    for name, values in zip([t.key, policy.unit, *names], got, strict=True):
        missing = int(np.count_nonzero(pd.isna(values)))
        if missing:
            problems.add(
                f"{counted(missing, 'row')} of table '{table}' {'has' if missing == 1 else 'have'} no {name}; "
                "open a view without them to the guard, or fill them"
            )
    problems.raise_if_any()
    keys = pd.Index(got[0])
    codes = np.asarray(pd.factorize(got[1])[0], np.int64)
    fields_ = {ROWS: Records.of(np.ones(len(keys)), units=codes, name="rows")}
    for name, values in zip(names, got[2:], strict=True):
        bounds = t.confidential[name]
        numbers = _numbers(values, f"{table}.{name}")
        read = Records.of(numbers, lower=bounds.lower, upper=bounds.upper, units=codes, name=f"{table}.{name}")
        # the fields share one array of units, so that what is sorted by units is sorted once
        fields_[name] = replace(read, units=fields_[ROWS].units)
    return Rows(keys, codes, fields_, _fingerprint(got), _intruders(policy, table, keys))


def _numbers(column: npt.NDArray[Any], name: str) -> npt.NDArray[np.float64]:
    try:
        return np.asarray(column, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"column {name} is confidential and must hold numbers") from None


def _check_keys(database: Database, policy: Policy, table: str, problems: Problems) -> None:
    """Keys identify rows: also those of all tables that joins lead to."""
    todo, seen = [table], set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        t = policy.tables[name]
        todo += [other.partition(".")[0] for other in t.joins.values()]
        key = quoted(t.key)
        rows, distinct = database.columns(f"SELECT count(*) AS a, count(DISTINCT {key}) AS b FROM {quoted(name)}")
        if int(rows[0]) != int(distinct[0]):
            problems.add(
                f"{name}.{t.key} is no key: {counted(int(rows[0]), 'row')}, "
                f"{counted(int(distinct[0]), 'distinct value')}"
            )


def _fingerprint(columns: Sequence[npt.NDArray[Any]]) -> str:
    digest = hashlib.sha256()
    for column in columns:
        # values of both databases and of all drivers, alike
        digest.update(pd.util.hash_array(column.astype(str).astype(object), categorize=False).tobytes())
    return digest.hexdigest()


def _intruders(policy: Policy, table: str, keys: pd.Index) -> tuple[Intruder, ...]:
    found = []
    for name, known in policy.intruders.items():
        if table in known:
            where = keys.get_indexer(pd.Index(list(known[table])))
            if (where < 0).any():
                missing = [k for k, i in zip(known[table], where, strict=True) if i < 0]
                raise InputError(f"policy: intruder '{name}' knows rows of '{table}' that are not there: {missing[:5]}")
            found.append(Intruder(name, tuple(where.tolist())))
    return tuple(found)


def select(database: Database, request: Request, rows: Rows, key: str) -> Selection:
    """Find the rows that a request is about, group by group.

    Raises
    ------
    InputError
        If rows have come that were not there when the guard started.
    """
    columns = [f"{quoted(request.table)}.{quoted(key)} AS k"]
    columns += [f"{quoted(t)}.{quoted(c)} AS g{i}" for i, (t, c) in enumerate(request.groups)]
    got = database.columns(f"SELECT {', '.join(columns)} {request.source}")
    position = _positions(rows.keys, got[0])
    n = len(rows.keys)
    together = np.zeros(n, bool)
    together[position[position >= 0]] = True
    if int(together.sum()) != len(position):
        raise InputError("the data have changed since the guard started; start it again with a new log")
    if not request.groups:
        return Selection(((),), (together,))
    frame = pd.DataFrame(dict(enumerate(got[1:])))
    numbers = frame.groupby(list(frame.columns), dropna=False, sort=True).ngroup().to_numpy()
    _, first = np.unique(numbers, return_index=True)
    labels = [tuple(_plain(frame.iat[int(row), i]) for i in range(frame.shape[1])) for row in first]
    label = np.full(n, -1, np.int32)
    label[position] = numbers
    return Selection(tuple(labels), Groups(label, len(labels)))


def _positions(keys: pd.Index, wanted: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    if keys.dtype.kind in "iu" and wanted.dtype.kind in "iu" and len(keys):
        known = keys.to_numpy()
        if int(known[-1]) - int(known[0]) + 1 == len(known):
            where = wanted.astype(np.int64) - int(known[0])
            return np.where((where >= 0) & (where < len(known)), where, -1)
    return np.asarray(keys.get_indexer(pd.Index(wanted)), np.int64)


def _plain(value: Any) -> Any:
    if value is None or value is pd.NaT or (isinstance(value, float) and np.isnan(value)):
        return None
    if isinstance(value, np.generic):
        return value.item()
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
    labels = zip(*(([_plain(v) for v in g]) for g in got[1:]), strict=True) if groups else [()]
    found = {tuple(label): _plain(v) for label, v in zip(labels, got[0], strict=True)}
    return [found.get(label) for label in selection.labels]
