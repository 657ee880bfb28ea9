"""What every measure gives, and how original and masked files are brought together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.counted import counted
from tabprotect.errors import InputError
from tabprotect.errors import as_numbers as numbers_of
from tabprotect.microdata.masked import Masked
from tabprotect.microdata.records import Records, read_records
from tabprotect.microdata.risk.pictures import bars
from tabprotect.microdata.scales import Scale
from tabprotect.microdata.schema import Schema, require

__all__ = ["Measure", "Pair", "as_numbers", "pair", "share_unsafe"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Measure:
    """A measure of risk or utility; confidential.

    Attributes
    ----------
    name : str
    value : float
        Of the file.
    records : ndarray of float, shape (records,), optional
        Of every record, in the order of the file that it is about; see the function that returns it.
    details : mapping
        What the value is made of; JSON.
    """

    name: str
    value: float
    records: Floats | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def summary(self) -> str:
        """Return the value and its details, one line each."""
        lines = [f"{self.name}: {self.value:.6g}"]
        for key, value in self.details.items():
            lines.append(f"  {key}: {_short(value)}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON; values of records are internal."""
        records = None if self.records is None else [None if np.isnan(x) else float(x) for x in self.records]
        value = None if np.isnan(self.value) else float(self.value)
        return {"name": self.name, "value": value, "records": records, "details": dict(self.details)}

    def plot(self) -> str:
        """Return an SVG picture: the distribution over records, or a bar for every number among the details."""
        if self.records is not None and len(self.records):
            there = self.records[np.isfinite(self.records)]
            counts, edges = np.histogram(there, bins=20) if len(there) else (np.zeros(1), np.zeros(2))
            found = [(f"{edges[i]:.3g}", float(counts[i])) for i in range(len(counts))]
        else:
            numbers = {k: v for k, v in self.details.items() if isinstance(v, int | float) and np.isfinite(v)}
            found = [(key, float(value)) for key, value in (numbers or {self.name: self.value}).items()]
        return bars(self.name, found)


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(value)
    return text if len(text) <= 100 else text[:97] + "..."


def share_unsafe(
    name: str, of_records: Floats, unsafe: npt.NDArray[np.bool_], records: Records, details: Mapping[str, Any]
) -> Measure:
    """Return the share of unsafe records as a measure; with weights, details tell that of the population, too."""
    given = dict(details) | {"unsafe records": int(unsafe.sum())}
    if records.schema.weight is not None:
        weights = records.weights()
        given["share of the population"] = float(weights[unsafe].sum() / weights.sum())
    return Measure(name, float(unsafe.mean()), of_records, given)


@dataclass(frozen=True, eq=False)
class Pair:
    """Two files and which records belong together.

    Attributes
    ----------
    original, masked : Records
    links : ndarray of int, shape (masked records,)
        Original record of every masked one, -1 for none.
    """

    original: Records
    masked: Records
    links: Ints

    def aligned(self) -> tuple[Records, Records]:
        """Return the linked records of both files, row by row."""
        there = np.flatnonzero(self.links >= 0)
        if len(there) == len(self.original) == len(self.masked) and (self.links == np.arange(len(there))).all():
            return self.original, self.masked
        return self.original.take(self.links[there]), self.masked.take(there)


def pair(original: Any, masked: Any, schema: Schema | None = None, links: Any = None) -> Pair:
    """Bring an original and a masked file together.

    Parameters
    ----------
    original : frame of any kind
    masked : frame of any kind, or Masked
        A `Masked` knows which record comes from which; so does `links`. Without either, row i of one file belongs to
        row i of the other. Of a `Masked`, labels in the place of numbers (intervals) are read by `as_numbers`.
    schema : Schema, optional
        By default that of a `Masked`.
    links : array_like of int, optional
        For every masked record the position of the original one, -1 for none.

    Raises
    ------
    InputError
        If the files differ in length and nothing says which record comes from which.
    """
    if isinstance(masked, Masked):
        schema = masked.original.schema if schema is None else schema
        released = as_numbers(masked.original, masked.records, masked.links)
        links = masked.links if links is None else links
    else:
        released = masked
    schema = require(schema)
    one = read_records(original, schema)
    loose = released if isinstance(released, Records) else read_records(released, Schema())
    known = schema.only(loose.columns)
    if known.weight is None and loose.schema.weight is not None:
        # a method may add weights, such as a sample's
        known = replace(known, weight=loose.schema.weight)
    other = Records(loose.frame, known, loose.kind)
    if links is None:
        if len(one) != len(other):
            raise InputError(
                f"the original file has {counted(len(one), 'record')}, the masked one {len(other)}; give "
                "links=, the original "
                "record of every masked one (-1 for none), or the Masked itself"
            )
        links = np.arange(len(one))
    given = numbers_of(links, "links", "a position for every masked record")
    found = np.where(np.isfinite(given), given, -2).astype(np.int64)
    if (
        not np.array_equal(found, given)
        or found.shape != (len(other),)
        or found.min(initial=-1) < -1
        or found.max(initial=-1) >= len(one)
    ):
        raise InputError(f"links must be {len(other)} positions of original records, from 0 to {len(one) - 1} or -1")
    return Pair(one, other, found)


def as_numbers(original: Records, masked: Records, links: Ints) -> Records:
    """Replace labels of continuous columns, such as intervals, by the mean of the original values of each label.

    That is the least loss with which labels can be read as numbers. Without an original record a label is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> one = read_records(pd.DataFrame({"age": [21, 25, 34]}), Schema())
    >>> other = read_records(pd.DataFrame({"age": ["20-29", "20-29", "30-39"]}), Schema())
    >>> as_numbers(one, other, np.arange(3)).numbers("age").tolist()
    [23.0, 23.0, 34.0]
    """
    found = masked
    for name in masked.columns:
        if name not in original.columns or masked.frame[name].dtype.is_numeric():
            continue
        if original.scale(name) is not Scale.CONTINUOUS:
            continue
        index, count = masked.codes(name)
        values = np.full(len(masked), np.nan)
        values[links >= 0] = original.numbers(name)[links[links >= 0]]
        there = (index >= 0) & ~np.isnan(values)
        sums = np.bincount(index[there], weights=values[there], minlength=count)
        sizes = np.bincount(index[there], minlength=count)
        means = np.append(np.where(sizes > 0, sums / np.maximum(sizes, 1), np.nan), np.nan)
        found = found.without([name]).with_numbers(name, means[index])
    return found.select(masked.columns) if found is not masked else masked
