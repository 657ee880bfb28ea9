"""Peak memory of masking by the number of records: it grows in step with the data, and not faster.

``python -m benchmarks.microdata.memory [--records 50000 100000 200000] [--only mdav,noise]``, from the checkout. Every
job runs in a process of its own; its peak is set beside that of a process that only makes the records (ten columns).
The last column is the factor from the smallest to the largest file; that of the data is in the first line.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd

import tabprotect.microdata as md
from benchmarks.microdata.nonperturbative import people
from benchmarks.microdata.speed import COLUMNS, numbers

CATEGORIES = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20)


def words(records: int) -> pd.DataFrame:
    """Draw ten columns of categories."""
    return people(records, CATEGORIES).astype(str)


def keys(records: int) -> pd.DataFrame:
    """Draw eight keys."""
    return people(records)


JOBS: dict[str, tuple[Callable[[int], pd.DataFrame], Callable[[pd.DataFrame], md.Method]]] = {
    "mdav": (numbers, lambda frame: md.Microaggregation(COLUMNS, k=3)),
    "ranking": (numbers, lambda frame: md.Microaggregation(COLUMNS, k=3, method="individual")),
    "optimal": (numbers, lambda frame: md.Microaggregation(COLUMNS, k=3, method="individual-optimal")),
    "swap": (numbers, lambda frame: md.RankSwapping(COLUMNS, p=10)),
    "noise": (numbers, lambda frame: md.Noise(COLUMNS, kind="correlated")),
    "pram": (words, lambda frame: md.PRAM(list(frame))),
    "suppression": (keys, lambda frame: md.LocalSuppression(k=3)),
    "mondrian": (keys, lambda frame: md.Mondrian(k=5)),
    "sampling": (numbers, lambda frame: md.Sampling(share=0.5)),
}


def peak() -> float:
    """Return the largest memory of this process so far, in MB."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1e3


def run(job: str, records: int, only_data: bool) -> None:
    """Carry one job out, and print the peak memory."""
    make, method = JOBS[job]
    frame = make(records)
    if not only_data:
        md.mask(frame, md.Schema(keys=list(frame) if make is keys else ()), method(frame), seed=1)
    print(peak())


def measured(job: str, records: int, *more: str) -> float:
    """Return the peak memory in MB of one job in a new process."""
    command = [sys.executable, "-m", "benchmarks.microdata.memory", "--job", job, "--records", str(records), *more]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1])


def main() -> None:
    """Print a line for every job."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, nargs="+", default=[50_000, 100_000, 200_000])
    parser.add_argument("--only", default="", help="some of " + ", ".join(JOBS))
    parser.add_argument("--job", help=argparse.SUPPRESS)
    parser.add_argument("--data", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        run(given.job, given.records[0], given.data)
        return
    chosen = given.only.split(",") if given.only else list(JOBS)
    unknown = [name for name in chosen if name not in JOBS]
    if unknown:
        parser.error(f"--only: there is no '{unknown[0]}'; there are {', '.join(JOBS)}")
    sizes = sorted(given.records)
    print(f"peak memory in MB above that of the records; the data grow by {sizes[-1] / sizes[0]:.1f}")
    print(f"{'method':<14}" + "".join(f"{size:>12,}" for size in sizes) + f"{'factor':>10}")
    for job in chosen:
        above = [measured(job, size) - measured(job, size, "--data") for size in sizes]
        print(
            f"{job:<14}" + "".join(f"{mb:>12.0f}" for mb in above) + f"{above[-1] / max(above[0], 1):>10.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
