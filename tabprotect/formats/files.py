"""Reading text with clear errors, and writing so that nothing half-written is ever left behind."""

from __future__ import annotations

import contextlib
import errno
import gzip
import os
import zlib
from pathlib import Path

from tabprotect.certificate.limits import Malformed, open_regular
from tabprotect.errors import InputError, did_you_mean
from tabprotect.formats.places import recover, temporary_file, usual_rights
from tabprotect.paths import possible

__all__ = ["check_writable", "neighbours", "read_bytes", "read_text", "write_bytes", "write_text"]


def read_bytes(path: str | Path, *, regular: bool = False) -> bytes:
    """Read a file, through gzip when its name ends in ``.gz``.

    Parameters
    ----------
    path : path
    regular : bool
        Refuse pipes and devices, which might keep their reader waiting: for what others wrote.

    Raises
    ------
    InputError
        If the file is absent, unreadable, or not gzip in spite of its name.
    """
    path = possible(path)
    try:
        if regular:
            with open_regular(path) as stream:
                data = stream.read()
        else:
            data = path.read_bytes()
    except Malformed as error:
        raise InputError(f"{path} is no regular file, such as a pipe or a device") from error
    except FileNotFoundError as error:
        raise InputError(f"{path}: there is no such file{neighbours(path)}") from error
    except IsADirectoryError as error:
        raise InputError(f"{path} is a folder, not a file") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if path.suffix != ".gz":
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} ends in .gz but is not a whole gzip file ({error})") from error


def read_text(path: str | Path) -> str:
    """Read a UTF-8 text file, through gzip when its name ends in ``.gz``.

    Raises
    ------
    InputError
        If the file is absent, unreadable, not gzip in spite of its name, or not text.
    """
    data = read_bytes(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line}: not UTF-8 text; save the file as UTF-8") from error
    if "\0" in text:
        raise InputError(f"{path} is a binary file, not text")
    return text


def neighbours(path: Path) -> str:
    """Say which file with a similar name there is, or that the folder does not exist."""
    try:
        hint = did_you_mean(path.name, (entry.name for entry in path.absolute().parent.iterdir()))
    except OSError:
        return f"; the folder {path.absolute().parent} does not exist"
    return hint if "did you mean" in hint else ""


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a file whole or not at all, compressed when its name ends in ``.gz``.

    A link is followed: the file that it names is replaced, and the link stays. A file that was there keeps its rights.
    Pipes, terminals and devices such as ``/dev/null`` are written to, never replaced; block devices are refused.

    Raises
    ------
    InputError
        If the place cannot be written; a file that was there before stays as it was.
    """
    path = possible(path)
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    check_writable(path)
    if _is_stream(path):
        _write_through(path, data)
        return
    try:
        place = Path(os.path.realpath(path))
        rights = place.stat().st_mode & 0o777 if place.exists() else usual_rights(0o666)
        with temporary_file(place) as temporary:
            temporary.write_bytes(data)
            temporary.chmod(rights)
            temporary.replace(place)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from error


def check_writable(path: str | Path) -> None:
    """Refuse a place that cannot be written now, before hours are spent on what should go there.

    Raises
    ------
    InputError
        As `write_bytes` would.
    """
    path = possible(path)
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder; name a file to write")
        if path.is_block_device():
            raise InputError(f"{path} is a block device, which would be overwritten; name a file")
        if path.is_socket():
            raise InputError(f"{path} is a socket; name a file or a pipe")
        if _is_stream(path):
            if not os.access(path, os.W_OK):
                raise InputError(f"{path} cannot be written: {os.strerror(errno.EACCES)}")
            return
        place = Path(os.path.realpath(path))
        if place.is_symlink():
            raise InputError(f"{path} cannot be written: {os.strerror(errno.ELOOP)}")
        recover(place)
        with contextlib.suppress(FileNotFoundError):
            place.lstat()  # some names can be no file's
        with temporary_file(place):
            pass
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}") from error


def write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 text whole or not at all; see `write_bytes`."""
    write_bytes(path, text.encode())


def _is_stream(path: Path) -> bool:
    """Whether a place takes what is written, and holds no file: also ``/dev/stdout``, whatever that is."""
    if path.is_fifo() or path.is_char_device():
        return True
    return path.exists() and Path(os.path.realpath(path.parent)).parts[:2] in (("/", "dev"), ("/", "proc"))


def _write_through(path: Path, data: bytes) -> None:
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND), "wb") as stream:
            stream.write(data)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from error
