"""Whole runs in processes of their own: the answers, what they report, stopping, errors, and processes that die."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import pytest

from tabprotect.errors import InputError
from tabprotect.solver.limits import Progress
from tabprotect.solver.tasks.apart import run_apart

Say = Callable[[Progress], None] | None
Stop = Callable[[], bool] | None


def squared(task: int, /, stop: Stop, progress: Say) -> tuple[int, int]:
    if progress is not None:
        progress(Progress("square", cost=float(task)))
    return task * task, os.getpid()


def counts(task: int, /, stop: Stop, progress: Say) -> int:
    assert progress is not None
    for k in range(task):
        progress(Progress("count", cost=float(k)))
    return task


def until_asked(task: float, /, stop: Stop, progress: Say) -> bool:
    assert stop is not None
    assert progress is not None
    progress(Progress("wait"))
    end = time.monotonic() + task
    while time.monotonic() < end:
        if stop():
            return True
        time.sleep(0.01)
    return False


def refuses(task: int, /, stop: Stop, progress: Say) -> int:
    if task:
        raise InputError(f"{task} is wrong", "so is the rest")
    return task


def dies_elsewhere(task: int, /, stop: Stop, progress: Say) -> int:
    if os.getpid() != task:
        os._exit(1)
    return task


@pytest.mark.parametrize("workers", [1, 2])
def test_answers_and_reports_are_those_of_every_task(workers: int) -> None:
    heard: list[Progress] = []
    done = run_apart(squared, {"a": 3, "b": 4}, workers, progress=heard.append)
    assert {name: answer for name, (answer, _) in done.items()} == {"a": 9, "b": 16}
    assert (os.getpid() in {process for _, process in done.values()}) == (workers == 1)
    assert sorted((said.stage, said.cost) for said in heard) == [("a: square", 3.0), ("b: square", 4.0)]


def test_everything_reported_before_the_answer_arrives_in_its_order() -> None:
    heard: list[Progress] = []
    assert run_apart(counts, {"a": 3000, "b": 3000}, 2, progress=heard.append) == {"a": 3000, "b": 3000}
    for name in "ab":
        assert [said.cost for said in heard if said.stage == f"{name}: count"] == list(map(float, range(3000)))


def test_one_task_is_done_here_under_its_own_stages() -> None:
    heard: list[Progress] = []
    assert run_apart(squared, {"a": 3}, 4, progress=heard.append) == {"a": (9, os.getpid())}
    assert [said.stage for said in heard] == ["square"]


def test_whoever_asks_to_stop_stops_all() -> None:
    heard: list[Progress] = []
    done = run_apart(until_asked, {"a": 60.0, "b": 60.0}, 2, stop=lambda: len(heard) >= 2, progress=heard.append)
    assert done == {"a": True, "b": True}


def test_errors_of_a_run_come_back_with_all_their_problems() -> None:
    with pytest.raises(InputError, match="2 problems:\n  - 5 is wrong\n  - so is the rest"):
        run_apart(refuses, {"a": 0, "b": 5}, 2)
    with pytest.raises(InputError, match="at least 1, not 0"):
        run_apart(refuses, {"a": 0}, 0)


def test_what_a_lost_process_had_to_do_is_done_here() -> None:
    own = os.getpid()
    assert run_apart(dies_elsewhere, {"a": own, "b": own}, 2) == {"a": own, "b": own}
