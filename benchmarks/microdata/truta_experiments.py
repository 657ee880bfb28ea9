"""The three experiments of Truta, Fotouhi and Barth-Jones (2004, section 4) on simulated billing data.

    python benchmarks/microdata/truta_experiments.py [--records 1000 5000 25000]

Age, sex and zip are keys. Age gets normal noise with standard deviation c times its own, kept within 0 and 100; sex is
reversed for the p % of records with the rarest keys; zip codes that fewer than t records have lose two digits. The
paper's data are not printed; these are simulated: ages from two normal distributions, zip codes of very unequal size.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

import tabprotect.microdata as md

SCHEMA = md.Schema(keys=["age", "sex", "zip"], confidential=["billed"], scales={"age": "continuous"})
NOISE = (0, 0.05, 0.1, 0.25, 0.5, 1, 2, 4)
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
    noise = rng.normal(0, 1, len(frame)) * c * frame["age"].std(ddof=0)
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
    "noise on age, c": (noisy_age, NOISE),
    "sex reversed, %": (reversed_sex, SHARES),
    "zip recoded below, records": (shorter_zip, THRESHOLDS),
}


def main() -> None:
    """Print DR_min and DR_max, with the keys that attain it, for every experiment and size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, nargs="+", default=[1000, 5000, 25000])
    for n in parser.parse_args().records:
        frame = billing(n)
        for name, (mask, levels) in EXPERIMENTS.items():
            print(f"n = {n}, {name}:")
            for level in levels:
                found = md.risk.global_risk(frame, mask(frame, level), SCHEMA, changes={"zip": "prefix"}).details
                least, most = found["DR_min"], found["DR_max"]
                keys = "+".join(most["keys"])
                icf = max(found["factors"].values())
                print(f"  {level:>8g}  DR_min {least['value']:.4f}  DR_max {most['value']:.4f}  icf {icf:.3f}  {keys}")


if __name__ == "__main__":
    main()
