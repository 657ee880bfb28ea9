"""Bound proofs: whatever rows and multipliers, the bound is at most the cost of the best safe pattern."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tabprotect.attack.facts import Fact, facts_of
from tabprotect.attack.keys import Key
from tabprotect.attack.proof import bound_of, prove_bound, snap_multipliers
from tabprotect.attack.proof_rows import (
    AtLeast0,
    AtMost1,
    BoundProof,
    Bridge,
    Capacity,
    Companion,
    Cover,
    ExactMultipliers,
    ProofRow,
    Rounded,
    Sum,
    Tied,
    Truncated,
)
from tabprotect.attack.statement import problem_statement
from tabprotect.attack.witness import Exposure, Witnesses
from tabprotect.certificate.document import Malformed
from tabprotect.certificate.groups import Groups
from tabprotect.certificate.numbers import Numbers
from tabprotect.problem import Attacker, Problem
from tests.checker import Judge
from tests.quick import examples
from tests.random_problems import problems, random_problem


def capacity_row(problem: Problem, exposure: Exposure) -> Capacity:
    cell = exposure.key.cell
    A = problem.system.A.toarray()
    parts = tuple(snap_multipliers(m.rows, m.values, A[m.rows, cell], m.side) for m in exposure.proofs)
    return Capacity(exposure.key, parts)


def bridges(problem: Problem) -> list[ProofRow]:
    A = problem.system.A.toarray()
    return [
        Bridge(int(i), r)
        for r in range(len(A))
        for i in np.flatnonzero(A[r])
        if problem.status[i] == 0 and problem.weights[i] > 0
    ]


def cut_loop(problem: Problem, rounds: int, seed: int) -> list[ProofRow]:
    """Collect the inequalities that failing patterns give."""
    judge, rng, rows = Witnesses(problem), np.random.default_rng(seed), []
    for k in range(rounds):
        pattern = problem.must_hide | (problem.may_hide & (rng.random(problem.n_cells) < k / rounds))
        rows += [capacity_row(problem, e) for e in judge.check(pattern) if e.proofs]
    return rows


def small(problem: Problem) -> bool:
    return int(np.sum(problem.may_hide & ~problem.must_hide & (problem.weights > 0))) <= 12


def mixed(rng: np.random.Generator, rows: list[ProofRow], problem: Problem) -> list[ProofRow]:
    """Add combinations, roundings and truncations of what is there."""
    free = np.flatnonzero(problem.may_hide & ~problem.must_hide & (problem.weights > 0))
    rows = [*rows, *(AtMost1(int(i)) for i in free), *(AtLeast0(int(i)) for i in free)]
    for _ in range(30):
        chosen = rng.choice(len(rows), min(3, len(rows)), replace=False)
        rows.append(Sum(tuple((int(k), Fraction(int(rng.integers(1, 5)), int(rng.integers(1, 9)))) for k in chosen)))
        rows.append(Rounded(len(rows) - 1))
    return rows


def extras(problem: Problem, facts: tuple[Fact, ...]) -> list[ProofRow]:
    """All rows that the groups allow."""
    groups = Groups(Numbers(problem_statement(problem)))
    for equations, factors in facts:
        groups.learn([list(equations), list(factors)], "fact")
    found: list[ProofRow] = []
    free = np.flatnonzero(problem.may_hide & ~problem.must_hide & (problem.weights > 0)).tolist()
    for i in free:
        group = groups.of[i][0]
        found += [Tied(i, j) for j in groups.members[group] if j != i]
        found += [Companion(i)] if groups.hidden(group) and not groups.still[group] else []
    return found


@settings(max_examples=examples(8, 15), deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(problems(max_cells=18, kinds=["2d", "general", "hierarchical"]), st.integers(0, 10**6))
def test_no_bound_exceeds_the_optimum(problem: Problem, seed: int) -> None:
    assume(small(problem))
    optimum = Judge(problem).optimum().cost
    assume(optimum is not None)
    rng = np.random.default_rng(seed)
    rows = mixed(rng, [*bridges(problem), *cut_loop(problem, 4, seed)], problem)
    facts = facts_of(problem)
    rows += extras(problem, facts)
    proof = prove_bound(problem, rows, facts)
    assert proof.bound <= Fraction(repr(optimum))
    assert bound_of(problem, proof) == proof.bound
    arbitrary = tuple((k, Fraction(int(rng.integers(0, 9)), int(rng.integers(1, 9)))) for k in range(len(rows)))
    assert bound_of(problem, BoundProof(tuple(rows), arbitrary, Fraction(0), facts)) <= Fraction(repr(optimum))


@pytest.mark.slow
def test_bounds_are_not_idle() -> None:
    """Over many small problems the cuts of a few failing patterns prove most of the optimal cost."""
    shares = []
    for seed in range(30):
        problem = random_problem(seed, max_cells=16, kinds=["2d", "general"])
        if small(problem) and (optimum := Judge(problem).optimum().cost):
            proof = prove_bound(problem, [*bridges(problem), *cut_loop(problem, 6, seed)])
            assert proof.bound <= Fraction(repr(optimum))
            shares.append(float(proof.bound) / optimum)
    assert len(shares) > 8
    assert np.mean(shares) > 0.7
    assert np.mean(np.array(shares) > 0.999) > 0.3


ROW = [[-1, 1, 1, 1]]
CUT = Capacity(Key(-1, 1, 1), (ExactMultipliers((0,), (1,), 1),))


def row(**changes: object) -> Problem:
    given = {"primary": [1], "lpl": 2, "upl": 2, "weights": [99, 1, 6, 5], **changes}
    return Problem.from_arrays(ROW, [20, 9, 6, 5], **given)


def one(problem: Problem, *rows: ProofRow, last: Fraction = Fraction(1)) -> Fraction:
    return bound_of(problem, BoundProof(rows, ((len(rows) - 1, last),), Fraction(0)))


def test_weak_duality_by_hand() -> None:
    """x_0 + x_2 + x_3 >= 1; its multiplier may be 5, more brings nothing, and then less than nothing."""
    problem = row()
    assert one(problem, CUT, last=Fraction(5)) == 5
    assert one(problem, CUT, last=Fraction(4)) == 4
    assert one(problem, CUT, last=Fraction(6)) == 5
    assert one(problem, CUT, last=Fraction(200)) == 0


def test_costs_are_multiples_of_their_common_divisor() -> None:
    assert one(row(weights=[99, 1, 6, 5]), CUT, last=Fraction(42, 10)) == 5
    assert one(row(weights=[9.9, 1, 0.6, 0.5]), CUT, last=Fraction(42, 100)) == Fraction(1, 2)


def test_the_box_of_the_cell_itself_moves_to_the_right() -> None:
    """With d_p = 1/2 the cell's own bound of 3 takes 1.5 of the 2 that are needed; what is left is 0.5."""
    half = Capacity(Key(-1, 1, 1), (ExactMultipliers((0,), (1,), 2),))
    problem = row(upper=[np.inf, 12, np.inf, np.inf])
    assert one(problem, half, last=Fraction(5)) == 5
    assert one(problem, half, last=Fraction(2)) == 2
    wide = row(upper=[np.inf, 13, np.inf, np.inf])
    assert one(wide, half, last=Fraction(5)) == 0, "the box of the cell alone gives 2"
    assert one(row(), half, last=Fraction(5)) == 0, "its own bound is infinite: the row says nothing"


