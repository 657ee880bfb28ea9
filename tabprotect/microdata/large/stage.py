"""Records between two steps, wherever they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from tabprotect.errors import InputError, Problems, did_you_mean
from tabprotect.microdata.large.options import Large
from tabprotect.microdata.large.part import Codebook, Part
from tabprotect.microdata.schema import Schema
from tabprotect.table.reading import Recognised

__all__ = [
    "COUNT",
    "MOST",
    "RECORDS",
    "ROW",
    "Change",
    "Stage",
    "check_names",
    "check_order",
    "codebook",
    "distinct",
    "number_sql",
    "value_sql",
]

T = TypeVar("T")

ROW = "_tabprotect_row"
"""Column of row numbers that every stage has beside those of the data."""

RECORDS = "_tabprotect_records"
"""Name under which a stage is known to statements of SQL."""

COUNT = "_tabprotect_count"
"""Column of `distinct` with numbers of records."""

MOST = 1_000_000
"""So many categories (or strata) are held in memory."""

Change = Callable[[Part], Part]
"""What is done to some records at a time; it may leave records out. Spark sends it to its workers."""


class Stage(Protocol):
    """Records in their order. Reading them takes memory for a batch, whatever their number."""

    @property
    def arrow(self) -> pa.Schema:
        """Columns and their types, without row numbers."""

    @property
    def count(self) -> int:
        """How many records there are."""

    recognised: tuple[Recognised, ...]
    """How the file was read that the first stage comes from; nothing for later ones."""

    def quoted(self, name: str) -> str:
        """Return a name as SQL writes it."""

    def query(self, sql: str) -> pa.Table:
        """Return the (small) result of a statement that reads from `RECORDS`."""

    def batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        """Return the result of a statement piece by piece, in its order."""

    def native(self) -> Any:
        """Return the records, without row numbers, as their engine has them."""

    def write(self, path: Path) -> None:
        """Write the records, without row numbers, as Parquet or CSV."""

    def map(self, change: Change, arrow: pa.Schema) -> Stage:
        """Change all records, batch by batch."""

    def fold(
        self, work: Callable[[Part], T], columns: Sequence[str], before: Stage | None = None, base: Sequence[str] = ()
    ) -> list[T]:
        """Return what is found in each batch of some columns, and of `base` columns of the same records before."""


def value_sql(stage: Stage, name: str) -> str:
    """Return a column as SQL in which nan is missing, too."""
    quoted = stage.quoted(name)
    if pa.types.is_floating(stage.arrow.field(name).type):
        return f"(CASE WHEN isnan({quoted}) THEN NULL ELSE {quoted} END)"
    return quoted


def number_sql(stage: Stage, name: str) -> str:
    """Return a column of numbers as SQL: floats, nan as missing."""
    return f"CAST({value_sql(stage, name)} AS DOUBLE)"


def distinct(stage: Stage, names: Sequence[str]) -> pa.Table:
    """Return the combinations of some columns in order of first appearance, with their number of records.

    Raises
    ------
    InputError
        If there are more than can be categories.
    """
    inner = ", ".join(f"{value_sql(stage, name)} AS {stage.quoted(name)}" for name in names)
    by = ", ".join(map(stage.quoted, names))
    first = "_tabprotect_first"
    found = stage.query(
        f"SELECT * FROM (SELECT {by}, count(*) AS {COUNT}, min({ROW}) AS {first} "
        f"FROM (SELECT {inner}, {ROW} FROM {RECORDS}) AS r GROUP BY {by}) AS g ORDER BY {first} LIMIT {MOST + 1}"
    )
    if len(found) > MOST:
        what = f"column '{names[0]}' has" if len(names) == 1 else f"columns {', '.join(names)} have"
        raise InputError(f"{what} more than {MOST:,} different values; such columns are no categories or strata")
    return found.drop_columns([first])


def codebook(stage: Stage, names: Sequence[str]) -> tuple[Codebook, pa.Table]:
    """Number the combinations of some columns, and return them; without columns there is one."""
    if not names:
        one = pa.table({COUNT: pa.array([stage.count])})
        return Codebook.of((), one), one
    found = distinct(stage, names)
    return Codebook.of(names, found), found


def check_names(names: Sequence[str], large: Large, schema: Schema, columns: Sequence[str] | None) -> list[str]:
    """Return the columns to be taken in, all by default; with those that give the order.

    Raises
    ------
    InputError
        Names every column that is not there.
    """
    problems = Problems()
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        problems.add(f"several columns are called {', '.join(twice)}")
    if ROW in names:
        problems.add(f"there is a column '{ROW}', the name under which row numbers are kept; rename it")
    for name in dict.fromkeys((*schema.columns, *(columns or ()), *large.order)):
        if name not in names:
            problems.add(f"no column '{name}'{did_you_mean(name, names)}")
    problems.raise_if_any()
    return list(names) if columns is None else list(dict.fromkeys(columns))


def check_order(stage: Stage, order: Sequence[str]) -> None:
    """Refuse an order that leaves records at the same place.

    Raises
    ------
    InputError
        Tells how many records have no place of their own.
    """
    names = ", ".join(map(stage.quoted, order))
    missing = " OR ".join(f"{stage.quoted(name)} IS NULL" for name in order)
    gone = stage.query(f"SELECT count(*) AS n FROM {RECORDS} WHERE {missing}").column("n")[0].as_py()
    found = (
        stage.query(f"SELECT count(*) AS n FROM (SELECT DISTINCT {names} FROM {RECORDS}) AS d").column("n")[0].as_py()
    )
    if gone or found < stage.count:
        what = f"{gone:,} records have none" if gone else f"{stage.count - found:,} repeat it"
        raise InputError(f"Large: order={list(order)} must number the records, but {what}")
