"""Random microdata against `protect`: no crash, hang or overrun, and no release that is not what it says.

Run from the checkout: ``python -m benchmarks.fuzz_releases --releases 300 --seed 0 [--time-limit 3]
[--untimed] [--attacked]``; that of one
seed comes again with ``--seed S --releases 1``. Numbers of all sizes and decimals, few or many dimensions, weights,
negative values, respondents who are alone in cells; every method; each release in a process of its own, which is killed
when it hangs. Safe releases are verified, small ones judged by ``tests/checker.py`` as well.

Every seed makes a second release (`benchmarks.attacked`: all methods, counts, linked tables, waivers, shadow
variables), which is written, and attacked from its public folder alone by an intruder who shares no code with the
package: see `benchmarks.intruder` for what he knows. Whatever he learns from a release that is called safe is a fault.
``--seed S --releases 1`` does both again, and ``--attacked`` makes only these. The exit code is 1 when anything was
found.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import tabprotect as tp
from benchmarks import attacked
from benchmarks.fuzz import command
from benchmarks.isolated import Failure, Worker
from tests.checker import Judge

#: Seconds after the limit in which a search has to be over, where sums of hidden cells are protected, and everything:
#: a pattern in hand is completed for its sums, and what was found is judged in full.
GRACE, COMPLETING, JUDGING = 4.0, 22.0, 40.0

#: Up to so many cells the checker judges, too: it is slow.
JUDGED = 130

#: Faults that a busy machine makes.
LATE = ("overrun:", "hang:")

METHODS = ("auto", "auto", "auto", "exact", "greedy", "local", "modular", "hypercube", "joint")
RULES = ("p%=10", "p%=50", "pq=10,60", "nk=1,75", "nk=2,90", "threshold=3", "threshold=10")


@dataclass(frozen=True)
class Case:
    """One call of `protect`, in words and as its arguments."""

    words: str
    data: pd.DataFrame
    rules: list[str]
    method: Any
    options: dict[str, Any]
    seconds: float


REPORTED = 1000
"""Releases after which the run says how far it is."""


@dataclass(frozen=True)
class Asked:
    """The release of a seed, within so many seconds; or the one of the seed that is attacked."""

    seed: int
    seconds: float
    attacked: bool = False


@dataclass(frozen=True)
class Said:
    """What came of it: a status and everything that is wrong."""

    status: str
    faults: tuple[str, ...]
    seconds: float
    questions: int = 0


def case(asked: Asked) -> Case:
    """Return the call of a seed.

    Examples
    --------
    >>> one, same = case(Asked(3, 2.0)), case(Asked(3, 2.0))
    >>> one.words == same.words, one.data.equals(same.data)
    (True, True)
    """
    rng = np.random.default_rng([asked.seed, 21])
    n = int(rng.choice([12, 40, 150, 500]))
    sizes = [int(rng.integers(2, 7)) for _ in range(int(rng.choice([1, 2, 2, 2, 3, 3])))]
    data = pd.DataFrame({f"d{k}": rng.integers(0, size, n) for k, size in enumerate(sizes)})
    by: list[Any] = []
    for k in range(len(sizes)):
        letters = data[f"d{k}"].map(lambda code: chr(97 + code))
        data[f"d{k}"] = letters
        if rng.random() < 0.4:
            data[f"e{k}"] = letters + rng.integers(1, 4, n).astype(str)
            by.append((f"d{k}", f"e{k}"))
        else:
            by.append(f"d{k}")
    unit, digits = 10.0 ** int(rng.integers(-3, 10)), int(rng.choice([0, 0, 1, 2, 4, 9]))
    values = rng.lognormal(0, float(rng.choice([0.3, 1.5, 3.0])), n) * unit
    data["value"] = np.round(values, digits) if rng.random() < 0.8 else values
    options: dict[str, Any] = {"by": by, "value": "value", "limits": tp.Limits(seconds=asked.seconds)}
    if rng.random() < 0.25:
        data["value"] *= rng.choice([1.0, -1.0], n, p=[0.9, 0.1])
        options["bounds"] = str(rng.choice(["100%", "200%"]))
    elif rng.random() < 0.3:
        options["bounds"] = str(rng.choice(["30%", "80%"]))
    if rng.random() < 0.5:
        data["firm"] = rng.integers(0, max(2, n // int(rng.choice([1, 3]))), n).astype(str)
        options["contributor"] = "firm"
    if rng.random() < 0.2:
        data["weight"] = np.round(rng.uniform(1, 5, n), int(rng.choice([0, 3])))
        options["weight"] = "weight"
    if rng.random() < 0.2:
        options["kind"] = "frequency"
        del options["value"]
    options |= {
        "singletons": bool(rng.random() < 0.6),
        "unions": str(rng.choice(["repair", "repair", "audit", "off"])),
        "intervals": bool(rng.random() < 0.5),
        "seed": int(rng.integers(0, 100)),
        "levels": str(rng.choice(["symmetric", "symmetric", "sliding"])),
    }
    rules = [str(rule) for rule in rng.choice(RULES, int(rng.integers(1, 3)), replace=False)]
    if options.get("kind") == "frequency":
        rules = ["threshold=5"]
    name = str(rng.choice(METHODS))
    given = {k: v for k, v in options.items() if k != "limits"}
    return Case(f"{n} records, {rules}, {name}, {given}", data, rules, tp.Suppress(method=name), options, asked.seconds)


def release(asked: Asked) -> Said:
    """Make the release of a seed and look for what is wrong with it."""
    if asked.attacked:
        return _attacked(asked)
    call = case(asked)
    started = time.monotonic()
    try:
        made = tp.protect(call.data, call.rules, call.method, **call.options)
    except tp.InputError as error:
        return Said(f"refused: {' '.join(str(error).split()[:6])}", (), time.monotonic() - started)
    seconds = time.monotonic() - started
    found = list(faults(call, made, seconds))
    return Said(made.result.status + ("" if made.safe else ", not safe"), tuple(found), seconds)


def _attacked(asked: Asked) -> Said:
    """Make the second release of a seed and let the intruder at what is published."""
    call = attacked.case(asked.seed, asked.seconds)
    started = time.monotonic()
    try:
        made = attacked.release(call)
    except (tp.InputError, tp.InfeasibleError) as error:
        return Said(f"refused: {' '.join(str(error).split()[:6])}", (), time.monotonic() - started)
    seconds = time.monotonic() - started
    report = attacked.assault(call, made)
    if report is None:
        return Said("attacked: not safe", (), seconds)
    found = tuple(f"disclosure: {finding}" for finding in report.findings)
    status = "attacked: " + ("in part" if report.undecided else "in full")
    return Said(status, found, seconds, report.questions)


def words(asked: Asked) -> str:
    """Return in words what is asked."""
    return attacked.case(asked.seed, asked.seconds).words if asked.attacked else case(asked).words


def faults(call: Case, made: tp.Release, seconds: float) -> Iterator[str]:
    """Yield what is wrong with a release."""
    problem, result = made.problem, made.result
    grace = COMPLETING if call.options["unions"] == "repair" else GRACE
    if result.seconds > call.seconds + grace or seconds > call.seconds + JUDGING:
        yield f"overrun: {result.seconds:.1f} s of search, {seconds:.1f} s with a limit of {call.seconds:g} s"
    judge = Judge(problem) if problem.n_cells <= JUDGED else None
    if made.safe:
        if not result.safe or result.cost is None or (result.bound is not None and result.bound > result.cost):
            yield f"status: '{result.status}' with cost {result.cost} and bound {result.bound}"
        verification = made.verify()
        if not (verification.ok and verification.safe):
            yield f"certificate: {verification}"
        if judge is not None and not judge.safe(result.pattern):
            yield f"unsafe: {judge.exposed(result.pattern)[:2]}"
        yield from _published(made)
        return
    told = result.status in ("infeasible", "unknown") or made.unions or made.judgement.lp_safe_only
    if not told:
        yield f"not safe: status '{result.status}', {made.judgement.shortfalls(3)}"
    if result.status == "unknown" and not result.stopped:
        yield f"status: 'unknown' although nothing stopped the search; {result.message}"
    if result.status == "infeasible" and judge is not None and judge.safe(problem.may_hide):
        yield "status: infeasible, but hiding everything is safe"


def _published(made: tp.Release) -> Iterator[str]:
    public, table = made.published, made.table
    codes = [name for name in public.columns if name not in (table.value_name, "status")]
    cells = dict(zip(table.rows[codes].itertuples(index=False, name=None), table.row_cell.tolist(), strict=True))
    cell = [cells[row] for row in public[codes].itertuples(index=False, name=None)]
    hidden, shown = (public["status"] == "suppressed").to_numpy(), public[table.value_name]
    if not np.array_equal(hidden, made.result.pattern[cell]) or set(cell) != set(range(table.n_cells)):
        yield "published: not what the pattern hides"
    if not shown[hidden].isna().all():
        yield "published: values of hidden cells"
    # noise of sums in floating point is left out
    if not np.allclose(
        shown[~hidden].to_numpy(np.float64), table.values[cell][~hidden], rtol=1e-12, atol=table.residual
    ):
        yield "published: other values than those of the cells shown"


def run(
    seeds: range,
    seconds: float,
    report: Callable[[str], None] = print,
    *,
    untimed: bool = False,
    attacked: bool = False,
) -> int:
    """Go through the releases of these seeds and return in how many something is wrong.

    With `untimed` overruns of limits are listed and not counted; with `attacked` only releases that are attacked are
    made.
    """
    kinds = (True,) if attacked else (False, True)
    statuses: Counter[str] = Counter()
    wrong, questions, slowest = 0, 0, (0.0, -1)
    with Worker(release, patience=2 * JUDGING) as worker:
        every = (Asked(seed, seconds, attack) for seed in seeds for attack in kinds)
        for made, asked in enumerate(every, start=1):
            said = worker.ask(asked, seconds)
            found = (said.what,) if isinstance(said, Failure) else said.faults
            if not isinstance(said, Failure):
                statuses[said.status] += 1
                questions += said.questions
                slowest = max(slowest, (said.seconds, asked.seed))
            wrong += any(not (untimed and fault.startswith(LATE)) for fault in found)
            for fault in found:
                report(f"seed {asked.seed} ({words(asked)}): {fault}")
            if made % REPORTED == 0:
                report(f"{made:,} releases until seed {asked.seed}, {wrong} with faults")
    counts = ", ".join(f"{number} {status}" for status, number in statuses.most_common())
    report(
        f"{len(kinds) * len(seeds):,} releases: {counts}; {questions:,} questions of intruders; "
        f"slowest {slowest[0]:.1f} s (seed {slowest[1]}); {wrong} with faults"
    )
    return wrong


if __name__ == "__main__":
    switches = {
        "untimed": "list overruns of limits without counting them: for busy machines",
        "attacked": "only the releases that are attacked from what is published",
    }
    sys.exit(command("benchmarks.fuzz_releases", __doc__ or "", "releases", 300, 3.0, run, **switches))
