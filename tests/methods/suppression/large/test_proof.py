"""The bound of large problems in exact arithmetic: never above the optimum, and as high as the one in floats."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from benchmarks.problems import widened
from tabprotect.attack.certificate import certify
from tabprotect.attack.keys import Key
from tabprotect.attack.proof import bound_of
from tabprotect.attack.proof_rows import BoundProof, Bridge, Capacity, ExactMultipliers
from tabprotect.certificate.document import SECTIONS, digest, seal
from tabprotect.certificate.rebuild import LONG
from tabprotect.certificate.verify import verify
from tabprotect.instances import family
from tabprotect.instances.large import large
from tabprotect.methods.suppression.large import local
from tabprotect.methods.suppression.large.bound import LocalBound
from tabprotect.methods.suppression.large.surroundings import Surroundings
from tabprotect.methods.suppression.merge import joined
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.methods.suppression.strategy import automatic
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget, Limits
from tests.checker import Judge
from tests.random_problems import problems, random_problem


def proven(result: SuppressionResult) -> Fraction:
    assert isinstance(result.cuts, BoundProof)
    return bound_of(result.problem, result.cuts)


def check(problem: Problem) -> bool:
    """Nothing is lost on the way from floats to fractions; True when the optimum could be enumerated."""
    result = local(problem, limits=Limits(work=2000))
    if not result.safe:
        return False
    bound = proven(result)
    assert bound >= Fraction(result.bound) * (1 - Fraction(1, 10**9))
    try:
        best = Judge(problem).optimum(9).cost
    except ValueError:
        return False
    assert bound <= Fraction(repr(float(best)))
    return True


@pytest.mark.slow
@settings(max_examples=8)
@given(problems(max_cells=16))
def test_proofs_of_problems_of_every_shape(problem: Problem) -> None:
    check(problem)


@pytest.mark.slow
def test_proofs_against_enumeration() -> None:
    assert sum(check(random_problem(seed, max_cells=16)) for seed in range(8)) >= 2


@pytest.mark.slow
def test_proofs_of_stretched_problems() -> None:
    """Other units, uneven bounds, sliding levels, attackers, no bounds at all."""
    assert sum(check(widened(seed)[1]) for seed in range(40)) >= 5


def test_bound_and_proof_belong_together_in_every_round() -> None:
    """Rows that leave the programme after the best bound was found are still in its proof."""
    problem = large(600, seed=3)
    bound = LocalBound(problem, Surroundings(problem.system))
    rounds = 0
    while not bound.finished:
        bound.step(Budget())
        proof = bound.proof()
        assert float(bound_of(problem, proof)) >= bound.bound * (1 - 1e-9)
        rounds += 1
    assert rounds > 3
    assert {type(row) for row in proof.rows} == {Capacity, Bridge}


def test_attackers_who_know_cells_do_not_weaken_the_proof() -> None:
    problem = family("singletons", seed=2, activity=(4, 3), region=(3, 2))
    result = local(problem, limits=Limits(work=5000))
    assert problem.attackers
    found = certify(problem, result.pattern, bound=result.bound, proof=result.cuts).verify()
    assert found.ok, found.failures
    assert result.bound * (1 - 1e-9) <= found.bound <= found.cost


def test_a_bound_between_two_costs_is_the_higher_one() -> None:
    problem = large(200, seed=5)
    equal = replace(problem, weights=np.where(problem.weights > 0, 6.0, 0.0))
    result = local(equal, limits=Limits(work=20_000))
    assert (result.status, proven(result)) == ("optimal", result.cost)
    short = local(equal, limits=Limits(work=1500))
    assert short.bound < short.cost
    assert short.bound % 6 == 0
    assert proven(short) == short.bound


def test_sliding_levels_are_left_out() -> None:
    problem = large(150, seed=2)
    primary = problem.status == 1
    wide = replace(problem, spl=np.where(primary, 1.5 * (problem.lpl + problem.upl), 0.0))
    result = local(wide, limits=Limits(work=5000))
    assert isinstance(result.cuts, BoundProof)
    assert all(row.key.side for row in result.cuts.rows if isinstance(row, Capacity))
    assert 0 < proven(result) <= Fraction(result.cost)


def test_a_certificate_with_an_altered_proof_is_refused() -> None:
    problem = large(400, seed=1)
    result = local(problem, limits=Limits(work=5000))
    document = certify(problem, result.pattern, bound=result.bound, proof=result.cuts).document
    assert not any("search's own bound" in what for what in verify(document).not_checked)
    number = next(k for k, row in enumerate(document["proof"]["rows"]) if row["kind"] == "capacity")
    for place, value in (("rows", "row"), ("multipliers", "factor"), ("bound", "bound")):
        altered = json.loads(json.dumps(dict(document)))
        if value == "row":
            altered["proof"][place][number]["multipliers"][0][1][0] += 1
        elif value == "factor":
            altered["proof"][place][number][1] = str(10 * Fraction(altered["proof"][place][number][1]))
        else:
            altered["bound"] = str(Fraction(altered["bound"]) + 1)
        altered["seal"] = seal((name, digest(altered[name])) for name in SECTIONS)
        assert any("the proof gives the bound" in failure for failure in verify(altered).failures), value


@pytest.mark.slow
def test_auto_keeps_the_better_proof() -> None:
    problem = large(3200, dims=3, seed=1)
    result = automatic(problem, limits=Limits(work=100_000), seed=0, progress=None, engine="scip")
    assert result.safe
    assert result.method.startswith("auto: local")
    assert proven(result) >= Fraction(result.bound) * Fraction(99, 100)


def test_the_better_proof_of_two_runs_is_kept() -> None:
    problem = large(500, seed=1)
    poor, good = (local(problem, limits=Limits(work=work)) for work in (1_000, 4_000))
    assert proven(good) > proven(poor) > 0
    assert proven(joined(poor, good)) == proven(joined(good, poor)) == proven(good)


def test_multipliers_without_a_short_common_denominator() -> None:
    """They are rounded down: a bound a little lower, with short numbers."""
    n = 400
    rows = np.kron(np.eye(n), [[-1, 1, 1, 1]])
    weights = np.tile([999, 1, 7.3, 5.2], n)
    problem = Problem.from_arrays(
        rows, np.tile([20, 9, 6, 5], n), primary=np.arange(1, 4 * n, 4), lpl=2, upl=2, weights=weights
    )
    cuts = tuple(Capacity(Key(-1, 4 * k + 1, 1), (ExactMultipliers((k,), (1,), 1),)) for k in range(n))
    primes = [p for p in range(1000, 9000) if all(p % d for d in range(2, 95))][:n]
    factors = [Fraction(5 * (p - 1), p) for p in primes]
    assert math.prod(primes).bit_length() > LONG
    bound = bound_of(problem, BoundProof(cuts, tuple(enumerate(factors)), Fraction(0)))
    exactly = sum(factors)
    assert exactly - Fraction(1, 10) < bound <= exactly + Fraction(1, 10)
    assert bound.denominator in (1, 2, 5, 10)


@pytest.mark.slow
@pytest.mark.parametrize(("cells", "dims", "work"), [(10_000, 2, 60_000), (2000, 3, 60_000)])
def test_thousands_of_cells(cells: int, dims: int, work: int) -> None:
    problem = large(cells, dims=dims, seed=9)
    result = local(problem, limits=Limits(work=work))
    certificate = certify(problem, result.pattern, bound=result.bound, proof=result.cuts)
    found = certificate.verify()
    assert found.ok, found.failures
    assert found.bound >= 0.99 * result.bound > 0
    assert len(certificate.document["proof"]["rows"]) > 300
