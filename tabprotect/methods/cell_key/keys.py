"""Record keys and cell keys.

Keys are whole numbers from 0 to 2^26 - 1, read as fractions of `KEYS`. Sums of up to 2^27 of them are exact in double
precision, so a cell has the same key in every table, whatever the order in which its records were added.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError
from tabprotect.table.dimension import Dimension
from tabprotect.table.tabulate import tabulate

__all__ = ["KEYS", "cell_keys", "other_key", "record_keys", "record_keys_of"]

Ints = npt.NDArray[np.int64]

BITS: Final = 26
KEYS: Final = 1 << BITS
"""Number of different keys."""

MOST_RECORDS: Final = 1 << (53 - BITS)


def record_keys(n: int, seed: int) -> Ints:
    """Draw keys for `n` records, once and for all: store them with the records.

    Examples
    --------
    >>> record_keys(3, seed=1).tolist() == record_keys(3, seed=1).tolist()
    True
    """
    raw = np.random.PCG64(seed).random_raw(n)
    return np.asarray(np.asarray(raw, np.uint64) >> np.uint64(64 - BITS), dtype=np.int64)


def record_keys_of(ids: Iterable[Any], secret: bytes) -> Ints:
    """Return keys that follow from the identity of the records and a secret, so that nothing needs to be stored.

    The same person has the same key in every edition of the data. Whoever knows the secret can undo the protection.

    Parameters
    ----------
    ids : iterable
        Identities, as text or anything that prints uniquely.
    secret : bytes
        At least 16 bytes.

    Raises
    ------
    InputError
        If the secret is too short or ids repeat.

    Examples
    --------
    >>> a, b = record_keys_of(["ann", "bob"], b"0123456789abcdef"), record_keys_of(["bob"], b"0123456789abcdef")
    >>> int(a[1]) == int(b[0])
    True
    """
    if len(secret) < 16:
        raise InputError(f"the secret has {len(secret)} bytes; give at least 16 that nobody can guess")
    names = [str(one) for one in ids]
    (name, times), *_ = Counter(names).most_common(1) or [("", 0)]
    if times > 1:
        raise InputError(f"ids must be unique; {name!r} is there {times} times, and its records would share one key")
    digests = (hashlib.blake2b(name.encode(), key=secret[:64], digest_size=8).digest() for name in names)
    return np.array([int.from_bytes(digest, "big") >> (64 - BITS) for digest in digests], dtype=np.int64)


def cell_keys(
    data: Any, by: Sequence[Dimension | str | Sequence[str]] | Dimension | str, key: str, **options: Any
) -> Ints:
    """Return the key of every cell: the sum of the keys of its records, without the whole turns.

    Parameters
    ----------
    data, by, **options
        As for `tabprotect.table.tabulate.tabulate`, which must make the table from the same arguments (``hierarchies``,
        ``empty``, ``memory_limit``).
    key : str
        Column of the record keys.

    Returns
    -------
    ndarray of int, shape (cells,)
        In the order of the cells of that table, 0 for empty cells.

    Raises
    ------
    InputError
        If the column holds anything but whole numbers from 0 to 2^26 - 1, or there are more records than exact sums
        allow.

    Examples
    --------
    >>> import pandas as pd
    >>> data = pd.DataFrame({"sex": ["m", "f", "m"], "key": [KEYS - 1, 5, 3]})
    >>> cell_keys(data, ["sex"], "key").tolist()
    [7, 5, 2]
    """
    table = tabulate(data, by, key, top=1, kind="magnitude", **options)
    assert table.counts is not None
    assert table.contributions is not None
    total, largest = table.values, table.contributions.values.max(initial=0)
    if "negative" in table.columns or largest >= KEYS or np.any(total != np.rint(total)):
        raise InputError(f"column '{key}' must hold record keys, whole numbers from 0 to {KEYS - 1}")
    if table.counts.max(initial=0) > MOST_RECORDS:
        raise InputError(f"a cell holds more than {MOST_RECORDS:,} records, whose keys cannot be added exactly")
    return np.asarray(total, np.int64) % KEYS


def other_key(keys: Ints, stream: int) -> Ints:
    """Return keys for another purpose: a one-to-one mixing, so that uniform keys stay exactly uniform.

    Parameters
    ----------
    keys : ndarray of int
    stream : int
        0 gives the keys themselves.

    Examples
    --------
    >>> len(set(other_key(np.arange(1000), 3).tolist()))
    1000
    """
    mixed = np.asarray(keys, np.int64)
    for turn in range(3 if stream else 0):
        # an odd factor and a shift to the right are one-to-one modulo a power of two
        mixed = (mixed * (0x2C9277B + 2 * (3 * stream + turn)) + 0x1F3D5B7 * stream) % KEYS
        mixed ^= mixed >> (BITS // 2)
    return mixed
