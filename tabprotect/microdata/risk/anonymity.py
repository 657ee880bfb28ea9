"""k-anonymity, l-diversity and t-closeness of a file, as measures of risk."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, did_you_mean
from tabprotect.kinds import of_kinds
from tabprotect.microdata import anonymity
from tabprotect.microdata.anonymity import Distance, Missing
from tabprotect.microdata.records import Records
from tabprotect.microdata.risk.base import Measure, share_unsafe
from tabprotect.microdata.risk.individual import keys_of
from tabprotect.microdata.schema import Schema

__all__ = ["k_anonymity", "l_diversity", "t_closeness"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Diversity = Literal["distinct", "entropy", "recursive"]

CELLS = 10_000_000
"""Counts of classes by values that are held in memory at a time."""


@of_kinds()
def k_anonymity(
    original: Any, masked: Any = None, schema: Schema | None = None, *, k: int = 3, missing: Missing = "any"
) -> Measure:
    """Share of records whose keys fewer than k records share.

    Parameters
    ----------
    original, masked : frame of any kind, or Masked
        Of the masked file where one is given.
    schema : Schema
        With keys. Weights do not change counts; with one, details tell the share of the population, too.
    k : int
        At least 1.
    missing : {'any', 'both', 'stated', 'own'}
        What a missing key matches; see `tabprotect.microdata.anonymity.key_counts`. Only one file is looked at, so
        'any' is 'both' here: a missing value matches every value.

    Returns
    -------
    Measure
        ``records``: how many records match the keys of each, itself among them. Details: k of the file, the least of
        them.

    Raises
    ------
    InputError

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"age": [20, 20, 90]})
    >>> found = k_anonymity(frame, schema=md.Schema(keys=["age"]), k=2)
    >>> round(found.value, 3), found.records.tolist(), found.details["k of the file"]
    (0.333, [2.0, 2.0, 1.0], 1)
    """
    _at_least("k", k, 1, whole=True)
    records, keys = keys_of(original if masked is None else masked, schema)
    counts = anonymity.key_counts(records, keys, missing)
    details = {"k": int(k), "k of the file": int(counts.min()), "missing": missing, "keys": list(keys)}
    return share_unsafe("k-anonymity", counts.astype(np.float64), counts < k, records, details)


@of_kinds()
def l_diversity(
    original: Any,
    masked: Any = None,
    schema: Schema | None = None,
    *,
    l: float = 2,
    column: str | None = None,
    kind: Diversity = "distinct",
    c: float | None = None,
) -> Measure:
    """Share of records whose class is not l-diverse in a confidential column (Machanavajjhala et al. 2007).

    A class is the records that share their keys; a missing key is a value of its own. Missing confidential values are
    not counted: a class without any other is not diverse.

    Parameters
    ----------
    original, masked : frame of any kind, or Masked
        Of the masked file where one is given.
    schema : Schema
        With keys. Weights do not change counts; with one, details tell the share of the population, too.
    l : float
        At least 1; whole but for 'entropy'.
    column : str, optional
        By default the confidential column, where there is only one.
    kind : {'distinct', 'entropy', 'recursive'}
        Number of different values; exponential of the entropy; or (c, l): the commonest value is rarer than c times all
        from the l-th on.
    c : float, optional
        For 'recursive'.

    Returns
    -------
    Measure
        ``records``: the number or the exponential of every record's class; for 'recursive' the least c above which it
        is (c, l)-diverse, nan where there is none. Details: the worst of them.

    Raises
    ------
    InputError

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"age": [20, 20, 90, 90], "ill": ["yes", "no", "yes", "yes"]})
    >>> found = l_diversity(frame, schema=md.Schema(keys=["age"], confidential=["ill"]))
    >>> found.value, found.records.tolist()
    (0.5, [2.0, 2.0, 1.0, 1.0])
    """
    if kind not in get_args(Diversity):
        raise InputError(f"diversity cannot be {kind!r}{did_you_mean(kind, get_args(Diversity))}")
    _at_least("l", l, 1, whole=kind != "entropy")
    if (kind == "recursive") != (c is not None):
        raise InputError("c belongs to recursive diversity, and recursive diversity needs it")
    records, keys = keys_of(original if masked is None else masked, schema)
    name = _confidential(records, column)
    measures: dict[str, Callable[[Floats], Floats]] = {
        "distinct": anonymity.distinct_diversity,
        "entropy": anonymity.entropy_diversity,
        "recursive": lambda counts: anonymity.recursive_diversity(counts, int(l)),
    }
    index, of_class = _by_class(records, keys, name, measures[kind])
    details: dict[str, Any] = {"l": l, "kind": kind, "column": name, "keys": list(keys), "classes": len(of_class)}
    if c is not None:
        _at_least("c", c, 0, whole=False)
        bad, worst = of_class >= c, float(of_class.max())
        details |= {"c": c, "least c of the file": worst if np.isfinite(worst) else None}
    else:
        bad, worst = of_class < l * (1 - 1e-12), float(of_class.min())
        details |= {"l of the file": worst}
    of_class = np.where(np.isinf(of_class), np.nan, of_class)
    return share_unsafe("l-diversity", of_class[index], bad[index], records, details)


@of_kinds()
def t_closeness(
    original: Any,
    masked: Any = None,
    schema: Schema | None = None,
    *,
    t: float = 0.2,
    column: str | None = None,
    distance: Distance = "equal",
) -> Measure:
    """Share of records in whose class a confidential column is farther than t from that of the file (Li et al. 2007).

    Classes and missing values as in `l_diversity`; a class without values is not close.

    Parameters
    ----------
    original, masked : frame of any kind, or Masked
        Of the masked file where one is given.
    schema : Schema
        With keys. Weights do not change counts; with one, details tell the share of the population, too.
    t : float
        From 0 to 1.
    column : str, optional
        By default the confidential column, where there is only one.
    distance : {'equal', 'ordered', 'hierarchical'}
        Of the earth mover; see `tabprotect.microdata.anonymity.closeness`. 'hierarchical' takes the tree of the schema.

    Returns
    -------
    Measure
        ``records``: the distance of every record's class, nan for a class without values. Details: t of the file, the
        largest of them.

    Raises
    ------
    InputError

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"age": [20, 20, 90, 90], "ill": ["yes", "no", "yes", "yes"]})
    >>> found = t_closeness(frame, schema=md.Schema(keys=["age"], confidential=["ill"]))
    >>> found.value, found.records.tolist()
    (1.0, [0.25, 0.25, 0.25, 0.25])
    """
    if distance not in get_args(Distance):
        raise InputError(f"distance cannot be {distance!r}{did_you_mean(distance, get_args(Distance))}")
    _at_least("t", t, 0, whole=False)
    if t > 1:
        raise InputError(f"t must be at most 1, not {t!r}")
    records, keys = keys_of(original if masked is None else masked, schema)
    name = _confidential(records, column)
    found = records.categories(name)
    tree = None
    if distance == "hierarchical":
        if name not in records.schema.hierarchies:
            raise InputError(
                f"column '{name}' has no value tree; give one in the schema, hierarchies={{'{name}': ...}}"
            )
        tree = anonymity.tree_distances(found.values, records.schema.hierarchies[name])
    # a column without any value has no distribution
    whole = found.counts().astype(np.float64) if found.values else np.zeros(1)
    index, of_class = _by_class(records, keys, name, lambda counts: anonymity.closeness(counts, whole, distance, tree))
    far = ~(of_class <= t + 1e-12)
    largest = None if np.isnan(of_class).all() else float(np.nanmax(of_class))
    details = {
        "t": t, "t of the file": largest, "distance": distance, "column": name, "keys": list(keys),
        "classes": len(of_class),
    }  # fmt: skip
    return share_unsafe("t-closeness", of_class[index], far[index], records, details)


def _at_least(name: str, value: Any, least: float, *, whole: bool) -> None:
    good = isinstance(value, Real | np.number) and not isinstance(value, bool) and least <= float(value) < np.inf
    if not good or (whole and value != int(value)):
        raise InputError(f"{name} must be a {'whole ' if whole else ''}number of at least {least:g}, not {value!r}")


def _confidential(records: Records, column: str | None) -> str:
    if column is None:
        if len(records.schema.confidential) != 1:
            raise InputError(
                f"name the confidential column, column=: the schema has {len(records.schema.confidential)}"
            )
        return records.schema.confidential[0]
    if column not in records.columns:
        raise InputError(f"no column '{column}'{did_you_mean(column, records.columns)}")
    return column


def _by_class(
    records: Records, keys: tuple[str, ...], column: str, measure: Callable[[Floats], Floats]
) -> tuple[Ints, Floats]:
    """Return the class of every record, and a measure of the counts of values in every class."""
    index, count = records.groups(keys)
    values = records.categories(column)
    width = max(len(values.values), 1)
    order = np.argsort(index, kind="stable")
    found = []
    step = max(CELLS // width, 1)
    for start in range(0, count, step):
        stop = min(start + step, count)
        part = order[slice(*np.searchsorted(index, (start, stop), sorter=order))]
        found.append(measure(anonymity.value_counts(index[part] - start, values.index[part], stop - start, width)))
    return index, np.concatenate(found)
