"""Microaggregation against a plain numpy baseline in the same run: ``python -m benchmarks.microdata.microaggregation``.

The baselines are the algorithms as they are printed, in numpy over all records that are left: MDAV with three scans a
pair of groups, individual ranking with one sort and one pass over the groups a column. MDAV's baseline is run on fewer
records, since its time grows with their square; ratios are given at that size.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pandas as pd

import tabprotect.microdata as md
from tabprotect.microdata.masking.microaggregation.mdav import mdav

Floats = npt.NDArray[np.float64]


def plain_mdav(points: Floats, k: int) -> npt.NDArray[np.int64]:
    left, group, count = np.arange(len(points)), np.full(len(points), -1), 0

    def take(around: Floats) -> None:
        nonlocal left, count
        near = np.argsort(((points[left] - around) ** 2).sum(axis=1), kind="stable")[:k]
        group[left[near]] = count
        count += 1
        left = np.delete(left, near)

    while len(left) >= 3 * k:
        inside = points[left]
        first = inside[((inside - inside.mean(axis=0)) ** 2).sum(axis=1).argmax()]
        second = inside[((inside - first) ** 2).sum(axis=1).argmax()]
        take(first)
        take(second)
    if len(left) >= 2 * k:
        inside = points[left]
        take(inside[((inside - inside.mean(axis=0)) ** 2).sum(axis=1).argmax()])
    group[left] = count
    return group


def plain_ranking(points: Floats, k: int) -> Floats:
    out = points.copy()
    for d in range(points.shape[1]):
        order = np.argsort(points[:, d], kind="stable")
        for at in range(0, len(order) - k + 1, k):
            rows = order[at:] if len(order) - at < 2 * k else order[at : at + k]
            out[rows, d] = points[rows, d].mean()
    return out


def seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--baseline", type=int, default=20_000, help="records of MDAV's baseline")
    chosen = parser.parse_args()
    rng = np.random.default_rng(0)
    points = rng.lognormal(size=(chosen.records, 10))
    points = (points - points.mean(axis=0)) / points.std(axis=0, ddof=1)
    few = points[: chosen.baseline]
    mdav(few[:5000], 3)  # compiled once
    slow, fast = seconds(lambda: plain_mdav(few, 3)), seconds(lambda: mdav(few, 3))
    same = bool((plain_mdav(few[:2000], 3) == mdav(few[:2000], 3, compiled=True)).all())
    print(f"MDAV, k=3, {len(few):,} x 10: {slow / fast:.0f} times as fast as numpy; same groups: {same}")
    whole = seconds(lambda: mdav(points, 3))
    print(f"MDAV, k=3, {len(points):,} x 10: {whole:.1f} s, {whole / fast:.1f} times its {len(few):,} records")
    plain = seconds(lambda: mdav(few, 3, compiled=False))
    print(f"MDAV without numba, {len(few):,} x 10: {slow / plain:.1f} times as fast as numpy")
    frame = pd.DataFrame(points, columns=list("abcdefghij"))
    base = seconds(lambda: plain_ranking(points, 3))
    for method in ("individual", "individual-optimal"):
        used = seconds(lambda method=method: md.mask(frame, None, md.Microaggregation(list(frame), method=method)))
        print(f"{method}, {len(points):,} x 10, masked with claims: {used:.2f} s, {base / used:.1f} times as fast")


if __name__ == "__main__":
    main()
