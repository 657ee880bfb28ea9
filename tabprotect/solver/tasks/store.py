"""Answers of finished pieces of work, kept in a folder so that a run that was killed can go on."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import pickle
import stat
import struct
import tempfile
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy import sparse

from tabprotect._version import __version__
from tabprotect.errors import InputError
from tabprotect.paths import possible

__all__ = ["Store", "check_resumable", "digest"]

FORMAT: Final = 3
"""Of the files; raised when they mean something else."""

MANIFEST: Final = "resume.json"

NOTICE: Final = (
    "CONFIDENTIAL. The files of this folder are made from unprotected values; nothing in it may be published. "
    "They let a run that was stopped go on, and can be deleted once it has ended."
)


def digest(*things: Any) -> str:
    """Return a name for data: the same for the same values, on every machine.

    Parameters
    ----------
    *things : frozen dataclasses, arrays, sparse matrices, numbers, text, and tuples, lists, sets or mappings of these

    Raises
    ------
    TypeError
        For anything else, whose value cannot be told.

    Examples
    --------
    >>> digest(1.0, (2, "x")) == digest(1.0, (2, "x")), digest(1) == digest(1.0), digest("a", "b") == digest("ab")
    (True, False, False)
    """
    hashed = hashlib.sha256()
    _feed(hashed, things)
    return hashed.hexdigest()


def _feed(hashed: Any, thing: Any) -> None:
    if thing is None or isinstance(thing, bool | int | str | bytes):
        data = repr(thing).encode()
    elif isinstance(thing, float | np.floating):
        data = struct.pack("<d", float(thing))
    elif isinstance(thing, np.integer | np.bool_):
        data = repr(thing.item()).encode()
    elif isinstance(thing, np.ndarray) and thing.dtype != object:
        data = repr((thing.dtype.str, thing.shape)).encode() + np.ascontiguousarray(thing).tobytes()
    elif sparse.issparse(thing):
        csr: Any = thing
        csr = csr.tocsr(copy=True)
        csr.sum_duplicates()
        _feed(hashed, (csr.shape, csr.indptr.astype(np.int64), csr.indices.astype(np.int64), csr.data))
        data = b""
    elif is_dataclass(thing) and not isinstance(thing, type):
        _feed(hashed, tuple((field.name, getattr(thing, field.name)) for field in fields(thing)))
        data = b""
    elif isinstance(thing, Mapping):
        _feed(hashed, tuple(thing.items()))
        data = b""
    elif isinstance(thing, tuple | list):
        hashed.update(f"[{len(thing)}".encode())
        for part in thing:
            _feed(hashed, part)
        data = b"]"
    elif isinstance(thing, set | frozenset):
        _feed(hashed, sorted(digest(part) for part in thing))
        data = b""
    else:
        raise TypeError(f"no digest of a {type(thing).__name__}")
    hashed.update(f"{type(thing).__name__}:{len(data)}:".encode() + data)


def check_resumable(folder: str | os.PathLike[str]) -> None:
    """Refuse a folder that no run can keep its pieces in, whatever the problem; nothing is left there.

    Raises
    ------
    InputError
        As `Store`, but for the problem that a folder was made for.
    """
    folder = Path(folder)
    try:
        if folder.is_dir():
            if any(folder.iterdir()):
                _written_by_this_version(folder)
            _owned(folder)
            return
        there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({error.strerror or error})") from error
    if there == folder:
        raise InputError(f"{folder}: a file, where a folder for resuming is wanted")
    if not there.is_dir():
        raise InputError(f"{folder}: cannot be written ({os.strerror(errno.ENOTDIR)})")
    try:
        # rights do not say all: file systems may be read-only, or hold no files of users at all
        with tempfile.TemporaryDirectory(dir=there):
            pass
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({error.strerror or error})") from error


def _written_by_this_version(folder: Path) -> dict[str, Any]:
    """Return what a folder says of itself."""
    try:
        found = json.loads((folder / MANIFEST).read_text())
    except (OSError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError(f"{folder}: not a folder for resuming, but not empty either; name a new one")
    if (found.get("format"), found.get("version")) != (FORMAT, __version__):
        raise InputError(
            f"{folder}: written by tabprotect {found.get('version')}, this is {__version__}; name a new folder"
        )
    return found


def _owned(folder: Path) -> None:
    """Refuse a folder that others can write into: what is read from it is trusted."""
    if not hasattr(os, "getuid"):
        return
    state = folder.stat()
    if state.st_uid != os.getuid() or state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise InputError(f"{folder}: others can write into it; chmod 700 it, or name a new folder")


class Store:
    """A folder with the answers of finished pieces, by name (see `digest`).

    Everything is written to the end under another name first, so that a kill leaves no half file; files are readable
    for their owner only.

    Parameters
    ----------
    folder : path
        Made if it is not there.
    purpose : str
        The `digest` of what is worked on. A folder that was made for something else is refused.

    Raises
    ------
    InputError
        If the folder belongs to other work, another version or another user, or holds other files.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Store(folder, "this").put("x", [1, 2])
    ...     Store(folder, "this").get("x"), Store(folder, "this").get("y")
    ([1, 2], None)
    """

    def __init__(self, folder: str | os.PathLike[str], purpose: str) -> None:
        self.folder = possible(folder)
        manifest = {"format": FORMAT, "version": __version__, "purpose": purpose}
        path = self.folder / MANIFEST
        try:
            if self.folder.exists() and not self.folder.is_dir():
                raise InputError(f"{self.folder}: a file, where a folder for resuming is wanted")
            if self.folder.is_dir() and any(self.folder.iterdir()):
                self._check(manifest)
                return
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            _owned(self.folder)
            text = json.dumps({"notice": NOTICE, **manifest}, indent=2) + "\n"
            self._write(path, text.encode())
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise InputError(f"{self.folder}: cannot be written ({why})") from error

    def _check(self, manifest: dict[str, Any]) -> None:
        found = _written_by_this_version(self.folder)
        if found.get("purpose") != manifest["purpose"]:
            raise InputError(
                f"{self.folder}: holds the run of another problem (other data, rules or costs); name a new folder"
            )
        _owned(self.folder)

    def get(self, name: str) -> Any:
        """Return what was kept under a name; None when there is nothing, or only a damaged file."""
        try:
            content = self._place(name).read_bytes()
        except OSError:
            return None
        check, data = content[:32], content[32:]
        return pickle.loads(data) if hashlib.sha256(data).digest() == check else None

    def put(self, name: str, answer: Any) -> None:
        """Keep an answer."""
        data = pickle.dumps(answer)
        try:
            self._write(self._place(name), hashlib.sha256(data).digest() + data)
        except OSError as error:
            raise InputError(f"{self.folder}: cannot be written ({error.strerror})") from error

    def _place(self, name: str) -> Path:
        return self.folder / f"{name}.piece"

    def _write(self, path: Path, content: bytes) -> None:
        number, draft = tempfile.mkstemp(dir=self.folder, prefix=".draft-")  # mode 0600
        try:
            with os.fdopen(number, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(draft).replace(path)
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise
