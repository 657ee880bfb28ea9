"""What is claimed of microaggregated records, checked from the values before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.microdata.checks import ROUNDING
from tabprotect.microdata.claims import claim_kind
from tabprotect.microdata.records import Records

__all__ = ["pack", "unpack"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def pack(group: Ints) -> str:
    """Return the group of every record as one line of text, for claims in files."""
    return " ".join(map(str, group.tolist()))


def unpack(text: str) -> Ints:
    """Return the group of every record."""
    return np.array(text.split(), dtype=np.int64)


@claim_kind("aggregated-groups")
def _aggregated(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """Every released value is the mean, median or mode over its group, and groups have from least to most records.

    ``group`` numbers the group of every record, -1 for none: those release no value. Groups do not cross strata.
    """
    assert before is not None
    group = unpack(given["group"])
    if len(group) != len(after):
        return f"{len(group)} records have a group, {len(after)} are released"
    grouped = group >= 0
    sizes = np.bincount(group[grouped])
    sizes = sizes[sizes > 0]
    most = given.get("most") or len(after)
    if len(sizes) and (sizes.min() < given["least"] or sizes.max() > most):
        return f"groups have {int(sizes.min())} to {int(sizes.max())} records, not {given['least']} to {most}"
    if given["strata"]:
        stratum, count = before.groups(given["strata"])
        pairs = np.unique(group[grouped] * count + stratum[grouped])
        if len(pairs) > len(sizes):
            return "a group has records of several strata"
    weights = before.numbers(given["weight"]) if given.get("weight") else np.ones(len(after))
    for name, how in given["columns"].items():
        gone, was_gone = after.missing(name), before.missing(name)
        if (gone != (was_gone | ~grouped)).any():
            return f"column '{name}' is missing in other records than claimed"
        there = ~gone
        if there.any():
            why = _ONE[how](after, before, name, there, group[there], weights[there], given.get("tolerance", ROUNDING))
            if why:
                return f"column '{name}': {why}"
    return ""


def _mean(after: Records, before: Records, name: str, there: Any, group: Ints, w: Floats, tolerance: float) -> str:
    old, new = before.numbers(name)[there], after.numbers(name)[there]
    sums = np.bincount(group, w * old)
    slack = tolerance * np.bincount(group, w * np.abs(old))
    off = np.abs(sums - np.bincount(group, w * new)) > slack
    if off.any():
        return f"{int(off.sum())} groups have another mean than before"
    return _differ(new, group)


def _median(after: Records, before: Records, name: str, there: Any, group: Ints, w: Floats, tolerance: float) -> str:
    old, new = _ranks(before, after, name, there)
    half = np.bincount(group, w) / 2 * (1 - tolerance)
    slack = tolerance * np.abs(new)
    low = np.bincount(group, w * (old <= new + slack))
    high = np.bincount(group, w * (old >= new - slack))
    if (low < half).any() or (high < half).any():
        return "a released value is no median of its group"
    return _differ(new, group)


def _mode(after: Records, before: Records, name: str, there: Any, group: Ints, w: Floats, tolerance: float) -> str:
    old, new = _ranks(before, after, name, there)
    kinds, index = np.unique(np.concatenate([old, new]), return_inverse=True)
    index = index.ravel()
    pair, inverse = np.unique(group * len(kinds) + index[: len(old)], return_inverse=True)
    total = np.bincount(inverse.ravel(), w)
    most = np.zeros(int(group.max()) + 1)
    np.maximum.at(most, pair // len(kinds), total)
    wanted = group * len(kinds) + index[len(old) :]
    at = np.minimum(np.searchsorted(pair, wanted), len(pair) - 1)
    held = np.where(pair[at] == wanted, total[at], 0.0)
    if (held < most[group] * (1 - max(tolerance, 1e-9))).any():
        return "a released value is not the most frequent one of its group"
    return _differ(new, group)


_ONE = {"mean": _mean, "median": _median, "mode": _mode}


def _ranks(before: Records, after: Records, name: str, there: Any) -> tuple[Floats, Floats]:
    """Return numbers, or the positions of categories in those of before."""
    if before.frame[name].dtype.is_numeric():
        return before.numbers(name)[there], after.numbers(name)[there]
    old, new = before.categories(name), after.categories(name)
    place = {str(value): i for i, value in enumerate(old.values)}
    to = np.array([place.get(str(value), -1) for value in new.values] + [-1], dtype=np.float64)
    return old.index[there].astype(np.float64), to[new.index][there]


def _differ(values: Floats, group: Ints) -> str:
    one = np.empty(int(group.max()) + 1)
    one[group] = values
    return "records of a group differ" if (one[group] != values).any() else ""


@claim_kind("same-sums")
def _same_sums(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """(Weighted) sums of some columns, and so their means, are those of before, in every stratum."""
    assert before is not None
    strata: Sequence[str] = given["strata"]
    index, count = before.groups(strata) if strata else (np.zeros(len(before), dtype=np.int64), 1)
    for name in given["columns"]:
        sums, sizes = [], []
        for records in (before, after):
            weights = records.numbers(given["weight"]) if given.get("weight") else np.ones(len(records))
            values = np.nan_to_num(records.numbers(name)) * weights
            sums.append(np.bincount(index, values, count))
            sizes.append(np.bincount(index, np.abs(values), count))
        off = np.abs(sums[0] - sums[1]) - given.get("tolerance", ROUNDING) * np.maximum(*sizes)
        if (off > 0).any():
            return f"the sum of '{name}' is off by {np.abs(sums[0] - sums[1]).max():g}"
    return ""


@claim_kind("few-combinations")
def _few(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """Some columns have at most so many different combinations of values."""
    _, count = after.groups(given["columns"])
    return f"there are {count} combinations, more than {given['most']}" if count > given["most"] else ""


@claim_kind("shared-values")
def _shared(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """Every combination of released values is shared by at least k records (of a stratum).

    Records in which all of the columns are missing are not counted: they release no value.
    """
    gone = np.ones(len(after), dtype=bool)
    for name in given["columns"]:
        gone &= after.missing(name)
    index, count = after.groups([*given.get("strata", ()), *given["columns"]])
    sizes = np.bincount(index[~gone], minlength=count)
    small = (sizes > 0) & (sizes < given["k"])
    if small.any():
        return (
            f"{int(small.sum())} combinations have fewer than {given['k']} records, the smallest {sizes[small].min()}"
        )
    return ""
