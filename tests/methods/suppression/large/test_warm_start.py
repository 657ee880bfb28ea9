"""A search goes on from what an earlier one found and knows, also for a problem that has more sums to protect."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.attack.audit import audit
from tabprotect.attack.keys import Key
from tabprotect.attack.witness import Witnesses
from tabprotect.errors import InputError
from tabprotect.instances import family
from tabprotect.instances.large import large
from tabprotect.methods.suppression import suppress
from tabprotect.methods.suppression.large import local
from tabprotect.methods.suppression.large.cover import Cover
from tabprotect.methods.suppression.large.nearby import Nearby
from tabprotect.methods.suppression.large.warm_start import adopt
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.problem import Problem
from tabprotect.sensitivity.sums_as_cells import protect_unions
from tabprotect.sensitivity.union_exposure import UnionExposure
from tabprotect.solver.limits import Limits
from tabprotect.workflow.extended import extended


def watched() -> Problem:
    return family("singletons", seed=2, activity=(4, 3), region=(3, 2))


@pytest.fixture(scope="module")
def found() -> tuple[Problem, SuppressionResult]:
    problem = large(2000, seed=4)
    return problem, local(problem, passes=0)


def test_nothing_is_looked_for_again(found: tuple[Problem, SuppressionResult], monkeypatch: pytest.MonkeyPatch) -> None:
    problem, first = found
    monkeypatch.setattr(Nearby, "find", lambda *_args, **_more: pytest.fail("a deviation was looked for"))
    monkeypatch.setattr(Nearby, "inside", lambda *_args, **_more: pytest.fail("a deviation was looked for"))
    again = local(problem, start=first.pattern, deviations=first.deviations, passes=0)
    assert again.safe
    assert again.cost <= first.cost
    assert not (again.pattern & ~first.pattern).any()
    assert again.work < first.work / 5


def test_the_front_door_takes_an_earlier_result(found: tuple[Problem, SuppressionResult]) -> None:
    problem, first = found
    again = suppress(problem, method="local", start=first, limits=Limits(work=1))
    assert again.safe
    assert again.cost <= first.cost
    other = suppress(problem, method="greedy", start=first, limits=Limits(work=2000))
    assert other.safe
    with pytest.raises(InputError, match="booleans, one a cell"):
        suppress(large(1000, seed=4), method="local", start=first)


def test_attackers_rely_on_what_moves_nothing_they_know() -> None:
    problem = watched()
    first = local(problem, passes=0)
    cover, judge = Cover(problem), Witnesses(problem)
    known = {k: judge.known(k) for k in range(len(problem.attackers))}
    assert adopt(cover, judge, known, first.pattern, first.deviations)
    asked = {key for key in cover.keys if key.attacker >= 0}
    assert asked
    for key in asked:
        (witness,) = cover.relies[cover.number[key]]
        moved = dict(zip(witness.deviation.cells.tolist(), witness.deviation.z.tolist(), strict=True))
        assert not set(moved) & set(known[key.attacker].tolist())
        assert key.side * moved[key.cell] >= cover.need[cover.number[key]] * (1 - 1e-6)
    # nobody who knows a cell of the witness of a question is left out, unless no stored deviation avoids what he knows
    for number, attacker in enumerate(problem.attackers):
        for question, relies in enumerate(cover.relies):
            key = cover.keys[question]
            if key.attacker >= 0 or not relies or key.cell in attacker.known:
                continue
            if set(relies[0].deviation.cells.tolist()) & set(attacker.known):
                mine = Key(number, key.cell, key.side)
                groups = [
                    k for k in asked if k[1:] == mine[1:] and set(attacker.known) <= set(known[k.attacker].tolist())
                ]
                assert groups or not judge.witness(mine, first.pattern)


@pytest.mark.slow
def test_with_attackers_nothing_gets_dearer_or_unsafe() -> None:
    problem = watched()
    first = local(problem, passes=0)
    again = local(problem, start=first.pattern, deviations=first.deviations, limits=Limits(work=20_000))
    exposed = [{e.key for e in audit(problem, r.pattern, intervals=False).exposures} for r in (first, again)]
    assert exposed[1] <= exposed[0]
    assert problem.cost(again.pattern) <= problem.cost(first.pattern)


def test_wrong_deviations_are_found_out(found: tuple[Problem, SuppressionResult]) -> None:
    problem, first = found
    wrong = tuple(d._replace(z=d.z * np.linspace(1, 2, len(d.z))) for d in first.deviations)
    again = local(problem, start=first.pattern, deviations=wrong, passes=0)
    assert again.safe
    assert audit(problem, again.pattern, intervals=False).safe


def test_deviations_move_sums_as_their_cells(found: tuple[Problem, SuppressionResult]) -> None:
    problem, first = found
    moved = np.unique(np.concatenate([d.cells for d in first.deviations]))
    sums = [
        UnionExposure(tuple(sorted(moved[k : k + 3].tolist())), 1.0, ("p%=15",), 1.0, 1.0, 0.0, True, "")
        for k in (0, 5, 9)
    ]
    grown = protect_unions(problem, sums)
    more = extended(first, grown)
    assert more.pattern[problem.n_cells :].all()
    assert np.array_equal(more.pattern[: problem.n_cells], first.pattern)
    touched = 0
    for deviation in more.deviations:
        z = np.zeros(grown.n_cells)
        z[deviation.cells] = deviation.z
        assert np.abs(grown.system.A @ z).max() <= 1e-6 * np.abs(z).max()
        touched += bool(z[problem.n_cells :].any())
    assert touched
    result = local(grown, start=more.pattern, deviations=more.deviations, passes=0)
    assert result.safe
    assert audit(grown, result.pattern, intervals=False).safe
