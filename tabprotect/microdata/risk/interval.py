"""Interval disclosure (Mateo-Sanz, Sebe and Domingo-Ferrer; survey of Ciriani et al. 2007, section 6.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, collect, did_you_mean
from tabprotect.kinds import of_kinds
from tabprotect.microdata.masked import Masked
from tabprotect.microdata.records import Records
from tabprotect.microdata.risk.base import Measure, Pair, pair
from tabprotect.microdata.risk.known_intervals import known_intervals
from tabprotect.microdata.risk.transparency import why_not_measured
from tabprotect.microdata.scales import Scale
from tabprotect.microdata.schema import Schema

__all__ = ["interval_disclosure"]

Floats = npt.NDArray[np.float64]

CONSISTENT = 1.4826
"""Turns a median absolute deviation into the standard deviation of a normal distribution."""


@of_kinds()
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
        are disclosed; nan without a link. A missing value on either side discloses nothing. Weights are not used. Of a
        `Masked`, ``details["with the method"]`` answers for an intruder who knows the methods and their parameters:
        the share of values for which these leave an interval that holds the true value and is no wider than the one
        asked about. Nobody needs to know a true value for that.

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
    if isinstance(masked, Masked):
        details |= _with_the_method(both, masked, names, before, after, width, kind)
    return Measure(f"interval disclosure ({kind})", float(np.mean(list(shares.values()))), records, details)


def _inside(true: Floats, masked: Floats, width: float, kind: str) -> npt.NDArray[np.bool_]:
    there = ~(np.isnan(true) | np.isnan(masked))
    found = np.zeros(len(true), dtype=bool)
    x, y = true[there], masked[there]
    if not len(x):
        return found
    if kind == "rank":
        found[there] = np.abs(_double_rank(x, y) - _double_rank(y, y)) <= 2 * _reach(width, len(y))
    else:
        found[there] = np.abs(x - y) <= _half(x, y, width, kind)
    return found


def _double_rank(x: Floats, masked: Floats) -> npt.NDArray[np.int64]:
    """Return twice the mid rank, a whole number: the masked values below, and those below or equal."""
    ordered = np.sort(masked)
    return np.asarray(np.searchsorted(ordered, x, "left") + np.searchsorted(ordered, x, "right"))


def _reach(width: float, records: int) -> float:
    """Return whole ranks: 0.29 of 100 records are 29."""
    return float(np.floor(width * records + 1e-9))


def _half(x: Floats, y: Floats, width: float, kind: str) -> Any:
    """Return half the width of the interval around every masked value."""
    if kind == "sd":
        return width * x.std(ddof=1) if len(x) > 1 else 0.0
    centre = np.median(x)
    return width * np.maximum(CONSISTENT * np.median(np.abs(x - centre)), np.abs(y - centre) / 3)


def _with_the_method(
    both: Pair, masked: Masked, names: Sequence[str], before: Records, after: Records, width: float, kind: str
) -> dict[str, Any]:
    """Return, for the details, which intervals the steps of the `Masked` leave."""
    why = why_not_measured(masked)
    known = None if why else known_intervals(both, masked, names)
    if known is None or not known.low:
        touched = {name for step in masked.steps for name in step.columns}
        reasons = [why] if why else list(known.unknown if known else ())
        return {"with the method": {"unknown": reasons}} if touched & set(names) else {}
    rows = both.links >= 0
    shares, contained, widths = {}, [], []
    for name in known.low:
        x, y, low, high = before.numbers(name), after.numbers(name), known.low[name][rows], known.high[name][rows]
        there = ~(np.isnan(x) | np.isnan(y))
        x, y, low, high = x[there], y[there], low[there], high[there]
        # ends are found to within rounding
        slack = 1e-9 * np.maximum(np.abs(x), 1e-300)
        inside = (x >= low - slack) & (x <= high + slack)
        if kind == "rank":
            narrow = _double_rank(high, y) - _double_rank(low, y) <= 4 * _reach(width, len(y))
        else:
            narrow = high - low <= 2 * _half(x, y, width, kind)
        shares[name] = float((inside & narrow & np.isfinite(high - low)).sum() / len(there))
        contained.append(float(inside.mean()) if len(inside) else 1.0)
        widths.append(float(np.median(high - low)) if len(inside) else np.inf)
    return {
        "with the method": {
            "value": float(np.mean(list(shares.values()))), "columns": shares,
            "contained": dict(zip(shares, contained, strict=True)),
            "median width": {n: w if np.isfinite(w) else None for n, w in zip(shares, widths, strict=True)},
            "known": known.known, "unknown": list(known.unknown),
        }
    }  # fmt: skip


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
