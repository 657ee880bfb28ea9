"""Reading text with clear errors, and writing so that nothing half-written is ever left behind."""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tabprotect.errors import InputError, did_you_mean

__all__ = ["check_writable", "read_bytes", "read_text", "write_bytes", "write_text", "writing_folder"]


def read_bytes(path: str | Path) -> bytes:
    """Read a file, through gzip when its name ends in ``.gz``.

    Raises
    ------
    InputError
        If the file is absent, unreadable, or not gzip in spite of its name.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"{path}: there is no such file{_neighbours(path)}") from error
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


def _neighbours(path: Path) -> str:
    try:
        hint = did_you_mean(path.name, (entry.name for entry in path.absolute().parent.iterdir()))
    except OSError:
        return f"; the folder {path.absolute().parent} does not exist"
    return hint if "did you mean" in hint else ""


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a file whole or not at all, compressed when its name ends in ``.gz``.

    Raises
    ------
    InputError
        If the place cannot be written; a file that was there before stays as it was.
    """
    path = Path(path)
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    check_writable(path)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.absolute().parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        _give_usual_rights(temporary, 0o666)
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def check_writable(path: str | Path) -> None:
    """Refuse a place that cannot be written now, before hours are spent on what should go there.

    Raises
    ------
    InputError
        As `write_bytes` would.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file to write")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.absolute().parent)
        os.close(handle)
        Path(name).unlink()
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from error


def write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 text whole or not at all; see `write_bytes`."""
    write_bytes(path, text.encode())


@contextmanager
def writing_folder(path: str | Path) -> Iterator[Path]:
    """Fill a temporary folder in the ``with`` block; at its end it takes the place of `path`, whole.

    Whether a folder that is there already may be replaced is the caller's decision, made before.

    Raises
    ------
    InputError
        If the place cannot be written; what was there before stays as it was.
    """
    path = Path(path).absolute()
    temporary: Path | None = None
    aside: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
        _give_usual_rights(temporary, 0o777)
        yield temporary
        if path.exists():
            aside = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent)) / "old"
            path.replace(aside)
        temporary.replace(path)
    except OSError as error:
        if aside is not None and aside.exists() and not path.exists():
            aside.replace(path)
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
        if aside is not None:
            shutil.rmtree(aside.parent, ignore_errors=True)


def _give_usual_rights(path: Path, rights: int) -> None:
    """Temporary files are private; what takes their name gets the rights that any new file would have."""
    mask = os.umask(0)
    os.umask(mask)
    path.chmod(rights & ~mask)
