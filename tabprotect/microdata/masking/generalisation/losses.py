"""What generalisation loses: measures that the lattice search minimises, with bounds that grow along the lattice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabprotect.microdata.masking.generalisation.rungs import Rungs

__all__ = ["LOSSES", "Loss", "make_loss"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

LOSSES = ("height", "precision", "loss-metric", "entropy", "discernibility", "class-size")
"""Measures of loss; see `Loss`."""


@dataclass(frozen=True, eq=False)
class Loss:
    """One measure over one file and its ladders; smaller is better.

    ``height``: the sum of the levels (Samarati 2001); suppressed records do not count.
    ``precision``: the mean over all cells of level / height of the ladder (one minus Sweeney's Prec).
    ``loss-metric``: the mean over all cells of (values under the label - 1) / (values - 1) (Iyengar 2002).
    ``entropy``: the sum over all cells of -log2(records with the value / records with the label), in bits (non-uniform
    entropy: Gionis, Tassa 2009).
    ``discernibility``: the sum of the squared class sizes, and the number of records for each suppressed one (Bayardo,
    Agrawal 2005).
    ``class-size``: records / classes / k, all suppressed records being one class (LeFevre et al. 2006).

    A suppressed record costs as much as one whose keys are all at the top of their ladders. Values are those that
    occur in the file.

    Attributes
    ----------
    name : str
    levels : tuple of ndarray
        For every key and level what all records lose; empty for measures of classes.
    extra : tuple of tuple of ndarray
        For every key and level what suppressing a record costs more, by label.
    records, k : int
    """

    name: str
    levels: tuple[Floats, ...]
    extra: tuple[tuple[Floats, ...], ...]
    records: int
    k: int

    @property
    def by_key(self) -> bool:
        """Whether it is a sum over keys, known before classes are."""
        return bool(self.levels)

    def of_classes(self, sizes: Floats) -> float:
        """Return a bound for a node, and all above it, from its class sizes (nothing suppressed)."""
        if self.name == "discernibility":
            return float((sizes**2).sum())
        return self.records / (len(sizes) + 1) / self.k

    def value(self, node: Sequence[int], sizes: Floats, labels: Sequence[Ints], bad: Flags) -> float:
        """Return the loss of a node whose bad classes are suppressed.

        Parameters
        ----------
        node : sequence of int
            Levels.
        sizes : ndarray, shape (classes,)
        labels : sequence of ndarray of int, shape (classes,)
            The label of each class, key by key.
        bad : ndarray of bool, shape (classes,)
        """
        if self.name == "discernibility":
            return float((sizes[~bad] ** 2).sum() + self.records * sizes[bad].sum())
        if self.name == "class-size":
            return self.records / max(int((~bad).sum()) + int(bad.any()), 1) / self.k
        base = sum(float(self.levels[j][level]) for j, level in enumerate(node))
        if bad.any():
            more = sum((self.extra[j][level][labels[j][bad]] for j, level in enumerate(node)), np.zeros(int(bad.sum())))
            base += float((more * sizes[bad]).sum())
        return base


def make_loss(name: str, rungs: Sequence[Rungs], codes: Ints, counts: Ints, k: int) -> Loss:
    """Prepare a measure.

    Parameters
    ----------
    name : {'height', 'precision', 'loss-metric', 'entropy', 'discernibility', 'class-size'}
    rungs : sequence of Rungs
    codes : ndarray of int, shape (patterns, keys)
        Values as the ladders number them; the last number is that of a missing value.
    counts : ndarray of int, shape (patterns,)
    k : int
    """
    n = int(counts.sum())
    if name in ("discernibility", "class-size"):
        return Loss(name, (), (), n, k)
    levels, extra = [], []
    for j, ladder in enumerate(rungs):
        often = np.bincount(codes[:, j], weights=counts, minlength=ladder.index.shape[1]).astype(np.float64)
        costs, mores = _one_key(name, ladder, often, n, len(rungs))
        levels.append(costs)
        extra.append(mores)
    return Loss(name, tuple(levels), tuple(extra), n, k)


def _one_key(name: str, ladder: Rungs, often: Floats, n: int, keys: int) -> tuple[Floats, tuple[Floats, ...]]:
    """Return what every level of a ladder loses, and by label what suppressing adds."""
    height = ladder.height
    there = often > 0
    costs, mores = np.zeros(height + 1), []
    for level in range(height + 1):
        index = ladder.index[level]
        size = len(ladder.labels[level])
        if name == "height":
            costs[level] = level
            mores.append(np.zeros(size))
            continue
        if name == "precision":
            each = np.full(size, level / height if height else 0.0)
        elif name == "loss-metric":
            under = np.bincount(index[there], minlength=size)
            each = (np.maximum(under, 1) - 1) / max(int(there.sum()) - 1, 1)
        else:
            label = np.bincount(index, weights=often, minlength=size)
            share = np.divide(often, label[index], out=np.ones_like(often), where=there)
            costs[level] = float(-(often[there] * np.log2(share[there])).sum())
            mores.append(-np.log2(np.where(label > 0, label, n) / n))
            continue
        costs[level] = float((often * each[index]).sum()) / (n * keys)
        mores.append((1.0 - each) / (n * keys))
    return costs, tuple(mores)
