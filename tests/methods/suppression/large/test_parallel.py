"""Questions looked at side by side: the same answers in any number of threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

from tabprotect.attack.audit import audit
from tabprotect.instances.large import large
from tabprotect.methods.suppression.large import local
from tabprotect.methods.suppression.large import parallel as rooms
from tabprotect.methods.suppression.large.answers import Answers
from tabprotect.methods.suppression.large.cover import Cover
from tabprotect.methods.suppression.large.nearby import Nearby
from tabprotect.methods.suppression.large.parallel import ParallelSearch
from tabprotect.methods.suppression.large.rebuild import Rebuilder
from tabprotect.methods.suppression.large.surroundings import Surroundings
from tabprotect.methods.suppression.options import DEFAULTS
from tabprotect.problem import Problem, Status
from tabprotect.solver.limits import Budget, Limits


@pytest.fixture(scope="module")
def table() -> Problem:
    return large(1200, dims=3, primaries=0.1, seed=3)


@pytest.fixture(autouse=True)
def four_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "processors", lambda: 4)


def builder(problem: Problem, threads: int) -> Rebuilder:
    return Rebuilder(Cover(problem), Nearby(problem, Surroundings(problem.system)), {}, 0, threads)


def test_any_number_of_threads_gives_the_same_first_pattern(table: Problem) -> None:
    found = []
    for threads in (1, 2, 4):
        rebuilder, budget = builder(table, threads), Budget()
        assert rebuilder.build(budget)
        found.append((rebuilder.cover.pattern.tolist(), rebuilder.cover.cost, budget.work))
    assert all(one == other for one, other in pairwise(found))
    assert audit(table, np.array(found[0][0]), intervals=False).safe


@pytest.mark.parametrize("work", [300, 2_000, 20_000])
def test_any_number_of_threads_gives_the_same_answer_under_a_limit_of_work(table: Problem, work: int) -> None:
    with ThreadPoolExecutor(1) as single, ThreadPoolExecutor(3) as pool:
        one, several = (local(table, limits=Limits(work=work), executor=executor) for executor in (single, pool))
    assert np.array_equal(one.pattern, several.pattern)
    assert (one.cost, one.bound, one.work, one.status) == (several.cost, several.bound, several.work, several.status)


def test_batches_grow_and_keep_the_two_sides_of_a_cell_apart(table: Problem) -> None:
    cover = Cover(table)
    parallel = ParallelSearch(Answers(cover, Nearby(table, Surroundings(table.system)), {}, cover.price), 2)
    order = cover.open().tolist()
    batches = list(parallel.batches(order))
    cells = [[cover.keys[k].cell for k in batch] for batch in batches]
    assert sorted(k for batch in batches for k in batch) == sorted(order)
    assert all(len(set(batch)) == len(batch) for batch in cells)
    first, last = DEFAULTS.local.parallel.batch
    assert {len(batch) for batch in batches} >= {first, first + 1}
    assert max(map(len, batches)) <= last


def test_twins_follow_the_prices_of_the_cover(table: Problem) -> None:
    rebuilder = builder(table, 3)
    assert rebuilder.build(Budget())
    parallel = rebuilder._parallel
    assert len(parallel._twins) == 2
    for twin in parallel._twins:
        assert np.array_equal(twin.price, rebuilder.cover.price)


def test_a_limit_in_the_middle_of_a_batch_leaves_nobody_without_hope(table: Problem) -> None:
    rebuilder = builder(table, 2)
    assert not rebuilder.build(Budget(Limits(work=40)))
    assert not rebuilder.unattainable
    assert rebuilder.build(Budget())
    assert audit(table, rebuilder.cover.pattern, intervals=False).safe


def test_a_failure_in_a_thread_is_heard_of(table: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ArithmeticError("in a thread")

    monkeypatch.setattr(Nearby, "find", broken)
    with pytest.raises(ArithmeticError, match="in a thread"):
        builder(table, 2).build(Budget())


@pytest.mark.parametrize(("dims", "least"), [(2, 0), (3, 1)])
def test_balls_in_which_nothing_can_move_are_left_out(dims: int, least: int) -> None:
    problem = large(1200, dims=dims, primaries=0.05, seed=1)
    near = Surroundings(problem.system)
    nearby = Nearby(problem, near)
    assert nearby._least == least
    moving = 0
    for cell in np.flatnonzero(problem.status == Status.PRIMARY).tolist():
        block = near.closed(near.ball(np.array([cell]), DEFAULTS.local.nearby.equations[0], nearby.allowed), cell)
        moving += len(block.cells) > 1
    assert (moving > 0) == (least == 0)
