"""Microdata that need not fit into memory: seconds and peak memory of six jobs, each in a process of its own.

Run from the checkout: ``python -m benchmarks.microdata.large [--records 10000000] [--memory 1GB] [--folder FOLDER]``.
The data are made by SQL in a Parquet file. The baseline is a plain copy of the file by DuckDB in the same run; memory
is set beside what the columns take in memory as Arrow, and beside an empty process that has imported the package.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

import tabprotect.microdata as md

KEYS = {"k0": 2, "k1": 3, "k2": 4, "k3": 5, "k4": 6, "k5": 8, "k6": 10, "k7": 20}
"""Key columns and their numbers of categories, skewed."""


def write(path: Path, records: int) -> None:
    """Make records: skewed keys, a region, an age, two amounts."""
    # squares of uniform numbers: low categories are frequent
    keys = ", ".join(
        f"CAST(floor(power((hash(i + {(j + 1) * 1000000007}) % 1000003) / 1000003.0, 2) * {size}) AS INTEGER) AS {name}"
        for j, (name, size) in enumerate(KEYS.items())
    )
    duckdb.sql(
        f"COPY (SELECT i AS id, {keys}, 'region ' || (hash(i + 77) % 16) AS region, "
        "CAST(hash(i + 78) % 95 AS INTEGER) AS age, exp(7 + 2 * ((hash(i + 79) % 1000003) / 1000003.0)) AS income, "
        "exp(5 + 3 * ((hash(i + 80) % 1000003) / 1000003.0)) AS turnover "
        f"FROM range({records}) AS t(i)) TO '{path}' (FORMAT parquet)"
    )


def jobs(path: str, large: md.Large) -> dict[str, Callable[[], Any]]:
    """Return what is measured, by name."""
    keys = list(KEYS)
    plain = md.Schema(identifiers=["id"])
    strata = md.Schema(identifiers=["id"], strata=["region"], scales={"k7": "unordered"})

    def masked(schema: md.Schema, *methods: md.Method) -> Callable[[], Any]:
        return lambda: md.mask(path, schema, methods, seed=1, large=large)

    return {
        "import only": lambda: None,
        "plain copy": lambda: duckdb.sql(f"COPY (SELECT * FROM '{path}') TO '{path}.copy' (FORMAT parquet)"),
        "keys": lambda: md.key_frequencies(path, keys=keys, large=large),
        "unsafe combinations": lambda: md.unsafe_combinations(path, keys=keys, up_to=3, large=large),
        "sampling": masked(strata, md.Sampling(share=0.01)),
        "recoding": masked(plain, md.GlobalRecoding("age", width=10)),
        "PRAM": masked(strata, md.PRAM("k7", floor=0.8)),
        "noise": masked(plain, md.Noise(["income", "turnover"], kind="correlated", alpha=0.1)),
    }


def measured(path: Path, job: str, given: argparse.Namespace) -> tuple[float, float]:
    """Return the seconds and the peak memory in GB of one job in a new process."""
    command = [sys.executable, "-m", "benchmarks.microdata.large", "--job", job, "--file", str(path)]
    command += ["--memory", given.memory, *(["--folder", given.folder] if given.folder else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, peak = json.loads(done.stdout.splitlines()[-1])
    return float(seconds), float(peak)


def run(given: argparse.Namespace) -> None:
    """Carry one job out, and print its seconds and the peak memory of the process."""
    work = jobs(given.file, md.Large(memory_limit=given.memory, folder=given.folder))[given.job]
    duckdb.sql("SET memory_limit = '1GB'")
    start = time.perf_counter()
    kept = work()
    seconds = time.perf_counter() - start
    status = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1e6
    print(json.dumps([seconds, peak]))
    del kept


def main() -> None:
    """Print a line for every job."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--memory", default="1GB", help="what DuckDB may take")
    parser.add_argument("--folder", help="for temporary files")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        run(given)
        return
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path = Path(folder) / "people.parquet"
        write(path, given.records)
        sample = duckdb.sql(f"SELECT * FROM '{path}' LIMIT 100000").to_arrow_table()
        size = sample.nbytes / len(sample) * given.records / 1e9
        print(f"{given.records:,} records x {sample.num_columns} columns: {size:.2f} GB in memory as Arrow")
        print(f"{'job':<20} {'seconds':>8} {'x copy':>7} {'peak GB':>8}")
        base = None
        for job in jobs(str(path), md.Large()):
            seconds, peak = measured(path, job, given)
            base = seconds if job == "plain copy" else base
            print(f"{job:<20} {seconds:>8.1f} {seconds / base if base else 0:>7.1f} {peak:>8.2f}", flush=True)


if __name__ == "__main__":
    main()
