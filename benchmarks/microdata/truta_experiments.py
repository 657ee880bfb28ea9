"""The three experiments of Truta, Fotouhi and Barth-Jones (2004, section 4) on simulated billing data.

    python -m benchmarks.microdata.truta_experiments [--out benchmarks/results/truta-experiments.csv]
    python -m benchmarks.microdata.truta_figures

Age, sex and zip are keys. Age gets normal noise of c times its variance, kept within 0 and 100; sex is reversed for the
p % of records with the rarest keys; zip codes that fewer than t records have lose two digits. The paper's data are not
printed; these are simulated: ages from two normal distributions, zip codes of very unequal size. The second command
draws the figures of the guide from the stored results.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import tabprotect.microdata as md

SCHEMA = md.Schema(keys=["age", "sex", "zip"], confidential=["billed"], scales={"age": "continuous"})
NOISE = (0, 0.01, 0.1, 0.5, 1, 2, 4, 16, 64)
SHARES = (0, 5, 10, 20, 30, 50, 75, 100)
THRESHOLDS = (0, 2, 5, 10, 25, 50, 100, 100_000)


def billing(n: int, seed: int = 1) -> pd.DataFrame:
    """Simulate billing records."""
    rng = np.random.default_rng(seed)
    young = rng.random(n) < 0.45
    age = np.clip(np.where(young, rng.normal(30, 12, n), rng.normal(66, 13, n)).round(), 0, 100).astype(int)
    codes = np.array([f"48{i:03d}" for i in rng.choice(1000, 120, replace=False)])
    share = 1 / np.arange(1, 121)
    zips = rng.choice(codes, n, p=share / share.sum())
    sex = np.where(rng.random(n) < 0.54, "F", "M")
    return pd.DataFrame({"age": age, "sex": sex, "zip": zips, "billed": rng.lognormal(6, 1, n).round(2)})


def noisy_age(frame: pd.DataFrame, c: float) -> pd.DataFrame:
    """Add noise to age."""
    rng = np.random.default_rng(7)
    noise = rng.normal(0, 1, len(frame)) * math.sqrt(c) * frame["age"].std(ddof=0)
    return frame.assign(age=np.clip((frame["age"] + noise).round(), 0, 100).astype(int))


def reversed_sex(frame: pd.DataFrame, p: float) -> pd.DataFrame:
    """Reverse sex for the records with the rarest keys."""
    size = frame.groupby(["age", "sex", "zip"])["age"].transform("size").to_numpy()
    rare = np.argsort(size, kind="stable")[: round(len(frame) * p / 100)]
    sex = frame["sex"].to_numpy().copy()
    sex[rare] = np.where(sex[rare] == "F", "M", "F")
    return frame.assign(sex=sex)


def shorter_zip(frame: pd.DataFrame, t: int) -> pd.DataFrame:
    """Suppress two digits of rare zip codes."""
    few = frame.groupby("zip")["zip"].transform("size") < t
    return frame.assign(zip=frame["zip"].where(~few, frame["zip"].str[:3] + "**"))


EXPERIMENTS = {
    "noise on age": (noisy_age, NOISE),
    "sex reversed": (reversed_sex, SHARES),
    "zip recoded": (shorter_zip, THRESHOLDS),
}

COLUMNS = ("records", "experiment", "level", "DR_min", "DR_max", "keys", "icf")


def measured(n: int) -> Iterator[dict[str, Any]]:
    """Yield a row for every level of the three experiments."""
    frame = billing(n)
    for name, (mask, levels) in EXPERIMENTS.items():
        for level in levels:
            found = md.risk.global_risk(frame, mask(frame, level), SCHEMA, changes={"zip": "prefix"}).details
            least, most = found["DR_min"], found["DR_max"]
            values = (
                n, name, level, f"{least['value']:.4f}", f"{most['value']:.4f}", "+".join(most["keys"]),
                f"{max(found['factors'].values()):.3f}",
            )  # fmt: skip
            yield dict(zip(COLUMNS, values, strict=True))


def main() -> None:
    """Print DR_min and DR_max, with the keys that attain it, for every experiment and size, and store them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, nargs="+", default=[1000, 5000, 25000])
    parser.add_argument("--out", type=Path, help="CSV file")
    given = parser.parse_args()
    rows = []
    for n in given.records:
        for row in measured(n):
            print("  ".join(f"{row[column]!s:>12}" for column in COLUMNS), flush=True)
            rows.append(row)
    if given.out:
        with given.out.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
