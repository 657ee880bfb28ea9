"""Which questions the witnesses of a certificate leave open, beside asking all questions one by one."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tabprotect.attack.certificate import certify
from tabprotect.certificate.document import SECTIONS, digest, question, seal
from tabprotect.certificate.verify import verify
from tabprotect.problem import Attacker, Problem

LEVEL, WIDTH = 2, 5
SIDES = {1: "upper", -1: "lower", 0: "sliding"}


def _problem(rng: np.random.Generator, *, integer: bool) -> Problem:
    values = np.zeros((5, 5))
    values[1:, 1:] = rng.integers(3, 40, (4, 4))
    values[0, 1:], values[1:, 0] = values[1:, 1:].sum(0), values[1:, 1:].sum(1)
    values[0, 0] = values[0, 1:].sum()
    number = np.arange(25).reshape(5, 5)
    rows = np.zeros((10, 25))
    for k in range(5):
        rows[k, number[k]] = rows[5 + k, number[:, k]] = [-1, 1, 1, 1, 1]
    primary = rng.choice(number[1:, 1:].ravel(), 4, replace=False)
    known = [tuple(int(c) for c in rng.choice(25, rng.integers(1, 4), replace=False)) for _ in range(12)]
    return Problem.from_arrays(
        rows, values.ravel(), primary, lpl=LEVEL, upl=LEVEL, spl=WIDTH, integer=integer,
        attackers=[Attacker(f"firm {k}", cells) for k, cells in enumerate(known)],
    )  # fmt: skip


def _left_open(problem: Problem, document: dict[str, Any]) -> list[str]:
    """Ask every question of everybody."""
    exposed, unproven = (set(map(question, document[name])) for name in ("exposed", "unproven"))
    witnesses = [
        {c: Fraction(z, w["denominator"]) for c, z in zip(w["cells"], w["numerators"], strict=True)}
        for w in document["witnesses"]
    ]
    everybody = [set(), *(set(one["known"]) for one in document["problem"]["attackers"])]
    found = []
    for attacker, known in enumerate(everybody, start=-1):
        for cell in sorted(int(p) for p in problem.primaries):
            for side, word in SIDES.items():
                asked = {(attacker, cell, side), (-1, cell, side)}
                if cell in known or asked & exposed:
                    continue
                moves = [Fraction(0)]
                for w in witnesses:
                    whole = not problem.integer or all(z.denominator == 1 for z in w.values())
                    if not known & w.keys() and (whole or asked & unproven):
                        moves.append(w.get(cell, Fraction(0)))
                enough = max(side * z for z in moves) >= LEVEL if side else max(moves) - min(moves) >= WIDTH
                if not enough:
                    who = "the public" if attacker < 0 else f"attacker {attacker}"
                    found.append(f"no witness for the {word} level of {cell} against {who}")
    return found


@pytest.mark.parametrize("integer", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_as_many_questions_are_left_open_as_when_all_are_asked(seed: int, integer: bool) -> None:
    rng = np.random.default_rng(seed)
    problem = _problem(rng, integer=integer)
    document = json.loads(json.dumps(certify(problem, np.arange(1, 25)).document))
    assert not _left_open(problem, document)
    dropped = 0
    for kept in (0.7, 0.3, 0.0):
        less = {**document, "witnesses": [w for w in document["witnesses"] if rng.random() < kept]}
        less["seal"] = seal((name, digest(less[name])) for name in SECTIONS)
        failures = verify(less).failures
        wanted = _left_open(problem, less)
        assert [line for line in failures if line.startswith("no witness")] == wanted
        dropped += len(wanted)
    assert dropped
