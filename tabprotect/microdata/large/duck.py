"""Stages in Parquet files: DuckDB answers queries, batches come in the order of the file."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tabprotect.errors import InputError
from tabprotect.microdata.large.options import Large
from tabprotect.microdata.large.part import Part
from tabprotect.microdata.large.stage import RECORDS, ROW, Change, Stage, value_sql
from tabprotect.table.duck import literal, quoted
from tabprotect.table.reading import Recognised

__all__ = ["DuckStage", "Workshop", "reader_of", "written"]

T = TypeVar("T")


class Workshop:
    """A DuckDB connection and a folder for the files of stages; both are gone when nobody refers to it."""

    def __init__(self, large: Large) -> None:
        self.large = large
        self.kept = tempfile.TemporaryDirectory(prefix="tabprotect-", dir=large.folder)
        self.folder = Path(self.kept.name)
        config = {"temp_directory": str(self.folder / "spill"), "python_enable_replacements": False}
        self.connection = duckdb.connect(":memory:", config=config)
        self.connection.execute("SET enable_progress_bar = false")
        try:
            self.connection.execute(f"SET memory_limit = {literal(large.memory_limit)}")
        except duckdb.Error as error:
            raise InputError(f"memory_limit '{large.memory_limit}' is not understood; write it as '4GB'") from error
        self.files = 0

    def new_file(self) -> Path:
        """Return the place of a new file."""
        self.files += 1
        return self.folder / f"stage-{self.files}.parquet"

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Errors of DuckDB that come from the data or the machine become an `InputError`."""
        try:
            yield
        except duckdb.OutOfMemoryException as error:
            raise InputError(
                f"counting needs more memory than it may take ({self.large.memory_limit}); raise "
                "Large(memory_limit=...), or name fewer keys"
            ) from error
        except (duckdb.IOException, duckdb.InvalidInputException, duckdb.ConversionException) as error:
            raise InputError(f"the data cannot be read: {str(error).splitlines()[0]}") from error


class DuckStage:
    """Records in a Parquet file; see `Stage`. The file is removed with the last stage that refers to it.

    A file that is lent, such as one of a release, stays.
    """

    def __init__(self, place: Workshop, path: Path, arrow: pa.Schema, count: int, *, lent: bool = False) -> None:
        self.place, self.path, self._arrow, self._count, self.lent = place, path, arrow, count, lent
        self.recognised: tuple[Recognised, ...] = ()

    def __del__(self) -> None:
        if not self.lent:
            self.path.unlink(missing_ok=True)

    @property
    def arrow(self) -> pa.Schema:
        """Columns and their types."""
        return self._arrow

    @property
    def count(self) -> int:
        """How many records there are."""
        return self._count

    def quoted(self, name: str) -> str:
        """Return a name as DuckDB writes it."""
        return quoted(name)

    @property
    def scan(self) -> str:
        """The file as a table of DuckDB."""
        return f"read_parquet({literal(str(self.path))})"

    def query(self, sql: str) -> pa.Table:
        """Return the result of a statement."""
        with self.place.reading():
            self.place.connection.execute(f"CREATE OR REPLACE TEMP VIEW {RECORDS} AS SELECT * FROM {self.scan}")
            return self.place.connection.sql(sql).to_arrow_table()

    def batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        """Return the result of a statement piece by piece, in its order."""
        with self.place.reading():
            self.place.connection.execute(f"CREATE OR REPLACE TEMP VIEW {RECORDS} AS SELECT * FROM {self.scan}")
            yield from reader_of(self.place.connection.sql(sql), self.place.large.batch)

    @property
    def _released(self) -> str:
        return f"SELECT {', '.join(map(quoted, self.arrow.names))} FROM {self.scan}"

    def native(self) -> duckdb.DuckDBPyRelation:
        """Return a relation over the file, which stays as long as the relation or this stage."""
        relation = self.place.connection.sql(self._released)
        weakref.finalize(relation, _keep, self)
        return relation

    def write(self, path: Path) -> None:
        """Write the records, in their order."""
        form = "parquet" if path.suffix.lower() == ".parquet" else "csv"
        sql = self._released
        if form == "csv":
            # a number that is none is a missing value, in a file as in memory
            columns = (f"{value_sql(self, name)} AS {quoted(name)}" for name in self.arrow.names)
            sql = f"SELECT {', '.join(columns)} FROM {self.scan}"
        partial = path.with_name(path.name + ".part")
        try:
            with self.place.reading():
                self.place.connection.execute(f"COPY ({sql}) TO {literal(str(partial))} (FORMAT {form})")
            partial.rename(path)
        finally:
            partial.unlink(missing_ok=True)

    def parts(self, columns: Sequence[str]) -> Iterator[Part]:
        """Return the records batch by batch."""
        names = list(dict.fromkeys(columns))
        with pq.ParquetFile(self.path) as file:
            for batch in file.iter_batches(self.place.large.batch, columns=[*names, ROW]):
                table = pa.Table.from_batches([batch])
                yield Part(np.asarray(table.column(ROW), dtype=np.int64), table.select(names))

    def map(self, change: Change, arrow: pa.Schema) -> Stage:
        """Write a new file."""
        parts = (change(part) for part in self.parts(self.arrow.names))
        return written(self.place, parts, arrow)

    def fold(
        self, work: Callable[[Part], T], columns: Sequence[str], before: Stage | None = None, base: Sequence[str] = ()
    ) -> list[T]:
        """Go through the file once."""
        if before is None:
            return [work(part) for part in self.parts(columns)]
        assert isinstance(before, DuckStage)
        return [work(part) for part in _aligned(self.parts(columns), before.parts(base))]


def _keep(stage: DuckStage) -> None:
    """Do nothing: what is given to `weakref.finalize` lives as long as the object that it watches."""


def written(place: Workshop, parts: Iterator[Part], arrow: pa.Schema) -> DuckStage:
    """Write records into the file of a new stage."""
    path, count = place.new_file(), 0
    full = arrow.append(pa.field(ROW, pa.int64()))
    try:
        # dictionaries of numbers cost most of the time and save little
        words = [f.name for f in full if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)]
        with pq.ParquetWriter(path, full, compression="lz4", use_dictionary=words, write_statistics=False) as writer:
            for part in parts:
                table = part.table.append_column(ROW, pa.array(part.rows, type=pa.int64()))
                if len(table):
                    writer.write_table(table.select(full.names).cast(full))
                count += len(table)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return DuckStage(place, path, arrow, count)


def _aligned(after: Iterator[Part], before: Iterator[Part]) -> Iterator[Part]:
    """Return the records of one stage with those of another that have the same row numbers."""
    rows, table = np.zeros(0, dtype=np.int64), None
    for part in after:
        if not len(part.rows):
            continue
        while table is None or not len(rows) or rows[-1] < part.rows[-1]:
            more = next(before)
            table = more.table if table is None else pa.concat_tables([table, more.table])
            rows = np.concatenate([rows, more.rows])
            past = int(np.searchsorted(rows, part.rows[0]))
            rows, table = rows[past:], table.slice(past)
        at = np.searchsorted(rows, part.rows)
        yield Part(part.rows, part.table, table.take(pa.array(at)))
        past = int(at[-1]) + 1
        rows, table = rows[past:], table.slice(past)


def reader_of(relation: duckdb.DuckDBPyRelation, batch: int) -> pa.RecordBatchReader:
    """Return the rows of a relation piece by piece, in all versions of DuckDB."""
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
    return read(batch)
