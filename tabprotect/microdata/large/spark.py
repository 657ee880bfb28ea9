"""Stages in Spark: SQL where sums are wanted, batches of Arrow on the workers where records are changed."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
import pyarrow as pa

from tabprotect.errors import InputError
from tabprotect.microdata.large.options import Large
from tabprotect.microdata.large.part import Part
from tabprotect.microdata.large.stage import RECORDS, ROW, Change, Stage, check_names, check_order
from tabprotect.microdata.schema import Schema
from tabprotect.table.reading import Recognised
from tabprotect.table.tabulate.spark import Spark

__all__ = ["SparkStage", "open_spark"]

T = TypeVar("T")


class SparkStage:
    """Records in a Spark frame that the executors keep; see `Stage`. The workers must have tabprotect, too."""

    def __init__(self, frame: Any) -> None:
        from pyspark.sql.pandas.types import to_arrow_schema

        # a plan that is run again may put records into other partitions: what is found is fixed once
        self.frame = frame.localCheckpoint()
        full = to_arrow_schema(frame.schema)
        self._arrow = pa.schema([f for f in full if f.name != ROW])
        self._count = int(self.frame.count())
        self.recognised: tuple[Recognised, ...] = ()

    @property
    def arrow(self) -> pa.Schema:
        """Columns and their types."""
        return self._arrow

    @property
    def count(self) -> int:
        """How many records there are."""
        return self._count

    def quoted(self, name: str) -> str:
        """Return a name as Spark writes it."""
        return _quoted(name)

    def _sql(self, sql: str) -> Any:
        session = self.frame.sparkSession
        self.frame.createOrReplaceTempView(RECORDS)
        try:
            return session.sql(sql)
        finally:
            session.catalog.dropTempView(RECORDS)

    def query(self, sql: str) -> pa.Table:
        """Return the result of a statement."""
        table: pa.Table = self._sql(sql).toArrow()
        return table

    def batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        """Return the result of a statement, a partition at a time."""
        for row in self._sql(sql).mapInArrow(_packed, "data binary").toLocalIterator():
            yield from pa.ipc.open_stream(io.BytesIO(bytes(row[0])))

    def native(self) -> Any:
        """Return the Spark frame."""
        return self.frame.drop(ROW)

    def write(self, path: Path) -> None:
        """Write a folder of files."""
        writer = self.native().write.mode("error")
        writer.parquet(str(path)) if path.suffix.lower() == ".parquet" else writer.csv(str(path), header=True)

    def map(self, change: Change, arrow: pa.Schema) -> Stage:
        """Change the records on the workers."""
        from pyspark.sql.pandas.types import from_arrow_schema

        full = arrow.append(pa.field(ROW, pa.int64()))
        return SparkStage(self.frame.mapInArrow(_Mapped(change, full), from_arrow_schema(full)))

    def fold(
        self, work: Callable[[Part], T], columns: Sequence[str], before: Stage | None = None, base: Sequence[str] = ()
    ) -> list[T]:
        """Go through the records on the workers, and collect what is found."""
        names = list(dict.fromkeys(columns))
        frame = self.frame.selectExpr(ROW, *(f"{_quoted(n)} AS a{i}" for i, n in enumerate(names)))
        earlier = list(dict.fromkeys(base)) if before is not None else []
        if before is not None:
            assert isinstance(before, SparkStage)
            other = before.frame.selectExpr(ROW, *(f"{_quoted(n)} AS b{i}" for i, n in enumerate(earlier)))
            frame = frame.join(other, ROW)
        folded = frame.mapInArrow(_Folded(work, names, earlier, before is not None), "data binary")
        return [pickle.loads(bytes(row[0])) for row in folded.collect()]


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


class _Mapped:
    """A change of records, as Spark calls it."""

    def __init__(self, change: Change, full: pa.Schema) -> None:
        self.change, self.full = change, full

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            table = pa.Table.from_batches([batch])
            part = self.change(Part(np.asarray(table.column(ROW), dtype=np.int64), table.drop_columns([ROW])))
            done = part.table.append_column(ROW, pa.array(part.rows, type=pa.int64()))
            yield from done.select(self.full.names).cast(self.full).to_batches()


class _Folded:
    """What is found in records, as Spark calls it."""

    def __init__(self, work: Callable[[Part], Any], names: list[str], earlier: list[str], paired: bool) -> None:
        self.work, self.names, self.earlier, self.paired = work, names, earlier, paired

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            table = pa.Table.from_batches([batch])
            rows = np.asarray(table.column(ROW), dtype=np.int64)
            now = table.select([f"a{i}" for i in range(len(self.names))]).rename_columns(self.names)
            before = None
            if self.paired:
                before = table.select([f"b{i}" for i in range(len(self.earlier))]).rename_columns(self.earlier)
            found = pickle.dumps(self.work(Part(rows, now, before)))
            yield pa.RecordBatch.from_arrays([pa.array([found], type=pa.binary())], ["data"])


def _packed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Turn batches into bytes, one row each."""
    for batch in batches:
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        yield pa.RecordBatch.from_arrays([pa.array([sink.getvalue()], type=pa.binary())], ["data"])


def open_spark(
    data: Any, large: Large, random: bool, schema: Schema, columns: Sequence[str] | None = None
) -> SparkStage:
    """Number the records of a Spark frame, in the order of the columns that give one.

    Raises
    ------
    InputError
        If there is no order that the draws of a random method could follow, or it leaves records at the same place.
    """
    names = check_names(data.columns, large, schema, columns)
    sort = bool(large.order) and columns is None
    if random and not large.order:
        raise InputError(
            "a Spark frame has no order of its own, which random draws follow; name columns that number the records: "
            "large=Large(order=...)"
        )
    ordered = data.orderBy(*(_quoted(name) for name in large.order)) if sort else data
    # numbering needs names of its own
    plain = ordered.selectExpr(*(f"{_quoted(name)} AS c{i}" for i, name in enumerate(names)))
    with Spark(nw.from_native(plain)) as place:
        numbered = nw.to_native(place.numbered(nw.from_native(plain.localCheckpoint())))
        back = (f"c{i} AS {_quoted(name)}" for i, name in enumerate(names))
        stage = SparkStage(numbered.selectExpr(*back, f"row AS {ROW}"))
    if not stage.count:
        raise InputError("the data have no records")
    if sort:
        check_order(stage, large.order)
    return stage
