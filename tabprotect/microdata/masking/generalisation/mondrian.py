"""Mondrian: local recoding by partitions (LeFevre, DeWitt, Ramakrishnan 2006, ICDE)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from tabprotect.counted import counted
from tabprotect.errors import InfeasibleError, Problems
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.masking.generalisation.by_keys import ByKeys
from tabprotect.microdata.masking.generalisation.constraints import Constraint, Judge
from tabprotect.microdata.masking.generalisation.partition import (
    Axis,
    OrderedAxis,
    TreeAxis,
    good,
    partition,
    tree_paths,
)
from tabprotect.microdata.masking.generalisation.rungs import ANYTHING
from tabprotect.microdata.masking.relabel import number_label, relabelled
from tabprotect.microdata.method import Masking, MethodCall
from tabprotect.microdata.parameters import need_choice
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import Scale

__all__ = ["Mondrian"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Mondrian(ByKeys):
    """Local recoding: records are split into classes along the widest key, and each class gets labels of its own.

    Numbers and ordered categories are split at the median, codes of a value tree into the parts of their common
    ancestor, other categories in the order of their texts. A class whose values differ gets the range of its numbers
    (20-29), the common ancestor of its codes, or the list of its categories.

    A missing key comes before all values; a class that holds missing and other values of a key gets '*' for it.
    Classes lie within the strata of the schema. Weights are not looked at: k counts records. Missing confidential
    values do not count.

    Parameters
    ----------
    k : int
        Least number of records in a class.
    keys : str or sequence of str, optional
        By default the keys of the schema.
    strict : bool
        Records with equal keys stay in one class; else halves are split evenly whatever their values.
    constraints : sequence of Diversity or Closeness, optional
        What classes must satisfy beside their size.
    numbers : {'range', 'mean'}
        Label of continuous keys: the range, or the mean of the class (the mean of the column stays).

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"age": [21, 23, 38, 52, 47, 60], "sex": ["f", "f", "m", "m", "f", "f"]})
    >>> masked = md.mask(frame, md.Schema(keys=["age", "sex"]), md.Mondrian(k=2), seed=1)
    >>> masked.frame["age"].tolist(), masked.frame["sex"].tolist()
    (['21-38', '21-38', '21-38', '47-60', '47-60', '47-60'], ['f|m', 'f|m', 'f|m', 'f|m', 'f|m', 'f|m'])
    """

    name: ClassVar[str] = "mondrian"
    family: ClassVar[str] = "non-perturbative"
    claim_kinds: ClassVar[tuple[str, ...]] = ("k-anonymity", "diversity", "closeness", "same-total")
    source: ClassVar[str] = "LeFevre, DeWitt, Ramakrishnan 2006"

    k: int = 2
    keys: Sequence[str] | str | None = None
    strict: bool = True
    constraints: Sequence[Constraint] | Constraint = ()
    numbers: Literal["range", "mean"] = "range"

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        super().check_parameters(problems)
        need_choice(self, "numbers", problems, ("range", "mean"))

    def check(self, records: Records, problems: Problems) -> None:
        """Note what the records do not allow."""
        super().check(records, problems)
        for key in self._keys(records):
            tree = records.schema.hierarchies.get(key)
            unknown = [v for v in records.categories(key).values if str(v) not in tree.position] if tree else []
            if unknown:
                problems.add(f"column '{key}': value {unknown[0]!r} is not in the hierarchy")

    def apply(self, call: MethodCall) -> Masking:
        """Split the records, and give every class its labels."""
        records = call.records
        keys, strata = self._keys(records), self._strata(records)
        judge = Judge(records, self.k, self._constraints())
        axes = [_axis(records, key) for key in keys]
        start = records.strata(strata)
        for part in start:
            if not good(judge, [part]):
                where = (
                    f"a stratum of {counted(len(part), 'record')}"
                    if strata
                    else f"the file of {counted(len(part), 'record')}"
                )
                raise InfeasibleError(
                    f"{self.name}: {where} does not reach k = {self.k} and the constraints as a whole"
                )
        classes = partition(axes, start, judge, self.strict)
        number = np.empty(len(records), dtype=np.int64)
        number[np.concatenate(classes)] = np.repeat(np.arange(len(classes)), [len(rows) for rows in classes])
        released, claims = records, []
        for key, axis in zip(keys, axes, strict=True):
            if self.numbers == "mean" and records.scale(key) == Scale.CONTINUOUS:
                values = records.numbers(key)
                released = released.with_numbers(key, _means(values, number, len(classes)))
                if not np.isnan(values).any():
                    text = f"the total of '{key}' is that of before"
                    claims.append(Claim("same-total", (key,), text, {"column": key}, (key,)))
                continue
            released = _label(released, records, key, axis, number, len(classes))
        names = (*keys, *strata)
        text = f"at least {self.k} records share every combination of {', '.join(names)}"
        given = {"keys": list(keys), "strata": list(strata), "k": self.k, "missing": "own"}
        claims.insert(0, Claim("k-anonymity", names, text, given))
        claims += [one.claim(names, records, ()) for one in self._constraints()]
        sizes = np.array([len(rows) for rows in classes])
        facts: dict[str, Any] = {
            "classes": len(classes), "smallest class": int(sizes.min()), "mean class": float(sizes.mean()),
            "discernibility": float((sizes.astype(np.float64) ** 2).sum()),
        }  # fmt: skip
        return Masking(released, facts, tuple(claims))


def _axis(records: Records, key: str) -> Axis:
    found = records.categories(key)
    index, n = found.index, len(found.values)
    tree = records.schema.hierarchies.get(key)
    if tree is not None:
        return TreeAxis(index, tree_paths(found.values, tree))
    scale = records.scale(key)
    if scale == Scale.CONTINUOUS:
        values = np.array([float(v) for v in found.values])
        width = values.max() - values.min() if n else 0.0
        return OrderedAxis(index, (values - values.min()) / width if width else np.zeros(n))
    if scale != Scale.ORDERED:
        rank = np.argsort(np.argsort(np.array([str(v) for v in found.values]), kind="stable"), kind="stable")
        index = np.append(rank, -1)[index].astype(np.int64)
    return OrderedAxis(index, np.arange(n) / max(n - 1, 1))


def _means(values: npt.NDArray[np.float64], number: Ints, classes: int) -> npt.NDArray[np.float64]:
    """Return the mean of every class; a class with a missing value has none."""
    sums = np.bincount(number, weights=values, minlength=classes)
    means: npt.NDArray[np.float64] = (sums / np.bincount(number, minlength=classes))[number]
    return means


def _label(released: Records, records: Records, key: str, axis: Axis, number: Ints, classes: int) -> Records:
    """Give every class a label of one key."""
    if _all_same(axis.index, number, classes):
        return released
    found = records.categories(key)
    n = len(found.values)
    if isinstance(axis, TreeAxis):
        labels, index = _ancestors(axis, number, classes, records.schema.hierarchies[key].codes)
    else:
        low = np.full(classes, n, dtype=np.int64)
        high = np.full(classes, -1, dtype=np.int64)
        np.minimum.at(low, number, axis.index)
        np.maximum.at(high, number, axis.index)
        ordered = records.scale(key) in (Scale.CONTINUOUS, Scale.ORDERED)
        values = list(found.values) if ordered else sorted(found.values, key=str)
        if ordered:
            pairs, index = np.unique(np.column_stack([low, high]), axis=0, return_inverse=True)
            labels = [_range(values, int(a), int(b)) for a, b in pairs]
        else:
            labels, index = _lists(axis.index, number, classes, values)
    return _with_labels(released, key, labels, np.asarray(index, dtype=np.int64).ravel()[number])


def _all_same(index: Ints, number: Ints, classes: int) -> bool:
    """Return whether every class has one value, so that the column stays as it is."""
    low = np.full(classes, np.iinfo(np.int64).max)
    high = np.full(classes, -2)
    np.minimum.at(low, number, index)
    np.maximum.at(high, number, index)
    return bool((low == high).all())


def _range(values: Sequence[Any], low: int, high: int) -> Any:
    if high < 0:
        return None
    if low < 0:
        return ANYTHING
    if low == high:
        return _word(values[low])
    numbers = isinstance(values[low], int | float)
    dash = "-" if not numbers or values[low] >= 0 else ".."
    return f"{_word(values[low])}{dash}{_word(values[high])}"


def _word(value: Any) -> str:
    return number_label(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _lists(index: Ints, number: Ints, classes: int, values: Sequence[Any]) -> tuple[list[Any], Ints]:
    """Return the list of the categories of every class."""
    pairs = np.unique(number * (len(values) + 1) + index + 1)
    owner, value = pairs // (len(values) + 1), pairs % (len(values) + 1) - 1
    place: dict[tuple[int, ...], int] = {}
    starts = np.searchsorted(owner, np.arange(classes + 1))
    found = np.array([place.setdefault(tuple(value[a:b].tolist()), len(place)) for a, b in pairwise(starts.tolist())])
    labels = [
        None if held == (-1,) else ANYTHING if held[0] < 0 else "|".join(_word(values[i]) for i in held)
        for held in place
    ]
    return labels, found


def _ancestors(axis: TreeAxis, number: Ints, classes: int, codes: Sequence[str]) -> tuple[list[Any], Ints]:
    """Return the deepest common ancestor of the values of every class."""
    there = axis.index >= 0
    gone = np.bincount(number[~there], minlength=classes) > 0
    none = np.bincount(number[there], minlength=classes) == 0
    best = np.full(classes, -1, dtype=np.int64)
    for level in axis.paths:
        low = np.full(classes, len(codes), dtype=np.int64)
        high = np.full(classes, -1, dtype=np.int64)
        np.minimum.at(low, number[there], level[axis.index[there]])
        np.maximum.at(high, number[there], level[axis.index[there]])
        best = np.where(low == high, low, best)
    best = np.where(none, len(codes), np.where(gone, len(codes) + 1, best))
    different, index = np.unique(best, return_inverse=True)
    words = [*codes, None, ANYTHING]
    labels = [words[c] for c in different.tolist()]
    return labels, index


def _with_labels(released: Records, key: str, labels: Sequence[Any], index: Ints) -> Records:
    """Replace a column; equal labels are one, None is missing."""
    place: dict[Any, int] = {}
    to = np.array([-1 if label is None else place.setdefault(label, len(place)) for label in labels], dtype=np.int64)
    return relabelled(released, key, list(place), to[index])
