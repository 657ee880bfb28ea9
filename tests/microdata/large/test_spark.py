"""In a real local Spark, records are masked and counted as DuckDB does it, draws included."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tabprotect.microdata as md
from tabprotect.errors import InputError
from tests.microdata.frames import KINDS
from tests.microdata.large.cases import people
from tests.spark import session

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    with session() as found:
        yield found


def frames(spark: Any, n: int = 500) -> tuple[Any, Any]:
    """Return the same records in a DuckDB relation and, in another order and several partitions, in Spark."""
    frame = people(n)
    mixed = frame.sample(frac=1, random_state=2).convert_dtypes()
    return KINDS["duckdb"](frame), spark.createDataFrame(mixed).repartition(3)


def as_words(frame: pd.DataFrame) -> list[list[str]]:
    return [["" if pd.isna(v) else repr(v) for v in row] for row in frame.astype(object).to_numpy().tolist()]


def test_a_chain_gives_the_same_records_as_in_duckdb(spark: Any, tmp_path: Path) -> None:
    relation, frame = frames(spark)
    schema = md.Schema(strata=["region"], weight="w")
    steps = [
        md.TopCoding("income", quantile=0.9, replace="mean"),
        md.GlobalRecoding("age", width=20),
        md.GlobalRecoding("turnover", classes=3, equal="frequency"),
        md.PRAM("sector", floor=0.7),
        md.Noise("income", alpha=0.2),
        md.Sampling(share=0.3),
    ]
    wanted = md.mask(relation, schema, steps, seed=4, large=md.Large(order="id", batch=60))
    found = md.mask(frame, schema, steps, seed=4, large=md.Large(order="id"))
    assert as_words(found.frame.toPandas()) == as_words(wanted.frame.df())
    assert found.verify(), found.verify().summary()
    assert [s.facts for s in found.steps] == [s.facts for s in wanted.steps]
    assert sorted(map(str, found.claims)) == sorted(map(str, wanted.claims))
    path = found.write(tmp_path / "out.parquet")
    assert len(pd.read_parquet(path)) == len(found)


def test_counts_are_those_of_memory(spark: Any) -> None:
    relation, frame = frames(spark, 200)
    keys = ["region", "sector", "children"]
    wanted = md.unsafe_combinations(relation, keys=keys, threshold=9)
    found = md.unsafe_combinations(frame, keys=keys, threshold=9, large=True)
    pd.testing.assert_frame_equal(found.table, wanted.table)
    assert found.value == wanted.value
    ours = md.key_frequencies(frame, keys=keys)
    pd.testing.assert_frame_equal(ours.table, md.key_frequencies(relation, keys=keys).table)


def test_what_spark_cannot_do_is_said_clearly(spark: Any) -> None:
    _, frame = frames(spark, 20)
    with pytest.raises(InputError, match="a Spark frame has no order of its own"):
        md.mask(frame, None, md.Noise("income"), large=True)
    with pytest.raises(InputError, match="a Spark frame is masked in Spark: give large=True"):
        md.mask(frame, None, md.Noise("income"))
    with pytest.raises(InputError, match="combinations of a Spark frame are counted in Spark"):
        md.unsafe_combinations(frame, keys=["age"])
    with pytest.raises(InputError, match="must number the records"):
        md.mask(frame, None, md.Noise("income"), large=md.Large(order="region"))
