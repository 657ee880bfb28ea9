"""Special uniques: minimal sample uniques and their scores (Elliot, Manning and Ford 2002)."""

from __future__ import annotations

from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from tabprotect.errors import InputError
from tabprotect.kinds import of_kinds
from tabprotect.microdata.risk.base import Measure
from tabprotect.microdata.risk.individual import keys_of
from tabprotect.microdata.schema import Schema

__all__ = ["suda"]


@of_kinds()
def suda(
    original: Any,
    masked: Any = None,
    schema: Schema | None = None,
    *,
    up_to: int | None = None,
    fraction: float = 0.01,
) -> Measure:
    """SUDA and DIS-SUDA scores: how few keys make a record unique, and in how many ways.

    A minimal sample unique is a set of keys in which a record is unique and in no smaller part of it. With K keys each
    one of size s adds ``product of (K - i), i = s, ..., K - 1`` to the score of its record (1 where s = K). DIS-SUDA
    spreads the probability of the data intrusion simulation over the uniques in proportion to their scores; programmes
    differ in how they do this. A missing key is a value of its own.

    Parameters
    ----------
    original, masked : frame of any kind, or Masked
        Of the masked file where one is given.
    schema : Schema
        With at least two keys.
    up_to : int, optional
        Largest size looked at; by default all.
    fraction : float
        Sampling fraction, for DIS-SUDA.

    Returns
    -------
    Measure
        ``value``: sum of the scores; ``records``: the scores; details: how many minimal uniques there are of each size,
        how much each key adds (percent of the score in which it takes part), and the DIS-SUDA scores.

    Raises
    ------
    InputError
        With fewer than two keys, or a size or fraction that cannot be.

    Examples
    --------
    Record 1 is unique in sex alone and in age with job, the others in pairs of keys at best:

    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"sex": list("mfff"), "age": [1, 1, 2, 2], "job": list("abab")})
    >>> suda(frame, schema=md.Schema(keys=["sex", "age", "job"])).records.tolist()
    [3.0, 2.0, 2.0, 1.0]
    """
    records, keys = keys_of(original if masked is None else masked, schema)
    count = len(keys)
    most = count if up_to is None else up_to
    if count < 2 or not isinstance(most, int) or isinstance(most, bool) or not 1 <= most <= count:
        raise InputError(f"suda needs at least two keys and sizes from 1 to {count}, not {most!r}")
    if not 0 < fraction < 1:
        raise InputError(f"the sampling fraction must be between 0 and 1, not {fraction!r}")
    codes = [records.codes(name) for name in keys]
    numbers = [(index + 1, size + 1) for index, size in codes]
    n = len(records)
    scores = np.zeros(n)
    taking_part = np.zeros((count, n))
    sizes: dict[int, int] = {}
    before: dict[tuple[int, ...], tuple[Any, Any]] = {(): (np.zeros(n, dtype=np.int64), np.zeros(n, dtype=bool))}
    for size in range(1, most + 1):
        worth = float(prod(count - i for i in range(size, count)))
        now: dict[tuple[int, ...], tuple[Any, Any]] = {}
        for chosen in combinations(range(count), size):
            index = before[chosen[:-1]][0] * numbers[chosen[-1]][1] + numbers[chosen[-1]][0]
            _, index, times = np.unique(index, return_inverse=True, return_counts=True)
            unique = times[index] == 1
            smaller = np.any([before[chosen[:i] + chosen[i + 1 :]][1] for i in range(size)], axis=0)
            minimal = unique & ~smaller
            now[chosen] = (index, unique)
            sizes[size] = sizes.get(size, 0) + int(minimal.sum())
            scores += worth * minimal
            taking_part[list(chosen)] += worth * minimal
        before = now
    total = float(scores.sum())
    parts = 100 * taking_part.sum(axis=1) / (total or 1.0)
    share = dict(zip(keys, parts.tolist(), strict=True))
    details = {
        "minimal uniques by size": {str(size): found for size, found in sizes.items()},
        "records with one": int((scores > 0).sum()),
        "contribution of each key (%)": share,
        "DIS-SUDA": _dis(records.groups(keys), scores, fraction).tolist(),
    }
    return Measure("SUDA", total, scores, details)


def _dis(groups: tuple[Any, int], scores: Any, fraction: float) -> Any:
    """Spread the file-level probability over records with a score, in proportion to it."""
    index, count = groups
    size = np.bincount(index, minlength=count)
    ones, twos = int((size == 1).sum()), int((size == 2).sum())
    below = fraction * ones + 2 * (1 - fraction) * twos
    level = fraction * ones / below if below else 0.0
    total = scores.sum()
    if total == 0:
        return np.zeros(len(scores))
    return np.minimum(level * ones * scores / total, 1.0)
