"""Uniques in the sample and in the population (survey of Ciriani et al., section 6.1; Skinner and Elliot 2002)."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from tabprotect.errors import InputError
from tabprotect.kinds import of_kinds
from tabprotect.microdata.keys import row_numbers
from tabprotect.microdata.records import read_records
from tabprotect.microdata.risk.agreement import joint_codes
from tabprotect.microdata.risk.base import Measure
from tabprotect.microdata.risk.individual import keys_of
from tabprotect.microdata.schema import Schema

__all__ = ["data_intrusion_simulation", "population_uniqueness", "sample_uniqueness"]


@of_kinds()
def sample_uniqueness(original: Any, masked: Any = None, schema: Schema | None = None) -> Measure:
    """Share of records whose keys nobody else in the file has; a missing key is a value of its own.

    Parameters
    ----------
    original, masked : frame of any kind, or Masked
        Of the masked file where one is given.
    schema : Schema
        With keys.

    Returns
    -------
    Measure
        ``records``: how many records share the keys of each.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"age": [20, 20, 90]})
    >>> found = sample_uniqueness(frame, schema=md.Schema(keys=["age"]))
    >>> round(found.value, 3), found.records.tolist()
    (0.333, [2.0, 2.0, 1.0])
    """
    records, keys = keys_of(original if masked is None else masked, schema)
    index, count = records.groups(keys)
    size = np.bincount(index, minlength=count)
    shared = size[index].astype(np.float64)
    details = {"combinations": count, "uniques": int((size == 1).sum()), "pairs": int((size == 2).sum())}
    return Measure("sample uniques", float((shared == 1).mean()), shared, details)


@of_kinds()
def population_uniqueness(
    original: Any, masked: Any = None, schema: Schema | None = None, *, population: Any = None
) -> Measure:
    """Pr(PU | SU): share of the sample uniques that are unique in the population, too.

    Parameters
    ----------
    original, masked : frame of any kind, or Masked
        The sample; of the masked file where one is given.
    schema : Schema
        With keys.
    population : frame of any kind
        Everybody, with the key columns.

    Returns
    -------
    Measure
        ``records``: population frequency of the keys of every record (0 where nobody has them); details tell Pr(PU),
        the share of the population that is unique.

    Raises
    ------
    InputError
        Without a population.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> everybody = pd.DataFrame({"age": [20, 20, 30, 30, 90]})
    >>> found = population_uniqueness(everybody.iloc[[0, 2, 4]], schema=md.Schema(keys=["age"]), population=everybody)
    >>> round(found.value, 3), found.details["Pr(PU)"]
    (0.333, 0.2)
    """
    if population is None:
        raise InputError("population_uniqueness: population is missing, the key columns of everybody")
    records, keys = keys_of(original if masked is None else masked, schema)
    everybody = read_records(population, Schema(keys=list(keys)))
    codes = [joint_codes(records, everybody, key) for key in keys]
    both_files = np.vstack([np.column_stack([a for a, _ in codes]), np.column_stack([b for _, b in codes])])
    numbers, _ = row_numbers(both_files, (both_files.max(axis=0) + 1).tolist())
    place = pd.factorize(numbers)[0]
    theirs = np.bincount(place[len(records) :], minlength=int(place.max()) + 1)
    big = theirs[place[: len(records)]].astype(np.float64)
    index, count = records.groups(keys)
    unique = np.bincount(index, minlength=count)[index] == 1
    both = int((unique & (big == 1)).sum())
    value = both / int(unique.sum()) if unique.any() else 0.0
    details = {
        "sample uniques": int(unique.sum()), "of these population uniques": both,
        "Pr(PU)": float((theirs == 1).sum() / len(everybody)),
    }  # fmt: skip
    return Measure("population uniques among sample uniques", value, big, details)


@of_kinds()
def data_intrusion_simulation(
    original: Any, masked: Any = None, schema: Schema | None = None, *, fraction: float | None = None
) -> Measure:
    """Probability that a unique match of an intruder with the sample is correct (Skinner and Elliot 2002).

    ``theta = pi n1 / (pi n1 + 2 (1 - pi) n2)`` with n1 sample uniques, n2 pairs (combinations that two records have)
    and the sampling fraction pi.

    Parameters
    ----------
    original, masked : frame of any kind, or Masked
        Of the masked file where one is given.
    schema : Schema
        With keys, and a weight where the fraction is not given.
    fraction : float, optional
        Sampling fraction; by default the number of records over the sum of the weights.

    Raises
    ------
    InputError
        If the fraction is not in (0, 1], or neither given nor to be had from weights.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"age": [20, 20, 90, 91]})
    >>> data_intrusion_simulation(frame, schema=md.Schema(keys=["age"]), fraction=0.1).value.__round__(4)
    0.1
    """
    records, keys = keys_of(original if masked is None else masked, schema)
    if fraction is None and records.schema.weight is None:
        raise InputError("data intrusion simulation needs fraction=, or a weight in the schema")
    pi = len(records) / float(records.weights().sum()) if fraction is None else fraction
    if isinstance(pi, bool) or not isinstance(pi, Real) or not 0 < pi <= 1:
        raise InputError(f"the sampling fraction must be above 0 and at most 1, not {pi!r}")
    index, count = records.groups(keys)
    size = np.bincount(index, minlength=count)
    ones, twos = int((size == 1).sum()), int((size == 2).sum())
    below = pi * ones + 2 * (1 - pi) * twos
    return Measure(
        "data intrusion simulation", pi * ones / below if below else 0.0, None, {"uniques": ones, "pairs": twos}
    )
