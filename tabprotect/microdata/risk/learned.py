"""Supervised record linkage: the weights of the distance are learned from the truth (Abril, Navarro-Arribas, Torra)."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import optimize, special
from scipy.spatial import cKDTree

from tabprotect.errors import InputError
from tabprotect.kinds import of_kinds
from tabprotect.microdata.risk.base import Measure, pair
from tabprotect.microdata.risk.linkage import linked_columns, scaled
from tabprotect.microdata.risk.nearest import Space, gower_space, workers
from tabprotect.microdata.schema import Schema

__all__ = ["learned_linkage"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

RIVALS = 8
"""Wrong masked records that are held against the right one, the nearest ones."""

SHARPNESS = (1.0, 10.0)
"""Slopes of the logistic loss, relative to the median difference of distances."""


@of_kinds()
def learned_linkage(
    original: Any,
    masked: Any,
    schema: Schema | None = None,
    *,
    columns: Sequence[str] | str | None = None,
    metric: Literal["euclidean", "gower"] = "euclidean",
    rounds: int = 6,
) -> Measure:
    """Share of records found by distance linkage with the weights that an intruder who knows the truth learns.

    In each round the nearest wrong masked records of every original one are found under the present weights, and
    weights of at least 0 are fitted that put the right ones before them (the sum of logistic losses of the differences
    of distances, a convex programme). The weights with the largest share of records found are kept; equal weights are
    among those tried, so the value is never below that of `distance_linkage`. It is a lower bound of the worst case
    over all weights: the share itself is not convex, and the search is local.

    Records with a missing value in one of the columns are not linked and count as not found. Sampling weights play no
    part.

    Parameters
    ----------
    original, masked, schema, columns
        As in `distance_linkage`.
    metric : {'euclidean', 'gower'}
        Of standardised numbers; or of columns of any scales. 'gower' needs columns with at most about 500 categories
        in all.
    rounds : int
        At least 1.

    Returns
    -------
    Measure
        Details: the weights by column, their mean 1, and the value with equal weights.

    Raises
    ------
    InputError
        As `distance_linkage`; or if there are too many categories, or rounds is no whole number above 0.

    References
    ----------
    Abril, Navarro-Arribas, Torra (2012), "Improving record linkage with supervised learning for disclosure risk
    assessment", Information Fusion 13, states the learning with a mixed-integer programme.

    Examples
    --------
    >>> import pandas as pd
    >>> rng = np.random.default_rng(1)
    >>> original = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    >>> masked = original.assign(a=original["a"] + 0.001, b=rng.normal(size=200))
    >>> found = learned_linkage(original, masked)
    >>> found.value > 5 * found.details["equal weights"]
    True
    """
    if metric not in ("euclidean", "gower"):
        raise InputError(f"metric must be 'euclidean' or 'gower', not {metric!r}")
    if isinstance(rounds, bool) or not isinstance(rounds, Integral) or rounds < 1:
        raise InputError(f"rounds must be a whole number of at least 1, not {rounds!r}")
    files = pair(original, masked, schema)
    first, second, links = files.original, files.masked, files.links
    names = linked_columns(first, second, columns, metric)
    if metric == "gower":
        space = gower_space(first, second, names)
        if space is None:
            raise InputError("the linked columns have too many categories to learn their weights; leave some out")
    else:
        x, y = scaled(first.matrix(names), second.matrix(names), "euclidean", np.ones(len(names)))
        space = Space(x, y, np.arange(len(names)), 2)
    equal = np.ones(len(names))
    plain = space.weighted(equal).linked(links)
    weights, found = _search(space, links, plain, int(rounds))
    details = {
        "columns": names, "metric": metric, "equal weights": float(plain.mean()),
        "weights": dict(zip(names, (weights / weights.mean()).tolist(), strict=True)),
    }  # fmt: skip
    return Measure("supervised linkage", float(found.mean()), found, details)


def _search(space: Space, links: Ints, plain: Floats, rounds: int) -> tuple[Floats, Floats]:
    """Return the best weights found and what they find."""
    whole = [np.asarray(~np.isnan(side).any(axis=1)) for side in (space.original, space.masked)]
    known = np.flatnonzero(whole[1] & (links >= 0) & whole[0][links])
    weights = kept = np.ones(int(space.column.max()) + 1)
    best = plain
    if not len(known):
        return kept, best
    for _ in range(rounds):
        gaps = _gaps(space, weights, links, known, np.flatnonzero(whole[1]))
        tried = []
        for sharpness in SHARPNESS:
            fitted = _fit(gaps, weights, sharpness)
            found = space.weighted(fitted).linked(links)
            tried.append((float(found.mean()), fitted))
            if found.mean() > best.mean():
                best, kept = found, fitted
        following = max(tried, key=lambda one: one[0])[1]
        if np.allclose(following, weights, rtol=1e-6):
            break
        weights = following
    return kept, best


def _gaps(space: Space, weights: Floats, links: Ints, known: Ints, theirs: Ints) -> Floats:
    """Return by how much the nearest wrong masked records are farther than the right one, in every column."""
    now = space.weighted(weights)
    source = links[known]
    tree = cKDTree(now.masked[theirs])
    found = tree.query(
        now.original[source], k=min(RIVALS + 1, len(theirs)), p=space.power, workers=workers(len(known))
    )[1]
    rivals = theirs[np.asarray(found).reshape(len(known), -1)]
    pairs, place = np.nonzero(links[rivals] != source[:, None])
    right = np.abs(space.original[source] - space.masked[known]) ** space.power
    wrong = np.abs(space.original[source[pairs]] - space.masked[rivals[pairs, place]]) ** space.power
    by_column = np.zeros((len(space.column), len(weights)))
    by_column[np.arange(len(space.column)), space.column] = 1.0
    return np.asarray((wrong - right[pairs]) @ by_column)


def _fit(gaps: Floats, start: Floats, sharpness: float) -> Floats:
    """Minimise the mean logistic loss of the weighted differences, weights at least 0."""
    if not len(gaps):
        return start
    scale = sharpness / max(float(np.median(np.abs(gaps @ start))), 1e-12)

    def loss(weights: Floats) -> tuple[float, Floats]:
        margin = scale * (gaps @ weights)
        slope = -scale * special.expit(-margin)
        return float(np.logaddexp(0.0, -margin).mean()), np.asarray(slope @ gaps / len(gaps))

    found = optimize.minimize(
        loss, start, jac=True, method="TNC", bounds=[(0.0, 1e6)] * len(start), options={"maxfun": 200}
    ).x
    return np.asarray(found / found.mean()) if found.sum() > 0 else start
