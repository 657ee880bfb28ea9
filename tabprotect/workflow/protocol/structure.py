"""The structure of a publication: what the files of every period must have in common, and what is different."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from tabprotect.counted import counted
from tabprotect.errors import InputError, Problems
from tabprotect.formats.files import read_text
from tabprotect.table.codes import some
from tabprotect.table.duck import DuckSource
from tabprotect.table.reading import is_file, open_data
from tabprotect.table.table import Table
from tabprotect.workflow.specification import Spec, each_table

__all__ = ["columns_of", "differences", "read_structure", "structure_of", "structure_text"]

CURE = "if that is meant, run `tabprotect develop` on the new data, which decides anew"
_SHOWN = 8


def structure_of(
    spec: Spec | None,
    tables: Mapping[str, Table],
    clusters: Mapping[str, Sequence[str]],
    columns: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """Return the structure of tables and microdata files.

    Parameters
    ----------
    spec : Spec or None
        Of all tables; None without tables.
    tables : mapping of str to Table
    clusters : mapping of str to sequence of str
    columns : mapping of str to sequence of str
        Of every microdata file.

    Returns
    -------
    dict
        JSON: for every table its value, kind, and by dimension the equations between codes and the codes that cells
        have; the tables of every cluster; the columns of microdata files.
    """
    measures = {name: one.measure for name, one in each_table(spec).items()} if spec is not None else {}
    return {
        "tables": {
            name: {
                "value": table.value_name,
                "kind": table.kind,
                "measure": measures.get(name),
                "dimensions": {str(d.name): _dimension(table, k) for k, d in enumerate(table.dimensions)},
            }
            for name, table in tables.items()
        },
        "clusters": {name: list(names) for name, names in clusters.items()},
        "microdata": {name: list(names) for name, names in columns.items()},
    }


def structure_text(structure: Mapping[str, Any]) -> tuple[str, str]:
    """Return a structure as a document, and a short digest of it."""
    text = json.dumps(structure, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    return text, hashlib.sha256(text.encode()).hexdigest()[:8]


def read_structure(path: Path) -> dict[str, Any]:
    """Read a structure that `tabprotect develop` wrote.

    Raises
    ------
    InputError
        If it cannot be read, or is damaged.
    """
    text = read_text(path)
    try:
        found = json.loads(text)
        if not all(isinstance(found[part], dict) for part in ("tables", "clusters", "microdata")):
            raise ValueError("a part of it is missing")
        for table in found["tables"].values():
            for one in table["dimensions"].values():
                one["codes"], one["splits"] = list(one["codes"]), [(p, tuple(c)) for p, c in one["splits"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{path} is damaged ({error}); run `tabprotect develop` again") from error
    return dict(found)


def columns_of(path: Path) -> list[str]:
    """Return the columns of a file.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    opened = open_data(path).source
    if not is_file(opened):
        return list(map(str, opened.columns))
    with DuckSource(opened) as source:
        return list(source.columns)


def differences(before: Mapping[str, Any], now: Mapping[str, Any], problems: Problems) -> None:
    """Note everything in which the structure of a period's data is not that of the protocol.

    Tables that could not be read, and so are missing in `now`, are left to whoever read them.

    Examples
    --------
    >>> def one(codes):
    ...     size = {"codes": ["T", *codes], "splits": [("T", tuple(codes))]}
    ...     table = {"value": "v", "kind": "magnitude", "measure": None, "dimensions": {"size": size}}
    ...     return {"tables": {"a": table}, "clusters": {"a": ["a"]}, "microdata": {}}
    >>> found = Problems()
    >>> differences(one(["s", "m", "b"]), one(["s", "b", "x"]), found)
    >>> found.found[0]
    "tables.a: dimension 'size' has 1 new code: 'x'"
    >>> found.found[1]
    "tables.a: dimension 'size' has lost 1 code: 'm'"
    """
    noted = len(problems.found)
    for name, old in before["tables"].items():
        if name in now["tables"]:
            _table(f"tables.{name}", old, now["tables"][name], problems)
    for name in now["tables"]:
        if name not in before["tables"]:
            problems.add(f"tables.{name} is new")
    for name, old in before["microdata"].items():
        new = now["microdata"].get(name)
        gone = [column for column in old if new is not None and column not in new]
        more = [column for column in new or () if column not in old]
        if gone:
            problems.add(f"microdata.{name}: the columns {_words(gone)} are missing")
        if more:
            problems.add(f"microdata.{name}: the columns {_words(more)} are new")
    if len(now["tables"]) == len(before["tables"]) and now["clusters"] != before["clusters"]:
        problems.add("the clusters of linked tables are not those of the protocol")
    if len(problems.found) > noted:
        problems.add(f"the structure is not that of the protocol; {CURE}")


def _dimension(table: Table, k: int) -> dict[str, Any]:
    cells, known = table.system.cells, table.dimensions[k].known
    used = cells.get_level_values(k) if isinstance(cells, pd.MultiIndex) else cells
    rows = table.rows.iloc[:, k].astype(str) if table.rows.shape[1] > k else pd.Series(dtype=str)
    there = {str(code) for code in used} | set(rows)
    return {
        "codes": [code for code in known.codes if code in there],
        "splits": [(parent, tuple(parts)) for parent, parts in known.splits],
    }


def _table(name: str, old: Mapping[str, Any], new: Mapping[str, Any], problems: Problems) -> None:
    for what in ("value", "kind", "measure"):
        if old[what] != new[what]:
            problems.add(f"{name}: its {what} is {new[what]!r}, and was {old[what]!r}")
    for dimension, was in old["dimensions"].items():
        found = new["dimensions"].get(dimension)
        if found is None:
            problems.add(f"{name}: there is no dimension '{dimension}' any more")
            continue
        more = [code for code in found["codes"] if code not in set(was["codes"])]
        gone = [code for code in was["codes"] if code not in set(found["codes"])]
        if more:
            problems.add(f"{name}: dimension '{dimension}' has {counted(len(more), 'new code')}: {_words(more)}")
        if gone:
            lost = counted(len(gone), "code")
            problems.add(f"{name}: dimension '{dimension}' has lost {lost}: {_words(gone)}")
        if not more and not gone:
            _hierarchy(f"{name}: dimension '{dimension}'", was["splits"], found["splits"], problems)
    for dimension in new["dimensions"]:
        if dimension not in old["dimensions"]:
            problems.add(f"{name}: the dimension '{dimension}' is new")


def _hierarchy(
    name: str,
    before: Sequence[tuple[str, tuple[str, ...]]],
    now: Sequence[tuple[str, tuple[str, ...]]],
    problems: Problems,
) -> None:
    was, found = ({(p, frozenset(parts)) for p, parts in splits} for splits in (before, now))
    other = sorted({parent for parent, _ in was ^ found})
    if other:
        problems.add(f"{name} has another hierarchy: what makes up {_words(other)} is not what it was")


def _words(names: Sequence[str]) -> str:
    return str(some([repr(name) for name in names], _SHOWN))
