"""The parts of the exact engine, each against what enumeration finds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tabprotect.attack.witness import Witnesses
from tabprotect.instances import load
from tabprotect.methods.suppression.bound.cuts import bridges, own_equations, pairs
from tabprotect.methods.suppression.bound.master import Master, violated_rows
from tabprotect.methods.suppression.bound.relaxation import Relaxation
from tabprotect.methods.suppression.bound.separation import Separation
from tabprotect.methods.suppression.options import DEFAULTS
from tabprotect.methods.suppression.presolve.parts import Part
from tabprotect.methods.suppression.presolve.reduce import reduce_problem
from tabprotect.methods.suppression.start.bulk import remove_in_bulk
from tabprotect.methods.suppression.start.cleanup import Cleaner
from tabprotect.methods.suppression.start.series import series
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget, Limits
from tabprotect.solver.mip.pool import pool_solver
from tabprotect.solver.mip.rows import RowPool
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
    return [x | core.hidden for core, x in zip(reduction.cores, reduction.patterns(best.pattern), strict=True)]


@pytest.mark.slow
def test_no_inequality_cuts_off_a_cheapest_choice():
    rows = 0
    for core, best in cores(range(40)):
        x = best.astype(float)
        targets = np.arange(len(core.targets))
        pool = RowPool(core.n)
        for matrix, rhs, origins in (own_equations(core, targets), bridges(core)):
            pool.extend(matrix, rhs, origins)
        found = [pool.row(k) for k in range(len(pool))]
        separation = Separation(core, Budget())
        point = np.maximum(core.hidden, 0.3 * x)
        for t in targets.tolist():
            for radius in (1, *DEFAULTS.separation.equations):
                cut = separation.cut(t, point, 1.0, 1, radius)
                if cut is not None:
                    found.append(cut.row)
                    turned = separation.mirror(cut, x)
                    found += [] if turned is None else [turned.row]
        assert all(row.slack(x) >= -1e-7 for row in found)
        rows += len(found)
    assert rows > 30


@pytest.mark.slow
def test_bulk_and_clean_up_keep_a_pattern_safe_and_can_be_resumed():
    for core, _ in cores(range(40)):
        if core.attackers:
            continue
        judge = Witnesses(Part(core).problem)
        everything = np.ones(core.n, dtype=bool)
        if judge.check(everything):
            continue
        cleaner = Cleaner(judge, everything)
        for _ in remove_in_bulk(cleaner, Budget()):
            pass
        while not cleaner.finished:
            cleaner.run(Budget(Limits(work=200)))
            assert not Witnesses(judge.problem).check(cleaner.pattern)
        for cell in np.flatnonzero(cleaner.pattern & ~judge.problem.must_hide):
            smaller = cleaner.pattern.copy()
            smaller[cell] = False
            assert judge.check(smaller)


@pytest.mark.parametrize("name", ["hier2d-small", "hier3d-small", "sparse-small"])
def test_classes_looked_up_where_cells_are_gone_are_those_of_the_pattern(name):
    core = reduce_problem(load(name)).cores[0]
    judge = Witnesses(Part(core).problem)
    cleaner = Cleaner(judge, np.ones(core.n, dtype=bool))
    cleaner.run(Budget(Limits(work=3000)))
    anew = series(sparse.csc_array(core.A), cleaner.pattern)
    mine = np.flatnonzero(cleaner.pattern & (anew.component >= 0))
    assert 0 < len(mine) < core.n
    assert cleaner.classes.label[mine].tolist() == anew.label[mine].tolist()
    assert cleaner.classes.dimensions.sum() == anew.dimensions.sum()
    pairs = {*zip(cleaner.classes.component[mine].tolist(), anew.component[mine].tolist(), strict=True)}
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def relaxation(core):
    return Relaxation(core, np.arange(len(core.targets)), Budget())


@pytest.mark.slow
def test_a_relaxation_in_slices_comes_as_far_as_one_in_one_go():
    core = reduce_problem(load("hier3d-small")).cores[0]
    whole, sliced = relaxation(core), relaxation(core)
    center = core.hidden.astype(float)
    whole.run(center)
    slices = 0
    while not sliced.finished:
        slices += 1
        sliced.use(Budget(Limits(work=500)))
        sliced.run(center)
    assert slices > 5
    assert sliced.bound == pytest.approx(whole.bound, rel=0.02)


def test_an_attack_that_the_limit_ends_makes_no_row():
    core = reduce_problem(load("hier3d-small")).cores[0]
    point = np.maximum(core.hidden, 1e-3)
    found = [Separation(core, Budget()).cut(t, point, 1.0) for t in range(len(core.targets))]
    assert any(cut is not None for cut in found)
    ended = Separation(core, Budget(Limits(seconds=0.0)))
    assert all(ended.cut(t, point, 1.0) is None for t in range(len(core.targets)))


def test_pools_satisfy_rows_that_were_left_out_of_them():
    """Bridges that say nothing at the relaxed solution come in when a solution violates them."""
    core = reduce_problem(load("hier2d-medium")).cores[0]
    relaxed = relaxation(core)
    relaxed.run(core.hidden.astype(float), known=True)
    pools = Master(core, pool_solver("scip"))
    bound, choices = pools.solve(relaxed, np.inf, Budget())
    assert relaxed.pool.slack(choices[0].astype(float)).min() >= -1e-6
    assert 0 < len(pools.needed) < len(relaxed.pool)
    assert relaxed.bound <= bound <= core.cost(choices[0]) + 1e-6


def test_rows_at_a_choice_cut_it_off_for_both_sides_and_no_cheapest_choice():
    rows = 0
    for core, best in cores(range(16)):
        exposed = Witnesses(Part(core).problem).check(core.hidden)
        place = {key: t for t, key in enumerate(zip(core.targets.cell, core.targets.side, strict=True))}
        targets = [place[e.key.cell, e.key.side] for e in exposed if e.key.attacker < 0]
        if not targets:
            continue
        found = violated_rows(relaxation(core), core.hidden, targets)
        assert all(f.row.slack(core.hidden.astype(float)) < 0 for f in found)
        assert all(f.row.slack(best.astype(float)) >= -1e-7 for f in found)
        assert {f.origin.target for f in found if hasattr(f.origin, "target")} == set(targets)
        rows += len(found)
    assert rows > 10


def test_equations_of_an_intruder_are_independent_and_tell_all():
    merged = 0
    problems = [load("hier3d-small")] + [random_problem(seed) for seed in range(40)]
    for reduction in map(reduce_problem, problems):
        for core in reduction.cores:
            A = core.A.toarray()
            assert np.linalg.matrix_rank(A) == len(A)
            assert np.linalg.matrix_rank(np.vstack([A, core.implied.toarray()])) == len(A)
            merged += any(len(cells) > 1 for cells, _ in core.members)
    assert merged > 3


def test_deviations_handed_over_answer_what_they_answered_and_no_more():
    for seed in range(12):
        problem = random_problem(seed)
        hidden, judge = problem.may_hide, Witnesses(problem)
        judge.check(hidden)
        deviations = judge.deviations(hidden)
        rows = sparse.csr_array((len(deviations), problem.n_cells)).tolil()
        for k, deviation in enumerate(deviations):
            rows[k, deviation.cells] = deviation.z
        heir = Witnesses(problem)
        heir.offer_all(rows.tocsr())
        assert (heir.stored(hidden) == judge.stored(hidden)).all()
        liar = Witnesses(problem)
        liar.offer_all(sparse.csr_array(rows.tocsr() + sparse.csr_array(np.eye(*rows.shape) * 1e3)))
        assert not (liar.stored(hidden) & ~judge.stored(hidden)).any()
        assert [e.key for e in liar.check(hidden)] == [e.key for e in judge.check(hidden)]


def test_the_equations_of_a_core_are_independent_and_all_there_is() -> None:
    """In the first problem two equations are the same once cells are merged."""
    twice = [[1, 1, -1, 1, -1], [0, 0, 0, 1, -1], [1, 1, -1, 0, 0]]
    problems = [Problem.from_arrays(twice, [4, 5, 9, 3, 3], primary=[0], lpl=1, upl=1)]
    problems += [random_problem(seed, max_cells=40) for seed in range(60)]
    problems += [load(name) for name in ("hier3d-small", "linked-small", "sparse-small")]
    found = 0
    for problem in problems:
        for core in reduce_problem(problem).cores:
            A, implied = core.A.toarray(), core.implied.toarray()
            assert np.linalg.matrix_rank(A) == len(A) == np.linalg.matrix_rank(np.vstack((A, implied)))
            found += 1
    assert len(reduce_problem(problems[0]).cores[0].A.toarray()) == 1
    assert found > 30


def test_rows_in_pairs_hold_for_every_choice_that_the_rows_hold_for():
    rng, sharper = np.random.default_rng(5), 0
    for _ in range(60):
        rows = sparse.csr_array(rng.choice([0.0, 0.0, 0.2, 0.45, 0.5, 0.7, 0.9, 1.0], size=(3, 6)))
        choices = (np.arange(64)[:, None] >> np.arange(6) & 1).astype(np.float64)
        more = pairs(rows, np.ones(3))
        for choice in choices:
            if np.all(rows @ choice >= 1 - 1e-9):
                assert np.all(more @ choice >= 1)
        sharper += any(np.all(rows @ x >= 1) and np.any(more @ x < 1 - 1e-9) for x in rng.random((40, 6)))
    assert sharper > 10


def test_a_coefficient_of_nearly_one_is_one_in_pairs():
    row = sparse.csr_array([[1 - 1e-9, 0.8, 0.3]])
    assert pairs(row, np.ones(1)).toarray().tolist() == [[1.0, 0.5, 0.5]]
    assert pairs(row, np.zeros(1)).shape == (0, 3)


def test_bridges_at_a_point_are_those_that_it_violates():
    core = reduce_problem(load("hier3d-small")).cores[0]
    every, _, _ = bridges(core)
    x = np.random.default_rng(1).random(core.n)
    x[core.hidden] = 1.0
    some, rhs, origins = bridges(core, x, 0.1)
    violated = every[np.flatnonzero(every @ x < -0.1)]
    assert 0 < some.shape[0] == violated.shape[0] == len(rhs) == len(origins) < every.shape[0]
    assert abs(some - violated).max() == 0
