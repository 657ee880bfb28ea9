"""Tables of microdata at random: every cell by hand, and the same bits from every kind of data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tabprotect.table.duck import DuckSource
from tabprotect.table.tabulate import tabulate
from tabprotect.table.tabulate.duck import tabulate_duckdb
from tabprotect.table.tabulate.memory import tabulate_frame
from tabprotect.table.tabulate.roles import Roles
from tests.table.tabulate.by_hand import BY, REGION, ROLES, SECTOR, check_every_cell, microdata, same


@settings(max_examples=12, deadline=None)
@given(microdata(), ROLES, st.integers(1, 4))
def test_every_cell_is_what_its_records_say(data: pd.DataFrame, roles: dict[str, Any], top: int) -> None:
    check_every_cell(data, roles, top)


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(microdata(), ROLES, st.integers(1, 4))
def test_every_cell_is_what_its_records_say_many_times(data: pd.DataFrame, roles: dict[str, Any], top: int) -> None:
    check_every_cell(data, roles, top)


def as_csv(frame: pd.DataFrame, folder: Path) -> str:
    frame.to_csv(folder / "data.csv", index=False)
    return str(folder / "data.csv")


def as_parquet(frame: pd.DataFrame, folder: Path) -> Path:
    frame.to_parquet(folder / "data.parquet")
    return folder / "data.parquet"


def as_relation(frame: pd.DataFrame, folder: Path) -> Any:
    connection = duckdb.connect()
    connection.register("frame", pa.Table.from_pandas(frame))
    return connection.sql("SELECT * FROM frame")


BACKENDS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "polars": lambda frame, _: pl.from_pandas(frame),
    "polars lazy": lambda frame, _: pl.from_pandas(frame).lazy(),
    "pyarrow": lambda frame, _: pa.Table.from_pandas(frame),
    "pandas with arrow types": lambda frame, _: frame.convert_dtypes(dtype_backend="pyarrow"),
    "pandas with categories": lambda frame, _: frame.astype({"sector": "category", "region": "category"}),
    "relation": as_relation,
    "csv": as_csv,
    "parquet": as_parquet,
}


@pytest.mark.parametrize("backend", BACKENDS)
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=microdata(), roles=ROLES, empty=st.sampled_from(["zero", "structural", "drop", None]))
def test_all_backends_give_the_same_bits(
    tmp_path: Path, backend: str, data: pd.DataFrame, roles: dict[str, Any], empty: Any
) -> None:
    table = tabulate(data, BY, empty=empty, **roles)
    same(table, tabulate(BACKENDS[backend](data, tmp_path), BY, empty=empty, **roles))


def test_pieces_of_any_size_give_the_same_bits(tmp_path: Path) -> None:
    """DuckDB hands over entries in pieces; holders with entries in several cells are never split."""
    rng = np.random.default_rng(3)
    n = 9000
    data = pd.DataFrame(
        {
            "sector": rng.choice(SECTOR.leaves, n),
            "region": rng.choice(REGION.leaves, n),
            "turnover": rng.lognormal(3, 3, n) * rng.choice([1, 1, 1, -1], n),
            "unit": rng.integers(0, 5000, n),
            "weight": rng.choice([1.0, 1.5], n),
        }
    )
    roles = {"value": "turnover", "contributor": "unit", "weight": "weight"}
    whole = tabulate(data, BY, **roles)
    known = Roles(whole.dimensions, **roles)
    expected = tabulate_frame(nw.from_native(data), known)
    assert np.array_equal(expected.measures.value.join(expected.summary.value), whole.values)
    for source_data in (as_parquet(data, tmp_path), as_relation(data, tmp_path)):
        with DuckSource(source_data, piece=2048) as source:
            found = tabulate_duckdb(source, known)
        for one, other in ((expected.summary, found.summary), (expected.summary.best, found.summary.best)):
            for field in (f.name for f in fields(one) if f.name != "best"):
                np.testing.assert_array_equal(getattr(one, field), getattr(other, field), err_msg=field)
        holders = expected.summary.best.holder
        assert list(found.name_holders(holders)) == list(expected.name_holders(holders))
    # the order of the records matters for nothing but ties
    shuffled = tabulate(data.sample(frac=1, random_state=1).reset_index(drop=True), BY, **roles)
    assert np.array_equal(whole.values, shuffled.values)
    assert whole.contributions is not None
    assert shuffled.contributions is not None
    assert np.array_equal(whole.contributions.values, shuffled.contributions.values)
