"""Paths as a user gives them."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from tabprotect.errors import InputError

__all__ = ["possible"]

_LONG = 120


def possible(path: str | os.PathLike[str]) -> Path:
    r"""Return a path that something may have, there or not; asked before `Path.is_dir` and the like.

    Raises
    ------
    InputError
        If it is no path, or no file or folder can have this name: it is too long, or holds what no name may.

    Examples
    --------
    >>> possible("firms.csv").name
    'firms.csv'
    >>> possible("a\0b")
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: 'a\x00b' can be no name: embedded null byte
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"a path is a text or a pathlib.Path, not {path!r}")
    try:
        os.lstat(path)
    except OSError as error:
        if error.errno in (errno.ENAMETOOLONG, errno.EILSEQ):
            raise InputError(f"{_short(path)} can be no name: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"{_short(path)} can be no name: {error}") from error
    return Path(path)


def _short(path: str | os.PathLike[str]) -> str:
    text = os.fspath(path)
    return repr(text if len(text) <= _LONG else f"{text[:_LONG]}...")
