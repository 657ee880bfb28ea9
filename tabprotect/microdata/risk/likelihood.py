"""Record linkage by an intruder who knows the Markov matrices of post-randomised keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.microdata.masked import Masked, Step
from tabprotect.microdata.records import Records
from tabprotect.microdata.risk.agreement import joint_codes
from tabprotect.microdata.risk.base import Pair

__all__ = ["likely_linkage"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

PAIRS = 400_000_000
"""Most pairs of different combinations of keys that are compared."""

CHUNK = 4_000_000
"""Pairs that are compared at a time."""

TIE = 1e-9
"""Logarithms of likelihoods count as equal up to this difference."""

BLANKS = ("local-suppression",)
"""Methods that make values missing, and do nothing else to them."""


def likely_linkage(both: Pair, masked: Masked, keys: list[str]) -> dict[str, Any]:
    """Return, for the details of a measure of linkage by keys, what an intruder with the matrices re-identifies.

    He links each original record a to the masked records b with the largest likelihood ``prod P_j(b_j | a_j)`` over the
    keys, where P_j is the matrix of a step of PRAM, or the identity for keys that no step changed. Ties are shared out.
    Missing values exclude nothing. A key that another method changed is not used. Within strata every stratum has its
    matrix, and the intruder knows the stratum of his record.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> from tabprotect.microdata.risk.base import pair
    >>> people = pd.DataFrame({"sex": list("mfmm"), "age": [1, 1, 2, 3]})
    >>> given = md.PRAM("sex", kind="given", matrix=[[0, 1], [1, 0]], categories=["m", "f"])
    >>> masked = md.mask(people, md.Schema(keys=["sex", "age"]), given, seed=1)
    >>> likely_linkage(pair(people, masked), masked, ["sex", "age"])["with the method"]["value"]
    1.0
    """
    first, second = both.original, both.masked
    steps, unknown = _matrices(masked, keys)
    if not steps:
        return {}
    used = [key for key in keys if steps.get(key) is not None or not _touched(masked, key)]
    strata = _strata(first, second)
    true = np.full(len(first), -1, dtype=np.int64)
    true[both.links[both.links >= 0]] = np.flatnonzero(both.links >= 0)
    found = np.zeros(len(first))
    columns = {key: joint_codes(first, second, key) for key in used}
    for s, (rows, others) in enumerate(strata):
        tables = [_table(steps.get(key), s, *columns[key], first, key) for key in used]
        mine = np.column_stack([columns[key][0][rows] for key in used])
        theirs = np.column_stack([columns[key][1][others] for key in used])
        success = _linked(tables, mine, theirs, _places(true[rows], others))
        if success is None:
            why = f"not measured beyond {PAIRS:,} pairs of different combinations of keys"
            return {"with the method": {"unknown": [why]}}
        found[rows] = success
    words = {key: "its matrix of post-randomisation" for key in used if steps.get(key) is not None}
    return {"with the method": {"value": float(found.mean()), "known": words, "keys": used, "unknown": unknown}}


def _touched(masked: Masked, key: str) -> list[Step]:
    return [step for step in masked.steps if key in step.columns and step.method not in BLANKS]


def _matrices(masked: Masked, keys: list[str]) -> tuple[dict[str, Step | None], list[str]]:
    """Return the step of PRAM of every key that has one and no other, and a sentence for other steps."""
    steps: dict[str, Step | None] = {}
    unknown = []
    whole = all(step.records == len(masked.original) for step in masked.steps)
    for key in keys:
        changed = _touched(masked, key)
        if not changed:
            continue
        one = changed[0] if len(changed) == 1 and changed[0].method == "pram" else None
        if one is not None and not one.parameters["joint"] and (whole or not masked.original.schema.strata):
            steps[key] = one
        else:
            names = ", ".join(dict.fromkeys(step.method for step in changed))
            unknown.append(f"{key}: no linkage is known here that uses the parameters of {names}; the key is not used")
    return steps, unknown


def _strata(first: Records, second: Records) -> list[tuple[Ints, Ints]]:
    """Return the records of both files by stratum of the first, in the order in which methods take them."""
    names = [name for name in first.schema.strata if name in second.columns]
    if len(names) < len(first.schema.strata):
        return [(rows, np.arange(len(second))) for rows in first.strata()]
    sides = [joint_codes(first, second, name) for name in names]
    mine = np.column_stack([a for a, _ in sides]) if sides else np.zeros((len(first), 0))
    theirs = np.column_stack([b for _, b in sides]) if sides else np.zeros((len(second), 0))
    return [(rows, np.flatnonzero((theirs == mine[rows[0]]).all(axis=1))) for rows in first.strata() if len(rows)]


def _table(step: Step | None, stratum: int, mine: Ints, theirs: Ints, first: Records, key: str) -> Floats:
    """Return the logarithm of the likelihood of each masked category given the original one; missing ones last."""
    size = int(max(mine.max(initial=-1), theirs.max(initial=-1))) + 1
    table = np.full((size + 1, size + 1), -np.inf)
    if step is None:
        np.fill_diagonal(table, 0.0)
    else:
        facts = step.facts[key]
        # numbers of the categories in both files, by the words of the step
        code = {str(v): i for v, i in _codes_of(first, key, mine).items()}
        at = np.array([code.get(word, size) for word in facts["values"]])
        matrix = np.array(facts["matrices"][stratum])
        with np.errstate(divide="ignore"):
            table[np.ix_(at, at)] = np.log(matrix)
    table[size, :] = table[:, size] = 0.0
    return table


def _codes_of(first: Records, key: str, mine: Ints) -> dict[Any, int]:
    found = first.categories(key)
    _, rows = np.unique(found.index, return_index=True)
    return {found.values[found.index[row]]: int(mine[row]) for row in rows if found.index[row] >= 0}


def _places(true: Ints, others: Ints) -> Ints:
    """Return the places of masked records among `others`, -1 for those that are not there."""
    if not len(others):
        return np.full(len(true), -1, dtype=np.int64)
    at = np.searchsorted(others, true)
    at = np.where(at < len(others), at, 0)
    return np.where((others[at] == true) & (true >= 0), at, -1)


def _linked(tables: list[Floats], mine: Ints, theirs: Ints, true: Ints) -> Floats | None:
    """Return the probability that the most likely record is the true one; None if there are too many to compare."""
    found = np.zeros(len(mine))
    if not len(theirs) or not len(mine):
        return found
    a, one = np.unique(mine, axis=0, return_inverse=True)
    b, other, size = np.unique(theirs, axis=0, return_inverse=True, return_counts=True)
    one, other = one.ravel(), other.ravel()
    if len(a) * len(b) > PAIRS:
        return None
    best, ties = np.empty(len(a)), np.empty(len(a))
    step = max(1, CHUNK // len(b))
    for at in range(0, len(a), step):
        rows = slice(at, min(at + step, len(a)))
        like = np.zeros((len(a[rows]), len(b)))
        for j, table in enumerate(tables):
            like += table[a[rows, j][:, None], b[None, :, j]]
        best[rows] = like.max(axis=1)
        ties[rows] = ((like >= best[rows, None] - TIE) * size).sum(axis=1)
    there = true >= 0
    own = np.zeros(int(there.sum()))
    for j, table in enumerate(tables):
        own += table[mine[there, j], theirs[true[there], j]]
    hit = (own >= best[one[there]] - TIE) & np.isfinite(own)
    found[there] = np.where(hit, 1 / ties[one[there]], 0.0)
    return found
