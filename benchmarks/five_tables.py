"""Five turnover tables from a metadata list to two periods' releases: ``python -m benchmarks.five_tables``.

The tables come with rtauargus: four of France that share margins, and one of the East. Every step is the command that
an office runs, in a process of its own; what it writes is checked with ``tabprotect verify``.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError

__all__ = ["TABLES", "Step", "lay_out", "next_period", "two_periods"]

TABLES = {
    "act_cj": ["ACTIVITY", "CJ"],
    "act_size": ["ACTIVITY", "SIZE"],
    "nuts_cj": ["NUTS", "CJ"],
    "nuts_size": ["NUTS", "SIZE"],
    "act_nuts_size": ["ACTIVITY", "NUTS", "SIZE"],
}
#: The table that is of another population, and the total of its regions.
EAST, EAST_TOTAL, EAST_REGIONS = "act_nuts_size", "Total_EAST", ("FR41", "FR42", "FR43")
CODES = {"ACTIVITY": str, "NUTS": str}
RULES = ("threshold=3", "nk=1,85")


@dataclass(frozen=True)
class Step:
    """One command: its name, its exit code, its seconds of wall clock and those of processor time."""

    name: str
    code: int
    seconds: float
    processor: float


def _pairs(frame: pd.DataFrame, total: str) -> pd.DataFrame:
    found = [(total, code) for code in frame.iloc[:, 0].unique()]
    for above, below in pairwise(frame.columns):
        found += [(p, c) for p, c in frame[[above, below]].itertuples(index=False) if p != c]
    return pd.DataFrame(found, columns=["parent", "child"]).drop_duplicates()


def lay_out(source: Path, folder: Path) -> None:
    """Put code lists, tables and the list of the tables into a folder."""
    activity = pd.read_csv(source / "rtauargus_activity_corr_table.csv", dtype=str)
    nuts = pd.read_csv(source / "rtauargus_nuts23_fr_corr_table.csv", dtype=str)
    _pairs(activity, "Total").to_csv(folder / "activity.csv", index=False)
    _pairs(nuts, "Total").to_csv(folder / "nuts.csv", index=False)
    _pairs(nuts[nuts.iloc[:, 0].isin(EAST_REGIONS)], EAST_TOTAL).to_csv(folder / "east.csv", index=False)
    rows = []
    for name, by in TABLES.items():
        frame = pd.read_csv(source / f"rtauargus_turnover_{name}.csv", dtype=CODES)
        frame.to_csv(folder / f"{name}.csv", index=False)
        trees = {"ACTIVITY": "activity", "NUTS": "east" if name == EAST else "nuts"}
        row = {"table_name": name, "field": "East" if name == EAST else "France", "indicator": "TOT"}
        for k, dimension in enumerate(by, 1):
            row |= {f"spanning_{k}": dimension, f"hrc_spanning_{k}": trees.get(dimension)}
            row[f"total_{k}"] = _total(name, dimension)
        rows.append({**row, "count": "N_OBS", "maxima": "MAX", "empty": "drop"})
    pd.DataFrame(rows).to_csv(folder / "tables.csv", index=False, na_rep="NA")


def _total(name: str, dimension: str) -> str:
    return EAST_TOTAL if (name, dimension) == (EAST, "NUTS") else "Total"


def _below(codes: Sequence[str], tree: pd.DataFrame | None, total: str) -> tuple[npt.NDArray[np.float64], list[str]]:
    """Which leaves every code has below it: a 0-1 matrix of (codes, leaves)."""
    children: dict[str, list[str]] = {}
    if tree is None:
        children[total] = [code for code in codes if code != total]
    else:
        for parent, child in tree.itertuples(index=False):
            children.setdefault(parent, []).append(child)
    leaves = [code for code in codes if not set(children.get(code, ())) & set(codes)]
    place = {leaf: k for k, leaf in enumerate(leaves)}
    matrix = np.zeros((len(codes), len(leaves)))
    for row, code in enumerate(codes):
        todo = [code]
        while todo:
            one = todo.pop()
            if one in place:
                matrix[row, place[one]] = 1.0
            else:
                todo += children.get(one, [])
    return matrix, leaves


def _fit(values: npt.NDArray[np.float64], goal: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Scale `values` until their one-way margins are those of `goal`."""
    axes = range(values.ndim)
    for _ in range(2000):
        for axis in axes:
            others = tuple(k for k in axes if k != axis)
            now, wanted = values.sum(axis=others, keepdims=True), goal.sum(axis=others, keepdims=True)
            values = values * np.divide(wanted, now, out=np.ones_like(now), where=now > 0)
        first = tuple(range(1, values.ndim))
        if np.allclose(values.sum(axis=first), goal.sum(axis=first), rtol=1e-12, atol=0):
            break
    return values


