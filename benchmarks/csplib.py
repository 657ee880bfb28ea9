"""Solve the CSPLIB instances and print what was reached.

Run from the checkout: ``python -m benchmarks.csplib FOLDER [NAME ...] [--method auto] [--time-limit 60] [--trace]``.
Every pattern is audited again, and nothing known of an instance enters its solve.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tabprotect.attack.audit import audit
from tabprotect.formats import read_instance
from tabprotect.methods.suppression import SuppressionResult, suppress
from tabprotect.solver.limits import Limits, Progress

NAMES = ("table8", "osorio", "cbs", "dale", "hie1372d", "hie1327d", "hier13", "two5in6", "ninenew", "hier133e")


def trace(line: Progress) -> None:
    """Print progress."""
    cost, bound = (f"{v:14,.0f}" if v is not None else " " * 14 for v in (line.cost, line.bound))
    print(f"  {line.seconds:7.1f} {line.stage:10} {cost} {bound} {line.work:9}", file=sys.stderr, flush=True)


def row(name: str, result: SuppressionResult, wall: float, cpu: float, verdict: str) -> str:
    """Return one line of the table."""
    cost, bound = (f"{v:,.0f}" if v is not None else "-" for v in (result.cost, result.bound))
    gap = f"{100 * result.gap:.2f}%" if result.gap is not None else "-"
    return f"{name:10} {cost:>14} {bound:>14} {gap:>8} {wall:8.1f} {cpu:8.1f}  {result.status}, {verdict}"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.csplib", description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path, help="where the .jj files are")
    parser.add_argument("names", nargs="*", default=list(NAMES), metavar="NAME")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for each solve")
    parser.add_argument("--method", default="auto")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--engine", default="scip")
    parser.add_argument("--trace", action="store_true", help="print progress")
    arguments = parser.parse_args()
    print(f"{'instance':10} {'cost':>14} {'bound':>14} {'gap':>8} {'wall s':>8} {'cpu s':>8}")
    for name in arguments.names:
        problem = read_instance(arguments.folder / f"{name}.jj")
        wall, cpu = time.monotonic(), time.process_time()
        result = suppress(
            problem,
            method=arguments.method,
            engine=arguments.engine,
            limits=Limits(seconds=arguments.time_limit),
            seed=arguments.seed,
            progress=trace if arguments.trace else None,
        )
        wall, cpu = time.monotonic() - wall, time.process_time() - cpu
        verdict = "audited" if audit(problem, result.pattern, intervals=False).safe else "NOT SAFE"
        print(row(name, result, wall, cpu, verdict), flush=True)


if __name__ == "__main__":
    main()
