"""Checkers of the kinds of claims that many methods share.

Numbers are compared to within `ROUNDING` of their size (sums of floats).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from tabprotect.microdata.claims import claim_kind

if TYPE_CHECKING:
    from tabprotect.microdata.records import Records

__all__ = ["ROUNDING"]

ROUNDING = 1e-9
"""Relative difference by which two sums of the same numbers may differ."""


@claim_kind("group-size")
def _group_size(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """Every combination of some columns is shared by at least k records; a missing value is a value of its own."""
    index, count = after.groups(given["columns"])
    sizes = np.bincount(index, minlength=count)
    least = int(sizes.min(initial=given["k"]))
    if least < given["k"]:
        return (
            f"{int((sizes < given['k']).sum())} combinations have fewer than {given['k']} records, the smallest {least}"
        )
    return ""


@claim_kind("at-most")
def _at_most(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """No value of a column is above a number."""
    values = after.numbers(given["column"])
    above = values[values > given["most"]]
    return f"{len(above)} values are above {given['most']:g}" if len(above) else ""


@claim_kind("at-least")
def _at_least(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """No value of a column is below a number."""
    values = after.numbers(given["column"])
    under = values[values < given["least"]]
    return f"{len(under)} values are below {given['least']:g}" if len(under) else ""


@claim_kind("moments")
def _moments(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """Means (and covariances, divisor n - 1) of some columns are given numbers; records with a missing value left out.

    ``tolerance`` is relative to the standard deviations.
    """
    values = after.matrix(given["columns"])
    values = values[~np.isnan(values).any(axis=1)]
    slack = max(given.get("tolerance", 0.0), ROUNDING)
    mean = np.asarray(given["mean"], dtype=np.float64)
    cov = given.get("covariance")
    scale = np.sqrt(np.diag(np.asarray(cov))) if cov is not None else values.std(axis=0)
    allowed = slack * np.maximum(scale, np.abs(mean))
    off = np.abs(values.mean(axis=0) - mean)
    if (off > allowed).any():
        j = int(np.argmax(off - allowed))
        return f"the mean of '{given['columns'][j]}' is off by {off[j]:g}"
    if cov is not None:
        found = np.atleast_2d(np.cov(values, rowvar=False))
        wrong = np.abs(found - np.asarray(cov)) > slack * np.maximum(np.outer(scale, scale), np.outer(allowed, allowed))
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            return f"the covariance of '{given['columns'][i]}' and '{given['columns'][j]}' is {found[i, j]:g}"
    return ""


@claim_kind("same-values")
def _same_values(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """Columns hold the same values as before, each as often (within each stratum), in another order."""
    assert before is not None
    for name in given["columns"]:
        if not _tuples(after, before, [name], list(given.get("strata", ()))):
            return f"the values of '{name}' are not those of before"
    return ""


@claim_kind("same-tuples")
def _same_tuples(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """Combinations of columns occur as often as before among the records that agree in some others."""
    assert before is not None
    if not _tuples(after, before, given["columns"], given["match"]):
        return f"the values of {', '.join(given['columns'])} are not those of before"
    return ""


def _tuples(after: Records, before: Records, columns: Sequence[str], within: Sequence[str]) -> bool:
    """Whether both files have every combination of values equally often."""
    if len(before) != len(after):
        return False
    both = pd.DataFrame({name: _both(after, before, name) for name in (*columns, *within)})
    index = both.groupby(list(both.columns), dropna=False, sort=False).ngroup().to_numpy()
    new, old = (np.bincount(part, minlength=int(index.max()) + 1) for part in np.split(index, 2))
    return bool((new == old).all())


def _both(after: Records, before: Records, name: str) -> Any:
    """Return the values of a column in both files; numbers as numbers, whatever type the column has now."""
    if after.frame[name].dtype.is_numeric() and before.frame[name].dtype.is_numeric():
        return np.concatenate([after.numbers(name), before.numbers(name)])
    return [_word(value) for records in (after, before) for value in records.frame[name].to_list()]


def _word(value: Any) -> str:
    """Whole numbers are the same whatever type a column has, and so are missing values."""
    if value is None or value is pd.NA or value is pd.NaT or value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


@claim_kind("unchanged-where")
def _unchanged(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """At most so many values of a column differ from before."""
    assert before is not None
    for name in given["columns"]:
        old, new = (np.array([_word(v) for v in r.frame[name].to_list()], dtype=object) for r in (before, after))
        changed = int((old != new).sum())
        if changed > given["most"]:
            return f"{changed} values of '{name}' differ from before, more than {given['most']}"
    return ""


@claim_kind("absent")
def _absent(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """Some columns are not released."""
    there = [name for name in given["columns"] if name in after.columns]
    return f"column '{there[0]}' is released" if there else ""


@claim_kind("cross-covariances")
def _cross(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """Means of some columns, and covariances between the first and the second of them (and within the second), stay."""
    values = after.matrix(given["columns"])
    cov, mean = np.asarray(given["covariance"]), np.asarray(given["mean"])
    scale = np.sqrt(np.diag(cov))
    if (np.abs(values.mean(axis=0) - mean) > given["tolerance"] * np.maximum(scale, np.abs(mean))).any():
        return "a mean is another one"
    off = np.abs(np.cov(values, rowvar=False) - cov) > given["tolerance"] * np.outer(scale, scale)
    off[: len(given["first"]), : len(given["first"])] = False
    return "a covariance is another one" if off.any() else ""
