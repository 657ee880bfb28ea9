"""Global disclosure risk of a large file beside plain numpy: ``python -m benchmarks.microdata.truta``.

The baseline evaluates every subset of the keys with ``numpy.unique`` of numbered rows of both files, by the formulas of
the paper; the factors of the keys are taken as given. One subset is timed and multiplied, unless ``--whole``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

import tabprotect.microdata as md

Ints = npt.NDArray[np.int64]


def files(n: int, keys: int) -> tuple[pd.DataFrame, pd.DataFrame, md.Schema]:
    """Draw a file and mask it: noise on every other key, changes of the rest."""
    rng = np.random.default_rng(1)
    original = pd.DataFrame({f"k{i}": rng.integers(0, 12, n) for i in range(keys)})
    masked = original.copy()
    for i in range(keys):
        noise = rng.integers(-1, 2, n) if i % 2 == 0 else np.where(rng.random(n) < 0.1, rng.integers(0, 12, n), 0)
        masked[f"k{i}"] = np.clip(original[f"k{i}"] + noise, 0, 23)
    scales = {f"k{i}": "unordered" for i in range(1, keys, 2)}
    return original, masked, md.Schema(keys=list(original), scales=scales)


def plain(original: Ints, masked: Ints, subset: Sequence[int], factors: Sequence[float]) -> tuple[float, float]:
    """Return DR_min and DR_max of one subset."""
    sizes = []
    for rows in (original, masked):
        number = np.zeros(len(rows), dtype=np.int64)
        for k in subset:
            number = number * (rows[:, k].max() + 1) + rows[:, k]
        _, index, counts = np.unique(number, return_inverse=True, return_counts=True)
        sizes.append(counts[index.ravel()])
    kept = np.prod([1 - factors[k] for k in subset])
    alone = ((sizes[0] == 1) & (sizes[1] == 1)).sum()
    return float(kept * alone / len(original)), float(kept * (1 / np.maximum(*sizes)).sum() / len(original))


def main() -> None:
    """Print seconds of both, and the measures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=5)
    parser.add_argument("--whole", action="store_true", help="the baseline for all subsets, compared with the result")
    given = parser.parse_args()
    original, masked, schema = files(given.records, given.keys)
    start = time.perf_counter()
    found = md.risk.global_risk(original, masked, schema)
    seconds = time.perf_counter() - start
    factors = list(found.details["factors"].values())
    subsets = [s for size in range(1, given.keys + 1) for s in combinations(range(given.keys), size)]
    x, y = original.to_numpy(), masked.to_numpy()
    start = time.perf_counter()
    values = [plain(x, y, subset, factors) for subset in (subsets if given.whole else subsets[-1:])]
    base = (time.perf_counter() - start) * (1 if given.whole else len(subsets))
    print(
        f"{given.records:,} records, {given.keys} keys: {seconds:.1f} s; numpy {base:.1f} s for {len(subsets)} subsets"
    )
    print(f"{base / seconds:.1f} times as fast")
    for place, word in enumerate(("DR_min", "DR_max")):
        one = found.details[word]
        proven = "proven largest" if one["proven"] else "not proven"
        print(f"{word} = {one['value']:.6f} at {', '.join(one['keys'])}; {one['evaluated']} subsets, {proven}")
        if given.whole:
            assert abs(max(value[place] for value in values) - one["value"]) < 1e-12


if __name__ == "__main__":
    main()
