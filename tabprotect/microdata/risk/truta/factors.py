"""How much masking changed a key: inversions of ordered ones, changes of the others (Truta et al. 2004, section 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import ORDINAL, Scale
from tabprotect.table.hierarchy import Hierarchy

__all__ = [
    "ChangeRule",
    "change_factor",
    "count_inversions",
    "inversion_change_factor",
    "inversion_factor",
    "prefix_change",
    "tree_change",
]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
ChangeRule = Literal["any", "prefix", "tree"] | Callable[[Any, Any], float]
"""How large the change from one value to another is, from 0 (none) to 1 (strong)."""


def count_inversions(before: npt.NDArray[Any], after: npt.NDArray[Any]) -> int:
    """Count pairs of records whose order masking turned around: x_i < x_j and x'_i > x'_j (eq. 2.3).

    Pairs with equal values before or after are none. Takes O(n log n) time and O(n) memory.

    Parameters
    ----------
    before, after : ndarray of numbers, shape (records,)
        Without missing values.

    Examples
    --------
    >>> count_inversions(np.array([1, 2, 3, 4]), np.array([2, 1, 4, 4]))
    1
    """
    rank = np.unique(after, return_inverse=True)[1].astype(np.int64)
    values = rank[np.lexsort((rank, before))]
    if len(values) < 2:
        return 0
    found = 0
    place = np.arange(len(values))
    # from the highest bit down: the sequence is kept sorted by the bits seen so far, stable in the order of `before`;
    # a pair is an inversion at the first bit that differs, if the larger one comes earlier
    for bit in range(int(values.max()).bit_length() - 1, -1, -1):
        one = (values >> bit) & 1
        first = np.ones(len(values), dtype=bool)
        first[1:] = (values[1:] >> (bit + 1)) != (values[:-1] >> (bit + 1))
        start = np.maximum.accumulate(np.where(first, place, 0))
        ones = np.cumsum(one) - one
        ones -= ones[start]
        zero = one == 0
        found += int(ones[zero].sum())
        group = np.cumsum(first) - 1
        zeros = np.bincount(group, weights=zero).astype(np.int64)
        to = np.where(zero, place - ones, start + zeros[group] + ones)
        values[to] = values.copy()
    return found


def inversion_factor(before: Floats, after: Floats) -> float:
    """Return the inversions of an ordered key over their number in a random order, at most 1 (eq. 2.5).

    Pairs with a missing value (nan) are no inversions; they count in the denominator.

    Examples
    --------
    >>> inversion_factor(np.array([1.0, 2, 3, 4]), np.array([2.0, 1, 3, 4]))
    0.3333333333333333
    """
    r = len(before)
    there = ~(np.isnan(before) | np.isnan(after))
    if r < 2:
        return 0.0
    return min(1.0, 4 * count_inversions(before[there], after[there]) / (r * (r - 1)))


def prefix_change(old: Any, new: Any) -> float:
    """Return 1 minus the share of leading characters that two codes have in common.

    Lengths are compared by the longer code, and ``*`` is no character in common with anything.

    Examples
    --------
    >>> prefix_change("48201", "48301"), prefix_change("48201", "482**"), prefix_change("48201", "88201")
    (0.6, 0.4, 1.0)
    """
    one, other = str(old), str(new)
    if one == other:
        return 0.0
    length = max(len(one), len(other))
    same = 0
    for a, b in zip(one, other, strict=False):
        if a != b or a == "*":
            break
        same += 1
    # "48" and "48*" differ, though every character of the shorter one is shared
    return 1.0 - min(same, length - 1) / length


def tree_change(tree: Hierarchy) -> Callable[[Any, Any], float]:
    """Return the change between two codes of a value tree: 1 minus the depth of the lowest code above both, over the
    depth of the tree.

    The root has depth 0, so codes with nothing but the root above both make a strong change, 1. A code that is not in
    the tree makes a strong change, too.

    Examples
    --------
    >>> tree = Hierarchy((("*", ("48", "88")), ("48", ("481", "482")), ("88", ("882",))))
    >>> change = tree_change(tree)
    >>> change("481", "482"), change("481", "48"), change("481", "882"), change("481", "481")
    (0.5, 0.5, 1.0, 0.0)
    """
    parent = {part: whole for whole, parts in tree.splits for part in parts}

    def line(code: str) -> list[str]:
        found = [code]
        while found[-1] in parent:
            found.append(parent[found[-1]])
        return found[::-1]

    depth = max((len(line(code)) - 1 for code in parent), default=1)

    def change(old: Any, new: Any) -> float:
        one, other = str(old), str(new)
        if one == other:
            return 0.0
        shared = sum(1 for a, b in zip(line(one), line(other), strict=False) if a == b)
        # lines start at the root, and once they part they do not meet again
        return 1.0 - max(shared - 1, 0) / depth

    return change


def change_factor(before: Sequence[Any], after: Sequence[Any], rule: ChangeRule | None = None) -> float:
    """Return the mean change of an unordered or partially ordered key (eq. 2.7, 2.8).

    A value that is missing (None) on one side only is a strong change.

    Parameters
    ----------
    before, after : sequence
        Values, record by record.
    rule : callable, optional
        Change from one value to another, from 0 to 1; by default every change counts 1.

    Examples
    --------
    >>> change_factor(["m", "f", "f", None], ["m", "m", "f", "m"])
    0.5
    """
    if not len(before):
        return 0.0
    pairs: dict[tuple[Any, Any], int] = {}
    for pair in zip(before, after, strict=True):
        pairs[pair] = pairs.get(pair, 0) + 1
    total = 0.0
    for (old, new), count in pairs.items():
        if old is None or new is None:
            total += count * (old is not new)
        elif old != new and str(old) != str(new):
            total += count * (_checked(rule(old, new), old, new) if callable(rule) else 1.0)
    return min(1.0, total / len(before))


def _checked(change: float, old: Any, new: Any) -> float:
    if not 0 <= change <= 1:
        raise InputError(f"the change from {old!r} to {new!r} must be from 0 to 1, not {change!r}")
    return float(change)


def inversion_change_factor(
    original: Records, masked: Records, name: str, rules: Mapping[str, ChangeRule] | None = None
) -> float:
    """Return the inversion factor of an ordered key, the change factor of any other one.

    Parameters
    ----------
    original, masked : Records
        Row i of one belongs to row i of the other.
    name : str
        The key.
    rules : mapping of str to {'any', 'prefix', 'tree'} or callable, optional
        How changes of a key count; an ordered key with a rule is treated as one without order. By default keys with
        a value tree count by the tree, all others count every change as 1.

    Raises
    ------
    InputError
        If a rule is unknown, or asks for a tree that the schema does not have.
    """
    rule = (rules or {}).get(name)
    if rule is None and original.scale(name) in ORDINAL:
        before, after = _ranks(original, masked, name)
        return inversion_factor(before, after)
    if rule is None:
        rule = "tree" if original.scale(name) is Scale.TREE else "any"
    if rule == "tree":
        if name not in original.schema.hierarchies:
            raise InputError(f"column '{name}' has no hierarchy; give one in the schema, or the rule 'prefix'")
        rule = tree_change(original.schema.hierarchies[name])
    elif rule == "prefix":
        rule = prefix_change
    elif rule != "any" and not callable(rule):
        raise InputError(f"the change of '{name}' must be 'any', 'prefix', 'tree' or a function, not {rule!r}")
    before_values, before_index = _values(original, name)
    after_values, after_index = _values(masked, name)
    # pairs of values rather than records: files have many records and few values
    size = len(after_values)
    pairs, counts = np.unique(before_index * size + after_index, return_counts=True)
    total = sum(
        count
        * change_factor([before_values[pair // size]], [after_values[pair % size]], rule if callable(rule) else None)
        for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True)
    )
    return float(min(1.0, total / max(len(original), 1)))


def _values(records: Records, name: str) -> tuple[list[Any], Ints]:
    """Return the values of a column, the last one None, and which one each record has."""
    found = records.categories(name)
    return [*found.values, None], np.where(found.index < 0, len(found.values), found.index)


def _ranks(original: Records, masked: Records, name: str) -> tuple[Floats, Floats]:
    """Return numbers in the order of a column, nan as missing."""
    if original.scale(name) is Scale.CONTINUOUS:
        return original.numbers(name), masked.numbers(name)
    one, other = original.categories(name), masked.categories(name)
    if name in original.schema.orders:
        order = {str(value): i for i, value in enumerate(original.schema.orders[name])}
        place = [
            np.array([order[str(v)] for v in c.values] + [np.nan], dtype=np.float64)[c.index] for c in (one, other)
        ]
        return place[0], place[1]
    both = sorted({*one.values, *other.values})
    rank = {value: i for i, value in enumerate(both)}
    found = [np.array([rank[v] for v in c.values] + [np.nan], dtype=np.float64)[c.index] for c in (one, other)]
    return found[0], found[1]
