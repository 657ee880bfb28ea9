"""How much dearer `auto` is than the best single method in the same time, on families that no option was fitted on.

Run from the checkout: ``python -m benchmarks.regret [--families margins,thin,...] [--seeds 10-19] [--limits 10,60,300]
[--methods auto,exact,greedy,joint,local] [--jobs 1] [--out RUNS.csv] [--page TABLE.md]``.
A family is one of the cases of `benchmarks.regret_runs.CASES` or the family behind several of them.

Every run has a process of its own, and every pattern is audited. The regret is (cost of `auto`) / (least cost of a
single method) - 1; late answers are none, and without an answer the regret is infinite. Runs that are in the CSV file
are not run again. Seeds 0-9 are for tuning, 10-19 for reporting only.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from benchmarks.regret_runs import CASES, Run, Runs, Task, run_apart
from tabprotect.errors import InputError, collect, did_you_mean
from tabprotect.methods.suppression import methods

#: By how much `auto` may be dearer than the best single method, and the share of a limit in which it is to be safe.
ALLOWED, SOON = 0.02, 0.1


@dataclass(frozen=True)
class Regret:
    """`auto` against all single methods on one problem at one limit.

    Attributes
    ----------
    regret : float or None
        A fraction, negative where `auto` is cheaper than all; infinite without an answer, 0 where it alone has one,
        None where nobody has.
    best : str
        The cheapest single method.
    """

    auto: Run
    best: str
    regret: float | None

    @property
    def soon(self) -> bool:
        """Whether the first pattern came within a tenth of the limit."""
        return self.auto.first is not None and self.auto.first <= SOON * self.auto.limit


def regrets(rows: Sequence[Run]) -> list[Regret]:
    """Return one entry for every run of `auto` that has a single method beside it."""
    found = []
    for auto in (row for row in rows if row.method == "auto"):
        beside = [r for r in rows if (r.case, r.seed, r.limit) == (auto.case, auto.seed, auto.limit) and r is not auto]
        if not beside:
            continue
        answers = {row.method: row.in_time for row in beside if row.in_time is not None}
        best = min(answers, key=lambda name: answers[name]) if answers else ""
        found.append(Regret(auto, best, _regret(auto.in_time, answers.get(best))))
    return found


def _regret(cost: float | None, best: float | None) -> float | None:
    if cost is None:
        return None if best is None else math.inf
    if best is None:
        return 0.0
    return cost / best - 1.0 if best else (0.0 if cost == 0 else math.inf)


def summary(found: Sequence[Regret]) -> str:
    """Return one row a case and limit."""
    heads = ("case", "limit s", "problems", "median", "max", "best single", "first in a tenth", "auto late", "auto is")
    lines = [_line(heads), _line(["---"] * len(heads))]
    for case, limit in sorted({(one.auto.case, one.auto.limit) for one in found}, key=lambda key: (key[1], key[0])):
        here = [one for one in found if (one.auto.case, one.auto.limit) == (case, limit)]
        known = [one.regret for one in here if one.regret is not None]
        best = Counter(one.best or "none" for one in here).most_common()
        chosen = Counter(_short(one.auto.chosen) or one.auto.status for one in here).most_common(1)[0][0]
        lines.append(
            _line(
                (
                    case + (" (!)" if any(regret > ALLOWED for regret in known) else ""),
                    f"{limit:g}",
                    str(len(here)),
                    _percent(median(known)) if known else "",
                    _percent(max(known)) if known else "",
                    ", ".join(name if times == len(here) else f"{name} {times}" for name, times in best),
                    f"{sum(one.soon for one in here)}/{len(here)}",
                    str(sum(one.auto.late for one in here)),
                    chosen,
                )
            )
        )
    return "\n".join(lines)


def details(rows: Sequence[Run]) -> str:
    """Return one row a problem and limit with the cost of every method; in brackets seconds until the first pattern."""
    names = list(dict.fromkeys(row.method for row in rows))
    heads = ("case", "seed", "cells", "primaries", "attackers", "limit s", *names, "best bound")
    lines = [_line(heads), _line(["---"] * len(heads))]
    for case, seed, limit in dict.fromkeys((row.case, row.seed, row.limit) for row in rows):
        here = {row.method: row for row in rows if (row.case, row.seed, row.limit) == (case, seed, limit)}
        bounds = [row.bound for row in here.values() if row.bound is not None]
        size = next((row for row in here.values() if row.cells is not None), None)
        counts = [f"{n:,}" for n in (size.cells, size.primaries, size.attackers) if n is not None] if size else []
        costs = [_cost(here[name]) if name in here else "" for name in names]
        bound = f"{max(bounds):,.0f}" if bounds else ""
        lines.append(_line([case, str(seed), *(counts or ["", "", ""]), f"{limit:g}", *costs, bound]))
    return "\n".join(lines)


def _cost(row: Run) -> str:
    if row.cost is None:
        return row.status.partition(":")[0] + (" late" if row.late else "")
    first = "" if row.first is None else f" ({row.first:.1f})"
    return f"{row.cost:,.0f}{first}" + (f" late: {row.seconds:.0f} s" if row.late else "")


def stages(rows: Sequence[Run]) -> str:
    """Return what `auto` spent its time on, one row a problem and limit."""
    lines = [_line(("case", "seed", "limit s", "auto is", "seconds by stage (last cost)")), _line(["---"] * 5)]
    for row in (row for row in rows if row.method == "auto"):
        chosen = row.chosen.removeprefix("auto: ") or row.status
        lines.append(_line((row.case, str(row.seed), f"{row.limit:g}", chosen, row.stages)))
    return "\n".join(lines)


def _line(words: Sequence[str]) -> str:
    return "| " + " | ".join(word.replace("|", "/") for word in words) + " |"


def _percent(share: float) -> str:
    return "no answer" if math.isinf(share) else f"{100 * share:+.1f} %"


def _short(chosen: str) -> str:
    return chosen.removeprefix("auto: ").partition(", since")[0]


def page(rows: Sequence[Run], command: str) -> str:
    """Return all tables with what was run, when and where."""
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    return "\n".join(
        (
            "# Regret of auto",
            "",
            f"{datetime.now(UTC):%Y-%m-%d}, {machine}: `{command}`.",
            "Limits are of wall clock. Every pattern is audited; one that is late or not safe is no answer.",
            f"(!): dearer than the best single method by more than {100 * ALLOWED:g} %.",
            "",
            summary(regrets(rows)),
            "",
            "## Costs (seconds until the first pattern)",
            "",
            details(rows),
            "",
            "## Where auto spends its time",
            "",
            stages(rows),
            "",
        )
    )


def chosen_cases(words: Sequence[str]) -> list[str]:
    """Return the cases that are named, themselves or by their family; all without a word."""
    if not words:
        return list(CASES)
    families = {which for which, _ in CASES.values()}
    with collect() as problems:
        for word in words:
            if word not in CASES and word not in families:
                problems.add(f"there is no case or family '{word}'{did_you_mean(word, [*CASES, *families])}")
    return [case for case, (which, _) in CASES.items() if case in words or which in words]


def numbers(text: str) -> list[int]:
    """Read ``0-3,7``.

    Examples
    --------
    >>> numbers("0-3,7")
    [0, 1, 2, 3, 7]
    """
    found: list[int] = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        if not low.strip().isdigit() or not (high or low).strip().isdigit():
            raise InputError(f"seeds are numbers and ranges such as 0-3,7, not '{text}'")
        found += range(int(low), int(high or low) + 1)
    return list(dict.fromkeys(found))


def limits_of(text: str) -> list[float]:
    """Read ``10,60``.

    Examples
    --------
    >>> limits_of("0.5,60")
    [0.5, 60.0]
    """
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        found = []
    if not found or not all(0 < limit < math.inf for limit in found):
        raise InputError(f"limits are positive numbers of seconds such as 10,60, not '{text}'")
    return list(dict.fromkeys(found))


def methods_of(text: str) -> list[str]:
    """Read ``auto,exact``.

    Raises
    ------
    InputError
        If there is no such method.
    """
    names = [name.strip() for name in text.split(",")]
    with collect() as problems:
        for name in names:
            if name not in methods():
                problems.add(f"there is no method '{name}'{did_you_mean(name, methods())}")
    return list(dict.fromkeys(names))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns 1 when `auto` is too dear somewhere."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", default="", help="cases or families, with commas (all)")
    parser.add_argument("--seeds", default="10-19", help="such as 0-3,7 (10-19)")
    parser.add_argument("--limits", default="10,60,300", help="seconds of wall clock (10,60,300)")
    parser.add_argument("--methods", default="auto,exact,greedy,joint,local", help="(auto,exact,greedy,joint,local)")
    parser.add_argument("--jobs", type=int, default=1, help="runs side by side; they share the cores (1)")
    parser.add_argument("--out", type=Path, help="CSV file of the runs; those in it are not run again")
    parser.add_argument("--page", type=Path, help="also write the tables there, in Markdown")
    asked = parser.parse_args(argv)
    cases = chosen_cases([word.strip() for word in asked.families.split(",") if word.strip()])
    seeds, limits, names = numbers(asked.seeds), limits_of(asked.limits), methods_of(asked.methods)
    if asked.jobs < 1:
        raise InputError(f"--jobs must be at least 1, not {asked.jobs}")
    for path in (path for path in (asked.out, asked.page) if path is not None and not path.parent.is_dir()):
        raise InputError(f"there is no folder {path.parent}")
    tasks = [Task(c, s, limit, m) for limit in limits for s in seeds for c in cases for m in names]
    runs = Runs(asked.out)
    command = "python -m benchmarks.regret " + " ".join(f'"{w}"' if " " in w else w for w in (argv or sys.argv[1:]))

    def work(task: Task) -> None:
        row = run_apart(task)
        runs.add(row)
        print(f"{task.case}, seed {task.seed}, {task.limit:g} s, {task.method}: {_cost(row)}", flush=True)
        if asked.page:
            asked.page.write_text(page(_of(runs, tasks), command.strip()), encoding="utf-8")

    with ThreadPoolExecutor(asked.jobs) as pool:
        list(pool.map(work, runs.missing(tasks)))
    found = regrets(_of(runs, tasks))
    print(summary(found))
    if asked.page:
        asked.page.write_text(page(_of(runs, tasks), command.strip()), encoding="utf-8")
    return int(any(one.regret is not None and one.regret > ALLOWED for one in found))


def _of(runs: Runs, tasks: Sequence[Task]) -> list[Run]:
    """Return the rows of these tasks, in their order."""
    by_task = {row.task: row for row in runs.rows}
    return [by_task[task] for task in tasks if task in by_task]


if __name__ == "__main__":
    try:
        sys.exit(main())
    except InputError as error:
        sys.exit(str(error))
