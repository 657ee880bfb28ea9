"""Individual risk of re-identification from a sample (Benedetti and Franconi 1998; survey, section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError
from tabprotect.kinds import of_kinds
from tabprotect.microdata.records import Records, read_records
from tabprotect.microdata.risk.base import Measure
from tabprotect.microdata.schema import Schema, require

__all__ = ["household_risk", "individual_risk", "keys_of", "posterior_mean_of_inverse"]

Floats = npt.NDArray[np.float64]

RECURSION = 60
"""Sample frequencies up to this go by recursion, larger ones by the series."""


def posterior_mean_of_inverse(f: npt.ArrayLike, p: npt.ArrayLike) -> Floats:
    """Return E(1 / F | f) where F given f is negative binomial with success probability p.

    It is ``p / f * 2F1(1, 1; f + 1; q)`` with q = 1 - p, or ``p J(f)`` with J(f) the integral of
    ``(1 - t)^(f-1) / (1 - q t)`` over [0, 1].
    For p up to 1/2 and small f it comes from ``J(f+1) = (1/f - p J(f)) / (1 - p)``, whose errors do not grow then; else
    from the hypergeometric series, which converges fast there.

    Parameters
    ----------
    f : array_like of int
        Frequency in the sample, at least 1.
    p : array_like of float
        Sampling fraction of the combination, in (0, 1].

    Examples
    --------
    >>> posterior_mean_of_inverse([1, 1, 2, 500], [1.0, 0.5, 0.5, 0.01]).round(6).tolist()
    [1.0, 0.693147, 0.306853, 2e-05]
    """
    f, p = np.broadcast_arrays(np.asarray(f, dtype=np.int64), np.asarray(p, dtype=np.float64))
    found = np.ones(f.shape)
    q = 1 - p
    small = (f <= RECURSION) & (p <= 0.5)
    if small.any():
        ps, qs, fs = p[small], q[small], f[small]
        j = -np.log(ps) / qs
        value = np.where(fs == 1, ps * j, 0.0)
        for k in range(1, int(fs.max())):
            j = (1 / k - ps * j) / qs
            value = np.where(fs == k + 1, ps * j, value)
        found[small] = value
    rest = ~small & (q > 0)
    if rest.any():
        pr, qr, fr = p[rest], q[rest], f[rest].astype(np.float64)
        term = np.ones(len(pr))
        total = term.copy()
        n = 0
        while (term > 1e-17 * total).any():
            term = term * qr * (n + 1) / (fr + 1 + n)
            total += term
            n += 1
        found[rest] = pr / fr * total
    full = (q <= 0) & ~small
    found[full] = 1.0 / f[full]
    return found


@of_kinds()
def individual_risk(original: Any, masked: Any = None, schema: Schema | None = None) -> Measure:
    """Risk of every record that an intruder who knows its keys finds it: the expectation of 1 / F given f.

    f is the number of records with the same keys, the population frequency F has a negative binomial distribution with
    success probability f / (sum of the weights of these records). A missing key counts as a value of its own. Of the
    masked file where one is given.

    Parameters
    ----------
    original, masked : frame of any kind, or Masked
    schema : Schema
        With keys and a weight.

    Returns
    -------
    Measure
        ``value``: expected number of re-identifications; ``records``: the risk of every record.

    Raises
    ------
    InputError
        Without keys or weights, or where weights are below 1.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"age": [20, 20, 90], "w": [10.0, 30.0, 1.0]})
    >>> found = individual_risk(frame, schema=md.Schema(keys=["age"], weight="w"))
    >>> found.records.round(4).tolist()
    [0.0443, 0.0443, 1.0]
    """
    records, keys = keys_of(original if masked is None else masked, schema)
    risk = _risk(records, keys)
    details = {"records": len(records), "largest": float(risk.max()), "keys": list(keys), "model": "negative binomial"}
    return Measure("individual risk", float(risk.sum()), risk, details)


@of_kinds()
def household_risk(original: Any, masked: Any = None, schema: Schema | None = None) -> Measure:
    """Risk of every record that somebody of its household is found: 1 - product of (1 - individual risk).

    Parameters and errors as `individual_risk`; the schema names a household.

    Returns
    -------
    Measure
        ``value``: expected number of households with a re-identification.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"age": [20, 90, 20], "h": [1, 1, 2], "w": [10.0, 1.0, 30.0]})
    >>> found = household_risk(frame, schema=md.Schema(keys=["age"], weight="w", household="h"))
    >>> found.records.round(4).tolist()
    [1.0, 1.0, 0.0443]
    """
    records, keys = keys_of(original if masked is None else masked, schema)
    if records.schema.household is None:
        raise InputError("household risk: the schema names no household")
    risk = _risk(records, keys)
    index, count = records.groups([records.schema.household])
    with np.errstate(divide="ignore"):
        safe = np.exp(np.bincount(index, weights=np.log1p(-np.minimum(risk, 1.0)), minlength=count))
    of_households = 1 - safe
    return Measure("household risk", float(of_households.sum()), of_households[index], {"households": count})


def _risk(records: Records, keys: Sequence[str]) -> Floats:
    if records.schema.weight is None:
        raise InputError("individual risk: the schema names no weight; without one every record stands for itself")
    weights = records.weights()
    if (weights < 1).any():
        raise InputError(f"individual risk: weights in '{records.schema.weight}' must be at least 1")
    index, count = records.groups(keys)
    f = np.bincount(index, minlength=count)
    total = np.bincount(index, weights=weights, minlength=count)
    return posterior_mean_of_inverse(f, np.minimum(f / total, 1.0))[index]


def keys_of(data: Any, schema: Schema | None) -> tuple[Records, tuple[str, ...]]:
    """Return the records and their keys.

    Raises
    ------
    InputError
        If the schema names no key.
    """
    from tabprotect.microdata.masked import Masked

    if isinstance(data, Masked):
        schema, data = data.records.schema if schema is None else schema, data.records
    schema = require(schema)
    if isinstance(data, Records):
        schema = schema.only(data.columns)
    if not schema.keys:
        raise InputError("this measure needs keys: Schema(keys=[...])")
    records = read_records(data, schema)
    return Records(records.frame, schema, records.kind), tuple(schema.keys)
