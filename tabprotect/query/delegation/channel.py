"""How the owner reaches a handler: a process of its own, over pipes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from io import BytesIO
from typing import Protocol, runtime_checkable

from tabprotect.errors import InputError
from tabprotect.query.delegation.handler import Handler
from tabprotect.query.delegation.wire import HandlerError, Message, read_message, write_message

__all__ = ["Channel", "HandlerProcess", "SameProcess"]


@runtime_checkable
class Channel(Protocol):
    """Anything that carries a message to a handler and its answer back."""

    def exchange(self, message: Message, most: int) -> Message:
        """Send a message; return the answer, refusing one with more than `most` bytes of blobs."""

    def close(self) -> None:
        """Let the handler go."""


class HandlerProcess:
    """A handler in another process, reached over its standard input and output.

    The process gets nothing but what is written to its input: parameters, relinearisation keys, ciphertexts and
    expressions.

    Parameters
    ----------
    command : sequence of str, optional
        Program and arguments; by default the handler of this package under the same Python. ``("ssh", "host", "python",
        "-m", "tabprotect.query.delegation")`` runs it elsewhere.
    timeout : float, default 600
        Seconds an answer may take before the process is killed.

    Examples
    --------
    >>> from tabprotect.query.delegation import delegate
    >>> with HandlerProcess() as handler:
    ...     first = delegate("a + b", {"a": [1, 2], "b": [3, 4]}, (0, 9), handler=handler)
    ...     second = delegate("a - b", {"a": [1, 2], "b": [3, 4]}, (0, 9), handler=handler)
    >>> first.values.tolist(), second.values.tolist()
    ([4, 6], [-2, -2])
    """

    def __init__(self, command: Sequence[str] | None = None, timeout: float = 600.0) -> None:
        if isinstance(command, str):
            raise InputError(f"the command of a handler must be a sequence of program and arguments, not {command!r}")
        if not timeout > 0:
            raise InputError(f"timeout must be a positive number of seconds, not {timeout!r}")
        self._timeout = timeout
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        given = list(command or (sys.executable, "-m", "tabprotect.query.delegation"))
        try:
            self._process = subprocess.Popen(given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors)
        except OSError as error:
            self._errors.close()
            raise InputError(f"the handler {given[0]!r} cannot be started: {error.strerror}") from None

    def __enter__(self) -> HandlerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def exchange(self, message: Message, most: int) -> Message:
        """Send a message and wait for the answer."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self._timeout, stop)
        timer.start()
        try:
            with suppress(BrokenPipeError):  # what it wrote before it stopped may say why
                write_message(process.stdin, message)
            reply = read_message(process.stdout, most)
        except HandlerError:
            if not late.is_set():
                raise
            reply = None
        finally:
            timer.cancel()
        if late.is_set():
            raise HandlerError(f"the handler gave no answer within {self._timeout:g} s")
        if reply is None:
            raise HandlerError(f"the handler stopped without an answer{self._last_words()}")
        return reply

    def close(self) -> None:
        """End the process."""
        process = self._process
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._errors.close()

    def _last_words(self) -> str:
        """Return the last line that the process wrote to its standard error."""
        self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read()[-2000:].decode(errors="replace").strip().splitlines()
        return f" (exit code {self._process.returncode})" + (f": {lines[-1]}" if lines else "")


class SameProcess:
    """A handler in this process, for tests and rehearsals; messages still pass as bytes.

    Parameters
    ----------
    handler : Handler, optional
        An honest one by default.
    """

    def __init__(self, handler: Handler | None = None) -> None:
        self._handler = handler or Handler()

    def exchange(self, message: Message, most: int) -> Message:
        """Hand a message over and return the answer."""
        there, back = BytesIO(), BytesIO()
        write_message(there, message)
        there.seek(0)
        received = read_message(there)
        assert received is not None
        write_message(back, self._handler.answer(received))
        back.seek(0)
        reply = read_message(back, most)
        assert reply is not None
        return reply

    def close(self) -> None:
        """Nothing is open."""
