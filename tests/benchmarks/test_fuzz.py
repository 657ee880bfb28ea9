"""The fuzz run: its problems are what they claim, and it finds every kind of fault that is put before it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import fuzz
from benchmarks.problems import SHAPES, widened
from tabprotect.problem import Problem, Status

TASK = fuzz.Task(0, "exact", "scip", 5.0)

A = [
    [-1, 1, 1, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, -1, 1, 1, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, -1, 1, 1],
    [-1, 0, 0, 1, 0, 0, 1, 0, 0],
    [0, -1, 0, 0, 1, 0, 0, 1, 0],
    [0, 0, -1, 0, 0, 1, 0, 0, 1],
]


def table(level=1.0):
    return Problem.from_arrays(A, [20, 9, 11, 8, 3, 5, 12, 6, 6], primary=[4], lpl=level, upl=level)


def right(cells=(4, 5, 7, 8), **changes):
    pattern = np.isin(np.arange(9), cells)
    answer = fuzz.Answer(pattern, "optimal", True, 17.0, 17.0, frozenset(), "", 0.1)
    return replace(answer, **changes)


def kinds(answer, problem=None, task=TASK):
    return [fault.split(":")[0] for fault in fuzz.faults(problem or table(), task, answer)]


def test_a_right_answer_has_no_fault():
    assert kinds(right()) == []


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (right((4, 5)), "unsafe"),
        (right((5, 7, 8)), "pattern"),
        (right(cost=16.0, bound=16.0), "cost"),
        (right(seconds=7.5), "overrun"),
        (right(bound=18.0), "status"),
        (right(status="feasible", bound=1.0), "status"),
        (right(safe=False), "status"),
        (right(status="infeasible", safe=False, cost=None, bound=None, unprotectable=frozenset({(-1, 4)})), "status"),
        (right(status="unknown", safe=False, cost=None, bound=1.0), "status"),
        (right((1, 2, 4, 5, 7, 8), cost=37.0, bound=30.0, status="feasible", stopped="time"), "bound"),
    ],
)
def test_every_kind_of_fault_is_found(answer, kind):
    assert kind in kinds(answer)


def test_a_false_optimum_is_found_by_enumeration():
    dearer = right((0, 1, 3, 4), cost=37.0, bound=37.0)
    assert kinds(dearer) == ["bound"]


def test_what_cannot_be_protected_must_be_named_and_the_rest_protected():
    problem = replace(table(), lpl=np.full(9, 9.0))
    answer = right(status="infeasible", safe=False, cost=None, bound=None, unprotectable=frozenset({(-1, 4)}))
    assert kinds(answer, problem) == []
    assert kinds(replace(answer, unprotectable=frozenset()), problem) == ["cells"]
    assert kinds(replace(answer, pattern=np.isin(np.arange(9), [4])), problem) == ["pattern"]


def test_problems_repeat_and_span_what_they_should():
    found = [widened(seed) for seed in range(120)]
    assert all(np.array_equal(p.values, widened(seed)[1].values) for seed, (_, p) in enumerate(found[:20]))
    words = {word for name, _ in found for word in name.split()}
    assert {shape.__name__ for shape in SHAPES} <= words
    problems = [p for _, p in found]
    assert any(p.attackers for p in problems)
    assert any(np.isinf(p.lower).any() for p in problems)
    assert any((p.spl[p.status == Status.PRIMARY] > 0).any() for p in problems)
    assert any((p.values < 0).any() for p in problems)
    sizes = np.concatenate([np.abs(p.values[p.values != 0]) for p in problems])
    assert sizes.min() < 1e-2
    assert sizes.max() > 1e9


@pytest.mark.slow
def test_the_first_problems_have_no_faults():
    lines = []
    assert fuzz.run(range(20), 5.0, lines.append) == 0, lines
    assert lines[-1].startswith("20 problems")


@pytest.mark.parametrize("seed", [110, 50208])
def test_a_problem_that_once_failed_is_answered(seed):
    asked = fuzz.task(seed, 5.0)
    assert list(fuzz.faults(widened(seed)[1], asked, fuzz.solve(asked))) == []
