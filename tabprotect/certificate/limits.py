"""How much time and memory a document from elsewhere may cost its reader; the standard library only."""

from __future__ import annotations

import gzip
import os
import stat
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

__all__ = [
    "LIMITS",
    "UNLIMITED",
    "Limits",
    "Malformed",
    "Meter",
    "fits",
    "open_regular",
    "read_within",
    "require",
    "size_of_json",
]

_CHUNK = 1 << 20


class Malformed(Exception):
    """What is written is not a certificate at all, or needs more than the limits allow."""


def require(holds: bool, failure: str) -> None:
    """Raise `Malformed` unless a condition holds."""
    if not holds:
        raise Malformed(failure)


@dataclass(frozen=True)
class Limits:
    """What one check may cost; whoever made a document himself needs none (`UNLIMITED`).

    Attributes
    ----------
    memory : int or None
        Bytes that a document takes as Python objects, estimated from its text before anything is parsed. Checking
        takes about as much again.
    work : int or None
        Elementary steps (a product of two short numbers and an addition); about 2 to 5 million a second.
    bits : int or None
        Longest number, where numbers grow by being combined.
    """

    memory: int | None = 300_000_000
    work: int | None = 20_000_000
    bits: int | None = 1 << 17


LIMITS = Limits()
"""A check within them takes less than 20 seconds and 1 GB."""

UNLIMITED = Limits(None, None, None)


@dataclass
class Meter:
    """Counts the steps of one check.

    Examples
    --------
    >>> meter = Meter(Limits(work=10))
    >>> meter.spend(7)
    >>> meter.spend(7)
    Traceback (most recent call last):
    tabprotect.certificate.limits.Malformed: checking takes more than the limit of 10 steps; see --no-limits
    """

    limits: Limits = field(default_factory=lambda: UNLIMITED)
    spent: int = 0

    def spend(self, steps: int) -> None:
        """Count steps; `Malformed` once there are more than the limit."""
        self.spent += steps
        if self.limits.work is not None and self.spent > self.limits.work:
            raise Malformed(f"checking takes more than the limit of {self.limits.work:,} steps; see --no-limits")

    def long(self, bits: int, times: int = 1) -> None:
        """Count operations on numbers of so many bits."""
        if self.limits.bits is not None and bits > self.limits.bits:
            raise Malformed(f"a number grows beyond the limit of {self.limits.bits:,} bits; see --no-limits")
        self.spend(times * (1 + (bits >> 8) ** 2))


def open_regular(path: Path) -> BinaryIO:
    """Open a file to read it, but no pipe or device, which might keep its reader waiting for ever.

    Raises
    ------
    Malformed
        If it is no regular file.
    OSError
        If it cannot be opened.
    """

    def opened(name: str, flags: int) -> int:
        return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))

    if path.is_dir():
        raise Malformed(f"{path.name} is a folder; a release has its certificate in internal/certificate.json")
    stream = open(path, "rb", opener=opened)  # noqa: SIM115
    if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        return stream
    stream.close()
    raise Malformed(f"{path.name} is no regular file")


def read_within(path: Path, limits: Limits) -> bytes:
    """Read a file, through gzip when its name ends in ``.gz``, but never more than the limits allow.

    Raises
    ------
    Malformed
        If it is larger, no regular file, or no gzip file in spite of its name.
    OSError
        If it cannot be read.
    """
    most = None if limits.memory is None else limits.memory // 2  # more than that does not fit as objects anyway
    if path.suffix != ".gz":
        with open_regular(path) as plain:
            data = plain.read() if most is None else plain.read(most + 1)
    else:
        whole = bytearray()
        try:
            with open_regular(path) as stream, gzip.open(stream, "rb") as packed:
                while piece := packed.read(_CHUNK):
                    whole += piece
                    if most is not None and len(whole) > most:
                        break
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise Malformed(f"{path.name} ends in .gz but is not a whole gzip file ({error})") from None
        data = bytes(whole)
    if most is not None and len(data) > most:
        raise Malformed(f"{path.name} holds more than the limit of {most:,} bytes; {_CURE}")
    return data


def size_of_json(data: bytes) -> int:
    """Return about how many bytes the values of a JSON text take in memory, never much less.

    Examples
    --------
    >>> size_of_json(b'[[],[]]') > 2 * 56
    True
    """
    weights = ((b"{", 240), (b"[", 64), (b",", 44), (b'"', 30))
    return 2 * len(data) + sum(weight * data.count(mark) for mark, weight in weights)


def fits(data: bytes, limits: Limits, name: str) -> None:
    """Refuse a text whose values would not fit into memory."""
    if limits.memory is None:
        return
    size = size_of_json(data)
    require(
        size <= limits.memory,
        f"{name} would take about {size / 1e6:,.0f} MB, more than the limit of {limits.memory / 1e6:,.0f} MB; {_CURE}",
    )


_CURE = "verify and audit read files of any size with --no-limits; use it for files that you made yourself"
