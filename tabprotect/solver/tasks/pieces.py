"""Independent pieces of work: here, in threads, in processes or on a cluster, with the same answers everywhere."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Final, Protocol, TypeVar

from tabprotect.errors import InputError
from tabprotect.solver.limits import Budget
from tabprotect.solver.tasks.store import Store

__all__ = ["GRACE", "Answer", "Means", "ignore_interrupts", "processes", "processors", "run_pieces"]

P = TypeVar("P")
A = TypeVar("A")

LOOK: Final = 0.2
"""Seconds between two looks whether somebody cancelled, while others work."""

GRACE: Final = 60.0
"""Seconds that pieces with limits of their own may take beyond the limit of time: they look at it now and then."""


class Answer(Protocol):
    """What a piece gives that is kept in a store."""

    @property
    def work(self) -> int:
        """Work units that were spent."""
        ...

    @property
    def stopped(self) -> str:
        """What ended the piece; only '' and 'work' come out the same another time."""
        ...


def check_executor(given: object) -> None:
    """Refuse what takes no work."""
    if given is not None and not callable(getattr(given, "submit", None)):
        raise InputError(f"executor must be such as concurrent.futures.ProcessPoolExecutor(), not {given!r}")


@dataclass(frozen=True)
class Means:
    """Where pieces are worked on, and where their answers are kept.

    Parameters
    ----------
    executor : concurrent.futures.Executor, optional
        Such as `processes`, a pool of the standard library, or ``client.get_executor()`` of dask.distributed. Without
        one, pieces are worked on one after the other, here.
    store : Store, optional
    """

    executor: Executor | None = None
    store: Store | None = None

    def __post_init__(self) -> None:
        check_executor(self.executor)

    def __bool__(self) -> bool:
        return self.executor is not None or self.store is not None

    @property
    def width(self) -> int:
        """How many pieces are worked on at a time; 1 where the executor does not tell."""
        client: Any = getattr(self.executor, "_client", None)  # of dask
        if hasattr(client, "nthreads"):
            return max(1, sum(int(threads) for threads in client.nthreads().values()))
        return int(getattr(self.executor, "_max_workers", None) or 1)

    def answers(
        self,
        function: Callable[[P], A],
        pieces: Sequence[P],
        names: Sequence[str],
        budget: Budget,
        *,
        here: Callable[[P], A] | None = None,
        grace: float = 0.0,
    ) -> Iterator[A | None]:
        """Yield the answers (see `Answer`), in the order of the pieces; those in the store are not worked on again.

        Parameters
        ----------
        function, pieces, budget, here, grace
            As in `run_pieces`.
        names : sequence of str
            Under which the answers are kept: the same for the same piece, and for no other one.
        """
        kept = [None if self.store is None else self.store.get(name) for name in names]
        open_ = [k for k, answer in enumerate(kept) if answer is None]
        todo, keep = [pieces[k] for k in open_], self._keep(names, open_)
        new = run_pieces(function, todo, budget, self.executor, here=here, done=keep, grace=grace)
        for answer in kept:
            yield next(new) if answer is None else answer

    def _keep(self, names: Sequence[str], open_: Sequence[int]) -> Callable[[int, Any], None]:
        def keep(number: int, answer: Answer) -> None:
            if self.store is not None and answer.stopped in ("", "work"):
                self.store.put(names[open_[number]], answer)

        return keep


def run_pieces(
    function: Callable[[P], A],
    pieces: Sequence[P],
    budget: Budget,
    executor: Executor | None = None,
    *,
    here: Callable[[P], A] | None = None,
    done: Callable[[int, A], None] | None = None,
    grace: float = 0.0,
) -> Iterator[A | None]:
    """Yield ``function(piece)`` for every piece, in their order; None for those not done when the budget ended.

    A piece that gets lost, since its worker died, is worked on here.

    Parameters
    ----------
    function : callable
        Of a module, so that it finds its way into other processes. Its answer depends on the piece alone.
    pieces : sequence
    budget : Budget
        Cancelled or exhausted, it ends the waiting.
    executor : concurrent.futures.Executor, optional
    here : callable, optional
        What does the same within this process, where it may look at the budget.
    done : callable, optional
        Is handed the number of every piece and its answer as soon as it is there.
    grace : float
        Seconds beyond a limit of time or work that pieces under way are waited for: they have limits of their own.

    Raises
    ------
    Exception
        Whatever `function` raises.

    Examples
    --------
    >>> list(run_pieces(abs, [-1, 2, -3], Budget()))
    [1, 2, 3]
    """
    here = here or function
    done = done or (lambda number, answer: None)
    futures = _Futures(function, pieces, executor, done) if executor is not None and len(pieces) > 1 else None
    try:
        for number, piece in enumerate(pieces):
            if futures is not None and futures.wait(number, budget, grace):
                yield futures.answers[number]
            elif budget.exhausted:
                yield None
            else:
                if futures is not None:
                    budget.report("pieces", message="a worker was lost; its pieces are worked on here")
                answer = here(piece)
                done(number, answer)
                yield answer
    finally:
        if futures is not None:
            futures.cancel()


class _Futures:
    """Pieces under way in an executor, and the answers that are there."""

    def __init__(
        self,
        function: Callable[[Any], Any],
        pieces: Sequence[Any],
        executor: Executor,
        done: Callable[[int, Any], None],
    ) -> None:
        self.answers: dict[int, Any] = {}
        self._done = done
        self._since = 0.0
        self._under_way: dict[Future[Any], int] = {}
        try:
            for number, piece in enumerate(pieces):
                self._under_way[executor.submit(function, piece)] = number
        except BrokenExecutor:
            pass  # what could not be submitted is lost, like what dies on the way

    def wait(self, number: int, budget: Budget, grace: float) -> bool:
        """Wait for one piece, taking in others; False when it is lost, or not waited for any longer."""
        while number not in self.answers:
            if number not in self._under_way.values():
                return False
            if budget.exhausted:
                self._since = self._since or time.monotonic()
                if budget.stopped in ("cancelled", "memory") or time.monotonic() - self._since >= grace:
                    return False
            ready, _ = wait(self._under_way, timeout=LOOK, return_when=FIRST_COMPLETED)
            for future in ready:
                self._take(future)
        return True

    def _take(self, future: Future[Any]) -> None:
        number = self._under_way.pop(future)
        try:
            self.answers[number] = future.result()
        except (BrokenExecutor, CancelledError):
            return
        except Exception as error:
            # dask names a piece whose workers died again and again; its own errors say nothing of the piece
            if type(error).__module__.split(".")[0] != "distributed":
                raise
            return
        self._done(number, self.answers[number])

    def cancel(self) -> None:
        for future in self._under_way:
            future.cancel()


def processors() -> int:
    """Return how many processors this process may use.

    Examples
    --------
    >>> processors() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def processes(workers: int) -> Iterator[Executor]:
    """Within the block a pool of processes; what they still work on at its end is given up.

    Examples
    --------
    >>> with processes(1) as pool:
    ...     pool.submit(abs, -2).result()
    2
    """
    if isinstance(workers, bool) or not isinstance(workers, Integral) or workers < 1:
        raise InputError(f"the number of workers must be a whole number of at least 1, not {workers!r}")
    # solvers have threads of their own, which a forked process would lack
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer=ignore_interrupts)
    try:
        yield pool
    finally:
        members = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in members:
            process.terminate()


def ignore_interrupts() -> None:
    """Ctrl-C is for the process that asks; it tells the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
