"""The place of data frames in Spark: what tabulation needs of it beyond narwhals."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import narwhals as nw
import pyarrow as pa

__all__ = ["Spark"]

Frame = nw.LazyFrame[Any]


class Spark:
    """A Spark session with a frame; what is kept there is freed at the end of a ``with`` block.

    Row numbers follow the order of partitions and of the rows in them, which Spark keeps for data that are read or
    created, and makes up for data that were shuffled. They are fixed once, so that one tabulation is consistent.
    """

    def __init__(self, frame: Frame) -> None:
        self.session = nw.to_native(frame).sparkSession
        self._kept: list[Any] = []

    def __enter__(self) -> Spark:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for native in self._kept:
            native.unpersist()

    def numbered(self, frame: Frame) -> Frame:
        """Return the frame with a column ``row``: numbers within partitions, and the rows of the partitions before."""
        native = self._persisted(nw.to_native(frame).selectExpr("*", "monotonically_increasing_id() AS number"))
        # the number holds the partition in its upper 31 bits and the row within it in the lower 33
        counts = native.groupBy(_sql("shiftright(number, 33) AS part")).count().orderBy("part").collect()
        before, starts = 0, []
        for part, count in counts:
            starts.append((int(part), before))
            before += int(count)
        starts = starts or [(0, 0)]
        offsets = self.session.createDataFrame(starts, "part bigint, start bigint")
        joined = native.withColumn("part", _sql("shiftright(number, 33)")).join(_broadcast(offsets), "part")
        row = "start + (number & 8589934591) AS row"
        columns = [f"`{name}`" for name in native.columns if name != "number"]
        numbered: Frame = nw.from_native(joined.selectExpr(*columns, row))
        return numbered

    def keep(self, frame: Frame) -> Frame:
        """Persist a frame, in memory and on disk."""
        kept: Frame = nw.from_native(self._persisted(nw.to_native(frame)))
        return kept

    def lend(self, table: pa.Table) -> Frame:
        """Broadcast a small table to the workers."""
        lent: Frame = nw.from_native(_broadcast(self.session.createDataFrame(table)))
        return lent

    def take(self, frame: Frame) -> pa.Table:
        """Collect a frame as Arrow."""
        table: pa.Table = nw.to_native(frame).toArrow()
        return table

    def _persisted(self, native: Any) -> Any:
        native = native.persist()
        self._kept.append(native)
        return native


def _sql(expression: str) -> Any:
    from pyspark.sql import functions

    return functions.expr(expression)


def _broadcast(native: Any) -> Any:
    from pyspark.sql import functions

    return functions.broadcast(native)
