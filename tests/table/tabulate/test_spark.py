"""Tabulation in a real local Spark gives the bits of the tabulation in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tabprotect.errors import InputError
from tabprotect.table.dimension import Dimension
from tabprotect.table.tabulate import tabulate
from tabprotect.workflow.protect import protect
from tests.spark import session
from tests.table.tabulate.by_hand import BY, REGION, SECTOR, same

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    with session() as found:
        yield found


def register(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    unit = rng.integers(0, n // 2, n)
    groups = np.array([None, None, "G1", "G2", *(f"H{i}" for i in range(n // 50))], dtype=object)
    return pd.DataFrame(
        {
            "sector": rng.choice(SECTOR.leaves, n),
            "region": rng.choice(REGION.leaves, n),
            "turnover": np.round(rng.lognormal(3, 2, n), 2),
            "signed": rng.lognormal(3, 3, n) * rng.choice([1, 1, 1, -1], n),
            "cost": rng.integers(0, 9, n),
            "unit": unit,
            "group": pd.Series(groups[unit % len(groups)], dtype=object),
            "weight": rng.choice([1.0, 1.0, 2.5, 1 / 3], n),
            "ask": rng.choice([0, 0, 0, 1, 2], n),
            "free": rng.random(n) < 0.1,
        }
    )


FULL = {"contributor": "unit", "holding": "group", "weight": "weight", "request": "ask", "waiver": "free"}


@pytest.mark.parametrize(
    "roles",
    [
        {"value": "turnover", "contributor": "unit"},
        {"value": "signed", "cost": "cost", **FULL},
        {"value": "turnover", "shadow": "signed", "holding": "group"},
        {"contributor": "unit", "empty": "drop"},
        {"value": "turnover", "waiver": "free"},
    ],
    ids=["contributors", "everything", "holdings", "counts", "records"],
)
def test_the_same_bits(spark: Any, roles: dict[str, Any]) -> None:
    data = register(2000, 5)
    frame = spark.createDataFrame(data).repartition(5, "sector") if "shadow" in roles else spark.createDataFrame(data)
    if "shadow" in roles:  # the order of the records is what Spark says it is
        data = frame.persist().toPandas()
    table = tabulate(frame, BY, **roles)
    assert table.backend == "spark"
    same(tabulate(data, BY, **roles), table)


def test_a_parquet_file_read_by_spark_and_by_duckdb(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "register.parquet"
    register(3000, 6).to_parquet(path, row_group_size=500)
    roles = {"value": "turnover", "contributor": "unit", "holding": "group"}
    same(tabulate(path, BY, **roles), tabulate(spark.read.parquet(str(path)), BY, **roles))


def test_nothing_stays_in_the_cluster(spark: Any) -> None:
    before = spark.sparkContext._jsc.getPersistentRDDs().size()
    tabulate(spark.createDataFrame(register(200, 1)), BY, "turnover", contributor="unit")
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == before


def test_all_that_is_wrong_is_said_at_once(spark: Any) -> None:
    data = register(50, 2)
    data.loc[3, "turnover"] = np.nan
    data.loc[7, "sector"] = "X9"
    data.loc[9, "weight"] = -1.0
    roles = {"value": "turnover", "weight": "weight"}
    with pytest.raises(InputError) as expected:
        tabulate(data, BY, **roles)
    with pytest.raises(InputError) as found:
        tabulate(spark.createDataFrame(data), BY, **roles)
    assert sorted(found.value.problems) == sorted(expected.value.problems)


def test_missing_codes_have_a_name(spark: Any) -> None:
    data = pd.DataFrame({"a": ["x", None, "y"], "v": [1.0, 2.0, 4.0]})
    by = [Dimension("a", missing=["unknown"])]
    same(tabulate(data, by, "v"), tabulate(spark.createDataFrame(data), by, "v"))


def test_from_the_cluster_to_a_release(spark: Any) -> None:
    data = register(400, 3)
    words = {"by": BY, "value": "turnover", "contributor": "unit"}
    release = protect(spark.createDataFrame(data), ["p%=15", "threshold=3"], **words)
    assert release.safe
    pd.testing.assert_frame_equal(release.published, protect(data, ["p%=15", "threshold=3"], **words).published)
