"""Global disclosure risk of a large file, as a ratio to counting clusters of the full key set once with numpy.

python benchmarks/microdata/truta.py [--records 1000000] [--keys 5]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd

import tabprotect.microdata as md


def baseline(frame: pd.DataFrame) -> float:
    """Return the seconds that np.unique takes to count the clusters of all keys."""
    start = time.perf_counter()
    np.unique(frame.to_numpy(), axis=0, return_inverse=True, return_counts=True)
    return time.perf_counter() - start


def main() -> None:
    """Print the ratio and the measures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=5)
    given = parser.parse_args()
    rng = np.random.default_rng(1)
    n = given.records
    original = pd.DataFrame({f"k{i}": rng.integers(0, 12, n) for i in range(given.keys)})
    masked = original.copy()
    for i in range(given.keys):
        noise = rng.integers(-1, 2, n) if i % 2 == 0 else np.where(rng.random(n) < 0.1, rng.integers(0, 12, n), 0)
        masked[f"k{i}"] = np.clip(original[f"k{i}"] + noise, 0, 23)
    scales = {f"k{i}": "unordered" for i in range(1, given.keys, 2)}
    plain = baseline(original)
    start = time.perf_counter()
    found = md.risk.global_risk(original, masked, md.Schema(keys=list(original), scales=scales))
    seconds = time.perf_counter() - start
    print(f"{n} records, {given.keys} keys: {seconds / plain:.2f} times one np.unique over the keys ")
    for word in ("DR_min", "DR_max"):
        one = found.details[word]
        print(f"{word} = {one['value']:.6f} at {', '.join(one['keys'])}; {one['evaluated']} subsets, {one['proven']=}")


if __name__ == "__main__":
    main()
