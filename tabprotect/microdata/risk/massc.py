"""Disclosure risk of a file treated by substitution and subsampling (Singh, Yu and Dunteman 2003, section 5 and 6)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, collect, did_you_mean
from tabprotect.kinds import of_kinds
from tabprotect.microdata.records import Records
from tabprotect.microdata.risk.base import Measure, Pair, pair
from tabprotect.microdata.schema import Schema

__all__ = ["at_risk", "massc_risk"]

Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

TYPES = ("unique", "double", "triple", "other")
"""How a released record looks: its cluster has one, two, three, or four and more records."""


def at_risk(records: Records, keys: Sequence[str], confidential: Sequence[str]) -> Flags:
    """Return which records an intruder who knows the keys learns something of, without any treatment.

    They are those with unique keys, and those whose cluster has one value in at least one confidential column. A
    missing key is a value of its own; so is a missing confidential value, which then discloses nothing by itself:
    a cluster in which all are missing has no common value.
    """
    index, sizes = _clusters(records, keys)
    shared = np.zeros(len(sizes), dtype=bool)
    for name in confidential:
        shared |= _common(records, name, index, len(sizes))
    return np.asarray((sizes == 1)[index] | shared[index])


@of_kinds()
def massc_risk(
    original: Any,
    masked: Any,
    schema: Schema | None = None,
    *,
    substituted: Any = None,
    links: Any = None,
) -> Measure:
    """Return the probabilities of disclosure of records that look unique, double, triple, or four and more.

    For records that look unique (eq. 5.6)::

        delta_u = pi_U (1 - psi_U) phi_U (1 - chi_U) + pi_NU (1 - psi_NU) phi_NU chi_NU

    and for those that look like a cluster of size x (eq. 5.7)::

        delta_x = [pi_U (1 - psi_U) phi_U chi_U eta_U(x)
                   + pi_NU (1 - psi_NU) phi_NU (1 - chi_NU) eta_NU(x)] (1 - zeta_x)

    with the shares pi of true uniques and others, psi of substituted ones, phi of those sampled in, chi of survivors
    that changed sides, eta of survivors by size, and zeta of clusters of size x without a common confidential value.
    Table 6.1 of the paper prints the second term without (1 - zeta_x); it is 0 there. All are shares observed in the
    two files; probabilities are unweighted, for the file is the population.

    Parameters
    ----------
    original, masked : frame of any kind, or Masked
    schema : Schema
        Keys are the identifying variables, confidential columns the sensitive ones.
    substituted : array_like of bool, shape (original records,), optional
        Which original records had their keys substituted; by default those released with other keys. That counts
        substituted records that were sampled out as not substituted, so the risk is not understated.
    links : array_like of int, optional

    Returns
    -------
    Measure
        `value` is the mean of the four deltas over released records. `records` has the delta of every released
        record. `details` has the deltas, the shares, and the records at risk before and after: after, those that
        look as if they were at risk, and among them those that truly are (they survived both treatments).

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> people = pd.DataFrame({"age": [1, 1, 2, 2], "drug": [0, 1, 1, 1]})
    >>> masked = people.assign(age=[1, 2, 2, 2])
    >>> found = md.risk.massc_risk(people, masked, md.Schema(keys=["age"], confidential=["drug"]))
    >>> found.details["delta"]
    {'unique': 0.25, 'double': 0.0, 'triple': 0.5, 'other': 0.0}
    """
    both = pair(original, masked, schema, links)
    keys, confidential = _roles(both)
    n = len(both.original)
    index, sizes = _clusters(both.original, keys)
    unique = (sizes == 1)[index]
    new, new_sizes = _clusters(both.masked, keys)
    size = new_sizes[new]
    there = both.links >= 0
    source = np.maximum(both.links, 0)
    changed = _changed(both, keys)
    moved = np.zeros(n, dtype=bool)
    moved[both.links[there & changed]] = True
    if substituted is not None:
        moved = np.asarray(substituted, dtype=bool)
        if moved.shape != (n,):
            raise InputError(f"substituted must have a flag for each of the {n} original records")
    kept = np.zeros(n, dtype=bool)
    kept[both.links[there]] = True
    survived = there & ~changed
    none = _without_common(both.masked, confidential, new, new_sizes)
    shares = {
        word: _Stratum(stratum, moved, kept, size[survived & stratum[source]], unique=word == "U")
        for word, stratum in (("U", unique), ("NU", ~unique))
    }
    deltas = _deltas(shares, none)
    kinds = np.minimum(size, 4) - 1
    values = np.array([float(deltas[word]) for word in TYPES])[kinds]
    looks = at_risk(both.masked, keys, confidential)
    before = at_risk(both.original, keys, confidential)
    details = {
        "delta": {word: float(value) for word, value in deltas.items()},
        "exact": {word: str(value) for word, value in deltas.items()},
        "shares": {word: one.words() for word, one in shares.items()} | {"zeta": {k: str(v) for k, v in none.items()}},
        "released": {word: int((kinds == i).sum()) for i, word in enumerate(TYPES)},
        "at risk before": int(before.sum()),
        "looking at risk after": int(looks.sum()),
        "at risk after": int((looks & survived & before[source]).sum()),
    }
    return Measure("disclosure risk by type of record", float(values.mean()), values, details)


class _Stratum:
    """Shares of true uniques, or of all others."""

    def __init__(self, stratum: Flags, moved: Flags, kept: Flags, sizes: Ints, *, unique: bool) -> None:
        count = int(stratum.sum())
        self.share = Fraction(count, len(stratum))
        self.substituted = _over(int((stratum & moved).sum()), count)
        self.sampled = _over(int((stratum & kept).sum()), count)
        self.looks = {
            word: _over(int((np.minimum(sizes, 4) == i + 1).sum()), len(sizes)) for i, word in enumerate(TYPES)
        }
        nonunique = int((sizes > 1).sum())
        self.by_size = {
            w: _over(int((np.minimum(sizes, 4) == i + 1).sum()), nonunique) for i, w in enumerate(TYPES) if i
        }
        self.changed_sides = 1 - self.looks["unique"] if unique else self.looks["unique"]
        if not len(sizes):
            self.changed_sides = Fraction(0)

    @property
    def survives(self) -> Fraction:
        return self.share * (1 - self.substituted) * self.sampled

    def words(self) -> dict[str, Any]:
        return {
            "pi": str(self.share), "psi": str(self.substituted), "phi": str(self.sampled),
            "chi": str(self.changed_sides), "eta": {word: str(value) for word, value in self.by_size.items()},
        }  # fmt: skip


def _over(part: int, whole: int) -> Fraction:
    return Fraction(part, whole) if whole else Fraction(0)


def _deltas(shares: dict[str, _Stratum], none: dict[str, Fraction]) -> dict[str, Fraction]:
    u, nu = shares["U"], shares["NU"]
    # eta is 0 where no survivor of the stratum looks nonunique, chi where there is no survivor
    stays = u.looks["unique"]
    found = {"unique": u.survives * stays + nu.survives * nu.changed_sides}
    for word in TYPES[1:]:
        one = u.survives * (1 - stays) * u.by_size[word]
        other = nu.survives * (1 - nu.changed_sides) * nu.by_size[word]
        found[word] = (one + other) * (1 - none[word])
    return found


def _roles(both: Pair) -> tuple[Sequence[str], Sequence[str]]:
    schema = both.original.schema
    with collect() as problems:
        if not schema.keys:
            problems.add("the schema has no keys; name the identifying variables")
        if not schema.confidential:
            problems.add("the schema has no confidential columns; name the sensitive variables")
        for name in (*schema.keys, *schema.confidential):
            if name not in both.masked.columns:
                problems.add(f"column '{name}' is not released{did_you_mean(name, both.masked.columns)}")
    return schema.keys, schema.confidential


def _clusters(records: Records, keys: Sequence[str]) -> tuple[Ints, Ints]:
    index, count = records.groups(keys)
    return index, np.bincount(index, minlength=count)


def _changed(both: Pair, keys: Sequence[str]) -> Flags:
    """Return which released records have other keys than the original ones (False without a link)."""
    there = np.flatnonzero(both.links >= 0)
    before, after = both.aligned()
    changed = np.zeros(len(both.links), dtype=bool)
    for name in keys:
        one, other = before.categories(name), after.categories(name)
        place = {str(value): i for i, value in enumerate(one.values)}
        to = np.array([place.get(str(value), len(place)) for value in other.values] + [-1])
        changed[there] |= one.index != to[other.index]
    return changed


def _common(records: Records, name: str, index: Ints, count: int) -> Flags:
    """Return which clusters have one value, the same for all records."""
    codes = records.codes(name)[0]
    lowest, highest = np.full(count, np.iinfo(np.int64).max), np.full(count, -1)
    np.minimum.at(lowest, index, codes)
    np.maximum.at(highest, index, codes)
    return np.asarray((lowest == highest) & (lowest >= 0))


def _without_common(records: Records, names: Sequence[str], index: Ints, sizes: Ints) -> dict[str, Fraction]:
    """Return, for each size, the share of clusters without a common value in any confidential column."""
    shared = np.zeros(len(sizes), dtype=bool)
    for name in names:
        shared |= _common(records, name, index, len(sizes))
    found = {}
    for i, word in enumerate(TYPES):
        those = np.minimum(sizes, 4) == i + 1
        found[word] = _over(int((those & ~shared).sum()), int(those.sum()))
    return found
