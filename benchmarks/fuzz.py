"""Random problems against the engine: no crash, hang, overrun, unsafe pattern, wrong cost, bound or status.

Run from the checkout: ``python -m benchmarks.fuzz --problems 1000 --seed 0 [--time-limit 5]``; the problem of one seed
comes again with ``--seed S --problems 1``. The engine works in a process of its own, which is killed when it hangs.
Every answer is judged by ``tests/checker.py``, which shares no code with the engine; small problems are enumerated.
The exit code is 1 when anything was found.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from benchmarks.isolated import Failure, Worker
from benchmarks.problems import widened
from tabprotect.methods.suppression import suppress
from tabprotect.problem import Problem, Status
from tabprotect.solver.limits import Limits
from tests.checker import Exposed, Judge, exact

#: Seconds after the limit in which an answer is in time.
GRACE = 2.0

#: Costs and bounds agree within this share.
AGREE = 1e-9

#: Up to so many cells to choose from the cheapest pattern is found by enumeration.
ENUMERATED = 14


@dataclass(frozen=True)
class Task:
    """What the engine is asked: the problem of a seed, by which method, within how many seconds."""

    seed: int
    method: str
    engine: str
    seconds: float


@dataclass(frozen=True, eq=False)
class Answer:
    """What the engine says, in plain numbers."""

    pattern: npt.NDArray[np.bool_]
    status: str
    safe: bool
    cost: float | None
    bound: float | None
    unprotectable: frozenset[tuple[int, int]]
    stopped: str
    seconds: float


def task(seed: int, seconds: float) -> Task:
    """Return the task of a seed: mostly the exact engine on SCIP, now and then with hardly any time."""
    method = "greedy" if seed % 10 == 3 else "exact"
    return Task(seed, method, "highs" if seed % 5 == 4 else "scip", min(seconds, 0.2) if seed % 7 == 5 else seconds)


def solve(asked: Task) -> Answer:
    """Ask the engine; the seconds are those that the caller waits."""
    problem = widened(asked.seed)[1]
    started = time.monotonic()
    r = suppress(problem, method=asked.method, engine=asked.engine, limits=Limits(seconds=asked.seconds))
    seconds = time.monotonic() - started
    unattainable = frozenset((u.attacker, u.cell) for u in r.unprotectable)
    return Answer(r.pattern, r.status, r.safe, r.cost, r.bound, unattainable, r.stopped, seconds)


def faults(problem: Problem, asked: Task, answer: Answer) -> Iterator[str]:
    """Yield what is wrong with an answer."""
    judge = Judge(problem)
    if answer.seconds > asked.seconds + GRACE:
        yield f"overrun: {answer.seconds:.1f} s with a limit of {asked.seconds:g} s"
    if not judge.well_formed(answer.pattern):
        yield "pattern: shows what must be hidden, or hides what must be shown"
        return
    exposed = judge.exposed(answer.pattern)
    unattainable = judge.exposed(problem.may_hide) if exposed else []
    if answer.safe != (answer.status in ("optimal", "feasible")) or answer.safe != (answer.cost is not None):
        yield f"status: '{answer.status}' with safe={answer.safe} and cost {answer.cost}"
    if answer.safe and exposed:
        yield f"unsafe: {len(exposed)} levels, first {exposed[0]}"
    if answer.status in ("feasible", "unknown") and asked.method == "exact" and not answer.stopped:
        yield f"status: '{answer.status}' although nothing stopped the run"
    if answer.status == "optimal" and asked.method == "exact" and answer.bound != answer.cost:
        yield f"status: optimal with cost {answer.cost} and bound {answer.bound}"
    if answer.status == "infeasible":
        yield from _infeasible(answer, exposed, unattainable)
    if answer.cost is not None:
        yield from _costs(problem, judge, answer)


def _infeasible(answer: Answer, exposed: list[Exposed], unattainable: list[Exposed]) -> Iterator[str]:
    questions = {(e.attacker, e.cell, e.side) for e in unattainable}
    if not questions:
        yield "status: infeasible, but hiding everything is safe"
    needless = {(e.attacker, e.cell, e.side) for e in exposed} - questions
    if needless:
        yield f"pattern: leaves exposed what can be protected, {sorted(needless)[:3]}"
    named = {cell for _, cell in answer.unprotectable}
    if named != {cell for _, cell, _ in questions}:
        yield f"cells: names {sorted(named)} as beyond protection, not {sorted({c for _, c, _ in questions})}"


def _costs(problem: Problem, judge: Judge, answer: Answer) -> Iterator[str]:
    assert answer.cost is not None
    secondary = answer.pattern & ~np.isin(problem.status, (Status.PRIMARY, Status.FORCED))
    cost = float(sum((exact(w) for w in problem.weights[secondary]), Fraction(0)))
    if abs(answer.cost - cost) > AGREE * cost:
        yield f"cost: says {answer.cost!r}, is {cost!r}"
    if answer.bound is not None and answer.bound > cost * (1 + AGREE):
        yield f"bound: {answer.bound!r} above the cost {cost!r}"
    try:
        best = judge.optimum(ENUMERATED).cost
    except ValueError:
        return
    if best is None:
        yield "unsafe: no pattern is safe"
    elif answer.bound is not None and answer.bound > best * (1 + AGREE) + 1e-12:
        yield f"bound: {answer.bound!r}, but a safe pattern costs {best!r}"


def run(seeds: range, seconds: float, report: Callable[[str], None] = print) -> int:
    """Go through the problems of these seeds and return in how many something is wrong."""
    statuses: Counter[str] = Counter()
    wrong, slowest, started = 0, (0.0, -1), time.monotonic()
    with Worker(solve) as worker:
        for seed in seeds:
            asked = task(seed, seconds)
            name, problem = widened(seed)
            answer = worker.ask(asked, asked.seconds)
            if isinstance(answer, Failure):
                found = [answer.what]
            else:
                found = list(faults(problem, asked, answer))
                statuses[answer.status] += 1
                slowest = max(slowest, (answer.seconds, seed))
            wrong += bool(found)
            for fault in found:
                report(f"seed {seed} ({name}, {problem.n_cells} cells, {asked.method} {asked.engine}): {fault}")
            if (seed - seeds.start) % 100 == 99:
                report(f"-- {seed - seeds.start + 1} problems, {wrong} wrong, {time.monotonic() - started:.0f} s")
    counts = ", ".join(f"{number} {status}" for status, number in statuses.most_common())
    report(f"{len(seeds)} problems: {counts}; slowest {slowest[0]:.1f} s (seed {slowest[1]}); {wrong} with faults")
    return wrong


def command(
    module: str, doc: str, things: str, many: int, seconds: float, go: Callable[..., int], **switches: str
) -> int:
    """Run the command line of a fuzz run; the exit code is 1 when anything was wrong.

    Every switch, with its help, is a flag of the command line and a keyword of `go`.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=doc.split("\n\n")[0])
    parser.add_argument(f"--{things}", dest="many", type=int, default=many, metavar="N", help=f"how many ({many})")
    parser.add_argument("--seed", type=int, default=0, help="the first; the others follow (0)")
    parser.add_argument(
        "--time-limit", type=float, default=seconds, metavar="S", help=f"seconds for each ({seconds:g})"
    )
    for name, words in switches.items():
        parser.add_argument(f"--{name}", action="store_true", help=words)
    arguments = parser.parse_args()
    more = {name: getattr(arguments, name) for name in switches}
    seeds = range(arguments.seed, arguments.seed + arguments.many)
    return int(go(seeds, arguments.time_limit, lambda line: print(line, flush=True), **more) > 0)


if __name__ == "__main__":
    sys.exit(command("benchmarks.fuzz", __doc__ or "", "problems", 1000, 5.0, run))
