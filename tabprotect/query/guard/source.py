"""The rows of a table as the auditor needs them: keys, units and confidential values, read once and checked."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.counted import counted
from tabprotect.errors import InputError, Problems
from tabprotect.query.audit.records import Intruder, Records, TooFineError
from tabprotect.query.guard.database import Database
from tabprotect.query.guard.policy import Policy
from tabprotect.query.guard.views import keyed_view, rounded_view
from tabprotect.table.duck import quoted

__all__ = ["ROWS", "Rows", "check_apart", "load"]

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
    columns : dict of str to str
        The same of units and one confidential column each.
    intruders : tuple of Intruder
    """

    keys: pd.Index
    units: npt.NDArray[np.int64]
    fields: dict[str, Records] = field(repr=False)
    fingerprint: str = ""
    columns: dict[str, str] = field(default_factory=dict, repr=False)
    intruders: tuple[Intruder, ...] = ()


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
    keys = _keys(got[0], f"{table}.{t.key}")
    codes = _units(got[1], policy.unit)
    fields_ = {ROWS: Records.of(np.ones(len(keys)), units=codes, name="rows")}
    fine: dict[str, npt.NDArray[np.float64]] = {}
    said: list[str] = []
    for name, values in zip(names, got[2:], strict=True):
        bounds = t.confidential[name]
        numbers = _numbers(values, f"{table}.{name}")
        try:
            read = Records.of(numbers, lower=bounds.lower, upper=bounds.upper, units=codes, name=f"{table}.{name}")
        except TooFineError as error:
            fine[name] = numbers
            said.append(str(error))
            continue
        # the fields share one array of units, so that what is sorted by units is sorted once
        fields_[name] = replace(read, units=fields_[ROWS].units)
    here = dict.fromkeys([t.key, *([unit] if table == unit_table else []), *t.joins, *t.public, *t.confidential])
    if fine:
        view = rounded_view(table, list(here), fine)
        cure = "" if view is None else f"; for rounded values, open a view in place of '{table}': {view}"
        raise InputError("; ".join(said) + cure)
    values_of = {name: _fingerprint([got[1], values]) for name, values in zip(names, got[2:], strict=True)}
    return Rows(keys, codes, fields_, _fingerprint(got), values_of, _intruders(policy, table, keys))


def _keys(column: npt.NDArray[Any], name: str) -> pd.Index:
    """Return keys as an index that finds every row again."""
    try:
        keys: pd.Index[Any] = pd.Index(column)
        if keys.dtype.kind != "f" and keys.is_unique:
            return keys
    except TypeError:
        pass
    raise InputError(
        f"column {name} cannot serve as a key: keys are whole numbers, texts, dates or identifiers, not "
        f"{type(column[0]).__name__ if len(column) else column.dtype}; open a view with such a key to the guard"
    )


def _units(column: npt.NDArray[Any], name: str) -> npt.NDArray[np.int64]:
    try:
        return np.asarray(pd.factorize(column)[0], np.int64)
    except TypeError:
        raise InputError(f"column {name} cannot name units: it holds {type(column[0]).__name__}") from None


def check_apart(tables: Mapping[str, Rows]) -> None:
    """Refuse columns that hold the same values of the same units: an auditor of one knows nothing of the others.

    Raises
    ------
    InputError
        Names every pair.
    """
    problems, seen = Problems(), dict[str, str]()
    for table, rows in tables.items():
        for name, fingerprint in rows.columns.items():
            other = seen.setdefault(fingerprint, f"{table}.{name}")
            if other != f"{table}.{name}":
                problems.add(
                    f"policy: {other} and {table}.{name} hold the same values of the same units; open one of them"
                )
    problems.raise_if_any()


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
                f"{counted(int(distinct[0]), 'distinct value')}; where several columns identify a row together, open a "
                "view that makes them one (SECOND stands for the other), and name its column row as the key: "
                + keyed_view(name, [t.key, "SECOND"])
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
