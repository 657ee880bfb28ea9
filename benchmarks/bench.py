"""Our engine and a peer on a set of instances, every pattern judged by the same audit: one table.

Run from the checkout: ``python -m benchmarks.bench --set csplib|families|quick [--folder PATH] [--against tau-argus]
[--time-limit 60] [--seeds 0,1,2] [--out build/bench.csv] [NAME ...]``; ``tabprotect bench`` takes the same options.
The protocol is in docs/benchmarks.md. The table is written again after every instance, so a run can be stopped.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.isolated import Failure, Worker
from benchmarks.peers import PEERS, Peer, peer
from benchmarks.shuffled import shuffled, weight_factor
from benchmarks.tables import write
from tabprotect.attack.audit import audit
from tabprotect.errors import InputError, TabprotectError, did_you_mean
from tabprotect.formats import read_instance
from tabprotect.instances import index, load
from tabprotect.methods.suppression import suppress
from tabprotect.methods.suppression.suppress import check_method
from tabprotect.problem import Problem
from tabprotect.solver.limits import Progress
from tabprotect.solver.mip.pool import pool_solver

SETS = ("csplib", "families", "quick")

#: The quick set: instances of the index of at most so many cells.
QUICK_CELLS = 500

#: Times that a small table is solved before the clock starts.
WARM = 5

#: A peer is killed after so many times the limit.
PATIENCE = 2.0

#: Answers later than the limit by this share and these seconds are reported as late.
LATE = (0.1, 2.0)


@dataclass(frozen=True)
class Case:
    """An instance by name, and where it comes from when that is a file."""

    name: str
    path: str = ""
    shuffle: int | None = None  #: seed of another order of cells and another unit of weights

    def problem(self) -> Problem:
        """Build or read it."""
        problem = read_instance(self.path) if self.path else load(self.name)
        return problem if self.shuffle is None else shuffled(problem, self.shuffle)

    @property
    def factor(self) -> float:
        """By which its weights were multiplied."""
        return 1.0 if self.shuffle is None else weight_factor(self.shuffle)


@dataclass(frozen=True)
class Asked:
    """One run of ours."""

    case: Case
    seconds: float
    seed: int
    engine: str
    method: str = "exact"


@dataclass(frozen=True, eq=False)
class Ours:
    """What our engine did: the result in plain numbers, and (seconds, cost, bound) on the way."""

    pattern: npt.NDArray[np.bool_]
    status: str
    cost: float | None
    bound: float | None
    seconds: float
    trace: tuple[tuple[float, float | None, float | None], ...]


@dataclass(frozen=True)
class Row:
    """One line of the table; costs are in the weights of the instance, times in seconds of wall clock."""

    instance: str
    cells: int = 0
    primaries: int = 0
    equations: int = 0
    attackers: int = 0
    seed: int = 0
    limit: float = 0.0
    status: str = ""
    cost: float | None = None
    bound: float | None = None
    gap: float | None = None
    seconds: float | None = None
    failure: str = ""
    peer: str = ""
    peer_cost: float | None = None
    peer_seconds: float | None = None
    peer_claim: str = ""
    peer_failure: str = ""
    cost_then: float | None = None  #: our cost when the peer ended
    seconds_to_peer: float | None = None  #: when our cost was at most the peer's
    trace: tuple[tuple[float, float | None, float | None], ...] = field(default=(), repr=False)


def cases(which: str, folder: str | Path | None = None, names: Sequence[str] = ()) -> list[Case]:
    """Return the instances of a set.

    Raises
    ------
    InputError
        If there is no such set, it needs a folder, the folder holds no instance, or a name is unknown.
    """
    if which not in SETS:
        raise InputError(f"no set '{which}'{did_you_mean(which, SETS)}")
    if which == "csplib":
        if folder is None:
            raise InputError("--set csplib needs --folder, where the .jj or .SIF files are")
        endings = (".jj", ".sif")
        files = sorted(p for p in Path(folder).glob("*") if p.name.lower().removesuffix(".gz").endswith(endings))
        found = [Case(path.name.split(".")[0].lower(), str(path.resolve())) for path in files]
        if not found:
            raise InputError(f"{folder} holds no .jj or .SIF file")
    else:
        table = index()
        if which == "quick":
            table = table[table["cells"] <= QUICK_CELLS]
        found = [Case(str(name)) for name in table.index]
    if unknown := sorted(set(names) - {case.name for case in found}):
        raise InputError(f"not in the set '{which}': {', '.join(unknown)}")
    return [case for case in found if not names or case.name in names]


def solve(asked: Asked) -> Ours:
    """Run one of our methods."""
    trace: list[tuple[float, float | None, float | None]] = []
    started = time.monotonic()

    def note(p: Progress) -> None:
        line = (round(time.monotonic() - started, 3), p.cost, p.bound)
        if not trace or trace[-1][1:] != line[1:]:
            trace.append(line)

    problem = asked.case.problem()
    _load(asked.engine)
    started = time.monotonic()
    r = suppress(
        problem, method=asked.method, engine=asked.engine, limits=asked.seconds, seed=asked.seed, progress=note
    )
    return Ours(r.pattern, r.status, r.cost, r.bound, time.monotonic() - started, tuple(trace))


@cache
def _load(engine: str) -> None:
    """Load all libraries, some of which the first solve loads, and solve a few times: Python is slow at first."""
    A = [[-1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, -1, 1, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0, -1, 1, 1]]
    A += [[-1, 0, 0, 1, 0, 0, 1, 0, 0], [0, -1, 0, 0, 1, 0, 0, 1, 0], [0, 0, -1, 0, 0, 1, 0, 0, 1]]
    pool_solver(engine)
    for _ in range(WARM):
        suppress(
            Problem.from_arrays(A, [20, 9, 11, 8, 3, 5, 12, 6, 6], primary=[4], lpl=1, upl=1),
            method="exact",
            engine=engine,
        )


def judged(problem: Problem, pattern: npt.NDArray[np.bool_]) -> tuple[float | None, str]:
    """Return the true cost of a pattern that the audit finds safe, or no cost and what is wrong."""
    if np.any(pattern & ~problem.may_hide):
        return None, "hides what must be published"
    found = audit(problem, pattern, intervals=False)
    if found.safe:
        return problem.cost(pattern), ""
    what = f"{len(found.shown)} primaries published" if len(found.shown) else f"{len(found.exposures)} levels missed"
    public = sum(e.key.attacker < 0 for e in found.exposures)
    if found.exposures and not public:
        what += ", all of them towards attackers who know cells"
    return None, f"unsafe: {what}"


def compare(
    asked: Asked, ours: Callable[[Asked], Ours | Failure], other: Peer | None, peer_row: Row | None = None
) -> Row:
    """Run one instance, ours and the peer one after the other; `peer_row` is an earlier row of the same instance."""
    try:
        problem = asked.case.problem()
    except TabprotectError as error:
        why = getattr(error, "problems", (str(error),))[0]
        return Row(asked.case.name, seed=asked.seed, limit=asked.seconds, failure=f"not read: {why}")
    row = Row(
        asked.case.name,
        problem.n_cells,
        len(problem.primaries),
        problem.system.n_equations,
        len(problem.attackers),
        asked.seed,
        asked.seconds,
    )
    row = _with_ours(row, problem, ours(asked))
    if other is None:
        return row
    if peer_row is None:
        row = _with_peer(row, problem, other)
    else:
        names = ("peer", "peer_cost", "peer_seconds", "peer_claim", "peer_failure")
        row = replace(row, **{name: getattr(peer_row, name) for name in names})
    return _side_by_side(row)


def _with_ours(row: Row, problem: Problem, answer: Ours | Failure) -> Row:
    if isinstance(answer, Failure):
        return replace(row, failure=answer.what.strip().replace("\n", " | "))
    cost, wrong = judged(problem, answer.pattern) if answer.cost is not None else (None, "")
    if cost is not None and answer.cost is not None and not math.isclose(cost, answer.cost, rel_tol=1e-9):
        wrong = f"wrong cost: says {answer.cost!r}"
    late = _late(answer.seconds, row.limit)
    gap = None if cost is None or answer.bound is None else max(0.0, cost - answer.bound) / max(cost, 1e-300)
    return replace(
        row,
        status=answer.status,
        cost=cost,
        bound=answer.bound,
        gap=gap,
        seconds=round(answer.seconds, 3),
        failure="; ".join(part for part in (wrong, late) if part),
        trace=answer.trace,
    )


def _with_peer(row: Row, problem: Problem, other: Peer) -> Row:
    answer = other.solve(problem, row.limit, PATIENCE)
    cost, wrong = (None, answer.failure) if answer.pattern is None else judged(problem, answer.pattern)
    late = "" if answer.failure else _late(answer.seconds, max(60.0, row.limit))
    return replace(
        row,
        peer=answer.version or other.name,
        peer_cost=cost,
        peer_seconds=round(answer.seconds, 3),
        peer_claim=answer.claim,
        peer_failure="; ".join(part for part in (wrong, late) if part),
    )


def _late(seconds: float, limit: float) -> str:
    return f"late: {seconds:.1f} s" if seconds > max(limit * (1 + LATE[0]), limit + LATE[1]) else ""


def _side_by_side(row: Row) -> Row:
    """What we had when the peer ended, and when we had what the peer had."""
    points = [(seconds, cost) for seconds, cost, _ in row.trace if cost is not None]
    if row.cost is not None and row.seconds is not None:
        points.append((row.seconds, row.cost))
    if not points or row.peer_seconds is None:
        return row
    then = [cost for seconds, cost in points if seconds <= row.peer_seconds]
    reached = [s for s, cost in points if row.peer_cost is not None and cost <= row.peer_cost * (1 + 1e-9)]
    return replace(row, cost_then=min(then, default=None), seconds_to_peer=min(reached, default=None))


def run(
    chosen: Sequence[Case],
    seconds: float,
    seeds: Sequence[int],
    other: Peer | None,
    engine: str = "scip",
    method: str = "exact",
    ours: Callable[[Asked], Ours] = solve,
) -> Iterator[Row]:
    """Yield the rows as they come."""
    with Worker(ours) as worker:
        for case in chosen:
            first: Row | None = None
            for seed in seeds:
                asked = Asked(case, seconds, seed, engine, method)
                row = compare(asked, lambda a: worker.ask(a, a.seconds), other, first)
                first = first or row
                yield in_unit(row, case.factor)


def in_unit(row: Row, factor: float) -> Row:
    """Return a row with its costs in the weights of the instance as it is."""

    def back(cost: float | None) -> float | None:
        return None if cost is None else cost / factor

    costs = {name: back(getattr(row, name)) for name in ("cost", "bound", "peer_cost", "cost_then")}
    return replace(row, **costs, trace=tuple((s, back(c), back(b)) for s, c, b in row.trace))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns 1 when one of our own runs failed.

    Raises
    ------
    InputError
        If the instances or the peer are not there.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench", description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="instances of the set (all)")
    parser.add_argument("--set", dest="which", default="quick", help=f"{', '.join(SETS)} (quick)")
    parser.add_argument("--folder", help="where the .jj or .SIF files of the set csplib are")
    parser.add_argument("--against", help=f"a peer: {', '.join(PEERS)} (make peer)")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="S", help="seconds for each run (60)")
    parser.add_argument("--seeds", default="0", help="such as 0,1,2")
    parser.add_argument("--shuffle", type=int, metavar="SEED", help="other order of cells, other unit of weights")
    parser.add_argument("--engine", default="scip", help="scip or highs (scip)")
    parser.add_argument("--method", default="exact", help="of tabprotect.suppress, such as auto (exact)")
    parser.add_argument("--out", default="build/bench.csv", help="table; .json, .md and .svg are written beside it")
    given = parser.parse_args(arguments)
    if not all(seed.isdecimal() for seed in given.seeds.split(",")):
        raise InputError(f"--seeds takes whole numbers with commas between them, not '{given.seeds}'")
    seeds = [int(seed) for seed in given.seeds.split(",")]
    check_method(given.method, given.engine)
    pool_solver(given.engine)
    chosen = [replace(case, shuffle=given.shuffle) for case in cases(given.which, given.folder, given.names)]
    other = None if given.against is None else peer(given.against)
    rows: list[Row] = []
    facts = {"set": given.which, "time limit": given.time_limit, "seeds": seeds, "method": given.method}
    facts["engine"] = given.engine
    facts |= {} if given.shuffle is None else {"shuffle": given.shuffle}
    for row in run(chosen, given.time_limit, seeds, other, given.engine, given.method):
        rows.append(row)
        print(line(row), flush=True)
        write(given.out, [asdict(row) for row in rows], facts)
    return int(any(row.failure and not row.failure.startswith("not read") for row in rows))


def line(row: Row) -> str:
    """Return a row in words."""

    def number(value: float | None) -> str:
        return "-" if value is None else f"{value:,.10g}"

    text = f"{row.instance}: {number(row.cost)}, bound {number(row.bound)}, {number(row.seconds)} s {row.failure}"
    if row.peer:
        text += f" | {row.peer}: {number(row.peer_cost)}, {number(row.peer_seconds)} s {row.peer_failure}"
    return text.rstrip()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except InputError as error:
        sys.exit(f"{error}")
