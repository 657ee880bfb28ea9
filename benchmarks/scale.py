"""Protect generated hierarchical tables of 10^4 to 10^6 cells and print every improvement.

Run from the checkout: ``python -m benchmarks.scale --cells 1e5 --dims 2 --primaries 0.03 --time-limit 300
[--method local] [--seed 1] [--certificate FILE] [--intervals] [--trace]``.

Lines show seconds (wall and processor), cost, bound in floating point and their ratio; the last ones the final audit
(exact witnesses for every level), the bound that is proven in exact arithmetic, the certificate where one is asked for,
and peak memory. Nothing known of a table enters its solve.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tabprotect.attack.audit import audit
from tabprotect.attack.certificate import certify
from tabprotect.attack.proof import bound_of
from tabprotect.attack.proof_rows import BoundProof
from tabprotect.instances.large import large
from tabprotect.methods.suppression import suppress
from tabprotect.methods.suppression.suppress import methods
from tabprotect.solver.limits import Limits, Progress

#: A line is printed when the ratio fell by this share since the last one (all of them with --trace).
WORTH = 0.01


class Listener:
    """Prints what became better."""

    def __init__(self, *, every: bool) -> None:
        self._every = every
        self._last: tuple[float | None, float | None] = (None, None)
        self._ratio = float("inf")
        self._cpu = time.process_time()

    def __call__(self, line: Progress) -> None:
        """Print a line of progress if it says something new."""
        now = line.cost, line.bound
        if line.cost is None or now == self._last:
            return
        ratio = line.cost / line.bound if line.bound else float("inf")
        if self._every or self._last[0] is None or ratio < self._ratio * (1 - WORTH):
            self._ratio = ratio
            cpu = time.process_time() - self._cpu
            print(row(line.stage, line.seconds, cpu, line.cost, line.bound), flush=True)
        self._last = now


def row(stage: str, seconds: float, cpu: float, cost: float | None, bound: float | None) -> str:
    """Return one line of the table.

    Examples
    --------
    >>> row("first", 1.0, 0.5, 300.0, 200.0)
    '| first    |     1.0 |     0.5 |            300 |            200 |   1.500 |'
    """
    amounts = " | ".join(f"{'-' if v is None else format(v, ',.0f'):>14}" for v in (cost, bound))
    ratio = f"{cost / bound:.3f}" if cost and bound else "-"
    return f"| {stage:8} | {seconds:7.1f} | {cpu:7.1f} | {amounts} | {ratio:>7} |"


def peak() -> float:
    """Return the most memory that this process ever held, in GB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__.split("\n\n")[0])
    parser.add_argument("--cells", type=float, default=1e4)
    parser.add_argument("--dims", type=int, default=2)
    parser.add_argument("--primaries", type=float, default=0.03, help="share of the cells")
    parser.add_argument("--time-limit", type=float, default=30.0, metavar="S")
    parser.add_argument("--method", default="auto", choices=methods())
    parser.add_argument("--seed", type=int, default=1, help="of the table")
    parser.add_argument("--certificate", type=Path, metavar="FILE", help="write it there (.json or .json.gz)")
    parser.add_argument("--intervals", action="store_true", help="compute the interval of every hidden cell, too")
    parser.add_argument("--trace", action="store_true", help="print all lines of progress")
    given = parser.parse_args(arguments)
    problem = large(round(given.cells), dims=given.dims, primaries=given.primaries, seed=given.seed)
    equations, primaries = problem.system.n_equations, len(problem.primaries)
    print(f"{problem.n_cells:,} cells, {given.dims} dimensions, {equations:,} equations, {primaries:,} primaries")
    print("| stage    |  wall s |   cpu s |           cost |          bound |   ratio |", flush=True)
    wall, cpu = time.monotonic(), time.process_time()
    result = suppress(
        problem,
        method=given.method,
        limits=Limits(seconds=given.time_limit),
        progress=Listener(every=given.trace),
    )
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    print(row("end", wall, cpu, result.cost, result.bound))
    print(f"{result.method}; {result.status}; {len(result.secondaries):,} secondaries {result.message}")
    wall, cpu = time.monotonic(), time.process_time()
    judged = audit(problem, result.pattern, intervals=False, deviations=result.deviations)
    verdict = "safe" if judged.safe else "NOT SAFE"
    print(f"audit: {verdict}, {len(judged.evidence.witnesses):,} exact witnesses, {_took(wall, cpu)}", flush=True)
    proof = result.cuts if isinstance(result.cuts, BoundProof) else None
    if proof is not None:
        wall, cpu = time.monotonic(), time.process_time()
        proven, claimed = float(bound_of(problem, proof)), result.bound or 0.0
        share = f", {proven / claimed:.4%} of the bound above" if claimed else ""
        print(f"proven: {proven:,.0f}{share}, {len(proof.rows):,} inequalities, {_took(wall, cpu)}", flush=True)
    if given.certificate is not None:
        wall, cpu = time.monotonic(), time.process_time()
        certificate = certify(problem, result.pattern, bound=result.bound, proof=proof, witnesses=judged.evidence)
        size = certificate.write(given.certificate).stat().st_size / 1e6
        print(
            f"certificate: {certificate.verdict}, {size:.1f} MB, {_took(wall, cpu)}, peak {peak():.2f} GB", flush=True
        )
    if given.intervals:
        wall, cpu = time.monotonic(), time.process_time()
        with ProcessPoolExecutor(2) as executor:
            wide = audit(problem, result.pattern, executor=executor)
        known = len(wide.recomputable)
        print(f"intervals: {len(wide.public.cells):,} cells, {known:,} recomputable, {_took(wall, cpu)} (2 processes)")
    print(f"peak memory {peak():.2f} GB")
    return 0 if judged.safe else 1


def _took(wall: float, cpu: float) -> str:
    return f"{time.monotonic() - wall:.1f} s ({time.process_time() - cpu:.1f} s of processor)"


if __name__ == "__main__":
    sys.exit(main())
