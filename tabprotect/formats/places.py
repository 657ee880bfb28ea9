"""Taking the place of a folder in one step, and clearing away what a run that was killed has left beside it.

A folder is filled under a temporary name (rights 0700) and then exchanged with the one that is there: by one call of
the system where there is one (``renameat2`` on Linux, ``renamex_np`` on macOS), so that a kill leaves either the old
or the new folder in place, whole. Where the system or the file system has none, the old folder is moved to a name
that `recover` knows, so that the next run, or whoever reads the folder next, moves it back if the new one never came.

A run holds a lock on every folder that it works in; the system gives it up when the run ends in whatever manner. So a
temporary name without a lock belongs to nobody.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tabprotect.errors import InputError
from tabprotect.paths import possible

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["recover", "temporary_file", "temporary_prefix", "usual_rights", "writing_folder"]

_EARLIER = "earlier"
_DAY, _MOMENT = 86_400.0, 10.0


def temporary_prefix(path: Path) -> str:
    """Return how temporary names for a place begin: hidden, never too long, different for every name.

    Examples
    --------
    >>> temporary_prefix(Path("out/release"))
    '.release.tabprotect-a4d451ec-'
    """
    digest = hashlib.sha256(os.fsencode(path.name)).hexdigest()[:8]
    return f".{path.name[:40]}.tabprotect-{digest}-"


def usual_rights(rights: int) -> int:
    """Return the rights that the umask leaves to anything new."""
    mask = os.umask(0o077)
    os.umask(mask)
    return rights & ~mask


@contextmanager
def writing_folder(path: str | Path) -> Iterator[Path]:
    """Fill a temporary folder in the ``with`` block; at its end it takes the place of `path`, whole.

    The temporary folder can be read by its owner only. What takes the place has the rights of the folder that was
    there, or those that any new folder has. A link is followed: the folder that it names is replaced, not the link.
    Whether a folder that is there already may be replaced is the caller's decision, made before.

    Raises
    ------
    InputError
        If the place cannot be written; what was there before stays as it was.
    """
    named, temporary, lock = Path(path), None, None
    try:
        path = Path(os.path.realpath(named))
        path.parent.mkdir(parents=True, exist_ok=True)
        recover(path)
        temporary, lock = _locked(path)
        yield temporary
        rights = path.stat().st_mode & 0o777 if path.exists() else usual_rights(0o777)
        if path.exists():
            _swap(temporary, path)
        else:
            temporary.rename(path)
        path.chmod(rights)
    except (OSError, ValueError) as error:
        raise InputError(f"{named} cannot be written: {getattr(error, 'strerror', None) or error}") from error
    finally:
        if temporary is not None:
            _remove(temporary)
        if lock is not None:
            os.close(lock)


def recover(path: str | Path) -> None:
    """Put a folder back that a killed run had moved aside, and remove what such runs left beside it.

    Nothing happens where another run is at work, and nothing is done about what this user may not change.

    Parameters
    ----------
    path : path
        The place of a folder or a file; it need not exist.

    Raises
    ------
    InputError
        If nothing can have this name.
    """
    possible(path)
    try:
        path = Path(os.path.realpath(path))
        earlier = path.with_name(temporary_prefix(path) + _EARLIER)
        if earlier.is_dir() and not path.exists():
            with _free(earlier, _MOMENT) as free:
                if free and not path.exists():
                    earlier.rename(path)
        for left in path.parent.glob(_literal(temporary_prefix(path)) + "*"):
            with _free(left, _DAY) as free:
                if free and (left != earlier or path.exists()):
                    _remove(left)
    except ValueError as error:
        raise InputError(f"{path!s} can be no name: {error}") from error
    except OSError:
        return


def _literal(prefix: str) -> str:
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in prefix)


@contextmanager
def temporary_file(path: Path) -> Iterator[Path]:
    """Make a file beside a place, to be renamed to it; only its owner can read it. What is left of it is removed."""
    temporary, lock = _locked(path, folder=False)
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)
        if lock is not None:
            os.close(lock)


def _locked(path: Path, *, folder: bool = True) -> tuple[Path, int | None]:
    """Make a temporary folder or file for a place; it is ours as long as its lock is open."""
    while True:
        if folder:
            made = Path(tempfile.mkdtemp(prefix=temporary_prefix(path), dir=path.parent))
        else:
            handle, name = tempfile.mkstemp(prefix=temporary_prefix(path), dir=path.parent)
            os.close(handle)
            made = Path(name)
        with contextlib.suppress(OSError):
            lock = _lock(made)
            # another run may have taken it for left behind before the lock was ours
            if made.exists():
                return made, lock


def _lock(place: Path) -> int | None:
    """Lock a file or folder.

    Returns
    -------
    int or None
        The open lock; None where there are no locks.

    Raises
    ------
    OSError
        If somebody else has it, or this user may not open the place.
    """
    if fcntl is None:
        return None
    number = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(number)
        if error.errno in (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL):
            return None
        raise
    return number


@contextmanager
def _free(left: Path, seconds: float) -> Iterator[bool]:
    """Whether no run works with a temporary name: its lock is to be had, or without locks it is so old."""
    try:
        lock = _lock(left)
    except OSError:
        yield False
        return
    try:
        yield lock is not None or time.time() - left.lstat().st_ctime > seconds
    finally:
        if lock is not None:
            os.close(lock)


def _remove(left: Path) -> None:
    if left.is_dir() and not left.is_symlink():
        with contextlib.suppress(OSError):
            left.chmod(0o700)
        shutil.rmtree(left, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            left.unlink(missing_ok=True)


def _swap(temporary: Path, path: Path) -> None:
    """Exchange two folders; where that is impossible in one step, in two that `recover` understands."""
    if _exchange(temporary, path):
        return
    earlier = path.with_name(temporary_prefix(path) + _EARLIER)
    lock = None
    with contextlib.suppress(OSError):
        lock = _lock(path)
    try:
        _remove(earlier)
        path.rename(earlier)
        try:
            temporary.rename(path)
        except OSError:
            earlier.rename(path)
            raise
        _remove(earlier)
    finally:
        if lock is not None:
            os.close(lock)


_HERE, _SWAP = -100, 2  # AT_FDCWD; RENAME_EXCHANGE of Linux and RENAME_SWAP of macOS
_UNKNOWN = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two folders in one step; False where the system cannot."""
    if sys.platform not in ("linux", "darwin"):
        return False
    system = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(one), os.fsencode(other)
    try:
        if sys.platform == "linux":
            failed = system.renameat2(_HERE, names[0], _HERE, names[1], ctypes.c_uint(_SWAP))
        else:
            failed = system.renamex_np(*names, ctypes.c_uint(_SWAP))
    except AttributeError:
        return False
    if not failed:
        return True
    number = ctypes.get_errno()
    if number in _UNKNOWN:
        return False
    raise OSError(number, os.strerror(number), str(other))
