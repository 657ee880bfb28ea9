"""Interval and attribute disclosure: how close a masked value comes to the true one.

Interval disclosure follows Mateo-Sanz, Sebe and Domingo-Ferrer and section 6.2 of the survey of Ciriani et al. (2007).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, collect, did_you_mean
from tabprotect.microdata.records import Records
from tabprotect.microdata.risk.base import Measure, Pair, pair
from tabprotect.microdata.scales import Scale
from tabprotect.microdata.schema import Schema

__all__ = ["attribute_disclosure", "interval_disclosure"]

Floats = npt.NDArray[np.float64]

CONSISTENT = 1.4826
"""Turns a median absolute deviation into the standard deviation of a normal distribution."""


def interval_disclosure(
    original: Any,
    masked: Any,
    schema: Schema | None = None,
    *,
    width: float = 0.1,
    kind: Literal["rank", "sd", "robust"] = "rank",
    columns: Sequence[str] | None = None,
    links: Any = None,
) -> Measure:
    """Return the share of true values that lie in an interval around their masked value.

    Parameters
    ----------
    original, masked : frame of any kind, or Masked
    schema : Schema
    width : float
        Half the width of the interval. For ``'rank'`` a share of the linked records: the true value is disclosed if
        its rank among the masked values is at most ``width * records`` from the rank of its own masked value. Equal
        values have the mean of their ranks, and a true value that no record has a rank halfway between its neighbours:
        the interval is centred on the masked value. Where many records get the same value, their ranks say little, and
        a column of one value discloses only the true values that are equal to it. For
        ``'sd'`` a share of the standard deviation of the true values. For ``'robust'`` a share of 1.4826 times their
        median absolute deviation, or of that of the record where it is larger: ``max(mad, |masked - median| / 3)``,
        so outliers, whose intervals would else be too narrow to count, are disclosed by values of their own size.
    kind : {'rank', 'sd', 'robust'}
    columns : sequence of str, optional
        Continuous columns; by default all continuous ones that are keys or confidential.
    links : array_like of int, optional

    Returns
    -------
    Measure
        `value` is the mean share over columns. `records` has, for every masked record, the share of its columns that
        are disclosed; nan without a link. A missing value on either side discloses nothing. Weights are not used.

    Raises
    ------
    InputError

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> people = pd.DataFrame({"income": [10.0, 20.0, 30.0, 40.0]})
    >>> masked = people.assign(income=[11.0, 19.0, 45.0, 12.0])
    >>> md.risk.interval_disclosure(people, masked, columns=["income"], kind="sd").value
    0.5
    """
    if kind not in ("rank", "sd", "robust"):
        raise InputError(f"kind cannot be {kind!r}{did_you_mean(kind, ('rank', 'sd', 'robust'))}")
    if not isinstance(width, int | float) or isinstance(width, bool) or not 0 < width < np.inf:
        raise InputError(f"width must be a number above 0, not {width!r}")
    both = pair(original, masked, schema, links)
    names = _continuous(both, columns)
    before, after = both.aligned()
    if not len(before):
        raise InputError("no masked record is linked to an original one; there are no values to compare")
    disclosed = np.column_stack([_inside(before.numbers(n), after.numbers(n), width, kind) for n in names])
    records = np.full(len(both.links), np.nan)
    records[both.links >= 0] = disclosed.mean(axis=1)
    shares = {name: float(disclosed[:, k].mean()) for k, name in enumerate(names)}
    details = {"kind": kind, "width": width, "columns": shares, "linked": len(before)}
    return Measure(f"interval disclosure ({kind})", float(np.mean(list(shares.values()))), records, details)


def _inside(true: Floats, masked: Floats, width: float, kind: str) -> npt.NDArray[np.bool_]:
    there = ~(np.isnan(true) | np.isnan(masked))
    found = np.zeros(len(true), dtype=bool)
    x, y = true[there], masked[there]
    if not len(x):
        return found
    if kind == "rank":
        # twice the mid rank, a whole number: the masked values below, and those below or equal
        ordered = np.sort(y)
        one, other = (np.searchsorted(ordered, v, "left") + np.searchsorted(ordered, v, "right") for v in (x, y))
        # whole ranks on both sides: 0.29 of 100 records are 29
        found[there] = np.abs(one - other) <= 2 * np.floor(width * len(y) + 1e-9)
        return found
    if kind == "sd":
        half: Any = width * x.std(ddof=1) if len(x) > 1 else 0.0
    else:
        centre = np.median(x)
        mad = CONSISTENT * np.median(np.abs(x - centre))
        half = width * np.maximum(mad, np.abs(y - centre) / 3)
    found[there] = np.abs(x - y) <= half
    return found


def _continuous(both: Pair, columns: Sequence[str] | None) -> list[str]:
    schema = both.original.schema
    if columns is None:
        roles = dict.fromkeys((*schema.keys, *schema.confidential))
        names = [n for n in roles if n in both.masked.columns and both.original.scale(n) is Scale.CONTINUOUS]
        if not names:
            raise InputError("no released key or confidential column is continuous; name columns=")
        return names
    with collect() as problems:
        for name in columns:
            if name not in both.original.columns or name not in both.masked.columns:
                problems.add(f"no column '{name}' in both files{did_you_mean(name, both.original.columns)}")
            elif both.original.scale(name) is not Scale.CONTINUOUS:
                problems.add(f"column '{name}' is {both.original.scale(name)}; intervals need a continuous one")
        if not columns:
            problems.add("columns must name at least one column")
    return list(columns)


def attribute_disclosure(
    original: Any,
    masked: Any,
    schema: Schema | None = None,
    *,
    column: str,
    tolerance: float = 0.0,
    links: Any = None,
) -> Measure:
    """Return how well the keys give a confidential value away in the masked file.

    An intruder who knows the true keys of a respondent looks up all masked records with these keys and guesses among
    their values at random. The risk of an original record is the share of them that is right: equal for categories,
    within ``tolerance`` times the true value for numbers. Without a masked record of these keys nothing is learned,
    and the risk is 0. Which masked record is whose is not used, so files may differ in length.

    Parameters
    ----------
    original, masked : frame of any kind, or Masked
    schema : Schema
        Its keys are what the intruder knows.
    column : str
        The confidential column.
    tolerance : float
        Relative, for continuous columns; 0 asks for equal values.
    links : array_like of int, optional
        Not needed.

    Returns
    -------
    Measure
        `value` is the mean over original records (weighted, if the schema has a weight), `records` the risk of each.
        `details` has the share that is right when the keys are not used, for comparison. A missing true value is at
        no risk; missing keys are values of their own.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> people = pd.DataFrame({"age": [1, 1, 2, 2], "ill": ["yes", "no", "no", "no"]})
    >>> md.risk.attribute_disclosure(people, people, md.Schema(keys=["age"], confidential=["ill"]), column="ill").value
    0.75
    """
    longer = -np.ones(_length(masked), dtype=np.int64) if links is None else links
    both = pair(original, masked, schema, longer)
    keys = [name for name in both.original.schema.keys if name in both.masked.columns]
    with collect() as problems:
        if not keys:
            problems.add("no key of the schema is released")
        if column not in both.original.columns or column not in both.masked.columns:
            problems.add(f"no column '{column}' in both files{did_you_mean(column, both.original.columns)}")
        if not isinstance(tolerance, int | float) or tolerance < 0 or not np.isfinite(tolerance):
            problems.add(f"tolerance must be a number of at least 0, not {tolerance!r}")
    one, other = _joint(both.original, both.masked, keys)
    values, masked_values = _numbers(both, column)
    risk = _hits(one, values, other, masked_values, tolerance)
    blind = _hits(np.zeros_like(one), values, np.zeros_like(other), masked_values, tolerance)
    weights = both.original.weights()
    details = {"column": column, "keys": keys, "without keys": float(np.average(blind, weights=weights))}
    return Measure("attribute disclosure", float(np.average(risk, weights=weights)), risk, details)


def _length(masked: Any) -> int:
    from tabprotect.microdata.masked import Masked
    from tabprotect.microdata.records import read_records

    return len(masked.records) if isinstance(masked, Masked) else len(read_records(masked, Schema()))


def _joint(original: Records, masked: Records, keys: Sequence[str]) -> tuple[Any, Any]:
    """Number the combinations of keys of both files alike."""
    import pandas as pd

    n = len(original)
    index = np.zeros(n + len(masked), dtype=np.int64)
    for name in keys:
        one, other = original.categories(name), masked.categories(name)
        place: dict[str, int] = {}
        codes = []
        for found in (one, other):
            to = np.array([place.setdefault(str(v), len(place)) for v in found.values] + [-1], dtype=np.int64)
            codes.append(to[found.index])
        both = np.concatenate(codes) + 1
        index = pd.factorize(index * (len(place) + 1) + both)[0].astype(np.int64)
    return index[:n], index[n:]


def _numbers(both: Pair, column: str) -> tuple[Floats, Floats]:
    """Return the values of a column as numbers, categories by number; nan as missing."""
    if both.original.scale(column) is Scale.CONTINUOUS:
        return both.original.numbers(column), both.masked.numbers(column)
    one, other = both.original.categories(column), both.masked.categories(column)
    place = {str(v): float(i) for i, v in enumerate(one.values)}
    return (
        np.array([*map(float, range(len(one.values))), np.nan])[one.index],
        np.array([place.get(str(v), -1.0 - i) for i, v in enumerate(other.values)] + [np.nan])[other.index],
    )


def _hits(group: Any, x: Floats, masked_group: Any, y: Floats, tolerance: float) -> Floats:
    """Return, for every true value, the share of the masked values of its group that are as close as asked."""
    kinds = int(max(group.max(initial=0), masked_group.max(initial=0))) + 1
    sizes = np.bincount(masked_group, minlength=kinds)
    there = ~np.isnan(y)
    order = np.lexsort((y[there], masked_group[there]))
    groups, ordered = masked_group[there][order], y[there][order]
    start = np.searchsorted(groups, np.arange(kinds + 1))
    reach = np.where(np.isnan(x), 0.0, np.abs(x) * tolerance)
    # one sorted sequence of (group, value): positions are found for all records at once by ranks of values
    known = np.unique(np.concatenate([ordered, x[~np.isnan(x)]]))
    rank = np.searchsorted(known, ordered)
    spots = groups * (len(known) + 1) + rank
    low = group * (len(known) + 1) + np.searchsorted(known, x - reach, side="left")
    high = group * (len(known) + 1) + np.searchsorted(known, x + reach, side="right") - 1
    count = np.searchsorted(spots, high, side="right") - np.searchsorted(spots, low, side="left")
    size = sizes[group]
    found = np.where((size > 0) & ~np.isnan(x), np.maximum(count, 0) / np.maximum(size, 1), 0.0)
    assert start[-1] == len(ordered)
    return np.asarray(found)
