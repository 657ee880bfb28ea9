"""Attackers who are not asked about a cell that others are: engines, audit, certificate and the compact model agree."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest

import tabprotect as tp
from tabprotect.attack.audit import audit
from tabprotect.attack.certificate import certify
from tabprotect.attack.insiders import within_reach_each
from tabprotect.attack.keys import keys
from tabprotect.attack.witness import Witnesses
from tabprotect.certificate.document import SECTIONS, digest, seal
from tabprotect.certificate.verify import verify
from tabprotect.errors import InputError
from tabprotect.methods.suppression.presolve.reduce import reduce_problem
from tabprotect.models import cell_suppression
from tabprotect.problem import Attacker, Problem, Status
from tabprotect.sensitivity.sums_as_cells import protect_against_others
from tabprotect.sensitivity.union_exposure import UnionExposure
from tabprotect.solver.limits import Limits
from tests.checker import Judge
from tests.quick import first
from tests.random_problems import random_problem

SEEDS = range(16)


def with_levels_for_others(seed: int) -> Problem:
    """A random problem with attackers who know a cell near a primary, and levels of which some are out of reach."""
    rng = np.random.default_rng([seed, 5])
    problem = random_problem(seed, max_cells=16)
    nothing = np.zeros(problem.n_cells)
    problem = replace(problem, lpl=nothing, upl=nothing, spl=nothing, attackers=(), integer=False)
    seen = audit(problem, problem.may_hide)
    A, lpl, attackers = problem.system.A, nothing.copy(), []
    for i in problem.primaries[:3].tolist():
        most = min(float(problem.values[i] - seen.interval(i)[0]), 20.0)
        lpl[i] = round(most * float(rng.uniform(0.3, 1)), 1)
        rows = [A.indices[A.indptr[r] : A.indptr[r + 1]] for r in range(A.shape[0])]
        near = sorted({j for row in rows if i in row for j in row.tolist() if problem.may_hide[j]} - {i})
        attackers.append(Attacker(f"near {i}", (int(rng.choice(near)),) if near else ()))
    eased = within_reach_each(replace(problem, lpl=lpl, attackers=tuple(attackers)))
    levels = [UnionExposure((x.cell,), 0.0, (), x.level, 0.0, 0.0, True, "") for x in eased.for_others]
    return protect_against_others(eased.problem, levels, [sorted(x.spared) for x in eased.for_others])


@pytest.mark.parametrize("seed", first(3, SEEDS))
def test_engines_cost_what_the_compact_model_says(seed: int) -> None:
    problem = with_levels_for_others(seed)
    answer = cell_suppression.solve(problem)
    judge = Judge(problem)
    for method in ("exact", "greedy", "local"):
        found = tp.suppress(problem, method=method, seed=seed, limits=Limits(work=5_000))
        if answer.pattern is None:
            assert not found.safe
            assert not judge.safe(problem.may_hide)
            continue
        assert found.safe
        assert judge.safe(found.pattern)
        assert answer.cost is not None
        assert found.cost >= answer.cost - 1e-6
        if method == "exact":
            assert found.cost == pytest.approx(answer.cost, abs=1e-6)
            verified = verify(certify(problem, found.pattern).document)
            assert verified.ok
            assert verified.safe
    hidden = problem.must_hide
    exposed = {tuple(e.key) for e in Witnesses(problem).check(hidden) if e.key.side}
    judged = {(e.attacker, e.cell, e.side) for e in judge.exposed(hidden) if e.side}
    # the witnesses do not repeat for attackers what the public finds out already
    assert exposed == {(a, c, s) for a, c, s in judged if a < 0 or (-1, c, s) not in judged}


@pytest.mark.slow
def test_the_seeds_hold_cases_that_matter() -> None:
    """Asked of everybody the levels are out of reach; asked of nobody but all alike the others learn more."""
    impossible, too_cheap = 0, 0
    for problem in map(with_levels_for_others, SEEDS):
        asked = replace(problem, attackers=tuple(replace(a, spared=()) for a in problem.attackers))
        more = np.arange(problem.n_cells) >= problem.n_cells - problem.sums
        lowered = replace(problem, status=np.where(more, Status.FORCED, problem.status).astype(np.int8))
        of_each, of_all, of_none = (tp.suppress(p, method="exact") for p in (problem, asked, lowered))
        impossible += of_all.status == "infeasible" and of_each.status == "optimal"
        too_cheap += of_none.cost < of_each.cost
    assert impossible >= 3
    assert too_cheap >= 2


def test_a_cell_with_a_level_for_others_stays_by_itself() -> None:
    """Cells that always move together are one for the search, which would ask everybody for the largest level."""
    problem = next(p for p in map(with_levels_for_others, SEEDS) if p.sums)
    extra = problem.n_cells - 1
    spared = {k for k, a in enumerate(problem.attackers) if extra in a.spared}
    reduction = reduce_problem(problem)
    (mine,) = np.flatnonzero(reduction.group == reduction.group[extra])
    assert mine == extra
    assert spared
    assert not any(key.attacker in spared and key.cell == extra for key in keys(problem))


def test_spared_cells_are_part_of_the_certificate() -> None:
    problem = next(p for p in map(with_levels_for_others, SEEDS) if p.sums)
    made = certify(problem, problem.may_hide)
    assert verify(made.document, against=made.document["problem"]).ok
    asked = replace(problem, attackers=tuple(replace(a, spared=()) for a in problem.attackers))
    other = certify(asked, problem.may_hide).document["problem"]
    assert not verify(made.document, against=other).ok
    for wrong in ("x", [0.5], [-1], [problem.n_cells], {"0": 1}, None, [[0]]):
        altered = copy.deepcopy(made.document)
        altered["problem"]["attackers"][0]["spared"] = wrong
        parts = {name: digest(altered[name]) for name in SECTIONS}
        altered |= {"digest": parts["problem"], "seal": seal(parts.items())}
        found = verify(altered)
        assert not found.ok
        assert not any("seal" in failure for failure in found.failures)
    with pytest.raises(InputError, match="outside"):
        replace(problem, attackers=(Attacker("a", (), spared=(problem.n_cells,)),))


def test_everybody_is_asked_for_what_the_whole_table_leaves_him() -> None:
    """A knows 90 of 100, B knows 40: lower levels of 9.999 for A, 15 for B and the public."""
    problem = Problem.from_arrays(
        [[-1, 1, 1, 1]], [100, 90, 4, 6], primary=[0], lpl=15, upl=15,
        attackers=[Attacker("a", (1,)), Attacker("b", (2,)), Attacker("c", (1, 2))],
    )  # fmt: skip
    eased = within_reach_each(problem)
    assert eased.problem.lpl.tolist()[0] == 5.9999
    assert [(x.level, sorted(x.spared)) for x in eased.for_others] == [(9.999, [2]), (15.0, [0, 2])]
