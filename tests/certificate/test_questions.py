"""Which questions the witnesses of a certificate leave open, beside asking all questions one by one."""

from __future__ import annotations

import json
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from tabprotect.attack.certificate import certify
from tabprotect.certificate.document import SECTIONS, digest, question, seal
from tabprotect.certificate.verify import verify
from tabprotect.problem import Problem
from tests.random_problems import random_problem

SIDES = {1: "upper", -1: "lower", 0: "sliding"}


def _needs(problem: Problem, cell: int) -> dict[int, Fraction]:
    """What each side of a cell needs; nothing for sides that nobody asks about."""
    lpl, upl, spl = (Fraction(repr(float(level[cell]))) for level in (problem.lpl, problem.upl, problem.spl))
    if problem.integer:
        lpl, upl, spl = (Fraction(ceil(level)) for level in (lpl, upl, spl))
    needs = {1: upl, -1: lpl, 0: spl if spl > upl + lpl else Fraction(0)}
    return {side: need for side, need in needs.items() if need > 0}


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
            for side, need in _needs(problem, cell).items():
                asked = {(attacker, cell, side), (-1, cell, side)}
                if cell in known or asked & exposed:
                    continue
                moves = [Fraction(0)]
                for w in witnesses:
                    whole = not problem.integer or all(z.denominator == 1 for z in w.values())
                    if not known & w.keys() and (whole or asked & unproven):
                        moves.append(w.get(cell, Fraction(0)))
                enough = max(side * z for z in moves) >= need if side else max(moves) - min(moves) >= need
                if not enough:
                    label = problem.system.label(cell)
                    who = "the public" if attacker < 0 else f"attacker {attacker}"
                    found.append(f"no witness for the {SIDES[side]} level of {label} against {who}")
    return found


def test_as_many_questions_are_left_open_as_when_all_are_asked() -> None:
    opened, by_attackers = 0, 0
    for seed in range(25):
        rng, problem = np.random.default_rng(seed), random_problem(seed, max_cells=30)
        document = json.loads(json.dumps(certify(problem, problem.may_hide).document))
        assert not _left_open(problem, document)
        for kept in (0.7, 0.3, 0.0):
            less = {**document, "witnesses": [w for w in document["witnesses"] if rng.random() < kept]}
            less["seal"] = seal((name, digest(less[name])) for name in SECTIONS)
            wanted = _left_open(problem, less)
            assert [line for line in verify(less).failures if line.startswith("no witness")] == wanted, seed
            opened += len(wanted)
            by_attackers += sum("attacker" in line for line in wanted)
    assert opened > 200
    assert by_attackers > 20