def test_known_cells_have_no_capacity() -> None:
    problem = row(attackers=[Attacker("B", (3,))])
    cut = Capacity(Key(0, 1, 1), CUT.multipliers)
    assert one(problem, cut, last=Fraction(6)) == 6
    with pytest.raises(Malformed, match="no level"):
        one(row(attackers=[Attacker("B", (1,))]), cut)


def test_forced_cells_count_as_hidden() -> None:
    assert one(row(forced=[3]), CUT, last=Fraction(6)) == 0, "cell 3 already gives 5 upwards"
    tight = row(forced=[3], lower=[0, 0, 0, 4])
    assert one(tight, CUT, last=Fraction(6)) == 6, "of the 2 needed cell 3 gives 1, cell 2 must give the rest"


def test_a_sliding_level_needs_both_ends() -> None:
    both = Capacity(Key(-1, 1, 0), (ExactMultipliers((0,), (1,), 1), ExactMultipliers((0,), (-1,), 1)))
    problem = row(lpl=0, upl=0, spl=4)
    assert one(problem, both, last=Fraction(5)) == 5
    with pytest.raises(Malformed, match="number of multiplier vectors"):
        one(problem, Capacity(Key(-1, 1, 0), both.multipliers[:1]))


def test_bridges_that_do_not_hold_are_refused_or_empty() -> None:
    problem = Problem.from_arrays([[-1, 1, 1], [0, -1, 1]], [8, 4, 4], [0], lpl=1, upl=1, forced=[1])
    with pytest.raises(Malformed, match="bridges nothing"):
        one(problem, Bridge(1, 1))
    with pytest.raises(Malformed, match="bridges nothing"):
        one(problem, Bridge(0, 0))
    with pytest.raises(Malformed, match="bridges nothing"):
        one(row(zero=[3]), Bridge(3, 0))
    assert one(problem, Bridge(2, 0), last=Fraction(100)) == 0
    assert one(problem, Bridge(2, 1), last=Fraction(100)) == 0


