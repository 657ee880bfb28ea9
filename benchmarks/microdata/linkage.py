"""Distance linkage beside plain numpy: ``python -m benchmarks.microdata.linkage``.

Numpy compares every original record with every masked one, a block at a time, for a part of the originals; its time for
all of them is that of the part, scaled.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd

import tabprotect.microdata as md

PART = 1_000
"""Original records that numpy links."""


def main() -> None:
    """Print seconds and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=10)
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    x = rng.normal(size=(given.records, given.columns))
    names = [f"x{j}" for j in range(given.columns)]
    original = pd.DataFrame(x, columns=names)
    print(f"{given.records:,} x {given.records:,} records, {given.columns} columns")
    print("noise  linked   seconds  numpy (scaled)  times faster")
    for noise in (0.1, 0.5, 1.0):
        masked = original + noise * rng.normal(size=x.shape)
        start = time.perf_counter()
        found = md.risk.distance_linkage(original, masked)
        mine = time.perf_counter() - start
        scale = x.std(axis=0)
        a, b = x[:PART] / scale, masked.to_numpy() / scale
        start = time.perf_counter()
        nearest = [((b - row) ** 2).sum(axis=1).argmin() for row in a]
        plain = (time.perf_counter() - start) * given.records / PART
        assert found.records is not None
        assert (found.records[:PART] == (np.array(nearest) == np.arange(PART))).all()
        print(f"{noise:5.1f}  {100 * found.value:5.1f} %  {mine:7.1f}  {plain:14.0f}  {plain / mine:12.1f}")


if __name__ == "__main__":
    main()
