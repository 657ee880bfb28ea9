"""Whole releases of the bundled register beside suppression of the same problem: one line a table.

Run from the checkout: ``python -m benchmarks.releases [--seconds 20]``. `tabprotect.protect` tabulates, looks
for sums of hidden cells and judges; `tabprotect.suppress` is handed the problem that this stated. Both have the same
limit; costs differ where sums of hidden cells had to be protected, too.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import pandas as pd

import tabprotect as tp
from tabprotect.instances import data

TABLES: dict[str, tuple[list[str], dict[str, Any]]] = {
    "division x size": (["division", "size"], {}),
    "division x nuts2": (["division", "nuts2"], {"contributor": "enterprise_id", "holding": "group_id"}),
    "division x nuts2 x size": (["division", "nuts2", "size"], {"contributor": "enterprise_id"}),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for every table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each of the two, for every table")
    limits = tp.Limits(seconds=parser.parse_args(arguments).seconds)
    register = pd.read_csv(data("register.csv"), dtype={"division": str})
    tree = {"division": tp.Hierarchy.read(data("division.hrc"))}
    print("table | cells | primary | protect: s, cost, bound | suppress: s, cost, bound | seconds, ratio")
    for name, (by, roles) in TABLES.items():
        started = time.perf_counter()
        release = tp.protect(
            register, ["p%=15", "threshold=3"], by=by, value="turnover", hierarchies=tree, limits=limits, **roles
        )
        whole = time.perf_counter() - started
        n = release.table.n_cells
        problem = tp.make_problem(release.table, tp.assess(release.table, ["p%=15", "threshold=3"]))
        started = time.perf_counter()
        alone = tp.suppress(problem, limits=limits)
        least = time.perf_counter() - started
        print(
            f"{name} | {n:,} | {len(problem.primaries):,} | {whole:.1f}, {_sums(release.result)} | "
            f"{least:.1f}, {_sums(alone)} | {whole / least:.1f}",
            flush=True,
        )
    return 0


def _sums(result: tp.SuppressionResult) -> str:
    return ", ".join("none" if x is None else f"{x:,.0f}" for x in (result.cost, result.bound))


if __name__ == "__main__":
    raise SystemExit(main())
