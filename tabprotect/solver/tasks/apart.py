"""Whole runs in processes of their own, which report progress and can be asked to stop."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from dataclasses import replace
from functools import partial
from typing import Any, Final, Protocol, TypeVar

from tabprotect.errors import InputError
from tabprotect.solver.limits import Progress
from tabprotect.solver.tasks.pieces import ignore_interrupts

__all__ = ["Run", "run_apart"]

T = TypeVar("T", contravariant=True)
A = TypeVar("A", covariant=True)

LOOK: Final = 0.1
"""Seconds between two looks whether somebody asked to stop, or reported."""

_CHANNEL: list[Any] = []
"""In a process of a run: the event that asks it to stop, and the queue of what it reports."""


class Run(Protocol[T, A]):
    """A function of a module, so that it finds its way into other processes."""

    def __call__(self, task: T, /, stop: Callable[[], bool] | None, progress: Callable[[Progress], None] | None) -> A:
        """Do a task; `stop` is polled, `progress` receives what is reported."""
        ...


def run_apart(
    run: Run[T, A],
    tasks: Mapping[str, T],
    workers: int,
    *,
    stop: Callable[[], bool] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> dict[str, A]:
    """Return ``run(task, stop, progress)`` of every task, by its name; several at a time.

    What a run reports bears its name before the stage. The answers do not depend on the number of processes. A task
    whose process dies is done here.

    Parameters
    ----------
    run : callable
        Of a module.
    tasks : mapping of str to task
    workers : int
        Processes; with 1, or for one task, everything is done here.
    stop, progress : callable, optional
        Are only called here.

    Raises
    ------
    InputError
        If `workers` is not at least 1.
    Exception
        What a run raises: of the first task, in the order of the tasks, that does.
    """
    if workers < 1:
        raise InputError(f"the number of workers must be at least 1, not {workers}")

    def here(name: str) -> A:
        return run(tasks[name], stop, None if progress is None else _named(progress, name, len(tasks)))

    if workers == 1 or len(tasks) < 2:
        return {name: here(name) for name in tasks}
    # solvers have threads of their own, which a forked process would lack
    context = multiprocessing.get_context("spawn")
    # what is put into a simple queue is in it before the run goes on, and so before its answer
    asked, reported = context.Event(), context.SimpleQueue()
    pool = ProcessPoolExecutor(
        min(workers, len(tasks)), context, initializer=_begin, initargs=(asked, reported, progress is not None)
    )
    try:
        futures = {name: pool.submit(_run, run, name, task, len(tasks)) for name, task in tasks.items()}
        under_way: set[Future[A]] = set(futures.values())
        while under_way:
            _, under_way = wait(under_way, timeout=LOOK, return_when=FIRST_COMPLETED)
            if stop is not None and stop():
                asked.set()
            _pass_on(reported, progress)
        return {name: _answer(future, partial(here, name)) for name, future in futures.items()}
    finally:
        members = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in members:
            process.terminate()
        reported.close()


def _answer(future: Future[A], here: Callable[[], A]) -> A:
    try:
        return future.result()
    except BrokenExecutor:
        return here()


def _pass_on(reported: Any, progress: Callable[[Progress], None] | None) -> None:
    while progress is not None and not reported.empty():
        progress(reported.get())


def _named(progress: Callable[[Progress], None], name: str, tasks: int) -> Callable[[Progress], None]:
    if tasks < 2:
        return progress
    return lambda said: progress(replace(said, stage=f"{name}: {said.stage}"))


def _begin(asked: Any, reported: Any, listens: bool) -> None:
    ignore_interrupts()
    _CHANNEL[:] = [asked.is_set, reported.put if listens else None]


def _run(run: Run[T, A], name: str, task: T, tasks: int) -> A:
    stop, say = _CHANNEL
    return run(task, stop, None if say is None else _named(say, name, tasks))
