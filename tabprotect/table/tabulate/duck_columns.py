"""Columns in DuckDB, every value checked, as SQL: what `read` is for frames in memory."""

from __future__ import annotations

from collections.abc import Sequence

import narwhals as nw
import numpy as np
import pyarrow as pa

from tabprotect.counted import counted
from tabprotect.errors import Problems
from tabprotect.table.codes import read_codes, some
from tabprotect.table.digits import EXACT, lost_digits
from tabprotect.table.dimension import Dimension
from tabprotect.table.duck import Column, DuckSource, literal
from tabprotect.table.read import as_flag, id_text, number_problem
from tabprotect.table.tabulate.roles import Roles

__all__ = ["check_ids", "flag", "identity", "in_rows", "number", "resolve"]


def resolve(
    source: DuckSource, k: int, wanted: Dimension, columns: Sequence[Column], problems: Problems
) -> tuple[Dimension, str]:
    """Find the hierarchy of a dimension, and return with it the join that finds the leaf (``l0.leaf``, ...)."""
    names = [f"k{i}" for i in range(len(columns))]
    keys = ", ".join(f"{column.sql} AS {name}" for column, name in zip(columns, names, strict=True))
    found = source.query(
        f"SELECT {keys}, count(*) AS times, min(rowid) AS first FROM records r GROUP BY ALL ORDER BY first"
    ).to_arrow_table()
    frame = nw.from_native(found, eager_only=True)
    coded = [read_codes(frame[name], column.name) for column, name in zip(columns, names, strict=True)]
    times, first = (found.column(name).to_numpy().astype(np.int64) for name in ("times", "first"))
    dimension, leaf = wanted.resolve(coded, problems, times, first)
    with source.lend("found", found.select(names).append_column("leaf", pa.array(leaf))):
        source.query(f"CREATE TEMP TABLE leaves_{k} AS SELECT * FROM found")
    on = " AND ".join(f"{c.sql} IS NOT DISTINCT FROM l{k}.{name}" for c, name in zip(columns, names, strict=True))
    return dimension, f" JOIN leaves_{k} l{k} ON {on}"


def number(source: DuckSource, column: Column, roles: Roles, problems: Problems) -> str:
    """Check a column of numbers, and return its expression."""
    if not (column.text or column.numeric):
        problems.add(f"column '{column.name}' must hold numbers, but holds values of type {column.type}")
        return "0.0::DOUBLE"
    number, wrong = f"{column.sql}::DOUBLE", ""
    absent = f"({column.sql} IS NULL OR isnan({number}))"
    if column.text:
        raw = f"nullif(trim({column.sql}::VARCHAR), '')"
        point = raw if roles.decimal == "." else f"replace(replace({raw}, '.', 'x'), {literal(roles.decimal)}, '.')"
        number = f"try_cast({point} AS DOUBLE)"
        absent = f"({raw} IS NULL OR isnan({number}))"
        wrong = f"({raw} IS NOT NULL AND {number} IS NULL)"

    def rows(condition: str) -> tuple[int, str]:
        count, first = source.rows(
            f"SELECT count(*), list(rowid ORDER BY rowid)[1:3] FROM records r WHERE {condition}"
        )[0]
        return int(count), in_rows(first or [], int(count))

    if wrong:
        bad, where = rows(wrong)
        if bad:
            examples = source.rows(f"SELECT {column.sql} FROM records r WHERE {wrong} ORDER BY rowid LIMIT 3")
            library = "duckdb" if source.scan == "relation" else ""
            problems.add(number_problem(column.name, [str(row[0]) for row in examples], where, library))
    infinite, where = rows(f"coalesce(isinf({number}), false)")
    if infinite:
        problems.add(f"column '{column.name}' is infinite in {where}")
    missing, where = rows(absent)
    if missing:
        problems.add(f"column '{column.name}' has no value in {counted(missing, 'row')} ({where}); fill or drop them")
    if "INT" in column.type:
        large, where = rows(f"abs({column.sql}::HUGEINT) > {2**53}")
        if large:
            problems.add(f"column '{column.name}' holds whole numbers beyond 2^53 in {where}: not exact as floats")
    if column.text:
        beyond = f"abs({number}) >= {EXACT}"
        read = source.rows(f"SELECT {point}, {number}, rowid FROM records r WHERE {beyond} ORDER BY rowid")
        lost = lost_digits([str(one[0]) for one in read], np.array([one[1] for one in read], np.float64))
        if lost.any():
            bad_rows = [int(one[2]) for one, bad in zip(read, lost.tolist(), strict=True) if bad]
            where = in_rows(bad_rows[:3], len(bad_rows))
            problems.add(f"column '{column.name}' holds whole numbers beyond 2^53 in {where}: not exact as floats")
    frequency = roles.counts and column.name == roles.value
    below, fraction = f"{number} < 0", f"{number} <> floor({number})"
    found, where = rows(f"{below} OR {fraction}" if frequency else below)
    if found:
        roles.check_number(column.name, rows(below)[0] > 0, frequency, where, problems)
    return number


