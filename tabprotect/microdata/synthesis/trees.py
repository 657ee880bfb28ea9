"""Drawing one column given others: donors from the leaves of a tree (Reiter 2005, CART)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import Scale

__all__ = ["draw_donors", "predictors"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def predictors(records: Records, names: Sequence[str], like: Records | None = None) -> Floats:
    """Return columns as numbers that a tree can split: numbers as they are, categories as flags (of the 30 commonest).

    A missing number is flagged in a column of its own and counts as the median; a missing category has no flag.

    Parameters
    ----------
    records : Records
    names : sequence of str
    like : Records, optional
        Where medians and categories are taken from; the records themselves by default. Two files that go through the
        same tree need the same ones.
    """
    source = records if like is None else like
    parts: list[Floats] = [np.zeros((len(records), 1))]
    for name in names:
        if source.scale(name) is Scale.CONTINUOUS:
            values, known = records.numbers(name), source.numbers(name)
            middle = float(np.median(known[~np.isnan(known)])) if (~np.isnan(known)).any() else 0.0
            parts.append(np.where(np.isnan(values), middle, values)[:, None])
            if np.isnan(known).any():
                parts.append(np.isnan(values).astype(np.float64)[:, None])
            continue
        one, known_values = records.categories(name), source.categories(name)
        position = {str(v): i for i, v in enumerate(known_values.values)}
        place = np.array([position.get(str(v), -1) for v in one.values] + [-1], dtype=np.int64)[one.index]
        if source.scale(name) is Scale.ORDERED:
            parts.append(place.astype(np.float64)[:, None])
        common = np.argsort(-known_values.counts(), kind="stable")[:30]
        parts.append((place[:, None] == common[None, :]).astype(np.float64))
    return np.hstack(parts)


def draw_donors(
    train: Floats,
    target: Ints | Floats,
    new: Floats,
    weights: Floats,
    *,
    categorical: bool,
    leaf: int,
    rng: np.random.Generator,
) -> Ints:
    """Return for every new record a record of the training file from the same leaf of a tree for the target.

    Donors are drawn by the Bayesian bootstrap: within a leaf with random (Dirichlet) probabilities, so that imputations
    are proper.

    Parameters
    ----------
    train : ndarray, shape (records, predictors)
    target : ndarray, shape (records,)
    new : ndarray, shape (new records, predictors)
    weights : ndarray, shape (records,)
    categorical : bool
        The target is a category.
    leaf : int
        Least number of records in a leaf.
    rng : numpy.random.Generator
    """
    try:
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
    except ImportError as error:
        raise InputError("sequential trees need scikit-learn: install tabprotect[microdata]") from error
    state = int(rng.integers(2**31))
    kind: Any = DecisionTreeClassifier if categorical else DecisionTreeRegressor
    tree = kind(min_samples_leaf=leaf, random_state=state)
    tree.fit(train, target, sample_weight=weights)
    there, here = tree.apply(train), tree.apply(new)
    order = np.argsort(there, kind="stable")
    leaves, start = np.unique(there[order], return_index=True)
    share = rng.standard_exponential(len(order)) * weights[order]
    reached = np.cumsum(share)
    before = np.concatenate([[0.0], reached])[start]
    total = np.concatenate([before[1:], [reached[-1]]]) - before
    at = np.searchsorted(leaves, here)
    drawn = before[at] + rng.random(len(here)) * total[at]
    end = np.concatenate([start[1:], [len(order)]])[at]
    picked = np.clip(np.searchsorted(reached, drawn, side="right"), start[at], end - 1)
    return np.asarray(order[picked], dtype=np.int64)
