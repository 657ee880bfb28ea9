"""Random problems of few seconds each: a safe pattern has to be there whenever greedy or joint finds one.

Run from the checkout: ``python -m benchmarks.first_pattern --problems 1000 --seconds 3 [--seed 0]``; the problem of one
seed comes again with ``--seed S --problems 1``. Microdata with respondents who are alone in cells, holdings, linked and
thin tables, and sums of hidden cells, from dozens to thousands of cells. Each is protected with all defaults; a release
that ends 'unknown' is made again by the methods 'greedy' and 'joint', within the same limit, and counts as lost where
one of these finds a safe pattern. The exit code is 1 when any was lost.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import tabprotect as tp

RULES = ("p%=10", "p%=20", "nk=1,80", "threshold=3")

#: Methods that a release ending 'unknown' is made with again.
PEERS = ("greedy", "joint")

SLICE = 0.1

#: Releases that take so many times their limit are named.
LATE = 2.0


@dataclass(frozen=True)
class Case:
    """What is protected: in words, and the arguments of `tabprotect.protect` but for method and limits."""

    words: str
    data: Any
    rules: tuple[str, ...]
    options: dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """How a release ended: its status, whether its pattern is safe, and when the first one was there."""

    status: str
    safe: bool
    cells: int
    attackers: int
    seconds: float
    first: float | None


def case(seed: int, most: int = 6000) -> Case:
    """Return the problem of a seed.

    Parameters
    ----------
    seed : int
    most : int
        Records at most.

    Examples
    --------
    >>> one, same = case(4), case(4)
    >>> one.words == same.words, one.data.equals(same.data)
    (True, True)
    """
    rng = np.random.default_rng([seed, 19])
    n = int(rng.choice([k for k in (60, 200, 600, 2000, 6000) if k <= most]))
    kind = str(rng.choice(["thin", "thick", "linked"]))
    data = pd.DataFrame({"firm": np.arange(n).astype(str)})
    data["holding"] = np.where(rng.random(n) < 0.3, rng.integers(0, max(1, n // 8), n), np.arange(n) + n).astype(str)
    sizes = [int(rng.integers(3, 6)) for _ in range(3)]
    below = int(rng.integers(2, 5)) if kind == "thin" else 2
    by: list[Any] = []
    for name, size in zip(("activity", "region", "size"), sizes, strict=True):
        top = rng.choice(size, n, p=_shares(rng, size))
        data[name] = [chr(97 + k) for k in top]
        if name == "size":
            by.append(name)
            continue
        data[f"{name}2"] = data[name] + rng.integers(1, below + 1, n).astype(str)
        by.append((name, f"{name}2"))
    data["turnover"] = np.ceil(rng.lognormal(5, float(rng.choice([0.8, 1.5, 2.5])), n))
    options: dict[str, Any] = {"value": "turnover"}
    if rng.random() < 0.8:
        options["contributor"] = "firm"
        if rng.random() < 0.6:
            options["holding"] = "holding"
    if rng.random() < 0.3:
        options["unions"] = "off"
    rules = tuple(str(r) for r in rng.choice(RULES, 2, replace=False))
    words = f"{kind}, {n} records, {rules}, {options}"
    if kind != "linked":
        return Case(words, data, rules, {"by": by if n > 60 else by[:2], **options})
    roles = {k: v for k, v in options.items() if k != "unions"}
    pairs = [by[:2], by[1:], [by[0], by[2]]]
    tables = {f"table {k}": tp.tabulate(data, by=pair, top=3, **roles) for k, pair in enumerate(pairs)}
    return Case(words, tp.link(tables), rules, {k: v for k, v in options.items() if k == "unions"})


def _shares(rng: np.random.Generator, size: int) -> Any:
    weights = (1.0 + np.arange(size)) ** -float(rng.choice([0.0, 1.0]))
    return weights / weights.sum()


def release(asked: Case, method: str, seconds: float | None, work: int | None = None) -> Outcome:
    """Make a release, and listen for its first safe pattern."""
    begun = time.monotonic()
    first: list[float] = []

    def listen(progress: tp.Progress) -> None:
        if progress.cost is not None and not first:
            first.append(time.monotonic() - begun)

    made = tp.protect(
        asked.data,
        list(asked.rules),
        tp.Suppress(method=method),
        limits=tp.Limits(seconds=seconds, work=work),
        intervals=False,
        progress=listen,
        **asked.options,
    )
    problem = made.problem
    taken = time.monotonic() - begun
    return Outcome(
        made.result.status, made.safe, problem.n_cells, len(problem.attackers), taken, first[0] if first else None
    )


def lost(asked: Case, seconds: float | None, work: int | None = None) -> tuple[Outcome, str]:
    """Return the outcome by all defaults, and which of the peers finds a pattern where that finds none."""
    outcome = release(asked, "auto", seconds, work)
    if outcome.status != "unknown":
        return outcome, ""
    return outcome, next((peer for peer in PEERS if release(asked, peer, seconds, work).safe), "")


def run(problems: int, seed: int, seconds: float) -> int:
    """Print what became of the problems; return how many were lost."""
    ends: Counter[str] = Counter()
    late, missed, over, firsts = 0, 0, [], []
    for number in range(seed, seed + problems):
        asked = case(number)
        outcome, peer = lost(asked, seconds)
        ends[f"{outcome.status}{'' if outcome.safe else ', not safe'}"] += 1
        late += outcome.safe and (outcome.first or 0.0) > SLICE * seconds
        over.append(outcome.seconds / seconds)
        if outcome.first is not None:
            firsts.append(outcome.first)
        if over[-1] > LATE:
            print(f"{number}: {outcome.seconds:.1f} s, {asked.words}", flush=True)
        if peer:
            missed += 1
            print(f"{number}: unknown, and {peer} finds a pattern: {asked.words}", flush=True)
    print(f"{problems} problems of {seconds:g} s: " + ", ".join(f"{many} {end}" for end, many in ends.most_common()))
    print(f"{missed} lost; first pattern after more than a tenth of the limit, reading and tabulation included: {late}")
    if firsts:
        half, many, most = np.quantile(firsts, [0.5, 0.9, 0.99])
        print(f"first pattern after s: median {half:.2f}, 90 % {many:.2f}, 99 % {most:.2f}, {max(firsts):.2f}")
    print(f"time taken over limit: median {np.median(over):.2f}, 95 % {np.quantile(over, 0.95):.2f}, {max(over):.2f}")
    return missed


def main() -> int:
    """Run the command line; the exit code is 1 when a problem was lost."""
    what = (__doc__ or "").split("\n\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_pattern", description=what)
    parser.add_argument("--problems", type=int, default=1000, help="how many (1000)")
    parser.add_argument("--seed", type=int, default=0, help="the first; the others follow (0)")
    parser.add_argument("--seconds", type=float, default=3.0, help="limit of each (3)")
    arguments = parser.parse_args()
    return int(run(arguments.problems, arguments.seed, arguments.seconds) > 0)


if __name__ == "__main__":
    sys.exit(main())
