"""The yes/no audit, and the one that lists every exposed cell, beside the classic one: two linear programmes a primary.

Run from the checkout: ``python -m benchmarks.audit_speed [--folder PATH] [--classic-limit 20] [NAME ...]``: instances
of the index with over 500 primaries, and with ``--folder`` cbs.jj and dale.jj from there. Seconds are of processor
time.

The classic audit comes in two forms, both without published and fixed cells: every programme solved on its own (with
presolve), and its best case, one programme kept and each solve started from the basis of the last. When one has not
ended within its limit, its seconds are scaled up from the share of the primaries, taken in random order, that it got
through. All must agree. Compared is what everybody knows: attackers with known cells and sliding levels, which the
classic audit does not have, are left out.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from tabprotect.attack.audit import audit
from tabprotect.attack.witness import Witnesses
from tabprotect.formats import read_instance
from tabprotect.instances import index, load
from tabprotect.methods.suppression import suppress
from tabprotect.problem import Problem
from tabprotect.solver.limits import Limits
from tabprotect.solver.lp import LinearProgram

#: Instances of the index with at least so many primaries are taken.
PRIMARIES = 500

#: Real tables that are taken from the folder.
FILES = ("cbs.jj", "dale.jj")

#: A level counts as reached by the classic audit within this share.
REACHED = 1e-6

#: The unsafe patterns publish this share of the secondaries of the safe ones.
PUBLISHED = 0.05

HEADING = (
    "| pattern | cells | hidden | primaries | exposed | yes/no s | all exposed s | with exact proof s | "
    "two LPs each s | kept warm s | times faster | than warm |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
)


@dataclass(frozen=True)
class Timing:
    """Seconds of processor time on one pattern; those of the classic audits are scaled up to all primaries."""

    name: str
    cells: int
    hidden: int
    primaries: int
    exposed: int
    first: float
    check: float
    proof: float
    cold: float
    warm: float
    asked: tuple[int, int]


def classic(
    problem: Problem,
    pattern: npt.NDArray[np.bool_],
    seconds: float = float("inf"),
    *,
    warm: bool = True,
    seed: int = 0,
) -> tuple[list[int], int]:
    """Return the exposed primaries, found by two programmes each, and how many primaries were asked about.

    Attackers with known cells and sliding levels are not looked at.

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
    >>> classic(p, np.array([False, True, True, False]))
    ([], 1)
    >>> classic(p, np.array([False, True, False, False]))
    ([1], 1)
    """
    hidden = np.flatnonzero(pattern)
    A = problem.system.A[:, hidden].tocsr()
    A = A[np.flatnonzero(np.diff(A.indptr))]
    zero, no_cost = np.zeros(A.shape[0]), np.zeros(len(hidden))
    box = -problem.down[hidden], problem.up[hidden]
    method: Literal["primal", "choose"] = "primal" if warm else "choose"

    def programme() -> LinearProgram:
        return LinearProgram(A, zero, zero, *box, no_cost, maximise=True, presolve=not warm, method=method)

    lp = programme()
    place = {int(cell): k for k, cell in enumerate(hidden)}
    order = np.random.default_rng(seed).permutation(problem.primaries)
    exposed, asked, started = set(), 0, time.process_time()
    for cell in order.tolist():
        if time.process_time() - started > seconds:
            break
        asked += 1
        for side, level in ((1.0, problem.upl[cell]), (-1.0, problem.lpl[cell])):
            if level > 0:
                lp = lp if warm else programme()
                lp.set_costs([place[cell]], [side])
                answer = lp.solve()
                if answer.status == "optimal" and answer.objective < level * (1 - REACHED):
                    exposed.add(cell)
        lp.set_costs([place[cell]], [0.0])
    return sorted(exposed), asked


def measure(name: str, problem: Problem, pattern: npt.NDArray[np.bool_], classic_limit: float) -> Timing:
    """Time all of them on one pattern.

    Raises
    ------
    RuntimeError
        If they disagree.
    """
    started = time.process_time()
    first = bool(Witnesses(problem).check(pattern, stop_at_first=True))
    yes_no = time.process_time() - started
    started = time.process_time()
    exposures = Witnesses(problem).check(pattern)
    check = time.process_time() - started
    started = time.process_time()
    judged = audit(problem, pattern, intervals=False)
    proof = time.process_time() - started
    if first != bool(exposures) or {e.key for e in exposures} != {e.key for e in judged.exposures}:
        raise RuntimeError(f"{name}: the judge and the exact audit disagree")
    public = {int(e.key.cell) for e in exposures}
    n, spent, asked = len(problem.primaries), [], []
    for warm in (False, True):
        started = time.process_time()
        exposed, count = classic(problem, pattern, classic_limit, warm=warm)
        spent.append((time.process_time() - started) * n / max(1, count))
        asked.append(count)
        if not set(exposed) <= public or (count == n and public != set(exposed)):
            raise RuntimeError(f"{name}: the audits disagree: {sorted(public ^ set(exposed))[:10]}")
    sizes = (problem.n_cells, int(pattern.sum()), n, len(public))
    return Timing(name, *sizes, yes_no, check, proof, spent[0], spent[1], (asked[0], asked[1]))


def patterns(problem: Problem, seconds: float) -> list[tuple[str, npt.NDArray[np.bool_]]]:
    """Return a safe pattern where one is found in time, and an unsafe one."""
    result = suppress(problem, method="greedy", limits=Limits(seconds=seconds))
    if not result.safe:
        return [("everything", problem.may_hide)]
    found = [("safe", result.pattern)]
    secondary = result.secondaries
    if len(secondary):
        smallest = secondary[np.argsort(problem.values[secondary], kind="stable")]
        broken = result.pattern.copy()
        broken[smallest[: max(1, int(PUBLISHED * len(smallest)))]] = False
        found.append(("unsafe", broken))
    return found


def line(t: Timing) -> str:
    """Return a row of the table; 'about' marks seconds that were scaled up."""
    cold, warm = (
        f"{'' if count == t.primaries else 'about '}{seconds:.1f}"
        for count, seconds in zip(t.asked, (t.cold, t.warm), strict=True)
    )
    return (
        f"| {t.name} | {t.cells:,} | {t.hidden:,} | {t.primaries:,} | {t.exposed:,} | {t.first:.3f} | {t.check:.3f} | "
        f"{t.proof:.3f} | "
        f"{cold} | {warm} | {t.cold / t.check:.0f} | {t.warm / t.check:.0f} |"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.audit_speed", description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="instances of the index, or file names of the folder")
    parser.add_argument("--folder", type=Path, help="where cbs.jj and dale.jj are")
    parser.add_argument("--classic-limit", type=float, default=20.0, metavar="S", help="for each classic audit (20)")
    parser.add_argument("--seconds", type=float, default=60.0, metavar="S", help="to find a pattern (60)")
    given = parser.parse_args(arguments)
    table = index()
    names = [str(name) for name in table.index[table["primaries"] >= PRIMARIES]]
    names = [*(FILES if given.folder is not None else ()), *names]
    print(HEADING)
    for name in given.names or names:
        problem = read_instance(given.folder / name) if name.endswith(".jj") else load(name)
        problem = replace(problem, attackers=(), spl=np.zeros(problem.n_cells))
        for kind, pattern in patterns(problem, given.seconds):
            print(
                line(measure(f"{name.removesuffix('.jj')}, {kind}", problem, pattern, given.classic_limit)), flush=True
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
