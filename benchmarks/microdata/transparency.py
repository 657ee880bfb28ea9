"""What knowledge of the method adds to record linkage: ``python -m benchmarks.microdata.transparency FILE.csv``.

Every column of the file is masked: by microaggregation, rank swapping or noise. The intruder knows the original values
of the first few columns.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

import pandas as pd

import tabprotect.microdata as md
from tabprotect.microdata.risk import transparency

HEAD = (
    "| method | {} | columns known | plain linkage | with the method | pinned |\n| --- | --- | --- | --- | --- | --- |"
)


def microaggregations(names: Sequence[str]) -> Iterator[tuple[str, md.Method]]:
    """Yield the first two cells of a row, and the method."""
    for k in (5, 10, 25, 50):
        for method in ("individual-optimal", "individual"):
            yield f"{method} | {k}", md.Microaggregation(names, k=k, method=method)
        yield f"fuzzy, m1=1.2, m2=1.5 | {k}", md.FuzzyMicroaggregation(names, k=k, m1=1.2, m2=1.5)


def others(names: Sequence[str]) -> Iterator[tuple[str, md.Method]]:
    """Yield the same for rank swapping and noise."""
    for p in (5, 15, 50):
        for by in ("rank", "p-distribution"):
            yield f"rank swapping, by={by} | p={p}", md.RankSwapping(names, p=p, by=by)
    for alpha in (0.01, 0.1, 0.5):
        for kind in ("uncorrelated", "linear"):
            yield f"noise, {kind} | alpha={alpha}", md.Noise(names, kind=kind, alpha=alpha)


def row(frame: pd.DataFrame, words: str, method: md.Method, known: int, seed: int = 1) -> str:
    """Return the row of an intruder who knows the first columns."""
    masked = md.mask(frame, None, method, seed=seed)
    risk = transparency(frame, masked, columns=list(frame)[:known])
    shares = " | ".join(f"{100 * x:.1f} %" for x in (risk.plain_value, risk.value, risk.pinned))
    return f"| {words} | {known} | {shares} |"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="CSV of continuous columns")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    frame = pd.read_csv(chosen.file)
    for word, methods in (("k", microaggregations), ("strength", others)):
        print(HEAD.format(word))
        for words, method in methods(list(frame)):
            for known in (3, len(frame.columns)):
                print(row(frame, words, method, known, chosen.seed), flush=True)
        print()


if __name__ == "__main__":
    main()