def next_period(folder: Path, seed: int, growth: float = 1.03, spread: float = 0.1) -> Path:
    """Write the tables of the next period into the folder ``next``, and return it.

    Every inner cell changes by a random factor (lognormal with standard deviation `spread` of the logarithm); inner
    cells are then scaled to the old one-way margins, which tables share, and all values grow by `growth`. Largest
    contributions grow, too; those of inner cells by less, at random, so that none exceeds that of a sum.
    """
    rng = np.random.default_rng(seed)
    there = folder / "next"
    there.mkdir()
    for name, by in TABLES.items():
        frame = pd.read_csv(folder / f"{name}.csv", dtype=CODES)
        sums, places, inner = [], [], np.ones(len(frame), dtype=bool)
        for dimension in by:
            file = {"ACTIVITY": "activity", "NUTS": "east" if name == EAST else "nuts"}.get(dimension)
            tree = None if file is None else pd.read_csv(folder / f"{file}.csv", dtype=str)
            codes = frame[dimension].unique().tolist()
            matrix, leaves = _below(codes, tree, _total(name, dimension))
            sums.append(matrix)
            places.append(frame[dimension].map({code: k for k, code in enumerate(codes)}).to_numpy())
            inner &= frame[dimension].isin(leaves).to_numpy()
        # every code's row of the first leaf below it tells where a leaf stands
        at = tuple(matrix.argmax(axis=1)[place[inner]] for matrix, place in zip(sums, places, strict=True))
        old = np.zeros(tuple(matrix.shape[1] for matrix in sums))
        old[at] = frame["TOT"].to_numpy(dtype=float)[inner]
        new = _fit(old * np.exp(spread * rng.standard_normal(old.shape)), old)
        for axis, matrix in enumerate(sums):
            new = np.moveaxis(np.tensordot(matrix, new, axes=(1, axis)), 0, axis)
        value = growth * new[tuple(places)]
        before = frame["TOT"].to_numpy(dtype=float)
        ratio = np.divide(value, before, out=np.ones_like(value), where=before > 0)
        less = np.minimum(1.0, ratio / growth) * np.exp(-0.5 * spread * np.abs(rng.standard_normal(len(frame))))
        largest = growth * frame["MAX"] * np.where(inner, less, 1.0)
        frame.assign(TOT=value, MAX=np.minimum(largest, value)).to_csv(there / f"{name}.csv", index=False)
    return there


def _processor() -> float:
    """Seconds of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _step(folder: Path, *arguments: str, name: str = "") -> Step:
    started, used = time.monotonic(), _processor()
    command = [sys.executable, "-m", "tabprotect", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    step = Step(name or arguments[0], done.returncode, time.monotonic() - started, _processor() - used)
    if done.returncode not in (0, 3):
        raise InputError(f"tabprotect {' '.join(arguments)} ended with {done.returncode}: {done.stdout}{done.stderr}")
    print(f"{step.name:44} {step.code:4} {step.seconds:8.1f} {step.processor:12.1f}", flush=True)
    return step


def two_periods(folder: Path, seed: int, options: Sequence[str] = ()) -> tuple[list[Step], dict[str, float]]:
    """Run both periods; returns the steps, and the share of the first pattern that each release kept."""
    rules = [word for rule in RULES for word in ("--rule", rule)]
    steps = [
        _step(folder, "plan", "tables.csv", *rules, *options, "--out", "turnover.toml"),
        _step(folder, "develop", "turnover.toml", "--as-given"),
        _step(folder, "apply", "turnover.fixed.toml", "--data", ".", "--out", "first", name="apply, first period"),
    ]
    steps.append(_step(folder, "verify", "first", name="verify, first period"))
    next_period(folder, seed)
    again = ["apply", "turnover.fixed.toml", "--data", "next", "--previous", "first", "--out", "second"]
    steps.append(_step(folder, *again, name="apply, next period"))
    steps.append(_step(folder, "verify", "second", name="verify, next period"))
    periods = json.loads((folder / "second" / "internal" / "period.json").read_text())["releases"]
    return steps, {name: period["stability"]["share"] for name, period in periods.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/instances/tables"), help="folder of the tables")
    parser.add_argument("--seed", type=int, default=0, help="of the changes of the next period")
    parser.add_argument("--time-limit", help="of all clusters, instead of the default")
    given = parser.parse_args()
    options = [] if given.time_limit is None else ["--time-limit", given.time_limit]
    print(f"{'step':44} exit   wall s  processor s")
    with tempfile.TemporaryDirectory(prefix="tabprotect-five-") as place:
        lay_out(given.data, Path(place))
        steps, kept = two_periods(Path(place), given.seed, options)
    first = [step for step in steps if "next period" not in step.name]
    wall, used = (sum(getattr(step, name) for step in first) for name in ("seconds", "processor"))
    print(f"{'first period, all steps':44}      {wall:8.1f} {used:12.1f}")
    for name, share in kept.items():
        print(f"{name}: {share:.1%} of the hidden cells are hidden again")


if __name__ == "__main__":
    main()
