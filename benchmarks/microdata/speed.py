"""Masking methods beside plain numpy in the same run, in one table.

``python -m benchmarks.microdata.speed [--records 100000] [--adult FOLDER] [--only mdav,noise]``, from the checkout. A
baseline does the same work in plain numpy, without checks, claims or frames. Two are too slow for all records: that
of MDAV runs on `--baseline` records, and is compared at that size; that of the lattice search is the time of twenty
nodes, times the nodes of the lattice. The targets are for 100,000 records x 10 columns, and for the file Adult with
nine keys, k=5 and 1 % suppressed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

import tabprotect.microdata as md
from benchmarks.microdata.microaggregation import plain_mdav, plain_ranking
from benchmarks.microdata.nonperturbative import people, timed
from tabprotect.microdata.masking.generalisation.ladders import Steps
from tabprotect.microdata.masking.microaggregation.mdav import mdav

Floats = npt.NDArray[np.float64]
COLUMNS = list("abcdefghij")


@dataclass(frozen=True)
class Line:
    """What was timed: records, seconds, those of the baseline at `compared` seconds of ours, the target in seconds."""

    what: str
    records: int
    seconds: float
    compared: float
    baseline: float
    target: float
    note: str = ""

    def __str__(self) -> str:
        verdict = "met" if self.seconds <= self.target else "MISSED"
        return (
            f"{self.what:<34}{self.records:>9,}{self.seconds:>9.2f}{self.baseline:>10.2f}"
            f"{self.baseline / self.compared:>9.2f} x{self.target:>8.0f}  {verdict}  {self.note}"
        )


def numbers(records: int) -> pd.DataFrame:
    """Draw ten skewed columns."""
    return pd.DataFrame(np.random.default_rng(0).lognormal(size=(records, 10)), columns=COLUMNS)


def masking(frame: pd.DataFrame, step: md.Method, schema: md.Schema | None = None) -> tuple[float, md.Masked]:
    """Return the seconds of masking with claims, and what came of it."""
    return timed(lambda: md.mask(frame, schema, step, seed=1))


def time_mdav(records: int, few: int) -> Line:
    """MDAV, k = 3."""
    frame = numbers(records)
    points = frame.to_numpy()
    points = (points - points.mean(axis=0)) / points.std(axis=0, ddof=1)
    mdav(points[:3000], 3)  # compiled once
    slow, _ = timed(lambda: plain_mdav(points[:few], 3))
    fast, _ = timed(lambda: mdav(points[:few], 3))
    used, done = masking(frame, md.Microaggregation(COLUMNS, k=3))
    return Line("MDAV, k=3", records, used, fast, slow, 5, f"numpy on {few:,}; claims {len(done.claims)}")


def time_ranking(records: int) -> Line:
    """Individual ranking, k = 3."""
    frame = numbers(records)
    base, _ = timed(lambda: plain_ranking(frame.to_numpy(), 3))
    used, _ = masking(frame, md.Microaggregation(COLUMNS, k=3, method="individual"))
    return Line("individual ranking, k=3", records, used, used, base, 1)


def plain_rank_swap(x: Floats, p: float, rng: np.random.Generator) -> Floats:
    """Swap each value with a free one among the next p % of ranks, record after record."""
    out, reach = x.copy(), max(1, int(p * len(x) / 100))
    for j in range(x.shape[1]):
        order = np.argsort(x[:, j], kind="stable")
        free = np.ones(len(order), dtype=bool)
        for i in range(len(order)):
            if not free[i]:
                continue
            there = min(i + 1 + int(rng.integers(reach)), len(order) - 1)
            if there > i and free[there]:
                free[i] = free[there] = False
                out[order[i], j], out[order[there], j] = x[order[there], j], x[order[i], j]
    return out


def time_rank_swap(records: int) -> Line:
    """Rank swapping, p = 10 %."""
    frame = numbers(records)
    base, _ = timed(lambda: plain_rank_swap(frame.to_numpy(), 10, np.random.default_rng(1)))
    used, _ = masking(frame, md.RankSwapping(COLUMNS, p=10))
    return Line("rank swapping, p=10", records, used, used, base, 1)


def plain_pram(codes: npt.NDArray[np.int64], floor: float, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Invariant PRAM: stay with probability `floor`, else a draw from the counts."""
    out = codes.copy()
    for j in range(codes.shape[1]):
        share = np.bincount(codes[:, j]) / len(codes)
        moved = rng.random(len(codes)) >= floor
        out[moved, j] = rng.choice(len(share), int(moved.sum()), p=share)
    return out


