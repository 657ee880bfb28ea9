"""The first stage of records, in the engine that they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import fspath
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pyarrow as pa

from tabprotect.errors import InputError
from tabprotect.microdata.large.duck import DuckStage, Workshop, reader_of, written
from tabprotect.microdata.large.options import Large
from tabprotect.microdata.large.part import Part
from tabprotect.microdata.large.stage import Stage, check_names, check_order
from tabprotect.microdata.schema import Schema
from tabprotect.table.duck import TextFile, literal, quoted, scan_of
from tabprotect.table.read import open_frame
from tabprotect.table.reading import File, is_file, open_data
from tabprotect.table.reading.typed import typed

__all__ = ["is_spark", "open_stage"]

_WHOLE = r"-?(0|[1-9]\d*)"
_NUMBER = r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?"


def is_spark(data: Any) -> bool:
    """Whether data are a Spark frame, of a session in this process or behind Spark Connect."""
    return any(kind.__module__.startswith("pyspark.sql") and kind.__name__ == "DataFrame" for kind in type(data).mro())


def open_stage(
    data: Any, large: Large, decimal: str | None, random: bool, schema: Schema, columns: Sequence[str] | None = None
) -> Stage:
    """Take data (or some columns) in; see `Large` for the order of records.

    Raises
    ------
    InputError
        If they cannot be read, have no records, lack a column of the schema, or have no order that random draws could
        follow.
    """
    if is_spark(data):
        from tabprotect.microdata.large.spark import open_spark

        return open_spark(data, large, random, schema, columns)
    return _open_duck(data, large, decimal, random, schema, columns)


def _open_duck(
    data: Any, large: Large, decimal: str | None, random: bool, schema: Schema, columns: Sequence[str] | None = None
) -> DuckStage:
    """Copy data into the first stage, in their order.

    Raises
    ------
    InputError
        If the data cannot be read, have no records, or no order that the draws of a random method could follow.
    """
    place = Workshop(large)
    with place.reading():
        opened = open_data(File.of(data, decimal), large=0) if is_file(data) else None
        given = data if opened is None else opened.source
        lent = None
        if is_file(given):
            scan = given.scan if isinstance(given, TextFile) else scan_of(fspath(given))
            names = [row[0] for row in place.connection.sql(f"DESCRIBE SELECT * FROM {scan}").fetchall()]
        else:
            if isinstance(given, duckdb.DuckDBPyRelation):
                if random and not large.order:
                    _need_order(given)
                lent = reader_of(given, large.batch)
            else:
                lent = _as_arrow(given)
                if opened is not None and opened.recognised.kind == "text":
                    lent = typed(lent, opened.recognised)
            scan, names = "data", list(lent.schema.names)
            place.connection.register(scan, lent)
        wanted = check_names(names, large, schema, columns)
        if opened is not None and isinstance(given, TextFile):
            chosen = ", ".join(_typed(place, scan, wanted, opened.decimal))
        else:
            chosen = ", ".join(map(quoted, wanted))
        sort = large.order and columns is None
        order = f" ORDER BY {', '.join(map(quoted, large.order))}" if sort else ""
        stage = _first(place, place.connection.sql(f"SELECT {chosen} FROM {scan}{order}"))
        if lent is not None:
            place.connection.unregister(scan)
    if not stage.count:
        raise InputError("the data have no records")
    if sort:
        check_order(stage, large.order)
    if opened is not None:
        stage.recognised = (opened.recognised,)
    return stage


def _as_arrow(data: Any) -> pa.Table:
    """Return a frame that is in memory as Arrow."""
    frame = open_frame(data)
    eager = frame.collect("pyarrow") if isinstance(frame, nw.LazyFrame) else frame
    table: pa.Table = eager.to_arrow()
    return table


def _first(place: Workshop, relation: duckdb.DuckDBPyRelation) -> DuckStage:
    reader = reader_of(relation, place.large.batch)
    arrow = pa.schema([pa.field(f.name, _plain_type(f.type)) for f in reader.schema])

    def parts() -> Iterator[Part]:
        start = 0
        for batch in reader:
            rows = np.arange(start, start + len(batch), dtype=np.int64)
            start += len(batch)
            yield Part(rows, pa.Table.from_batches([batch]).cast(arrow))

    return written(place, parts(), arrow)


def _plain_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _need_order(relation: duckdb.DuckDBPyRelation) -> None:
    """Refuse a relation whose connection gives rows in any order."""
    setting = "SELECT current_setting('preserve_insertion_order')"
    keeps = relation.limit(0).query("tabprotect_settings", setting).fetchall()[0][0]
    if not keeps:
        raise InputError(
            "the connection of the relation does not keep the order of its rows, which random draws follow; name "
            "columns that number them: large=Large(order=...), or SET preserve_insertion_order = true"
        )


def _typed(place: Workshop, scan: str, names: Sequence[str], decimal: str) -> list[str]:
    """Return the columns of a CSV file as SQL: numbers where all of their values are, without leading zeros."""
    plain = []
    for name in names:
        word = f"trim({quoted(name)})"
        plain.append(word if decimal == "." else f"replace({word}, {literal(decimal)}, '.')")
    tests = []
    for word in plain:
        there = f"FILTER ({word} <> '')"
        whole = f"regexp_full_match({word}, {literal(_WHOLE)}) AND length({word}) < 16"
        tests.append(f"bool_and(regexp_full_match({word}, {literal(_NUMBER)})) {there}, bool_and({whole}) {there}")
    found = place.connection.sql(f"SELECT {', '.join(tests)} FROM {scan}").fetchall()[0]
    columns = []
    for i, (name, word) in enumerate(zip(names, plain, strict=True)):
        if not found[2 * i]:
            columns.append(quoted(name))
            continue
        kind = "BIGINT" if found[2 * i + 1] else "DOUBLE"
        columns.append(f"CAST(nullif({word}, '') AS {kind}) AS {quoted(name)}")
    return columns
