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
    """Print seconds and the ratio, for numbers and for a mixed file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--only", choices=("numbers", "mixed"), help="by default both")
    given = parser.parse_args()
    if given.only != "mixed":
        link_numbers(given.records, given.columns)
    if given.only != "numbers":
        link_mixed(given.records)


def link_numbers(records: int, columns: int) -> None:
    """Link by Euclidean distances."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(records, columns))
    names = [f"x{j}" for j in range(columns)]
    original = pd.DataFrame(x, columns=names)
    print(f"{records:,} x {records:,} records, {columns} columns")
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
        plain = (time.perf_counter() - start) * records / PART
        assert found.records is not None
        assert (found.records[:PART] == (np.array(nearest) == np.arange(PART))).all()
        print(f"{noise:5.1f}  {100 * found.value:5.1f} %  {mine:7.1f}  {plain:14.0f}  {plain / mine:12.1f}")


def link_mixed(records: int) -> None:
    """Link by Gower distances: two numbers and four categories, of which a tenth of two are exchanged."""
    rng = np.random.default_rng(0)
    categories = {"sex": 2, "status": 4, "region": 9, "job": 20}
    original = pd.DataFrame({name: rng.integers(0, many, records).astype(str) for name, many in categories.items()})
    original["age"], original["pay"] = rng.integers(0, 95, records).astype(float), rng.lognormal(size=records)
    masked = original.assign(
        pay=original["pay"] * (1 + 0.05 * rng.normal(size=records)), age=original["age"] + rng.integers(-3, 4, records)
    )
    for name in ("region", "job"):
        moved = rng.random(records) < 0.1
        masked.loc[moved, name] = rng.permutation(masked.loc[moved, name].to_numpy())
    names = [*categories, "age", "pay"]
    print(f"{records:,} x {records:,} records, 2 columns of numbers and 4 of categories, Gower distances")
    start = time.perf_counter()
    found = md.risk.distance_linkage(original, masked, columns=names, metric="gower")
    mine = time.perf_counter() - start
    # the ranges are those of the whole files
    widths = [float(np.ptp(np.concatenate([f[name] for f in (original, masked)]))) for name in ("age", "pay")]
    start = time.perf_counter()
    expected = np.zeros(PART)
    codes = {name: tuple(f[name].to_numpy(np.float64) for f in (original, masked)) for name in names}
    for i in range(PART):
        apart = np.zeros(records)
        for name in categories:
            apart += codes[name][1] != codes[name][0][i]
        for name, width in zip(("age", "pay"), widths, strict=True):
            apart += np.abs(codes[name][1] - codes[name][0][i]) / width
        near = apart <= apart.min() * (1 + 1e-9) + 1e-12
        expected[i] = near[i] / near.sum()
    plain = (time.perf_counter() - start) * records / PART
    assert found.records is not None
    np.testing.assert_allclose(found.records[:PART], expected)
    print("linked   seconds  numpy (scaled)  times faster")
    print(f"{100 * found.value:5.1f} %  {mine:7.1f}  {plain:14.0f}  {plain / mine:12.1f}")


if __name__ == "__main__":
    main()
