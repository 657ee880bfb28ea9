"""Clusters of records with the same keys in both files, and what follows from them (Truta et al. 2004, section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from tabprotect.microdata.records import Records

__all__ = ["ClusterRisk", "Clusters", "cluster_risk"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ClusterRisk:
    """The sums of the measures over records, before they are multiplied by factors.

    Attributes
    ----------
    least : float
        c_11 / n.
    most : float
        Sum of c_ij / max(i, j), over n.
    weighted : float
        The same with weights w_ij / w_11; nan without a weight matrix.
    """

    least: float
    most: float
    weighted: float


@dataclass(frozen=True, eq=False)
class Clusters:
    """Keys of both files as numbers, and which records belong together.

    Attributes
    ----------
    keys : tuple of str
    original, released : tuple of ndarray of int
        Codes of every key, from 0 up; a missing value has a code of its own.
    links : ndarray of int, shape (released records,)
        Original record of every released one, -1 for none.
    """

    keys: tuple[str, ...]
    original: tuple[Ints, ...]
    released: tuple[Ints, ...]
    links: Ints

    @classmethod
    def of(cls, original: Records, released: Records, links: Ints, keys: Sequence[str]) -> Clusters:
        """Number the keys of both files."""
        codes = [[records.codes(name)[0] + 1 for name in keys] for records in (original, released)]
        return cls(tuple(keys), tuple(codes[0]), tuple(codes[1]), np.asarray(links, dtype=np.int64))

    def sizes(self, subset: Sequence[int]) -> tuple[Ints, Ints]:
        """Return the sizes (i, j) of the clusters of every linked record in the released and the original file."""
        there = self.links >= 0
        released = _sizes([self.released[k] for k in subset], len(self.links))
        original = _sizes([self.original[k] for k in subset], len(self.original[0]))
        return released[there], original[self.links[there]]

    def matrix(self, subset: Sequence[int]) -> sparse.coo_array:
        """Return the classification matrix: records by size of their clusters, c[i-1, j-1], as a sparse array."""
        i, j = self.sizes(subset)
        shape = (max(len(self.links), 1), max(len(self.original[0]), 1))
        found = sparse.coo_array((np.ones(len(i), dtype=np.int64), (i - 1, j - 1)), shape=shape)
        found.sum_duplicates()
        return found

    def risk(self, subset: Sequence[int], weights: Floats | None = None) -> ClusterRisk:
        """Return the sums of the measures for some keys; 3.2 in the simpler form sum of c_ij / max(i, j)."""
        return cluster_risk(*self.sizes(subset), len(self.original[0]), weights)


def cluster_risk(i: Ints, j: Ints, n: int, weights: Floats | None = None) -> ClusterRisk:
    """Return the sums of the measures from the sizes of the clusters of linked records.

    Examples
    --------
    >>> cluster_risk(np.array([1, 1, 2]), np.array([1, 2, 2]), 4)
    ClusterRisk(least=0.25, most=0.5, weighted=nan)
    """
    share = 1.0 / np.maximum(i, j)
    least = float(((i == 1) & (j == 1)).sum() / n)
    weighted = float("nan")
    if weights is not None:
        inside = (i <= weights.shape[0]) & (j <= weights.shape[1])
        weighted = float((weights[i[inside] - 1, j[inside] - 1] * share[inside]).sum() / (n * weights[0, 0]))
    return ClusterRisk(least, float(share.sum() / n), weighted)


def _sizes(codes: Sequence[Ints], count: int) -> Ints:
    """Return how many records share the codes of each record."""
    index, room = np.zeros(count, dtype=np.int64), 1
    for code in codes:
        size = int(code.max(initial=0)) + 1
        if room * size > 2**62:
            index, found = pd.factorize(index)
            room = len(found)
        index, room = index * size + code, room * size
    if room > 4 * count + 1024:
        index = pd.factorize(index)[0]
    return np.bincount(index)[index].astype(np.int64)
