"""One run of one method on one generated problem, and the table of runs, which goes on after an interruption."""

from __future__ import annotations

import csv
import io
import math
import threading
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from benchmarks.isolated import Failure, Worker
from tabprotect.attack.audit import audit
from tabprotect.errors import InputError
from tabprotect.instances.families import family
from tabprotect.methods.suppression import SuppressionResult, suppress
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget, Limits, Progress

__all__ = ["CASES", "Run", "Runs", "Task", "Trace", "execute", "is_late", "run_apart"]

#: Name -> family and sizes.
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "margins 5-4": ("margins", {"d": 5, "k": 4, "categories": (6, 5, 4, 4, 3), "records": 900}),
    "margins 6-3": ("margins", {"d": 6, "k": 3, "categories": 4}),
    "margins 8-2": ("margins", {"d": 8, "k": 2, "categories": 6}),
    "margins 10-3": ("margins", {"d": 10, "k": 3, "categories": 3, "records": 1000}),
    "margins 12-2": ("margins", {"d": 12, "k": 2, "categories": 5}),
    "margins 6-5 two": ("margins", {"d": 6, "k": 5, "categories": (9, 5, 4, 3, 3, 3), "tables": 2, "records": 800}),
    "margins 9-4 nine": ("margins", {"d": 9, "k": 4, "categories": (9, 8, 5, 5, 4, 4, 4, 3, 3), "tables": 9}),
    "thin 8x8x8": ("thin", {"sizes": (8, 8, 8)}),
    "thin 20x4x4x4": ("thin", {"sizes": (20, 4, 4, 4)}),
    "thin 14x14x14 half": ("thin", {"sizes": (14, 14, 14), "filled": 0.5}),
    "wide": ("wide", {}),
    "wide 3d": ("wide", {"activity": (40,), "region": (8, 6)}),
    "deep": ("deep", {}),
    "holdings": ("holdings", {}),
    "holdings large": ("holdings", {"activity": (8, 6), "region": (5, 4)}),
}

TOLERATED, GRACE = 0.05, 0.5
"""An answer is late when it takes longer than the limit by more than this share of it and so many seconds."""

AUDIT_SECONDS = 300.0
"""After so many seconds the audit of a pattern ends, and the pattern counts as not safe."""

START_SECONDS = 60.0
"""What building a problem and the first call in a process may take besides."""


def is_late(seconds: float, limit: float) -> bool:
    """Return whether an answer came after the limit.

    Examples
    --------
    >>> is_late(10.9, 10), is_late(11.1, 10)
    (False, True)
    """
    return seconds > limit * (1 + TOLERATED) + GRACE


@dataclass(frozen=True)
class Task:
    """What is run."""

    case: str
    seed: int
    limit: float
    method: str


@dataclass(frozen=True)
class Run:
    """One row of the table; a number is None where there is none.

    Attributes
    ----------
    case, seed, limit, method
        What was run; `limit` in seconds.
    cells, primaries, attackers : int or None
    cost, bound : float or None
        Cost of the pattern if the audit found it safe, and what the method says that no pattern undercuts.
    seconds : float or None
        Wall clock of the call.
    first : float or None
        Seconds until a line of progress first had a cost (or the call returned a safe pattern).
    status : str
        Of the result, or what came instead of one: 'crash: ...', 'hang: ...', 'error: ...', 'refused: ...',
        'not safe: ...'.
    chosen : str
        What `auto` chose, and why.
    stages : str
        Seconds by stage of the search, as progress was reported, and the last cost then known.
    """

    case: str
    seed: int
    limit: float
    method: str
    cells: int | None = None
    primaries: int | None = None
    attackers: int | None = None
    cost: float | None = None
    bound: float | None = None
    seconds: float | None = None
    first: float | None = None
    status: str = ""
    chosen: str = ""
    stages: str = ""

    @property
    def task(self) -> Task:
        """What was run."""
        return Task(self.case, self.seed, self.limit, self.method)

    @property
    def late(self) -> bool:
        """Whether it took longer than its limit; see `is_late`."""
        return self.seconds is not None and is_late(self.seconds, self.limit)

    @property
    def in_time(self) -> float | None:
        """The cost of a safe pattern that came within the limit."""
        return None if self.late else self.cost


