"""Checkers of claims about keys: who matches whom, what is blanked, how confidential values spread over classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tabprotect.microdata.anonymity import (
    closeness,
    distinct_diversity,
    entropy_diversity,
    key_counts,
    recursive_diversity,
    tree_distances,
    value_counts,
)
from tabprotect.microdata.claims import claim_kind
from tabprotect.microdata.keys import KeyCodes, key_codes, match_counts, same_codes, subsets
from tabprotect.table.hierarchy import Hierarchy

if TYPE_CHECKING:
    from tabprotect.microdata.records import Records

__all__: list[str] = []


@claim_kind("k-anonymity")
def _k_anonymity(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """Every record matches at least k records on the keys, itself among them, within its stratum.

    What a missing value matches is part of the claim; see `anonymity.key_counts`.
    """
    keys, strata = list(given["keys"]), list(given.get("strata", ()))
    if given["missing"] == "any" and before is None:
        return "the values of before are not there"
    if given["missing"] != "any":
        before = None
    counts = np.zeros(len(after), dtype=np.int64)
    index, found = after.groups(strata)
    if before is not None and strata:
        first, second, _ = same_codes(key_codes(after, strata), key_codes(before, strata))
        if (first != second).any():
            return "the strata are not those of before"
    for stratum in range(found):
        rows = np.flatnonzero(index == stratum)
        earlier = None if before is None else before.take(rows)
        counts[rows] = key_counts(after.take(rows), keys, given["missing"], earlier)
    least = int(counts.min(initial=given["k"]))
    if least < given["k"]:
        return f"{int((counts < given['k']).sum())} records match fewer than {given['k']}, the fewest {least}"
    return ""


@claim_kind("safe-combinations")
def _safe_combinations(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """Every combination that a released record states fits as many records of before as its threshold.

    Values that were missing before match every value.
    """
    assert before is not None
    names, strata = list(given["keys"]), list(given["strata"])
    new, old, sizes = same_codes(key_codes(after, [*strata, *names]), key_codes(before, [*strata, *names]))
    thresholds = list(given["thresholds"])
    one = np.ones(len(old), dtype=np.int64)
    for keys in subsets(len(names), len(thresholds)):
        least = thresholds[len(keys) - 1]
        columns = [*range(len(strata)), *(len(strata) + j for j in keys)]
        rows = new[:, columns]
        stated = (rows[:, len(strata) :] >= 0).all(axis=1)
        if not least or not stated.any():
            continue
        # a missing stratum is one of its own
        theirs, mine = old[:, columns].copy(), rows[stated]
        wide = [sizes[j] + (i < len(strata)) for i, j in enumerate(columns)]
        for i in range(len(strata)):
            theirs[:, i] = np.where(theirs[:, i] < 0, sizes[i], theirs[:, i])
            mine[:, i] = np.where(mine[:, i] < 0, sizes[i], mine[:, i])
        found = match_counts(mine, theirs, wide, one)
        if (found < least).any():
            words = ", ".join(names[j] for j in keys)
            return f"{int((found < least).sum())} records state a combination of {words} that fits {found.min()} only"
    return ""


@claim_kind("only-blanked")
def _only_blanked(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """Every value of some columns is as before, or missing."""
    assert before is not None
    names = list(given["columns"])
    new, old, _ = same_codes(key_codes(after, names), key_codes(before, names))
    wrong = (new >= 0) & (new != old)
    for j, name in enumerate(names):
        if wrong[:, j].any():
            return f"{int(wrong[:, j].sum())} values of '{name}' are neither as before nor missing"
    return ""


@claim_kind("blanked-together")
def _blanked_together(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """Where a value of some columns is blanked, it is blanked in all records of the household."""
    assert before is not None
    home, count = after.groups([given["household"]])
    for name in given["columns"]:
        gone = after.missing(name) & ~before.missing(name)
        hit = np.bincount(home, weights=gone, minlength=count) > 0
        left = hit[home] & ~after.missing(name)
        if left.any():
            return f"'{name}' is blanked in parts of {len(np.unique(home[left]))} households only"
    return ""


@claim_kind("diversity")
def _diversity(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """Confidential values are l-diverse in every class of equal keys; records that state no key are left out."""
    classes, values, n = _classes(after, given)
    counts = value_counts(classes, values.codes[:, 0], n, len(values.values[0]))
    counts = counts[np.bincount(classes[classes < n], minlength=n) > 0]
    if given["kind"] == "recursive":
        bad = recursive_diversity(counts, given["l"]) >= given["c"]
    elif given["kind"] == "entropy":
        bad = entropy_diversity(counts) < given["l"] * (1 - 1e-9)
    else:
        bad = distinct_diversity(counts) < given["l"]
    return f"{int(bad.sum())} classes of '{given['column']}' are not as diverse" if bad.any() else ""


@claim_kind("closeness")
def _closeness(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """Confidential values of every class of equal keys are about as in the whole file; see `anonymity.closeness`.

    The whole file is the one released. Records that state no key are in no class.
    """
    classes, values, n = _classes(after, given)
    column = values.codes[:, 0]
    counts = value_counts(classes, column, n, len(values.values[0]))
    whole = np.bincount(column[column >= 0], minlength=len(values.values[0])).astype(np.float64)
    tree = None
    if given["distance"] == "hierarchical":
        hierarchy = Hierarchy(tuple((parent, tuple(parts)) for parent, parts in given["tree"]))
        tree = tree_distances(values.values[0], hierarchy)
    far = closeness(counts, whole, given["distance"], tree)
    # a class without values tells nothing
    bad = far > given["t"] + 1e-9
    return f"{int(bad.sum())} classes of '{given['column']}' are farther than {given['t']:g}" if bad.any() else ""


def _classes(after: Records, given: Mapping[str, Any]) -> tuple[np.ndarray[Any, Any], KeyCodes, int]:
    """Return the class of every record; those that state no key are in a last class, which is left out."""
    coded = key_codes(after, list(given["keys"]))
    values = key_codes(after, [given["column"]])
    found = coded.patterns()
    silent = np.logical_and.reduce([after.missing(name) for name in given["silent"]] or [np.zeros(len(after), bool)])
    classes = found.index
    if silent.any():
        keep, classes = np.unique(np.where(silent, -1, found.index), return_inverse=True)
        n = len(keep) - 1
        classes = np.where(silent, n, classes - 1)
        values = KeyCodes(values.names, values.values, np.where(silent[:, None], -1, values.codes))
        return classes, values, n
    return classes, values, len(found.counts)
