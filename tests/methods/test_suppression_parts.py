"""The parts of the exact engine, each against what enumeration finds."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.attack.witness import Witnesses
from tabprotect.methods.suppression.cleanup import Cleaner
from tabprotect.methods.suppression.cuts import bridges, own_equations
from tabprotect.methods.suppression.parts import Part
from tabprotect.methods.suppression.presolve import reduce_problem
from tabprotect.methods.suppression.separation import RADII, Separation
from tabprotect.solver.limits import Budget, Limits
from tests.checker import Judge
from tests.random_problems import random_problem


def cores(seeds):
    """Cores of random problems small enough to enumerate, with the choice that is cheapest."""
    for seed in seeds:
        problem = random_problem(seed)
        judge = Judge(problem)
        if judge.exposed(problem.may_hide):
            continue
        try:
            best = judge.optimum()
        except ValueError:
            continue
        reduction = reduce_problem(problem)
        # what tied cells or idle ones add costs something, so that a cheapest pattern is a choice of the cores
        assert best.cost == pytest.approx(
            reduction.constant + sum(c.cost(x) for c, x in zip(reduction.cores, chosen(reduction, best), strict=True))
        )
        yield from zip(reduction.cores, chosen(reduction, best), strict=True)


def chosen(reduction, best):
    return [x | core.hidden for core, x in zip(reduction.cores, reduction.choices(best.pattern), strict=True)]


def test_no_inequality_cuts_off_a_cheapest_choice():
    rows = 0
    for core, best in cores(range(40)):
        x = best.astype(float)
        targets = np.arange(len(core.targets))
        found = [row for row, _ in own_equations(core, targets)] + [row for row, _ in bridges(core)]
        separation = Separation(core, Budget())
        point = np.maximum(core.hidden, 0.3 * x)
        for t in targets.tolist():
            for radius in (1, *RADII):
                cut = separation.cut(t, point, 1.0, 1, radius)
                if cut is not None:
                    found.append(cut.row)
                    turned = separation.mirror(cut, x)
                    found += [] if turned is None else [turned.row]
        assert all(row.slack(x) >= -1e-7 for row in found)
        rows += len(found)
    assert rows > 30


def test_bulk_and_clean_up_keep_a_pattern_safe_and_can_be_resumed():
    for core, _ in cores(range(40)):
        if core.attackers:
            continue
        judge = Witnesses(Part(core).problem)
        everything = np.ones(core.n, dtype=bool)
        if judge.check(everything):
            continue
        cleaner = Cleaner(judge, everything)
        cleaner.bulk(Budget())
        while not cleaner.finished:
            cleaner.run(Budget(Limits(work=200)))
            assert not Witnesses(judge.problem).check(cleaner.pattern)
        for cell in np.flatnonzero(cleaner.pattern & ~judge.problem.must_hide):
            smaller = cleaner.pattern.copy()
            smaller[cell] = False
            assert judge.check(smaller)
