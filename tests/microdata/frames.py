"""The same records in every library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa

KINDS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda frame: frame,
    "pandas-arrow": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "pandas-nullable": lambda frame: frame.convert_dtypes(),
    "polars": pl.from_pandas,
    "polars-lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "duckdb": lambda frame: duckdb.from_arrow(pa.Table.from_pandas(frame, preserve_index=False)),
}
"""What makes a frame of each kind from a pandas one."""


def as_pandas(frame: Any) -> pd.DataFrame:
    """Return a frame of any kind as pandas."""
    if isinstance(frame, pd.DataFrame):
        return frame
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pl.DataFrame):
        return frame.to_pandas()
    if isinstance(frame, pa.Table):
        return frame.to_pandas()
    return frame.df()
