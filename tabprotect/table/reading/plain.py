"""Files of codes or settings: plain text, its encoding recognised as that of data files."""

from __future__ import annotations

import io
from pathlib import Path

from tabprotect.errors import InputError, did_you_mean
from tabprotect.paths import possible
from tabprotect.table.reading.recognised import decode

__all__ = ["neighbours", "raw_bytes", "read_plain_text"]


def read_plain_text(path: str | Path, encoding: str | None = None) -> str:
    """Return the text of a file.

    Raises
    ------
    InputError
        If it cannot be read, is no text, or not in the encoding that was given.
    """
    return io.StringIO(decode(possible(path), raw_bytes(path), encoding).text, newline=None).read()


def raw_bytes(path: str | Path) -> bytes:
    """Return what is in a file.

    Raises
    ------
    InputError
        If it cannot be read; names the file that may be meant.
    """
    place = possible(path)
    try:
        return place.read_bytes()
    except OSError as error:
        meant = neighbours(place) if isinstance(error, FileNotFoundError) else ""
        raise InputError(f"{place}: cannot be read ({error.strerror or error}){meant}") from error


def neighbours(path: Path) -> str:
    """Return which file beside one that is not there may be meant, as the tail of a sentence."""
    try:
        return did_you_mean(path.name, [entry.name for entry in path.absolute().parent.iterdir()])
    except OSError:
        return f"; the folder {path.absolute().parent} does not exist"
