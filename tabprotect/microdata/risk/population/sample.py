"""Frequencies of key combinations in a sample, and the size of its population."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.errors import Problems
from tabprotect.microdata.records import Records
from tabprotect.microdata.risk.base import Measure
from tabprotect.microdata.risk.individual import keys_of
from tabprotect.microdata.schema import Schema

__all__ = ["Sample", "as_measure", "read_sample"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sample:
    """What the models for population frequencies need.

    Attributes
    ----------
    records : Records
    keys : tuple of str
    index : ndarray of int, shape (records,)
        Combination of keys of every record.
    sizes : ndarray of int, shape (combinations,)
        Records of every combination, at least 1.
    population : int
        Number of people in the population, N.
    cells : int
        Number of combinations that are possible, K.
    """

    records: Records
    keys: tuple[str, ...]
    index: Ints
    sizes: Ints
    population: int
    cells: int

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.index)

    @property
    def fraction(self) -> float:
        """Sampling fraction."""
        return self.n / self.population

    @property
    def uniques(self) -> int:
        """Combinations with one record."""
        return int((self.sizes == 1).sum())


def read_sample(
    data: Any, schema: Schema | None, population_size: int | None, cells: int | None = None, *, what: str
) -> Sample:
    """Count the combinations of keys; a missing key is a value of its own.

    Parameters
    ----------
    data : frame of any kind, or Masked
    schema : Schema
    population_size : int, optional
        By default the sum of the weights, rounded.
    cells : int, optional
        By default the product of the numbers of categories of the keys.
    what : str
        Name of the measure, for errors.

    Raises
    ------
    InputError
        Without keys or population size, or with one below the number of records, or fewer cells than there are.
    """
    records, keys = keys_of(data, schema)
    index, count = records.groups(keys)
    sizes = np.bincount(index, minlength=count)
    problems = Problems()
    if population_size is None and records.schema.weight is None:
        problems.add(f"{what}: give population_size=, or a weight in the schema")
        problems.raise_if_any()
    size = round(float(records.weights().sum())) if population_size is None else population_size
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < len(records):
        problems.add(f"{what}: population_size must be at least the number of records, {len(records)}, not {size!r}")
    found = prod(_categories(records, key) for key in keys) if cells is None else cells
    if isinstance(found, bool) or not isinstance(found, int | np.integer) or found < count:
        problems.add(f"{what}: cells must be at least the {count} combinations in the file, not {found!r}")
    problems.raise_if_any()
    return Sample(records, keys, index, sizes, int(size), int(found))


def _categories(records: Records, key: str) -> int:
    codes, size = records.codes(key)
    return size + bool((codes < 0).any())


def as_measure(name: str, sample: Sample, given_unique: float, uniques: float, details: dict[str, Any]) -> Measure:
    """Return Pr(PU | SU) as a measure; every sample unique has it, other records 0."""
    shared = sample.sizes[sample.index]
    records = np.where(shared == 1, given_unique, 0.0)
    return Measure(name, float(given_unique), records, {
        "sample uniques": sample.uniques,
        "expected population uniques among them": float(given_unique * sample.uniques),
        "expected population uniques": float(uniques),
        "Pr(PU)": float(uniques / sample.population),
        "population": sample.population,
        "keys": list(sample.keys),
        **details,
    })  # fmt: skip
