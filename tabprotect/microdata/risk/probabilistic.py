"""Probabilistic record linkage (Fellegi and Sunter 1969; Jaro 1989) over agreement patterns of key variables."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError
from tabprotect.kinds import of_kinds
from tabprotect.microdata.masked import Masked
from tabprotect.microdata.records import Records
from tabprotect.microdata.risk.agreement import joint_codes
from tabprotect.microdata.risk.base import Measure, pair
from tabprotect.microdata.risk.likelihood import likely_linkage
from tabprotect.microdata.schema import Schema

__all__ = ["probabilistic_linkage"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

KEYS = 14
"""Subsets of so many keys are counted at most."""

ROUNDS = 500
"""Rounds of the EM algorithm, at most."""


@of_kinds()
def probabilistic_linkage(original: Any, masked: Any, schema: Schema | None = None) -> Measure:
    """Share of records found by an intruder who links by the likelihood of agreement on keys, estimated by EM.

    For each key m and u are the probabilities of agreeing for pairs of the same person and for others. Nearly all pairs
    are of different people, so u is the share of all pairs that agree; m is estimated by EM. All pairs are counted
    without listing them (by subsets of keys, inclusion and exclusion), and m is at least u. Each original record is
    linked to the masked
    records with the largest total weight ``log2(m / u)`` or ``log2((1 - m) / (1 - u))``; ties are shared out. A missing
    value agrees with nothing.

    Parameters
    ----------
    original : frame of any kind
    masked : frame of any kind, or Masked
    schema : Schema
        With keys, at most 14.

    Returns
    -------
    Measure
        ``value``: expected share of records found; details: m, u and the rounds of EM. Of a `Masked` whose keys were
        post-randomised, ``details["with the method"]`` is the share found by an intruder who knows the matrices; see
        `likelihood.likely_linkage`.

    Raises
    ------
    InputError
        Without keys, or with too many.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"sex": list("mfmf") * 5, "age": range(20)})
    >>> probabilistic_linkage(frame, frame, md.Schema(keys=["sex", "age"])).value
    1.0
    """
    files = pair(original, masked, schema)
    first, second = files.original, files.masked
    keys = [name for name in first.schema.keys if name in second.columns]
    if not keys or len(keys) > KEYS:
        raise InputError(f"probabilistic linkage needs 1 to {KEYS} keys that both files have, not {len(keys)}")
    mine, theirs = _codes(first, second, keys)
    counts, groups = _patterns(mine, theirs)
    m, u, matches, rounds, settled = _em(counts, len(keys), min(len(first), len(second)))
    weight_yes, weight_no = np.log2(m / u), np.log2((1 - m) / (1 - u))
    found = _link(mine, theirs, groups, weight_yes - weight_no, files.links)
    details = {
        "keys": keys, "m": m.tolist(), "u": u.tolist(), "share of matches": matches, "rounds": rounds,
        "converged": settled,
    }  # fmt: skip
    if isinstance(masked, Masked):
        details |= likely_linkage(files, masked, keys)
    return Measure("probabilistic linkage", float(found.mean()), found, details)


def _codes(first: Records, second: Records, keys: list[str]) -> tuple[Ints, Ints]:
    """Number the values of each key in both files alike, -1 for missing ones of the first, -2 of the second."""
    columns = [joint_codes(first, second, name) for name in keys]
    mine, theirs = np.column_stack([a for a, _ in columns]), np.column_stack([b for _, b in columns])
    return mine, np.where(theirs < 0, -2, theirs)


def _group(mine: Ints, theirs: Ints, chosen: tuple[int, ...]) -> tuple[Ints, Ints, int]:
    """Number the combinations of some keys over both files; a missing value makes a combination that nobody shares."""
    both = np.vstack([mine[:, chosen], theirs[:, chosen]])
    _, index = np.unique(both, axis=0, return_inverse=True)
    index = index.reshape(-1)
    return index[: len(mine)], index[len(mine) :], int(index.max(initial=-1)) + 1


def _patterns(mine: Ints, theirs: Ints) -> tuple[Floats, dict[int, tuple[Ints, Ints, int]]]:
    """Count the pairs that agree exactly in each set of keys (bits), and keep the groups of every set."""
    k = mine.shape[1]
    at_least = np.zeros(2**k)
    groups: dict[int, tuple[Ints, Ints, int]] = {}
    for size in range(k + 1):
        for chosen in combinations(range(k), size):
            bits = sum(1 << j for j in chosen)
            if not chosen:
                at_least[0] = float(len(mine)) * len(theirs)
                continue
            a, b, count = groups[bits] = _group(mine, theirs, chosen)
            at_least[bits] = float(np.bincount(a, minlength=count) @ np.bincount(b, minlength=count))
    exactly = at_least.copy()
    for j in range(k):
        with_j = np.array([bool(bits >> j & 1) for bits in range(2**k)])
        exactly[~with_j] -= exactly[with_j]
    return np.maximum(exactly, 0.0), groups


def _em(counts: Floats, k: int, people: int) -> tuple[Floats, Floats, float, int, bool]:
    """Estimate m, u and the share of pairs that are matches, keys taken as independent given the class."""
    agree = np.array([[bits >> j & 1 for j in range(k)] for bits in range(2**k)], dtype=np.float64)
    total = counts.sum()
    share = people / total
    m, u = np.full(k, 0.9), np.clip(counts @ agree / total, 1e-6, 1 - 1e-6)
    for done in range(1, ROUNDS + 1):
        like_m = share * np.prod(np.where(agree == 1, m, 1 - m), axis=1)
        like_u = (1 - share) * np.prod(np.where(agree == 1, u, 1 - u), axis=1)
        matched = counts * like_m / (like_m + like_u)
        # the same person agrees no less often than two people do, however the keys depend on each other
        new = np.clip(matched @ agree / max(matched.sum(), 1e-300), u, 1 - 1e-6)
        # nobody is in the file twice: there are at most as many matches as people
        share = min(float(matched.sum() / total), people / total)
        change = float(np.abs(new - m).max())
        m = new
        if change < 1e-9:
            return m, u, share, done, True
    return m, u, share, ROUNDS, False


def _link(mine: Ints, theirs: Ints, groups: dict[int, tuple[Ints, Ints, int]], gain: Floats, links: Ints) -> Floats:
    """Link each record to those that agree in the set of keys with the largest weight that somebody agrees in."""
    n, k = mine.shape
    linked = np.flatnonzero(links >= 0)
    agree = ((mine[links[linked]] == theirs[linked]) << np.arange(k)).sum(axis=1)
    worth = np.array([sum(gain[j] for j in range(k) if bits >> j & 1) for bits in range(2**k)])
    found, open_ = np.zeros(n), np.ones(n, dtype=bool)
    for bits in np.argsort(-worth, kind="stable"):
        if not open_.any():
            break
        rows = np.flatnonzero(open_)
        if bits == 0:
            near = np.full(len(rows), len(theirs))
        else:
            a, b, count = groups[int(bits)]
            near = np.bincount(b, minlength=count)[a[rows]]
        some = near > 0
        right = np.bincount(links[linked[(agree & bits) == bits]], minlength=n)[rows]
        found[rows[some]] = right[some] / near[some]
        open_[rows[some]] = False
    return found
