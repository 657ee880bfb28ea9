"""Counts, sums and moments that do not depend on batches: sums are exact, see `tabprotect.sums`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tabprotect.microdata.large.part import Codebook, Part
from tabprotect.microdata.large.stage import Stage
from tabprotect.sums import Limbs

__all__ = ["Moments", "Terms", "exact_sums", "moments"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


LIMBS = 4
"""Parts into which terms are split: each is cut off alike, whatever batch it is in."""


class Terms(Protocol):
    """What is added up: the group of every record (-1 for none), and terms, shape (records, sums)."""

    def __call__(self, part: Part) -> tuple[Ints, Floats]:
        """Return groups and terms."""
        ...


@dataclass(frozen=True)
class _Sizes:
    terms: Terms

    def __call__(self, part: Part) -> tuple[Floats, Floats, int]:
        index, values = self.terms(part)
        size = np.abs(values[index >= 0])
        small = np.where(size > 0, size, np.inf)
        return size.max(axis=0, initial=0.0), small.min(axis=0, initial=np.inf), len(part.rows)


@dataclass(frozen=True)
class _Limbs:
    terms: Terms
    limbs: tuple[Limbs, ...]
    groups: int

    def __call__(self, part: Part) -> list[Floats]:
        index, values = self.terms(part)
        there = index >= 0
        index = index[there]
        found = []
        for j, limbs in enumerate(self.limbs):
            split = limbs.split(np.ascontiguousarray(values[there, j]))
            if self.groups == 1:
                found.append(split.sum(axis=0)[None])
            else:
                sums = [np.bincount(index, weights=one, minlength=self.groups) for one in split.T]
                found.append(np.column_stack(sums))
        return found


def exact_sums(stage: Stage, terms: Terms, columns: Sequence[str], groups: int) -> Floats:
    """Return the sums of terms in every group, shape (groups, sums): the same bits for all batches and orders.

    What is below 2^-80 of the largest term (for up to 10^9 records) is cut off.
    """
    sizes = stage.fold(_Sizes(terms), columns)
    largest = np.max([s[0] for s in sizes], axis=0)
    smallest = np.min([s[1] for s in sizes], axis=0)
    grids = (Limbs.over(stage.count, float(a), float(b), None) for a, b in zip(largest, smallest, strict=True))
    limbs = tuple(Limbs(one.quanta[:LIMBS], one.scale, one.decimal) for one in grids)
    parts = stage.fold(_Limbs(terms, limbs, groups), columns)
    return np.column_stack([one.join(np.sum([p[j] for p in parts], axis=0)) for j, one in enumerate(limbs)])


@dataclass(frozen=True, eq=False)
class Moments:
    """Counts, means and covariances (divisor n) of some columns in every stratum.

    Attributes
    ----------
    count : ndarray, shape (strata, columns)
    mean : ndarray, shape (strata, columns)
    cov : ndarray, shape (strata, columns, columns)
    """

    count: Floats
    mean: Floats
    cov: Floats


@dataclass(frozen=True)
class _First:
    names: tuple[str, ...]
    strata: Codebook
    together: bool

    def __call__(self, part: Part) -> tuple[Ints, Floats]:
        index, x = _values(self, part)
        there = ~np.isnan(x)
        return index, np.column_stack([np.where(there, x, 0.0), there.astype(np.float64)])


@dataclass(frozen=True)
class _Second:
    names: tuple[str, ...]
    strata: Codebook
    together: bool
    mean: Floats

    def __call__(self, part: Part) -> tuple[Ints, Floats]:
        index, x = _values(self, part)
        off = np.nan_to_num(x - self.mean[np.maximum(index, 0)])
        if not self.together:
            return index, off * off
        m = off.shape[1]
        return index, np.column_stack([off[:, i] * off[:, j] for i in range(m) for j in range(i + 1)])


def _values(terms: Any, part: Part) -> tuple[Ints, Floats]:
    x = part.matrix(terms.names)
    index = terms.strata.codes(part.table)
    return (np.where(np.isnan(x).any(axis=1), -1, index) if terms.together else index), x


def moments(stage: Stage, names: Sequence[str], strata: Codebook, together: bool) -> Moments:
    """Return the moments of columns; together: of records that state all of them, else column by column."""
    columns = tuple(dict.fromkeys((*names, *strata.names)))
    m, groups = len(names), len(strata)
    first = exact_sums(stage, _First(tuple(names), strata, together), columns, groups)
    count = first[:, m:]
    mean = first[:, :m] / np.maximum(count, 1)
    second = exact_sums(stage, _Second(tuple(names), strata, together, mean), columns, groups)
    cov = np.zeros((groups, m, m))
    if together:
        low = np.tril_indices(m)
        cov[:, low[0], low[1]] = second / np.maximum(count[:, :1], 1)
        cov[:, low[1], low[0]] = cov[:, low[0], low[1]]
    else:
        cov[:, np.arange(m), np.arange(m)] = second / np.maximum(count, 1)
    return Moments(count, mean, cov)
