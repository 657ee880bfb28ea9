"""Pieces of work give the same answers wherever they are done, also when workers die."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from tabprotect.errors import InputError
from tabprotect.solver.limits import Budget, Limits
from tabprotect.solver.tasks.pieces import processes, run_pieces


def square(x: int) -> int:
    return x * x


def fail(x: int) -> int:
    raise ValueError(f"no {x}")


def die_once(piece: tuple[int, str]) -> int:
    """Kill the worker that gets the third piece; done again, it is a piece like the others."""
    x, mark = piece
    if x == 3 and not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return x * x


def test_in_order_here_and_in_threads() -> None:
    assert list(run_pieces(square, range(20), Budget())) == [x * x for x in range(20)]
    with ThreadPoolExecutor(3) as pool:
        assert list(run_pieces(square, range(20), Budget(), pool)) == [x * x for x in range(20)]


def test_pieces_of_a_broken_pool_are_worked_on_here(tmp_path: Path) -> None:
    pieces = [(x, str(tmp_path / "mark")) for x in range(8)]
    told: list[str] = []
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        budget = Budget(progress=lambda progress: told.append(progress.message))
        assert list(run_pieces(die_once, pieces, budget, pool)) == [x * x for x in range(8)]
        # nobody is left in there
        assert list(run_pieces(square, range(4), Budget(), pool)) == [0, 1, 4, 9]
    assert "a worker was lost; its pieces are worked on here" in told


@pytest.mark.parametrize("pool", [None, ThreadPoolExecutor(2)])
def test_mistakes_in_a_piece_are_raised(pool: Executor | None) -> None:
    with pytest.raises(ValueError, match="no 1"):
        list(run_pieces(fail, [1, 2], Budget(), pool))


def test_cancelling_ends_the_waiting() -> None:
    release = threading.Event()
    with ThreadPoolExecutor(2) as pool:
        budget = Budget(Limits(stop=lambda: True))
        assert list(run_pieces(lambda _: release.wait(), range(4), budget, pool)) == [None] * 4
        release.set()


def test_grace_after_the_limit_of_time() -> None:
    with ThreadPoolExecutor(2) as pool:
        found = list(run_pieces(lambda x: time.sleep(0.3) or x, [1, 2], Budget(Limits(seconds=0.01)), pool, grace=30.0))
    assert found == [1, 2]


def test_no_workers_are_refused() -> None:
    with pytest.raises(InputError, match="at least 1"), processes(0):
        pass
