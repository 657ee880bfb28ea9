"""Work in a process of its own, so that a crash or a hang there is a result here."""

from __future__ import annotations

import multiprocessing
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Generic, TypeVar

__all__ = ["Failure", "Worker"]

#: Seconds after the limit at which a process is taken to hang.
PATIENCE = 30.0

A, R = TypeVar("A"), TypeVar("R")


@dataclass(frozen=True)
class Failure:
    """What came instead of an answer: 'crash: ...', 'hang: ...' or 'error: ...'."""

    what: str


class Worker(Generic[A, R]):
    """A process that answers with a function of a module, started again when it dies or hangs."""

    def __init__(self, answer: Callable[[A], R], patience: float = PATIENCE) -> None:
        self._answer, self._patience = answer, patience
        self._context = multiprocessing.get_context("spawn")
        self._start()

    def _start(self) -> None:
        self._pipe, other = self._context.Pipe()
        self._process = self._context.Process(target=_serve, args=(other, self._answer), daemon=True)
        self._process.start()
        other.close()
        self._pipe.recv()  # it is ready: imports are not charged to the first question

    def ask(self, argument: A, seconds: float) -> R | Failure:
        """Return the answer, or what happened instead; `seconds` is the limit that the function keeps by itself."""
        self._pipe.send(argument)
        wait = seconds + self._patience
        try:
            if self._pipe.poll(wait):
                reply: R | Failure = self._pipe.recv()
                return reply
            what = f"hang: no answer {wait:.0f} s after the start with a limit of {seconds:g} s"
        except EOFError:
            self._process.join(10)
            what = f"crash: the process ended with {self._process.exitcode}"
        self.close()
        self._start()
        return Failure(what)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._pipe.close()

    def __enter__(self) -> Worker[A, R]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _serve(pipe: Connection, answer: Callable[[Any], Any]) -> None:
    pipe.send("ready")
    while True:
        try:
            argument = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            reply = answer(argument)
        except Exception:
            reply = Failure("error: " + traceback.format_exc())
        pipe.send(reply)