def time_pram(records: int) -> Line:
    """Invariant PRAM of ten columns."""
    frame = people(records, (2, 3, 4, 5, 6, 8, 10, 12, 15, 20))
    words = frame.astype(str)
    base, _ = timed(lambda: plain_pram(frame.to_numpy(), 0.8, np.random.default_rng(1)))
    used, _ = masking(words, md.PRAM(list(words)))
    return Line("PRAM, invariant", records, used, used, base, 1)


def time_noise(records: int) -> Line:
    """Correlated noise of ten columns."""
    frame = numbers(records)

    def plain() -> Floats:
        x = frame.to_numpy()
        rng = np.random.default_rng(1)
        return x + rng.multivariate_normal(np.zeros(10), 0.1 * np.cov(x, rowvar=False), len(x), method="cholesky")

    base, _ = timed(plain)
    used, _ = masking(frame, md.Noise(COLUMNS, kind="correlated"))
    return Line("noise, correlated", records, used, used, base, 1)


def plain_suppression(codes: npt.NDArray[np.int64], k: int) -> npt.NDArray[np.int64]:
    """Blank key after key, that with most values first, in all records of classes below k."""
    out = codes.copy()
    for j in np.argsort([-len(np.unique(column)) for column in codes.T]):
        _, index, size = np.unique(out, axis=0, return_inverse=True, return_counts=True)
        out[size[index.ravel()] < k, j] = -1
    return out


def time_suppression(records: int) -> Line:
    """Local suppression on eight keys, k = 3."""
    frame = people(records)
    base, plain = timed(lambda: plain_suppression(frame.to_numpy(), 3))
    used, done = masking(frame, md.LocalSuppression(k=3), md.Schema(keys=list(frame)))
    facts = done.steps[0].facts
    blanks = sum(facts["blanks"].values())
    note = f"{blanks:,} blanks ({facts['status']}), numpy {int((plain < 0).sum()):,}"
    return Line("local suppression, 8 keys, k=3", records, used, used, base, 10, note)


def time_lattice(folder: Path) -> Line:
    """Optimal full-domain generalisation of Adult: k = 5, 1 % suppressed."""
    frame = pd.read_csv(folder / "arx_adult.csv", sep=";")
    keys = list(frame)
    files = {key: str(folder / f"arx_adult_hierarchy_{key}.csv") for key in keys}
    step = md.Generalisation(k=5, ladders=files, suppression=0.01)
    used, done = masking(frame, step, md.Schema(keys=keys))
    facts = done.steps[0].facts
    levels = {key: _levels(frame[key], file) for key, file in files.items()}
    rng = np.random.default_rng(1)

    def nodes() -> None:
        for _ in range(20):
            table = np.column_stack([one[rng.integers(len(one))] for one in levels.values()])
            np.unique(table, axis=0, return_counts=True)

    few, _ = timed(nodes)
    count = prod(len(one) for one in levels.values())
    note = f"{facts['nodes looked at']:,} of {count:,} nodes ({facts['status']}); numpy: all nodes, from 20 of them"
    return Line("lattice search, Adult, 9 keys", len(frame), used, used, few / 20 * count, 10, note)


def _levels(column: pd.Series[Any], file: str) -> list[npt.NDArray[np.int64]]:
    """Return the codes of every record at every level of a ladder."""
    ladder = Steps.read(file)
    values = [str(value) for value in column.unique()]
    place = {value: i for i, value in enumerate(values)}
    at = column.astype(str).map(place).to_numpy()
    return [pd.factorize(pd.Series(level))[0][at] for level in (values, *ladder.steps(values))]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--baseline", type=int, default=20_000, help="records of MDAV's baseline")
    parser.add_argument("--adult", type=Path, help="folder with arx_adult.csv and its ladders")
    parser.add_argument("--only", default="", help="some of mdav, ranking, swap, pram, noise, suppression, lattice")
    given = parser.parse_args()
    n = given.records
    lines: dict[str, Callable[[], Line]] = {
        "mdav": lambda: time_mdav(n, min(n, given.baseline)),
        "ranking": lambda: time_ranking(n),
        "swap": lambda: time_rank_swap(n),
        "pram": lambda: time_pram(n),
        "noise": lambda: time_noise(n),
        "suppression": lambda: time_suppression(n),
    }
    if given.adult:
        lines["lattice"] = lambda: time_lattice(given.adult)
    chosen = given.only.split(",") if given.only else list(lines)
    unknown = [name for name in chosen if name not in lines]
    if unknown:
        parser.error(f"--only: there is no '{unknown[0]}'; there are {', '.join(lines)} (lattice needs --adult)")
    print(f"{'method':<34}{'records':>9}{'seconds':>9}{'numpy, s':>10}{'ratio':>11}{'target':>8}")
    start = time.perf_counter()
    for name in chosen:
        print(lines[name](), flush=True)
    if not given.adult:
        print("lattice search: give --adult FOLDER")
    print(f"ratio: numpy's seconds over ours at the same size; {time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()
