"""Bring the index of the instances up to date: sizes always, costs and bounds where this run found better ones.

Run from the checkout: ``python -m benchmarks.record [--seconds 60] [--method exact] [NAME ...]``.
Without ``--seconds`` nothing is solved.
A pattern counts only when the audit finds it safe, and no earlier answer enters a solve.
"""

from __future__ import annotations

import argparse
from datetime import date
from importlib.metadata import version

import numpy as np
import pandas as pd

from tabprotect.attack.audit import audit
from tabprotect.instances.index import FILE, load, names
from tabprotect.methods.suppression import methods, suppress
from tabprotect.problem import Problem
from tabprotect.solver.limits import Limits

#: A cost or bound must be better by this fraction to replace an older one.
CLEARLY = 1e-9


def sizes(problem: Problem) -> dict[str, int]:
    """Return the columns of the index that say how large a problem is."""
    return {
        "cells": problem.n_cells,
        "primaries": len(problem.primaries),
        "equations": problem.system.n_equations,
        "attackers": len(problem.attackers),
    }


def answers(problem: Problem, method: str, seconds: float, cost: float, bound: float) -> dict[str, object]:
    """Solve, audit, and return the columns in which this run is better than what was known (NaN for nothing)."""
    result = suppress(problem, method=method, limits=Limits(seconds=seconds))
    found: dict[str, object] = {}
    safe = result.cost is not None and audit(problem, result.pattern, intervals=False).safe
    if safe and not result.cost >= cost * (1 - CLEARLY):
        found["cost"] = result.cost
    if result.bound is not None and not result.bound <= bound * (1 + CLEARLY):
        found["bound"] = result.bound
    if found:
        found["proof"] = (
            f"{' and '.join(found)} by {result.method} in {seconds:g} s; {result.status}; "
            f"tabprotect {version('tabprotect')}, {date.today().isoformat()}"
        )
    return found


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.record", description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", choices=[[], *names()], help="instances (all)", metavar="NAME")
    parser.add_argument("--seconds", type=float, help="time for each solve; without it only sizes are written")
    parser.add_argument("--method", default="exact", choices=methods())
    arguments = parser.parse_args()
    index = pd.read_csv(FILE, dtype=str, keep_default_na=False).set_index("name")
    for name in arguments.names or names():
        problem = load(name)
        changes: dict[str, object] = dict(sizes(problem))
        if arguments.seconds is not None:
            known = [float(index.loc[name, column] or np.nan) for column in ("cost", "bound")]
            changes |= answers(problem, arguments.method, arguments.seconds, *known)
            if "proof" in changes and not {"cost", "bound"} <= changes.keys() and index.loc[name, "proof"]:
                changes["proof"] = f"{changes['proof']} | {index.loc[name, 'proof']}"  # that tells of the other one
        for column, value in changes.items():
            index.loc[name, column] = repr(value) if isinstance(value, float) else str(value)
        index.to_csv(FILE, lineterminator="\n")
        print(name, changes, flush=True)


if __name__ == "__main__":
    main()