def in_rows(first: Sequence[int], count: int) -> str:
    """Say in which of `count` rows something is; `first` are the first ones, counted from 0."""
    words = [str(row + 1) for row in first]
    more = f" and {count - len(first)} more" if count > len(first) else ""
    return f"row {words[0]}" if count == 1 else f"rows {', '.join(words)}{more}"


def flag(source: DuckSource, column: Column, most: int, problems: Problems) -> str:
    """Check a column of flags, and return the expression of their meaning."""
    if not (column.text or column.numeric or column.type in ("BOOLEAN", '"NULL"')):
        words = "true or false" if most == 1 else f"0 to {most}"
        problems.add(f"column '{column.name}' must be {words}, but holds values of type {column.type}")
        return "0"
    values = source.rows(
        f"SELECT {column.sql}, count(*), list(rowid ORDER BY rowid)[1:3] FROM records r GROUP BY 1 ORDER BY min(rowid)"
    )
    cases = ""
    for value, count, first in values:
        flag = as_flag(value, most)
        if flag is None:
            words = "true or false" if most == 1 else f"0 to {most}"
            problems.add(f"column '{column.name}' must be {words}, but is {value!r} in {in_rows(first, count)}")
        elif flag:
            cases += f" WHEN {column.sql} = {literal(value) if isinstance(value, str) else value} THEN {flag}"
    return f"(CASE{cases} ELSE 0 END)" if cases else "0"


def identity(column: Column) -> str:
    """Return the expression of an id, blank text being none."""
    if column.text:
        return f"(CASE WHEN trim({column.sql}) = '' THEN NULL ELSE {column.sql} END)"
    if column.type in ("DOUBLE", "FLOAT"):
        return f"(CASE WHEN isnan({column.sql}) THEN NULL ELSE {column.sql} END)"
    return column.sql


def check_ids(source: DuckSource, roles: Roles, ids: dict[str, str], problems: Problems) -> None:
    """Note records without a contributor, and contributors with several holdings."""
    if roles.contributor is None:
        return
    contributor = ids[roles.contributor]
    count, first = source.rows(
        f"SELECT count(*), list(rowid ORDER BY rowid)[1:3] FROM records r WHERE ({contributor}) IS NULL"
    )[0]
    if count:
        problems.add(f"column '{roles.contributor}' names no contributor in {in_rows(first, count)}")
    if roles.holding is not None:
        twice = source.rows(
            f"SELECT who FROM (SELECT {contributor} AS who, {ids[roles.holding]} AS above, min(rowid) AS first "
            "FROM records r GROUP BY 1, 2) WHERE who IS NOT NULL GROUP BY who HAVING count(*) > 1 ORDER BY min(first)"
        )
        if twice:
            names = some([repr(id_text(row[0])) for row in twice])
            problems.add(f"contributors in more than one holding ('{roles.holding}'): {names}")
