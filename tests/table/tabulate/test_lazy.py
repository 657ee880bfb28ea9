"""Tabulation at the place of the data gives the bits of that in memory; here with polars, not computed yet."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tabprotect.errors import InputError
from tabprotect.table.dimension import Dimension
from tabprotect.table.tabulate import dispatch as module
from tabprotect.table.tabulate import tabulate
from tabprotect.table.tabulate.lazy import tabulate_lazy
from tabprotect.table.tabulate.roles import Roles, Tabulated
from tests.table.tabulate.by_hand import BY, ROLES, microdata, same


class Lazy:
    """Polars as a place; the rows of a join come in any order, as in a cluster."""

    def numbered(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        return nw.from_native(nw.to_native(frame).with_row_index("row").with_columns(pl.col("row").cast(pl.Int64)))

    def keep(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        return nw.from_native(nw.to_native(frame).collect().sample(fraction=1, shuffle=True, seed=1).lazy())

    def lend(self, table: pa.Table) -> nw.LazyFrame[Any]:
        return nw.from_native(pl.from_arrow(table).lazy())

    def take(self, frame: nw.LazyFrame[Any]) -> pa.Table:
        return nw.to_native(frame).collect().to_arrow()


def at_its_place(frame: nw.DataFrame[Any], roles: Roles) -> Tabulated:
    return tabulate_lazy(nw.from_native(pl.from_arrow(frame.to_arrow()).lazy()), roles, Lazy())


@pytest.fixture
def lazily(monkeypatch: pytest.MonkeyPatch) -> Any:
    def run(*args: Any, **kwargs: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(module, "tabulate_frame", at_its_place)
            return tabulate(*args, **kwargs)

    return run


@settings(
    max_examples=6, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=microdata(), roles=ROLES, empty=st.sampled_from(["zero", "drop"]), top=st.integers(0, 3))
def test_the_same_bits(lazily: Any, data: pd.DataFrame, roles: dict[str, Any], empty: Any, top: int) -> None:
    table = tabulate(data, BY, empty=empty, top=top, **roles)
    same(table, lazily(data, BY, empty=empty, top=top, **roles))


def test_the_same_bits_where_numbers_need_several_limbs(lazily: Any) -> None:
    rng = np.random.default_rng(3)
    n = 3000
    data = pd.DataFrame(
        {
            "sector": rng.choice(["01", "02", "05", "C"], n),
            "region": rng.choice(["n1", "n2", "s1", "s2"], n),
            "turnover": rng.lognormal(3, 3, n) * rng.choice([1, 1, 1, -1], n),
            "unit": rng.integers(0, 1500, n),
            "weight": rng.choice([1.0, 1.5, 1 / 3], n),
        }
    )
    roles = {"value": "turnover", "contributor": "unit", "weight": "weight"}
    same(tabulate(data, BY, **roles), lazily(data, BY, **roles))


def test_codes_that_are_missing_and_nested_columns(lazily: Any) -> None:
    data = pd.DataFrame(
        {"a": ["x", None, "y", "x"], "b": ["x1", "x2", "y1", "x2"], "v": [1.0, 2, 3, 4], "c": [1, 2, 1, 2]}
    )
    for by in (["b", Dimension("a", missing=["?"])], ["c", ("c", "b")][:1]):
        same(tabulate(data, by, "v"), lazily(data, by, "v"))


BAD = pd.DataFrame(
    {
        "region": ["N", "S", None],
        "turnover": [1.0, np.nan, np.inf],
        "weight": [1.0, -1.0, 2.0],
        "text": ["1", "2", "x"],
        "ask": [0, 1, 5],
        "unit": ["a", "a", " "],
        "group": ["G", "H", None],
    }
)


@pytest.mark.parametrize(
    "roles",
    [
        {"value": "turnover"},
        {"value": "weight", "weight": "weight"},
        {"value": "weight", "request": "ask"},
        {"value": "weight", "contributor": "unit", "holding": "group"},
        {"value": "weight", "kind": "frequency"},
    ],
)
def test_the_same_complaints(lazily: Any, roles: dict[str, Any]) -> None:
    with pytest.raises(InputError) as expected:
        tabulate(BAD, ["region"], **roles)
    with pytest.raises(InputError) as found:
        lazily(BAD, ["region"], **roles)
    assert sorted(found.value.problems) == sorted(expected.value.problems)


def test_text_has_to_be_numbers_already(lazily: Any) -> None:
    with pytest.raises(InputError, match=r"column 'text' must hold numbers.*turn the text into numbers there first"):
        lazily(BAD.dropna(), ["region"], "text")
