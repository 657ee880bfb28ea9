"""A worker outlives whatever happens in its process."""

from __future__ import annotations

import os
import time

import pytest

from benchmarks.isolated import Failure, Worker


def crashes(_):
    os._exit(7)


def hangs(_):
    time.sleep(60)


def divides(by):
    return 1 / by


@pytest.mark.slow
@pytest.mark.parametrize(("function", "word"), [(crashes, "crash: the process ended with 7"), (hangs, "hang")])
def test_a_worker_is_started_again(function, word):
    with Worker(function, patience=0.5) as worker:
        for _ in range(2):
            answer = worker.ask(0, 0.0)
            assert isinstance(answer, Failure)
            assert word in answer.what


@pytest.mark.slow
def test_answers_and_errors_come_back():
    with Worker(divides) as worker:
        assert worker.ask(4, 1.0) == 0.25
        answer = worker.ask(0, 1.0)
        assert isinstance(answer, Failure)
        assert "ZeroDivisionError" in answer.what
        assert worker.ask(2, 1.0) == 0.5
