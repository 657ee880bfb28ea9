"""Non-perturbative methods beside a plain numpy baseline in the same run; prints ratios.

Run from the checkout: ``python -m benchmarks.microdata.nonperturbative [--records 100000] [--adult FOLDER]``. The
baseline is one count of all combinations of the keys (``numpy.unique`` over rows), which any of the methods needs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import tabprotect.microdata as md

SIZES = (2, 3, 4, 5, 6, 8, 10, 20)


def people(records: int, sizes: tuple[int, ...] = SIZES) -> pd.DataFrame:
    """Draw skewed categories."""
    rng = np.random.default_rng(0)
    shares = [rng.dirichlet(np.full(size, 0.5)) for size in sizes]
    return pd.DataFrame({f"k{i}": rng.choice(len(p), records, p=p) for i, p in enumerate(shares)})


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return seconds and the answer."""
    start = time.perf_counter()
    answer = work()
    return time.perf_counter() - start, answer


def main() -> None:
    """Print a line for every method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--adult", type=Path, help="folder with arx_adult.csv and its ladders")
    given = parser.parse_args()
    frame = people(given.records)
    keys = list(frame)
    schema = md.Schema(keys=keys)
    base, _ = timed(lambda: np.unique(frame.to_numpy(), axis=0, return_counts=True))
    print(f"{given.records:,} records x {len(keys)} keys; times in units of one count by numpy.unique, {base:.2f} s")
    steps: list[md.Method] = [
        *(md.LocalSuppression(k=3, missing=missing, exact=False) for missing in ("any", "stated", "own")),
        md.LocalSuppression(k=3, up_to=3),
        md.Mondrian(k=5),
        md.Sampling(share=0.1),
        md.GlobalRecoding("k7", width=5),
    ]
    for step in steps:
        seconds, masked = timed(lambda step=step: md.mask(frame, schema, step, seed=1))
        facts = {k: v for k, v in masked.steps[0].facts.items() if k in ("cost", "gap", "classes", "drawn")}
        print(f"{step}: {seconds / base:.1f} x {facts}")
    seconds, found = timed(lambda: md.unsafe_combinations(frame, keys=keys))
    print(f"unsafe_combinations(up_to=3): {seconds / base:.1f} x, {found.value:,} records")
    if given.adult:
        adult = pd.read_csv(given.adult / "arx_adult.csv", sep=";")
        ladders = {key: str(given.adult / f"arx_adult_hierarchy_{key}.csv") for key in adult}
        coded = adult.apply(lambda column: pd.factorize(column)[0]).to_numpy()
        base, _ = timed(lambda: np.unique(coded, axis=0, return_counts=True))
        for loss in ("height", "precision", "loss-metric", "entropy", "discernibility", "class-size"):
            step = md.Generalisation(k=5, ladders=ladders, suppression=0.01, loss=loss)
            seconds, masked = timed(lambda step=step: md.mask(adult, md.Schema(keys=list(adult)), step, seed=1))
            facts = masked.steps[0].facts
            looked = f"{facts['nodes looked at']:,} of {facts['nodes']:,} nodes"
            print(f"Adult, {loss}: {seconds / base:.0f} x for {looked}, loss {facts['loss']:.6g}, {facts['status']}")


if __name__ == "__main__":
    main()