def test_rounding_a_combination() -> None:
    """x_0 + x_2 + x_3 >= 1 again, from an odd multiple of it."""
    rows = (CUT, Sum(((0, Fraction(4, 5)),)), Rounded(1))
    assert one(row(), *rows, last=Fraction(5)) == 5
    with pytest.raises(Malformed, match="without negative"):
        one(row(), AtMost1(2), Truncated(0))
    with pytest.raises(Malformed, match="negative multipliers"):
        one(row(), CUT, Sum(((0, Fraction(-1)),)))
    with pytest.raises(Malformed, match=r"lie in 0\.\.0"):
        one(row(), CUT, Sum(((1, Fraction(1)),)))


def tied() -> Problem:
    """Cells 2 and 3 are one, cell 4 is nothing, cells 0 and 1 are one: 0 = 1, 2 = 3, 0 = 2 + 5, 4 + 6 = 0."""
    A = [[1, -1, 0, 0, 0, 0, 0], [0, 0, 1, -1, 1, 0, 0], [1, 0, -1, 0, 0, -1, 0], [0, 0, 0, 0, 1, 0, 1]]
    values = [9, 9, 5, 5, 0, 4, 0]
    return Problem.from_arrays(
        A, values, [0], lpl=1, upl=1, weights=[9, 4, 3, 2, 1, 7, 1], upper=[*[20] * 3, 6, 0, 20, 0]
    )


def test_facts_tell_what_is_tied_and_what_is_still() -> None:
    problem = tied()
    facts = facts_of(problem)
    cut = Capacity(Key(-1, 0, 1), (ExactMultipliers((2,), (1,), 1),))
    rows = [cut, Companion(1), Tied(2, 3), Tied(3, 2), Bridge(5, 2)]
    proof = prove_bound(problem, rows, facts)
    assert proof.bound == 9 == Judge(problem).optimum().cost, "its companion costs 4, both of a pair 5"
    with pytest.raises(Malformed, match="accompanies no cell"):
        bound_of(problem, replace(proof, facts=()))
    with pytest.raises(Malformed, match="ties nothing"):
        bound_of(problem, BoundProof((Tied(2, 5),), (), Fraction(0), facts))
    with pytest.raises(Malformed, match="tells nothing"):
        bound_of(problem, BoundProof((), (), Fraction(0), (((2,), (1,)),)))


