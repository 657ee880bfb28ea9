"""What knowledge of the method adds to record linkage: ``python -m benchmarks.microdata.transparency FILE.csv``.

Every column of the file is masked: by microaggregation, rank swapping or noise. The intruder knows the original values of the first few columns.
"""

from __future__ import annotations

import argparse

import pandas as pd

import tabprotect.microdata as md
from tabprotect.microdata.risk import transparency


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="CSV of continuous columns")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    frame = pd.read_csv(chosen.file)
    names = list(frame)
    print("| method | k | columns known | plain linkage | with the method | pinned |")
    print("| --- | --- | --- | --- | --- | --- |")
    for k in (5, 10, 25, 50):
        methods = {
            "individual-optimal": md.Microaggregation(names, k=k, method="individual-optimal"),
            "individual": md.Microaggregation(names, k=k, method="individual"),
            "fuzzy, m1=1.2, m2=1.5": md.FuzzyMicroaggregation(names, k=k, m1=1.2, m2=1.5),
        }
        for word, method in methods.items():
            show(frame, method, f"{word} | {k}", chosen.seed)
    print("\n| method | strength | columns known | plain linkage | with the method | pinned |")
    print("| --- | --- | --- | --- | --- | --- |")
    for p in (5, 15, 50):
        for by in ("rank", "p-distribution"):
            show(frame, md.RankSwapping(names, p=p, by=by), f"rank swapping, by={by} | p={p}", chosen.seed)
    for alpha in (0.01, 0.1, 0.5):
        for kind in ("uncorrelated", "linear"):
            show(frame, md.Noise(names, kind=kind, alpha=alpha), f"noise, {kind} | alpha={alpha}", chosen.seed)


def show(frame: pd.DataFrame, method: md.Method, words: str, seed: int) -> None:
    """Print a row for an intruder with three columns and one with all of them."""
    names = list(frame)
    masked = md.mask(frame, None, method, seed=seed)
    for known in (3, len(names)):
        risk = transparency(frame, masked, columns=names[:known])
        shares = " | ".join(f"{100 * x:.1f} %" for x in (risk.plain_value, risk.value, risk.pinned))
        print(f"| {words} | {known} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
