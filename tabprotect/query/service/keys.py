"""Who may ask, and how often."""

from __future__ import annotations

import hashlib
import hmac
import threading
import time
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

from tabprotect.errors import InputError
from tabprotect.kinds import of_kinds

__all__ = ["Keys", "Rate", "hashed"]


def hashed(key: str) -> str:
    """Return what is kept of a key.

    Examples
    --------
    >>> hashed("secret")[:16]
    '2bb80d537b1da3e3'
    """
    return hashlib.sha256(key.encode()).hexdigest()


class Keys:
    """Users by the SHA-256 of their keys; the keys themselves are kept nowhere.

    Keys must be long and random (``secrets.token_urlsafe()``): a fast hash protects no guessable word.

    Parameters
    ----------
    users : mapping of str to str
        User -> SHA-256 of the key, in hexadecimal.

    Raises
    ------
    InputError
        No users, something that is no SHA-256, one key for two users.
    """

    @of_kinds()
    def __init__(self, users: Mapping[str, str]) -> None:
        bad = [
            u
            for u, h in users.items()
            if not isinstance(h, str) or len(h) != 64 or set(h.lower()) - set("0123456789abcdef")
        ]
        if bad or not users:
            raise InputError(
                f"keys: {', '.join(bad)} have no SHA-256 of 64 hexadecimal digits"
                if bad
                else "keys: there are no users"
            )
        if len({h.lower() for h in users.values()}) < len(users):
            raise InputError("keys: two users have the same key")
        self._users = {user: digest.lower() for user, digest in users.items()}

    @classmethod
    def read(cls, path: str | Path) -> Keys:
        """Read a TOML file with lines ``user = "sha256 of the key"``.

        Raises
        ------
        InputError
            If it cannot be read.
        """
        try:
            return cls(tomllib.loads(Path(path).read_text(encoding="utf-8")))
        except OSError as error:
            raise InputError(f"keys {path}: {error.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(f"keys {path}: {error}") from None

    def user(self, key: str) -> str | None:
        """Return whose key it is, in a time that does not depend on how much of it is right."""
        digest, found = hashed(key), None
        for user, known in self._users.items():
            if hmac.compare_digest(digest, known):
                found = user
        return found


class Rate:
    """At most so many queries a minute for every user, with short bursts up to that number.

    Examples
    --------
    >>> now = [0.0]
    >>> rate = Rate(2, clock=lambda: now[0])
    >>> [rate.wait("a") for _ in range(3)], rate.wait("b")
    ([0.0, 0.0, 30.0], 0.0)
    """

    def __init__(self, per_minute: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        if isinstance(per_minute, bool) or not isinstance(per_minute, int) or per_minute < 1:
            raise InputError(f"rate must be a whole number of queries a minute, not {per_minute!r}")
        self.per_minute, self._clock = per_minute, clock
        self._left: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def wait(self, user: str) -> float:
        """Count one query; return 0, or after how many seconds the next one is permitted."""
        with self._lock:
            now = self._clock()
            left, since = self._left.get(user, (float(self.per_minute), now))
            left = min(float(self.per_minute), left + (now - since) * self.per_minute / 60.0)
            allowed = left >= 1.0
            self._left[user] = (left - 1.0 if allowed else left, now)
            return 0.0 if allowed else (1.0 - left) * 60.0 / self.per_minute
