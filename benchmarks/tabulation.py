"""Tabulate a large register out of core, and do the same work in pandas beside it.

Run from the checkout: ``python -m benchmarks.tabulation --rows 2e7 [--peer] [--peer-levels 4]``.
Every side runs in a process of its own and tells its seconds and its peak of memory. Both must find the same numbers.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd

from tabprotect.table.dimension import Dimension
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.tabulate import tabulate

ACTIVITIES, REGIONS, SIZES = 600, 500, "abcde"
LEVELS = list(product((0, 1, 2, 3), (0, 1, 2, 3), (0, 1)))
"""Digits of activity and region, and size class or not: all combinations that are tabulated."""
TOP = 3

REGISTER = """
    WITH enterprise AS (
        SELECT e,
               CASE WHEN u(e, 1) < 0.7 THEN 1 ELSE 2 + floor(8 * power(u(e, 2), 3)) END::INT AS units,
               floor({activities} * power(u(e, 3), 2))::INT AS activity,
               floor({regions} * power(u(e, 4), 1.5))::INT AS region,
               exp(4 + 1.5 * sqrt(-2 * ln(u(e, 5) + 1e-12)) * cos(6.2831853 * u(e, 6))) AS turnover
        FROM range({enterprises}) AS t(e)
    ),
    unit AS (SELECT *, unnest(range(units)) AS i, e * 16 + i AS k FROM enterprise)
    SELECT e AS enterprise,
           lpad(CASE WHEN u(k, 7) < 0.8 THEN activity ELSE floor({activities} * u(k, 8)) END::INT::VARCHAR, 3, '0')
               AS activity,
           lpad(CASE WHEN i = 0 THEN region ELSE floor({regions} * u(k, 9)) END::INT::VARCHAR, 3, '0') AS region,
           chr(97 + least(4, floor(log10(turnover + 1)))::INT) AS size,
           round(turnover * (0.2 + u(k, 10)) / units, 2) AS turnover
    FROM unit LIMIT {rows}
"""


def generate(path: Path, rows: int) -> None:
    """Write a register of local units, the same on every machine; 30 % of the enterprises have several units."""
    connection = duckdb.connect()
    connection.sql("CREATE MACRO u(i, k) AS (hash(i * 32 + k) % 1000000007) / 1000000007.0")
    sql = REGISTER.format(activities=ACTIVITIES, regions=REGIONS, enterprises=int(rows / 1.8), rows=rows)
    connection.sql(f"COPY ({sql}) TO '{path}' (FORMAT parquet)")


def ours(path: Path, memory_limit: str) -> dict[str, Any]:
    """Tabulate with DuckDB and return some numbers of every level."""
    by = [
        Dimension("activity", Hierarchy.from_prefixes([f"{i:03d}" for i in range(ACTIVITIES)], [1, 2])),
        Dimension("region", Hierarchy.from_prefixes([f"{i:03d}" for i in range(REGIONS)], [1, 2])),
        Dimension("size", Hierarchy.flat(list(SIZES))),
    ]
    table = tabulate(path, by, "turnover", contributor="enterprise", top=TOP, empty="drop", memory_limit=memory_limit)
    assert table.counts is not None
    assert table.contributions is not None
    digits = [
        np.array([0 if code == "Total" else len(code) for code in level])[codes]
        for level, codes in zip(table.system.cells.levels, table.system.cells.codes, strict=True)
    ]
    found = {}
    for level in LEVELS:
        at = np.logical_and.reduce([d == wanted for d, wanted in zip(digits, level, strict=True)])
        largest = table.contributions.values[at].sum()
        found[str(level)] = [
            int(at.sum()),
            float(table.counts[at].sum()),
            float(table.values[at].sum()),
            float(largest),
        ]
    return {"cells": table.n_cells, "levels": found}


def pandas(path: Path, levels: int) -> dict[str, Any]:
    """Do the same work in pandas: add up enterprises in every cell, then cells, and keep the largest enterprises."""
    data = pd.read_parquet(path)
    for column, most in (("activity", 3), ("region", 3), ("size", 1)):
        data[column] = data[column].astype("category")
        for digits in range(most):
            short = data[column].cat.categories.str[:digits]
            codes, _ = pd.factorize(short)
            data[f"{column}{digits}"] = codes.astype(np.int32)[data[column].cat.codes]
        data[f"{column}{most}"] = data[column].cat.codes.astype(np.int32)
    found = {}
    for level in LEVELS[:levels]:
        keys = [f"{column}{digits}" for column, digits in zip(("activity", "region", "size"), level, strict=True)]
        holders = data.groupby([*keys, "enterprise"], sort=False)["turnover"].sum().reset_index()
        cells = holders.groupby(keys)["turnover"].agg(["sum", "size"])
        largest = holders.sort_values("turnover", ascending=False).groupby(keys).head(TOP)
        found[str(level)] = [
            len(cells),
            float(cells["size"].sum()),
            float(cells["sum"].sum()),
            float(largest.turnover.sum()),
        ]
    return {"levels": found}


def measured(side: str, path: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Run one side in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.tabulation", "--side", side, "--file", str(path)]
    command += ["--memory-limit", arguments.memory_limit, "--peer-levels", str(arguments.peer_levels)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def run_side(arguments: argparse.Namespace) -> None:
    started = time.perf_counter()
    path = Path(arguments.file)
    answer = ours(path, arguments.memory_limit) if arguments.side == "ours" else pandas(path, arguments.peer_levels)
    used = resource.getrusage(resource.RUSAGE_SELF)
    answer["seconds"] = time.perf_counter() - started
    answer["cpu"] = used.ru_utime + used.ru_stime
    answer["gigabytes"] = used.ru_maxrss / 1e6
    print(json.dumps(answer))


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tabulation", description=__doc__.split("\n\n")[0])
    parser.add_argument("--rows", type=float, default=1e6, help="records (1e6)")
    parser.add_argument("--folder", type=Path, default=Path("build/tabulation"), help="where the register is written")
    parser.add_argument("--memory-limit", default="4GB", help="of DuckDB (4GB)")
    parser.add_argument("--peer", action="store_true", help="do the same work in pandas")
    parser.add_argument("--peer-levels", type=int, default=len(LEVELS), help="only so many levels in pandas")
    parser.add_argument("--side", choices=["ours", "pandas"], help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        run_side(arguments)
        return
    arguments.folder.mkdir(parents=True, exist_ok=True)
    path = arguments.folder / f"register-{int(arguments.rows)}.parquet"
    if not path.exists():
        generate(path, int(arguments.rows))
    mine = measured("ours", path, arguments)
    print(
        f"{int(arguments.rows):,} records, {mine['cells']:,} cells in {len(LEVELS)} levels: {mine['seconds']:.1f} s "
        f"({mine['cpu']:.1f} s of processor), {mine['gigabytes']:.2f} GB"
    )
    if not arguments.peer:
        return
    peer = measured("pandas", path, arguments)
    for level, numbers in peer["levels"].items():
        np.testing.assert_allclose(mine["levels"][level], numbers, rtol=1e-9, err_msg=f"level {level}")
    share = len(peer["levels"]) / len(LEVELS)
    print(
        f"pandas, {len(peer['levels'])} of {len(LEVELS)} levels: {peer['seconds']:.1f} s ({peer['cpu']:.1f} s of "
        f"processor), {peer['gigabytes']:.2f} GB; the same numbers"
    )
    note = "" if share == 1 else " (extrapolated from the levels done)"
    print(f"pandas takes {peer['seconds'] / share / mine['seconds']:.1f} times as long{note}")


if __name__ == "__main__":
    main()
