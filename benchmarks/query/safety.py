"""Random query sequences on small databases: what is answered, and what follows from it, for three kinds of audit.

``python -m benchmarks.query.safety --games 10000`` plays every sequence three times, on the same data with the same
prior knowledge: with this project's auditor; with an audit by linear algebra (deny what would determine the value of a
record exactly); and with refusing every overlap with an earlier query set. All three deny sums that are sensitive by
the rule. Afterwards brute force looks at every set of units that the rule protects, by linear programmes over single
records.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tabprotect.query.audit import Auditor, Intruder, Records
from tabprotect.query.audit.options import DEFAULTS, Options
from tests.query.brute import RULES, Brute, determined

KINDS = ("plain", "bounds", "units", "both")
AUDITS = ("tabprotect", "linear", "no overlaps")


@dataclass
class Game:
    """What became of one sequence."""

    asked: int = 0
    answered: int = 0
    breaches: list[Any] = field(default_factory=list)


def data(seed: int, kind: str) -> tuple[Any, ...]:
    """Draw a database of four to seven records, a rule and an intruder; `kind` says what else is known."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    n = int(rng.integers(4, 8))
    x = rng.choice([0, 1, 2, 3, 5, 10, 40, 100], n) if seed % 2 else rng.integers(10, 60, n)
    units = rng.integers(0, n - 1, n) if kind in ("units", "both") else np.arange(n)
    lower, upper = 0, np.inf
    if kind in ("bounds", "both"):
        lower = np.minimum(x, rng.choice([0, 0, 1, 5], n))
        upper = np.where(rng.random(n) < 0.5, np.inf, x + rng.integers(0, 60, n))
    text = list(RULES)[int(rng.integers(len(RULES)))]
    known = (int(rng.integers(n)),) if rng.random() < 0.5 else ()
    queries = [rng.random(n) < 0.6 for _ in range(6)]
    return x, lower, upper, units, text, known, queries


def play(seed: int, kind: str, options: Options = DEFAULTS) -> Game:
    """Play one sequence against the auditor."""
    return outcome(seed, kind, "tabprotect", options)


def outcome(seed: int, kind: str, audit: str, options: Options = DEFAULTS) -> Game:
    """Play one sequence against one kind of audit, and look for what follows from the answers."""
    x, lower, upper, units, text, known, queries = data(seed, kind)
    records = Records.of(x, lower=lower, upper=upper, units=units)
    intruders = [Intruder("who knows a record", known)] if known else []
    auditor = Auditor(records, text, intruders=intruders, options=options)
    game, sets = Game(), []
    for members in queries:
        game.asked += 1
        if audit == "tabprotect":
            answered = auditor.ask(members).answered
        else:
            # a fresh auditor without memory: the sensitivity rule alone
            answered = Auditor(records, text).decide([members])[0].steps[0].passed
            if audit == "linear":
                own = [np.eye(len(x), dtype=bool)[i] for i in known]
                news = determined([*sets, *own, members], len(x)) & ~determined([*sets, *own], len(x))
                answered &= not news.any()
            else:
                answered &= not any((members & s).any() for s in sets)
        game.answered += answered
        if answered and members.any():
            sets.append(members)
    brute = Brute(x, lower, upper, units, RULES[text])
    for who in {(), known}:
        game.breaches += brute.breaches(sets, who)
    return game


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=400, help="sequences in all, a quarter of every kind")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--audits", nargs="+", default=AUDITS, choices=AUDITS)
    parser.add_argument("--json", type=Path, help="write the figures there")
    given = parser.parse_args(arguments)
    seeds = range(given.first, given.first + given.games // len(KINDS))
    figures: dict[str, Any] = {}
    for audit in given.audits:
        for kind in KINDS:
            games = [outcome(seed, kind, audit) for seed in seeds]
            figures[f"{audit}, {kind}"] = {
                "sequences": len(games),
                "answered": round(sum(g.answered for g in games) / max(1, sum(g.asked for g in games)), 4),
                "sequences with a disclosure": sum(bool(g.breaches) for g in games),
            }
            print(f"{audit}, {kind}:", json.dumps(figures[f"{audit}, {kind}"]), flush=True)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 1 if any(v["sequences with a disclosure"] for k, v in figures.items() if k.startswith("tabprotect")) else 0


if __name__ == "__main__":
    sys.exit(main())
