"""Metadata lists: the tables of a publication, one a row, and which of them are linked before any data are read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from tabprotect.errors import InputError, Problems, collect, did_you_mean
from tabprotect.formats.files import read_bytes

__all__ = ["Group", "Planned", "group_tables", "read_metadata"]

TEXTS = ("cells", "data", "count", "contributor", "holding", "weight", "kind", "empty", "margins")
LISTS = ("maxima",)
"""Keys of a table of a protocol that a list may have as columns, too; lists with ';' between the names."""

_NUMBERED = re.compile(r"(spanning|hrc_spanning|hrc|total)_([1-9]\d*)")
_PLAIN = ("table_name", "field", "hrc_field", "indicator", "response", "hrc_indicator", *TEXTS, *LISTS)


@dataclass(frozen=True)
class Planned:
    """One table of a metadata list.

    Attributes
    ----------
    name : str
    population : str
        What the table is of (column ``field``); '' where nothing is said.
    response : str
        What is summed (column ``indicator`` or ``response``); '' for counts.
    family : str
        The hierarchy of the response (column ``hrc_indicator``); '' without one.
    by : tuple of str
        The spanning variables.
    trees : mapping of str to str
        The hierarchy of a variable; variables with the same one are levels of the same dimension.
    totals : mapping of str to str
    keys : mapping of str to str or list of str
        What else the list says of the table.
    """

    name: str
    population: str
    response: str
    family: str
    by: tuple[str, ...]
    trees: Mapping[str, str] = field(default_factory=dict)
    totals: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[str, Any] = field(default_factory=dict)

    @property
    def measure(self) -> str:
        """What the values are: tables of one measure share their grand total, and so are linked."""
        what = self.family or self.response or "number of records"
        return f"{what} of {self.population}" if self.population else what

    @property
    def dimensions(self) -> frozenset[str]:
        """The dimensions, variables of one hierarchy being the same, the family of the response one of them."""
        own = frozenset(self.trees.get(name, name) for name in self.by)
        return own | {self.family} if self.family else own


@dataclass(frozen=True)
class Group:
    """Tables that have to be protected together, because they share cells.

    Attributes
    ----------
    name : str
    measure : str
    tables : tuple of Planned
    links : mapping of (str, str) to tuple of str
        Every pair of tables, and the dimensions that both have; without any they share their grand total.
    """

    name: str
    measure: str
    tables: tuple[Planned, ...]
    links: Mapping[tuple[str, str], tuple[str, ...]]


def read_metadata(path: str | Path) -> tuple[Planned, ...]:
    """Read a list of tables: ``table_name``, ``indicator`` or ``response``, ``spanning_1``, ``hrc_spanning_1``, ...

    Empty entries and ``NA`` say nothing. Beside the columns that rtauargus reads (``field``, ``hrc_indicator``) there
    may be ``total_1``, ... and the keys of tables in a protocol: ``cells``, ``data``, ``count``, ``maxima``, ....

    Raises
    ------
    InputError
        Everything that is wrong, by row and column.
    """
    name = Path(path).name
    try:
        text = read_bytes(path)
        frame = pd.read_csv(BytesIO(text), dtype=str, keep_default_na=False, sep=_separator(text), encoding="utf-8-sig")
    except (ValueError, UnicodeError) as error:
        raise InputError(f"{name}: not a CSV file ({error})") from error
    frame = frame.apply(lambda column: column.str.strip()).replace("NA", "")
    with collect() as problems:
        _columns(name, [str(c) for c in frame.columns], problems)
    planned = []
    with collect() as problems:
        for number, row in enumerate(frame.to_dict("records"), 2):
            planned.append(_planned({str(k): str(v) for k, v in row.items()}, f"{name}, line {number}", problems))
        if not planned:
            problems.add(f"{name}: there is no table in it")
        names = [one.name for one in planned]
        for twice in dict.fromkeys(one for one in names if one and names.count(one) > 1):
            problems.add(f"{name}: two tables are called '{twice}'; a table needs a name of its own")
    return tuple(planned)


def group_tables(tables: Sequence[Planned]) -> tuple[Group, ...]:
    """Sort tables into groups that share cells: those of one measure, since all of them show its grand total.

    Examples
    --------
    >>> tables = [Planned("a", "", "turnover", "", ("region",)), Planned("b", "", "turnover", "", ("size",)),
    ...     Planned("c", "", "staff", "", ("size",))]
    >>> [(group.name, [t.name for t in group.tables], dict(group.links)) for group in group_tables(tables)]
    [('turnover', ['a', 'b'], {('a', 'b'): ()}), ('staff', ['c'], {})]
    """
    groups: list[Group] = []
    for measure in dict.fromkeys(one.measure for one in tables):
        mine = tuple(one for one in tables if one.measure == measure)
        links = {(a.name, b.name): tuple(sorted(a.dimensions & b.dimensions)) for a, b in combinations(mine, 2)}
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", measure).strip("-.") or f"cluster{len(groups) + 1}"
        groups.append(Group(name, measure, mine, links))
    return tuple(groups)


def _separator(text: bytes) -> str:
    first = text.split(b"\n", 1)[0]
    return ";" if first.count(b";") > first.count(b",") else ","


def _columns(name: str, columns: Sequence[str], problems: Problems) -> None:
    for column in columns:
        if column not in _PLAIN and not _NUMBERED.fullmatch(column):
            problems.add(f"{name}: unknown column '{column}'{did_you_mean(column, (*_PLAIN, 'spanning_1', 'hrc_1'))}")
    if "table_name" not in columns:
        problems.add(f"{name}: the column 'table_name' is missing{did_you_mean('table_name', columns)}")
    if "spanning_1" not in columns:
        problems.add(f"{name}: the column 'spanning_1' is missing: the first dimension of every table")
    if "indicator" in columns and "response" in columns:
        problems.add(f"{name}: 'indicator' and 'response' mean the same; keep one of them")
    for column in columns:
        found = _NUMBERED.fullmatch(column)
        if found and found[1] != "spanning" and f"spanning_{found[2]}" not in columns:
            problems.add(f"{name}: '{column}' is there, but no column 'spanning_{found[2]}'")


def _planned(row: Mapping[str, str], where: str, problems: Problems) -> Planned:
    by, trees, totals = [], {}, {}
    for column in sorted((c for c in row if c.startswith("spanning_")), key=lambda c: int(c.split("_")[1])):
        number, variable = column.removeprefix("spanning_"), row[column]
        if not variable:
            continue
        by.append(variable)
        if tree := row.get(f"hrc_spanning_{number}") or row.get(f"hrc_{number}"):
            trees[variable] = tree
        if total := row.get(f"total_{number}"):
            totals[variable] = total
    if not row["table_name"]:
        problems.add(f"{where}: the table has no name (column table_name)")
    elif not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", row["table_name"]):
        problems.add(f"{where}: '{row['table_name']}' is no name of a table here; use letters, digits, -, _ and .")
    if not by:
        problems.add(f"{where}: table '{row['table_name']}' has no dimension (column spanning_1)")
    for variable in dict.fromkeys(one for one in by if by.count(one) > 1):
        problems.add(f"{where}: '{variable}' is there twice among the dimensions of '{row['table_name']}'")
    if tree := row.get("hrc_field"):
        problems.add(
            f"{where}: the populations of '{row['table_name']}' add up by {tree}, so they are one more dimension; "
            "list one table with the population among its dimensions (hrc_field)"
        )
    if row.get("cells") and row.get("data"):
        problems.add(f"{where}: give either cells (a finished table) or data (microdata)")
    keys: dict[str, Any] = {key: row[key] for key in TEXTS if row.get(key)}
    keys |= {key: [part.strip() for part in row[key].split(";")] for key in LISTS if row.get(key)}
    response = row.get("indicator") or row.get("response") or ""
    return Planned(
        row["table_name"], row.get("field", ""), response, row.get("hrc_indicator", ""), tuple(by), trees, totals, keys
    )