def test_facts_from_combinations_of_equations() -> None:
    """0 = 1 + 2 and 3 = 1 + 2, so that cells 0 and 3 are one, which no equation tells alone."""
    problem = Problem.from_arrays([[-1, 1, 1, 0], [0, 1, 1, -1]], [5, 2, 3, 5], [0], lpl=1, upl=1)
    assert facts_of(problem) == ()
    facts = facts_of(problem, [(np.array([0, 3]), np.array([1.0, 1.0]))])
    assert len(facts) == 1
    assert prove_bound(problem, [Companion(3)], facts).bound == 5
    with pytest.raises(ValueError, match="not tied"):
        facts_of(problem, [(np.array([0, 1]), np.array([1.0, 1.0]))])


def test_cells_of_weight_zero_count_as_hidden() -> None:
    problem = row(weights=[99, 1, 0, 5], upper=[20, 20, 7, 20], lower=[0, 0, 5, 0])
    assert one(problem, CUT, last=Fraction(6)) == 5, "the free cell gives 1 of the 2 that are needed"
    for refused in (Bridge(2, 0), AtLeast0(2), AtMost1(2)):
        with pytest.raises(Malformed, match=r"bridges nothing|not open"):
            one(problem, refused)


def test_a_cover_needs_one_of_the_others() -> None:
    problem = row(upl=3, lower=[0, 0, 5, 3], upper=[20, 20, 8, 9])
    with pytest.raises(Malformed, match="covers nothing"):
        one(problem, CUT, Cover(0, (2, 3)))
    assert one(problem, CUT, Cover(0, (2,)), last=Fraction(5)) == 5


def test_a_cover_that_holds_in_floating_point_only_is_left_out_of_a_proof() -> None:
    """Cells 2 and 3 have 1.8 each of the 3 that are needed."""
    problem = row(upl=3, lower=[0, 0, 4.2, 3.2], upper=[20, 20, 8, 9])
    alone, covered = (prove_bound(problem, rows).bound for rows in ([CUT], [CUT, Cover(0, (2,)), Cover(0, (3,))]))
    assert alone < covered == 11
    assert prove_bound(problem, [CUT, Cover(0, (2, 3)), Rounded(1)]).bound == alone
    assert prove_bound(problem, [CUT, Cover(0, (2, 3)), Cover(0, (2,)), Cover(0, (3,))]).bound == covered


def test_integer_levels_and_bounds_are_rounded_in_cuts() -> None:
    problem = replace(row(upl=1.5, upper=[20.5, np.inf, 6.5, 5.5], lower=0), integer=True)
    assert one(problem, CUT, last=Fraction(5)) == 5


def test_snapped_multipliers_leave_the_cell_free() -> None:
    problem = random_problem(3, kinds=["3d"])
    A = problem.system.A.toarray()
    rng = np.random.default_rng(0)
    for cell in problem.primaries:
        duals = rng.normal(size=len(A))
        found = snap_multipliers(range(len(A)), duals, A[:, cell], 1)
        own = sum(Fraction(m, found.denominator) * int(A[r, cell]) for r, m in zip(*found[:2], strict=True))
        assert own == 1
    assert snap_multipliers([5], [-1 / 3], [1.0], -1) == ExactMultipliers((5,), (-1,), 1)
    assert snap_multipliers([5], [-1 / 3], [1.0], 0) == ExactMultipliers((5,), (-1,), 3)


def test_cells_tied_by_thirds_are_recognised_in_their_rounded_scales() -> None:
    """No single equation says 3 a = 2 b; the scales of a merger are floats."""
    A = [[3, -2, 1, 1], [3, -2, -1, -1]]
    problem = Problem.from_arrays(A, [2, 3, 0, 0], [0], lpl=1, upl=1)
    facts = facts_of(problem, [(np.array([1, 0]), np.array([1.0, 2 / 3]))])
    assert len(facts) == 1
    assert np.count_nonzero(np.array(facts[0][1]) @ np.array(A)[list(facts[0][0])]) == 2
