"""Minimal, maximal and weighted disclosure risk of a file (Truta, Fotouhi and Barth-Jones 2004)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tabprotect.errors import InputError, collect, did_you_mean
from tabprotect.kinds import of_kinds
from tabprotect.microdata.risk.base import Measure, Pair, pair
from tabprotect.microdata.risk.truta.clusters import ClusterRisk, Clusters
from tabprotect.microdata.risk.truta.factors import ChangeRule, inversion_change_factor
from tabprotect.microdata.risk.truta.subsets import Kind, Largest, largest_subset
from tabprotect.microdata.risk.truta.weights import check_weight_matrix
from tabprotect.microdata.schema import Schema

__all__ = ["global_risk"]


@of_kinds()
def global_risk(
    original: Any,
    masked: Any,
    schema: Schema | None = None,
    *,
    weights: Any = None,
    keys: Sequence[str] | None = None,
    changes: Mapping[str, ChangeRule] | None = None,
    links: Any = None,
    most_subsets: int = 1024,
) -> Measure:
    """Return the disclosure risk DR_min, DR_max and, with a weight matrix, DR_W of a masked file.

    Each is the largest over all subsets of the keys: an intruder leaves a key out that masking has made useless. Of
    one subset it is the product of 1 - icf over its keys, times the sum of w_ij c_ij / max(i, j) over the
    classification matrix, over n w_11 (eq. 3.6 to 3.8; the maximal one has equal weights, the minimal one w_11 only).
    c_ij counts the linked records in clusters of i released and j original records.

    A missing key is a value of its own in clusters; see `inversion_factor` and `change_factor` for what it does there.
    Sampling weights are not used: the measure is about the file, not the population.

    Parameters
    ----------
    original, masked : frame of any kind, or Masked
        The masked file may have fewer records (sampling), or more (simulated ones, without a link).
    schema : Schema
        Its keys and their scales: ordered keys have inversions, those with a value tree graded changes.
    weights : array_like, optional
        Disclosure risk weight matrix; see `check_weight_matrix`.
    keys : sequence of str, optional
        Other keys than those of the schema. Keys that are not released do not help an intruder and are left out.
    changes : mapping of str to {'any', 'prefix', 'tree'} or callable, optional
        How changes of a key count; see `inversion_change_factor`.
    links : array_like of int, optional
        Original record of every masked one, -1 for none.
    most_subsets : int
        Limit on the subsets that are evaluated for each measure; beyond it the values are those of a greedy search,
        and `details` has a bound on the largest.

    Returns
    -------
    Measure
        `value` is DR_W with weights, else DR_max. `records` has, for every masked record, the contribution of its
        cluster in the subset that attains the value (times n, the records add up to it). `details` has all measures
        with their subset, bound and number of evaluated subsets, the factors, and the classification matrix as
        triples (i, j, records).

    Raises
    ------
    InputError

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> people = pd.DataFrame({"age": [30, 31, 32, 33], "sex": ["m", "m", "f", "f"]})
    >>> masked = people.assign(sex=["f", "m", "m", "f"])
    >>> found = md.risk.global_risk(people, masked, md.Schema(keys=["age", "sex"]))
    >>> found.value, found.details["DR_max"]["keys"]
    (1.0, ['age'])
    """
    both = pair(original, masked, schema, links)
    chosen = _keys(both, keys)
    linked = both.links[both.links >= 0]
    with collect() as problems:
        if len(np.unique(linked)) < len(linked):
            # the measures count each person once, and would exceed 1
            problems.add("several masked records come from one original; measure one replicate at a time")
        for name in changes or {}:
            if name not in chosen:
                problems.add(f"changes: '{name}' is no key{did_you_mean(name, chosen)}")
        if not isinstance(most_subsets, int) or most_subsets < 1:
            problems.add(f"most_subsets must be a whole number of at least 1, not {most_subsets!r}")
    matrix = None if weights is None else check_weight_matrix(weights, len(both.masked), len(both.original))
    before, after = both.aligned()
    factors = [inversion_change_factor(before, after, name, changes) for name in chosen]
    clusters = Clusters.of(both.original, both.masked, both.links, chosen)
    known: dict[tuple[int, ...], ClusterRisk] = {}

    def evaluate(subset: tuple[int, ...]) -> ClusterRisk:
        if subset not in known:
            known[subset] = clusters.risk(subset, matrix)
        return known[subset]

    kinds: list[tuple[str, Kind]] = [("DR_min", "least"), ("DR_max", "most")]
    kinds += [("DR_W", "weighted")] if matrix is not None else []
    found = {word: largest_subset(evaluate, factors, kind, most_subsets) for word, kind in kinds}
    main = "DR_max" if matrix is None else "DR_W"
    details: dict[str, Any] = {word: _words(one, chosen) for word, one in found.items()}
    details["factors"] = dict(zip(chosen, factors, strict=True))
    details["records"] = {"original": len(both.original), "masked": len(both.masked), "linked": len(before)}
    subset = found[main].subset
    details["classification"] = _triples(clusters, subset)
    return Measure("global disclosure risk", found[main].value, _shares(clusters, subset, factors, matrix), details)


def _keys(both: Pair, given: Sequence[str] | None) -> tuple[str, ...]:
    keys = tuple(both.original.schema.keys if given is None else given)
    if not keys:
        raise InputError("the schema has no keys; the measure needs what an intruder may know")
    with collect() as problems:
        for name in keys:
            if name not in both.original.columns:
                problems.add(f"no column '{name}'{did_you_mean(name, both.original.columns)}")
    released = tuple(name for name in keys if name in both.masked.columns)
    if not released:
        raise InputError(f"none of the keys {', '.join(keys)} is released")
    return released


def _words(found: Largest, keys: Sequence[str]) -> dict[str, Any]:
    return {
        "value": found.value,
        "keys": [keys[k] for k in found.subset],
        "bound": found.bound,
        "proven": found.proven,
        "evaluated": found.evaluated,
    }


def _triples(clusters: Clusters, subset: Sequence[int]) -> list[list[int]]:
    if not subset:
        return []
    found = clusters.matrix(subset)
    rows, columns = found.coords
    return [[int(i) + 1, int(j) + 1, int(c)] for i, j, c in zip(rows, columns, found.data, strict=True)]


def _shares(clusters: Clusters, subset: Sequence[int], factors: Sequence[float], weights: Any) -> Any:
    """Return what each masked record adds to n times the measure."""
    shares = np.zeros(len(clusters.links))
    if subset:
        i, j = clusters.sizes(subset)
        share = 1.0 / np.maximum(i, j)
        if weights is not None:
            inside = (i <= weights.shape[0]) & (j <= weights.shape[1])
            share[~inside] = 0.0
            share[inside] *= weights[i[inside] - 1, j[inside] - 1] / weights[0, 0]
        shares[clusters.links >= 0] = share * np.prod([1 - factors[k] for k in subset])
    return shares
