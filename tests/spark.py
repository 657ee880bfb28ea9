"""A real local Spark for tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # the data are small: compiling the plans takes longer than running them
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    # as in a large cluster: joins of small tables are broadcast because we ask for it, not because they are small
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}


@contextmanager
def session() -> Iterator[Any]:
    """Start a session; skip the test where there is no Spark."""
    sql = pytest.importorskip("pyspark.sql")
    # workers need the libraries of this environment
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = sql.SparkSession.builder.master("local[2]").appName("tabprotect")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("ERROR")
    yield found
    found.stop()
