"""Checkers of claims about values: recodings, samples, weights, numbers of households."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tabprotect.counted import counted
from tabprotect.microdata.checks import ROUNDING
from tabprotect.microdata.claims import claim_kind
from tabprotect.microdata.keys import key_codes, same_codes

if TYPE_CHECKING:
    from tabprotect.microdata.records import Records

__all__: list[str] = []


@claim_kind("function-of")
def _function_of(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """Equal values of before have equal values now; with ``blanks``, or none."""
    assert before is not None
    new, old = after.categories(given["column"]).index, before.categories(given["column"])
    there = new >= 0 if given.get("blanks") else np.ones(len(new), dtype=bool)
    first = np.full(len(old.values) + 1, -2, dtype=np.int64)
    first[old.index[there]] = new[there]
    apart = there & (first[old.index] != new)
    return f"{int(apart.sum())} equal values of '{given['column']}' have become different ones" if apart.any() else ""


@claim_kind("categories")
def _categories(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """A column holds nothing but some values."""
    allowed = set(map(str, given["values"]))
    others = [value for value in after.categories(given["column"]).values if str(value) not in allowed]
    return f"'{given['column']}' holds {others[0]!r}, which is none of its categories" if others else ""


@claim_kind("sampled")
def _sampled(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """Every released record is one of before, as it was."""
    assert before is not None
    names = list(given["columns"])
    new, old, _ = same_codes(key_codes(after, names), key_codes(before, names))
    wrong = (new != old).any(axis=0)
    return f"values of '{names[int(np.argmax(wrong))]}' are not those of before" if wrong.any() else ""


@claim_kind("design-weights")
def _design_weights(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """Weights are those of before divided by the probability of selection, which is n / N in every stratum.

    ``strata`` holds, for the units of every stratum, how many there were, how many were drawn, and (by position) which.
    """
    weights = after.numbers(given["weight"])
    base = np.ones(len(after))
    if given["base"] is not None:
        assert before is not None
        base = before.numbers(given["base"])
    if "stratum" in given:
        index = np.asarray(given["stratum"], dtype=np.int64)
        if len(index) != len(after):
            return f"{len(after)} records are released, {len(index)} were drawn"
        units = after.groups(given["unit"])[0] if given.get("unit") else np.arange(len(after))
        for h, (n, _) in enumerate(given["strata"]):
            found = len(np.unique(units[index == h]))
            if found != n:
                return f"{found} units of stratum {h + 1} are released, {n} were drawn"
        ratio = np.array([total / n if n else 0.0 for n, total in given["strata"]])[index]
    else:
        ratio = 1 / np.asarray(given["probabilities"], dtype=np.float64)
    off = np.abs(weights - base * ratio) > ROUNDING * np.abs(base * ratio)
    return f"{int(off.sum())} weights are not those of before over the probability" if off.any() else ""


@claim_kind("relative-change")
def _relative_change(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """Every number differs from before by at most a share of itself."""
    assert before is not None
    new, old = after.numbers(given["column"]), before.numbers(given["column"])
    off = np.abs(new - old) > given["most"] * np.abs(old) * (1 + ROUNDING) + 1e-300
    return (
        f"{counted(int(off.sum()), 'value')} of '{given['column']}' "
        f"{'differs' if off.sum() == 1 else 'differ'} by more than {given['most']:g}"
        if off.any()
        else ""
    )


@claim_kind("same-total")
def _same_total(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """The sum of a column is that of before, within each stratum where there are any; missing values are left out."""
    assert before is not None
    new, old = after.numbers(given["column"]), before.numbers(given["column"])
    index, count = after.groups(given.get("strata", []))
    sums = [np.bincount(index, weights=np.nan_to_num(x), minlength=count) for x in (new, old)]
    size = np.bincount(index, weights=np.abs(np.nan_to_num(old)), minlength=count)
    off = np.abs(sums[0] - sums[1]) > ROUNDING * np.maximum(size, 1e-300)
    return f"the total of '{given['column']}' is not that of before" if off.any() else ""


@claim_kind("renumbered")
def _renumbered(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """A column has the numbers 1 to n, equal ones exactly where values were equal before."""
    assert before is not None
    column = given["column"]
    new, old, _ = same_codes(key_codes(after, [column]), key_codes(before, [column]))
    new, old = new[:, 0], old[:, 0]
    if ((new < 0) != (old < 0)).any():
        return f"'{column}' is missing elsewhere than before"
    pairs = np.unique(np.column_stack([new, old])[new >= 0], axis=0)
    if len(pairs) != len(np.unique(pairs[:, 0])) or len(pairs) != len(np.unique(pairs[:, 1])):
        return f"equal numbers in '{column}' are not where equal values were"
    numbers = np.sort(np.array([float(v) for v in after.categories(column).values]))
    return "" if (numbers == np.arange(1, len(numbers) + 1)).all() else f"'{column}' does not count from 1"
