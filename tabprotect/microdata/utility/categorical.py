"""Information loss of categorical columns: direct comparison, contingency tables, entropies.

Measures of Domingo-Ferrer and Torra (2001), as in the survey of Ciriani et al. (2007, section 6.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError
from tabprotect.kinds import of_kinds
from tabprotect.microdata.masking.distances import category_distances
from tabprotect.microdata.records import Records
from tabprotect.microdata.risk.base import Measure, Pair, pair
from tabprotect.microdata.scales import NOMINAL, Scale
from tabprotect.microdata.schema import Schema
from tabprotect.microdata.utility.columns import common_columns

__all__ = ["categorical_loss", "contingency_loss", "entropy_loss"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@of_kinds()
def categorical_loss(
    original: Any, masked: Any, schema: Schema | None = None, *, columns: Sequence[str] | None = None, links: Any = None
) -> Measure:
    """Return the mean distance between true and masked categories, from 0 to 1.

    Unordered columns: 0 for equal, 1 for other values (direct comparison). Ordered ones: the distance in ranks of
    the original categories, over the largest one. Columns with a value tree: steps in the tree, over the largest. A
    missing or unknown category on one side is at distance 1, on both sides at 0.

    Returns
    -------
    Measure
        `value` is the mean over linked records and columns; `records` the mean of each masked record, nan without a
        link. Weights are not used.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> people = pd.DataFrame({"size": ["s", "m", "l", "s"]})
    >>> schema = md.Schema(orders={"size": ["s", "m", "l"]})
    >>> md.utility.categorical_loss(people, people.assign(size=["m", "m", "l", "l"]), schema).records.tolist()
    [0.5, 0.0, 0.0, 1.0]
    """
    both = pair(original, masked, schema, links)
    names = common_columns(both, columns, NOMINAL, "categorical")
    before, after = both.aligned()
    if not len(before):
        raise InputError("no masked record is linked to an original one; there are no values to compare")
    parts = np.column_stack([_distance(before, after, name) for name in names])
    records = np.full(len(both.links), np.nan)
    records[both.links >= 0] = parts.mean(axis=1)
    details = {"columns": {name: float(parts[:, k].mean()) for k, name in enumerate(names)}, "linked": len(before)}
    return Measure("information loss, categorical", float(parts.mean()), records, details)


def _distance(before: Records, after: Records, name: str) -> Floats:
    one, values, found = _together(before, after, name)
    table = np.ones((len(values) + 1, len(values) + 1))
    known = list(before.categories(name).values)
    if before.scale(name) is Scale.ORDERED and name in before.schema.orders:
        known = list(before.schema.orders[name])
    if before.scale(name) is Scale.TREE:
        known = values
    place = {str(v): i for i, v in enumerate(known)}
    there = [i for i, v in enumerate(values) if str(v) in place]
    if there:
        spots = [place[str(values[i])] for i in there]
        table[np.ix_(there, there)] = category_distances(before, name, known)[np.ix_(spots, spots)]
    np.fill_diagonal(table, 0.0)
    return np.asarray(table[one, found])


def _together(before: Records, after: Records, name: str) -> tuple[Ints, list[Any], Ints]:
    """Number the categories of both files alike; the last number is for missing ones."""
    one, other = before.categories(name), after.categories(name)
    values = list(one.values)
    place = {str(v): i for i, v in enumerate(values)}
    for value in other.values:
        if str(value) not in place:
            place[str(value)] = len(values)
            values.append(value)
    to = np.array([place[str(v)] for v in other.values] + [len(values)], dtype=np.int64)
    return np.where(one.index < 0, len(values), one.index), values, to[other.index]


@of_kinds()
def contingency_loss(
    original: Any,
    masked: Any,
    schema: Schema | None = None,
    *,
    columns: Sequence[str] | None = None,
    up_to: int = 2,
) -> Measure:
    """Return how much the contingency tables of categorical columns differ, from 0 to 1.

    For every set of at most `up_to` columns: half the sum of absolute differences of cell shares (total variation
    distance), with weights. A missing value is a category of its own. Which record is whose is not used.

    Returns
    -------
    Measure
        `value` is the mean over tables; `details` has the mean by dimension, and the worst table.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> people = pd.DataFrame({"a": ["x", "x", "y", "y"], "b": ["u", "v", "u", "v"]})
    >>> found = md.utility.contingency_loss(people, people.assign(b=["u", "u", "v", "v"]))
    >>> found.details["by dimension"]
    {'1': 0.0, '2': 0.5}
    """
    both = pair(original, masked, schema, _no_links(masked))
    names = common_columns(both, columns, NOMINAL, "categorical")
    if not isinstance(up_to, int) or isinstance(up_to, bool) or not up_to >= 1:
        raise InputError(f"up_to must be a whole number of at least 1, not {up_to!r}")
    one, other = _joint_codes(both, names)
    v, w = both.original.weights(), both.masked.weights()
    by_size: dict[str, float] = {}
    worst: tuple[float, list[str]] = (-1.0, [])
    everything = []
    for size in range(1, min(up_to, len(names)) + 1):
        found = []
        for subset in combinations(range(len(names)), size):
            off = _variation([one[k] for k in subset], [other[k] for k in subset], v, w)
            worst = max(worst, (off, [names[k] for k in subset]))
            found.append(off)
        by_size[str(size)] = float(np.mean(found))
        everything += found
    details = {"by dimension": by_size, "tables": len(everything), "worst": {"columns": worst[1], "loss": worst[0]}}
    return Measure("contingency tables", float(np.mean(everything)), None, details)


def _no_links(masked: Any) -> Ints:
    from tabprotect.microdata.masked import Masked
    from tabprotect.microdata.records import read_records

    count = len(masked.records) if isinstance(masked, Masked) else len(read_records(masked, Schema()))
    return -np.ones(count, dtype=np.int64)


def _joint_codes(both: Pair, names: Sequence[str]) -> tuple[list[Ints], list[Ints]]:
    found = [_together(both.original, both.masked, name) for name in names]
    return [one for one, _, _ in found], [other for _, _, other in found]


def _variation(one: list[Ints], other: list[Ints], v: Floats, w: Floats) -> float:
    index = np.zeros(len(v) + len(w), dtype=np.int64)
    for a, b in zip(one, other, strict=True):
        both = np.concatenate([a, b])
        index = pd.factorize(index * (int(both.max()) + 1) + both)[0].astype(np.int64)
    cells = int(index.max()) + 1
    p = np.bincount(index[: len(v)], v, cells) / v.sum()
    q = np.bincount(index[len(v) :], w, cells) / w.sum()
    return float(np.abs(p - q).sum() / 2)


@of_kinds()
def entropy_loss(
    original: Any, masked: Any, schema: Schema | None = None, *, columns: Sequence[str] | None = None, links: Any = None
) -> Measure:
    """Return how uncertain the true category is, given the masked one, from 0 to 1.

    The Shannon entropy H(V | V' = v') of the true value is taken from the linked records and averaged over records
    (weighted by the original weights), in bits; over the logarithm of the number of categories of the column it is
    between 0 (masked values tell the true ones) and 1. This is the measure for PRAM, local suppression and global
    recoding of the survey. Missing values are a category of their own.

    Returns
    -------
    Measure
        `value` is the mean over columns of the relative entropies; `details` has them in bits; `records` the mean
        over columns of every masked record, in bits (nan without a link).

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> people = pd.DataFrame({"a": ["x", "x", "y", "y"]})
    >>> md.utility.entropy_loss(people, people.assign(a="any")).details["bits"]
    {'a': 1.0}
    """
    both = pair(original, masked, schema, links)
    names = common_columns(both, columns, NOMINAL, "categorical")
    before, after = both.aligned()
    if not len(before):
        raise InputError("no masked record is linked to an original one; there are no values to compare")
    weights = before.weights()
    bits, relative = {}, []
    records = np.full((len(both.links), len(names)), np.nan)
    for k, name in enumerate(names):
        one, values, other = _together(before, after, name)
        size = len(values) + 1
        joint = np.bincount(other * size + one, weights, size * size).reshape(size, size)
        share = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
        logs = np.log2(share, out=np.zeros_like(share), where=share > 0)
        entropy = -(share * logs).sum(axis=1) + 0.0
        bits[name] = float(np.average(entropy[other], weights=weights))
        kinds = len(np.unique(one))
        relative.append(bits[name] / np.log2(kinds) if kinds > 1 else 0.0)
        records[both.links >= 0, k] = entropy[other]
    return Measure("Shannon entropy", float(np.mean(relative)), records.mean(axis=1), {"bits": bits})
