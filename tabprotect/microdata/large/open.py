"""The first stage of records, in the engine that they belong to."""

from __future__ import annotations

from typing import Any

from tabprotect.microdata.large.duck import open_duck
from tabprotect.microdata.large.options import Large
from tabprotect.microdata.large.stage import Stage

__all__ = ["is_spark", "open_stage"]


def is_spark(data: Any) -> bool:
    """Whether data are a Spark frame, of a session in this process or behind Spark Connect."""
    return any(kind.__module__.startswith("pyspark.sql") and kind.__name__ == "DataFrame" for kind in type(data).mro())


def open_stage(data: Any, large: Large, decimal: str, random: bool) -> Stage:
    """Take data in; see `Large` for the order of records.

    Raises
    ------
    InputError
        If they cannot be read, have no records, or no order that random draws could follow.
    """
    if is_spark(data):
        from tabprotect.microdata.large.spark import open_spark

        return open_spark(data, large, random)
    return open_duck(data, large, decimal, random)