@dataclass
class Trace:
    """Listens to the progress of a search.

    Examples
    --------
    >>> trace = Trace()
    >>> trace(Progress("root")), trace(Progress("tree", cost=7.0)), trace.first is not None
    (None, None, True)
    """

    started: float = field(default_factory=time.monotonic)
    first: float | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    costs: dict[str, float] = field(default_factory=dict)
    before: float = 0.0

    def __call__(self, line: Progress) -> None:
        """Charge the time since the last line to the stage of this one."""
        now = time.monotonic() - self.started
        stage = " ".join(word for word in line.stage.split() if not word[0].isdigit())
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self.before
        self.before = now
        if line.cost is not None and math.isfinite(line.cost):
            self.first = now if self.first is None else self.first
            self.costs[stage] = line.cost

    def summary(self, end: float) -> str:
        """Return seconds and last cost by stage; `end` is when the call returned."""
        words = [
            f"{stage} {spent:.2f} s" + (f" ({self.costs[stage]:.0f})" if stage in self.costs else "")
            for stage, spent in self.seconds.items()
        ]
        return ", ".join([*words, f"unreported {end - self.before:.2f} s"])


def execute(task: Task) -> Run:
    """Run a method and audit its pattern; the first call of a process, which loads the solvers, is not measured."""
    name, size = CASES[task.case]
    problem = family(name, task.seed, **size)
    small = family("flat2d", 1, rows=4, columns=4)
    suppress(small, method=task.method, limits=Limits(seconds=5.0))
    return measure(task, problem)


def measure(task: Task, problem: Problem) -> Run:
    """Run a method on a problem and audit its pattern without anything the method says about safety."""
    about = (task.case, task.seed, task.limit, task.method, problem.n_cells, len(problem.primaries))
    trace = Trace()
    try:
        result = suppress(problem, method=task.method, limits=Limits(seconds=task.limit), progress=trace)
    except InputError as error:
        return Run(*about, len(problem.attackers), status=f"refused: {error}")
    seconds = time.monotonic() - trace.started
    cost, status = _judged(problem, result)
    first = trace.first if trace.first is not None else (seconds if cost is not None else None)
    stages = trace.summary(seconds)
    chosen = result.method if task.method == "auto" else ""
    return Run(
        *about, len(problem.attackers), cost, result.bound, round(seconds, 2), _rounded(first), status, chosen, stages
    )


def _judged(problem: Problem, result: SuppressionResult) -> tuple[float | None, str]:
    """Return the cost of a pattern that is safe, and the status.

    Deviations of the method only spare the audit the search for its own: each is checked exactly before it counts.
    """
    if not result.safe:
        return None, result.status
    budget = Budget(Limits(seconds=AUDIT_SECONDS))
    judged = audit(problem, result.pattern, intervals=False, deviations=result.deviations, budget=budget)
    if not judged.safe:
        return None, f"not safe: {len(judged.exposures)} levels missed or undecided"
    return problem.cost(result.pattern), result.status


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 2)


def run_apart(task: Task) -> Run:
    """Run in a new process, so that nothing of an earlier run is there and a crash is a row of the table."""
    with Worker(execute, patience=AUDIT_SECONDS + START_SECONDS) as worker:
        answer = worker.ask(task, task.limit)
    if isinstance(answer, Failure):
        what = " ".join(answer.what.split())
        return Run(task.case, task.seed, task.limit, task.method, status=_shortened(what))
    return answer


def _shortened(what: str) -> str:
    """Keep the end of a traceback, where the reason is."""
    return what if len(what) < 300 else f"{what.partition(':')[0]}: ... {what[-250:]}"


class Runs:
    """The table of runs; kept in a file that is replaced as a whole with every row, if there is one.

    Parameters
    ----------
    path : Path, optional
        A CSV file; rows that are in it are not run again.

    Raises
    ------
    InputError
        If the file is not such a table.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._rows = {row.task: row for row in _read(path)} if path is not None and path.exists() else {}

    @property
    def rows(self) -> list[Run]:
        """All rows, the oldest first."""
        return list(self._rows.values())

    def missing(self, tasks: Iterable[Task]) -> list[Task]:
        """Return the tasks that have no row, in their order."""
        return [task for task in tasks if task not in self._rows]

    def add(self, row: Run) -> None:
        """Add a row, and write the file."""
        with self._lock:
            self._rows[row.task] = row
            if self.path is not None:
                beside = self.path.with_name(self.path.name + ".part")
                beside.write_text(_written(self._rows.values()), encoding="utf-8")
                beside.replace(self.path)


def _written(rows: Iterable[Run]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, [f.name for f in fields(Run)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return text.getvalue()


def _read(path: Path) -> list[Run]:
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if (reader.fieldnames or []) != [f.name for f in fields(Run)]:
            raise InputError(f"{path} is no table of runs; name another file, or remove it")
        try:
            return [Run(**{key: _value(key, text) for key, text in row.items()}) for row in reader]
        except (ValueError, TypeError) as error:
            raise InputError(f"{path}, line {reader.line_num}: {error}; remove the line, and it is run again") from None


def _value(key: str, text: str) -> Any:
    if key in ("case", "method", "status", "chosen", "stages"):
        return text
    if not text:
        return None
    return int(text) if key in ("seed", "cells", "primaries", "attackers") else float(text)
