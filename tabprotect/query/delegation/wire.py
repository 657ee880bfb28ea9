"""Messages between owner and handler: a header in JSON and blobs; nothing that is received is ever executed."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import IO, Any

from tabprotect.errors import TabprotectError

__all__ = ["HandlerError", "Message", "read_message", "write_message"]

MAGIC = b"TPD1"
LONGEST_HEADER = 1_000_000
MOST_BLOBS = 1_000_000


class HandlerError(TabprotectError):
    """The handler gave no answer that can be read; nothing was computed."""


@dataclass(frozen=True)
class Message:
    """One message.

    Parameters
    ----------
    header : dict
        What JSON can hold; ``kind`` says what the message is.
    blobs : tuple of bytes
        Contexts or ciphertexts, as the library wrote them.
    """

    header: dict[str, Any]
    blobs: tuple[bytes, ...] = ()

    @property
    def kind(self) -> str:
        """What the message is."""
        return str(self.header.get("kind", ""))


def write_message(stream: IO[bytes], message: Message) -> None:
    """Write a message: four bytes TPD1, length of the header, number of blobs, their lengths, header, blobs."""
    header = json.dumps(message.header).encode()
    stream.write(MAGIC + struct.pack(">II", len(header), len(message.blobs)))
    stream.write(b"".join(struct.pack(">Q", len(blob)) for blob in message.blobs))
    stream.write(header)
    for blob in message.blobs:
        stream.write(blob)
    stream.flush()


def read_message(stream: IO[bytes], most: int | None = None) -> Message | None:
    """Read a message, or nothing at the end of the stream.

    Parameters
    ----------
    stream : binary file
        Where to read.
    most : int, optional
        Total bytes of the blobs that are accepted.

    Raises
    ------
    HandlerError
        If it is no message, ends early, or is larger than `most`.
    """
    begin = stream.read(12)
    if not begin:
        return None
    if len(begin) < 12 or begin[:4] != MAGIC:
        raise HandlerError(f"this is no message of the delegation protocol: it begins with {begin[:12]!r}")
    length, blobs = struct.unpack(">II", begin[4:])
    if length > LONGEST_HEADER or blobs > MOST_BLOBS:
        raise HandlerError(f"a message with a header of {length} bytes and {blobs} blobs is refused: too large")
    lengths = struct.unpack(f">{blobs}Q", exactly(stream, 8 * blobs))
    if most is not None and sum(lengths) > most:
        raise HandlerError(f"a message of {sum(lengths)} bytes is refused: at most {most} were expected")
    try:
        header = json.loads(exactly(stream, length))
    except (ValueError, RecursionError):
        raise HandlerError("the header of a message is no JSON") from None
    if not isinstance(header, dict):
        raise HandlerError("the header of a message is no JSON object")
    return Message(header, tuple(exactly(stream, n) for n in lengths))


def exactly(stream: IO[bytes], length: int) -> bytes:
    """Read so many bytes."""
    found = stream.read(length)
    if len(found) < length:
        raise HandlerError("a message ended early: the other side stopped while writing it")
    return found
