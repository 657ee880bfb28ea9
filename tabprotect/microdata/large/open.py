"""The first stage of records, in the engine that they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tabprotect.microdata.large.duck import open_duck
from tabprotect.microdata.large.options import Large
from tabprotect.microdata.large.stage import Stage
from tabprotect.microdata.schema import Schema

__all__ = ["is_spark", "open_stage"]


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
    return open_duck(data, large, decimal, random, schema, columns)
