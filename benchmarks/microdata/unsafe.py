"""Unsafe combinations of a large file beside plain numpy: ``python -m benchmarks.microdata.unsafe``.

The baseline counts every set of up to so many keys with ``numpy.unique`` of numbered rows, and marks the records in
combinations below the threshold. It finds the records, not which combinations are minimal.
"""

from __future__ import annotations

import argparse
import time
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

import tabprotect.microdata as md
from benchmarks.microdata.nonperturbative import people

SIZES = (2, 3, 4, 5, 6, 8, 10, 20, 30, 50)


def plain(frame: pd.DataFrame, up_to: int, threshold: int) -> npt.NDArray[np.bool_]:
    """Return which records are in an unsafe combination."""
    codes, sizes = frame.to_numpy(), frame.max().to_numpy() + 1
    unsafe = np.zeros(len(frame), dtype=bool)
    for size in range(1, up_to + 1):
        for chosen in combinations(range(codes.shape[1]), size):
            number = np.zeros(len(frame), dtype=np.int64)
            for j in chosen:
                number = number * sizes[j] + codes[:, j]
            _, index, counts = np.unique(number, return_inverse=True, return_counts=True)
            unsafe |= counts[index] < threshold
    return unsafe


def main() -> None:
    """Print seconds of both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--up-to", type=int, default=3)
    parser.add_argument("--threshold", type=int, default=3)
    given = parser.parse_args()
    frame = people(given.records, SIZES)
    start = time.perf_counter()
    found = md.unsafe_combinations(frame, keys=list(frame), up_to=given.up_to, threshold=given.threshold)
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    wanted = plain(frame, given.up_to, given.threshold)
    base = time.perf_counter() - start
    assert ((found.records > 0) == wanted).all()
    print(f"{given.records:,} records, {len(SIZES)} keys, up to {given.up_to}: {seconds:.1f} s; numpy {base:.1f} s")
    print(f"{base / seconds:.1f} times as fast; {found.value:,} records in unsafe combinations, the same")


if __name__ == "__main__":
    main()
