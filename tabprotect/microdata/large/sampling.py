"""Simple random samples in batches: the records with the smallest random numbers of their stratum are drawn.

The number of the last one drawn is found without sorting: it lies within a few standard deviations of where it is
expected, and only records near there are looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tabprotect.errors import InputError, did_you_mean
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.large.draws import Draws
from tabprotect.microdata.large.part import Codebook, Part, replaced
from tabprotect.microdata.large.plan import Plan, Task, like, need_numbers, planner, refuse, weight_sql
from tabprotect.microdata.large.stage import COUNT, Stage, codebook
from tabprotect.microdata.large.sums import moments
from tabprotect.microdata.masking.designs import allocate
from tabprotect.microdata.masking.sampling import Sampling

__all__: list[str] = []

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]

LAST = 2**64 - 1


@dataclass(frozen=True)
class _Window:
    """Random numbers of every stratum from `low` to `high`, and how many are below."""

    strata: Codebook
    draws: Draws
    low: Words
    high: Words

    def __call__(self, part: Part) -> tuple[Ints, Ints, Words, Ints]:
        word = self.draws.words(part.rows, 0)
        index = self.strata.codes(part.table)
        below = np.bincount(index[word < self.low[index]], minlength=len(self.low)).astype(np.int64)
        near = (word >= self.low[index]) & (word <= self.high[index])
        return below, index[near], word[near], part.rows[near]


@dataclass(frozen=True)
class _Sampled:
    """Records up to the last number (and row) of their stratum; weights are multiplied."""

    strata: Codebook
    draws: Draws
    last: Words
    row: Ints
    ratio: Floats
    column: str
    weighted: bool

    def __call__(self, part: Part) -> Part:
        index = self.strata.codes(part.table)
        word = self.draws.words(part.rows, 0)
        mine = (word < self.last[index]) | ((word == self.last[index]) & (part.rows <= self.row[index]))
        rows, table, index = part.rows[mine], part.table.filter(pa.array(mine)), index[mine]
        base = Part(rows, table).numbers(self.column) if self.weighted else np.ones(len(rows))
        return Part(rows, replaced(table, self.column, pa.array(base * self.ratio[index], type=pa.float64())))


@planner(Sampling)
def _plan(method: Sampling, task: Task) -> Plan:
    stage, schema = task.stage, task.schema
    if method.design != "simple":
        refuse(method, f"design='{method.design}'", "take design='simple'")
    if method.unit == "household":
        refuse(method, "unit='household'", "draw records, or draw from a file of households")
    if schema.weight is None and method.weight in stage.arrow.names:
        raise InputError(
            f"there is a column '{method.weight}'; name it as the weight in the schema, or take another name"
        )
    weight_sql(stage, schema)
    strata, table = codebook(stage, schema.strata)
    counts = np.asarray(table.column(COUNT), dtype=np.int64)
    columns = [table.column(name).to_pylist() for name in schema.strata]
    labels = [", ".join(map(str, row)) for row in zip(*columns, strict=True)] if columns else ["all"]
    sizes = _allocation(method, task, strata, counts, labels)
    last, row = _last(stage, schema.strata, strata, task.draws, counts, sizes)
    column = schema.weight or method.weight
    ratio = np.divide(counts, sizes, out=np.zeros(len(sizes)), where=sizes > 0)
    change = _Sampled(strata, task.draws, last, row, ratio, column, schema.weight is not None)
    others = tuple(n for n in stage.arrow.names if n != column and n not in schema.identifiers)
    given = {
        "weight": column, "base": schema.weight, "strata": list(schema.strata),
        "sizes": [[int(n), int(c)] for n, c in zip(sizes, counts, strict=True)],
    }  # fmt: skip
    used = tuple(dict.fromkeys((*schema.strata, *((schema.weight,) if schema.weight else ()))))
    text = "weights are those of before over the probability of selection"
    claims = (
        Claim("sampled", others, "every record is one of before, as it was", {"columns": list(others)}, others),
        Claim("weights-by-stratum", (column, *schema.strata), text, given, used),
    )
    facts = {
        "units": stage.count, "drawn": int(sizes.sum()), "records": int(sizes.sum()),
        "strata": {label: [int(n), int(c)] for label, n, c in zip(labels, sizes, counts, strict=True)},
    }  # fmt: skip
    arrow = like(stage.arrow, column, pa.float64())
    return Plan(change, arrow, replace(schema, weight=column), facts, claims, fewer=True)


def _allocation(method: Sampling, task: Task, strata: Codebook, counts: Ints, labels: Sequence[str]) -> Ints:
    total = int(counts.sum())
    if method.size is not None and method.size > total:
        raise InputError(f"{method.size:,} records cannot be drawn from {total:,}")
    if method.size is not None and method.size < len(labels):
        raise InputError(f"{method.size:,} records are fewer than the {len(labels):,} strata; each needs one")
    if not isinstance(method.allocation, str):
        return _given(dict(method.allocation), counts, labels)
    wanted = method.size if method.size is not None else max(1, round(float(method.share or 0) * total))
    importance: Floats = counts.astype(np.float64)
    if method.allocation == "equal":
        importance = np.ones(len(labels))
    elif method.allocation == "neyman":
        assert method.spread is not None
        need_numbers(task.stage, (method.spread,))
        found = moments(task.stage, [method.spread], strata, together=False)
        n = found.count[:, 0]
        importance = np.asarray(counts * np.sqrt(found.cov[:, 0, 0] * n / np.maximum(n - 1, 1)), dtype=np.float64)
    return allocate(max(wanted, len(labels)), importance, counts)


def _given(allocation: dict[str, Any], counts: Ints, labels: Sequence[str]) -> Ints:
    there = dict(zip(labels, counts.tolist(), strict=True))
    for label, n in allocation.items():
        if label not in there:
            raise InputError(f"there is no stratum '{label}'{did_you_mean(label, there)}")
        if n > there[label]:
            raise InputError(f"stratum '{label}' has {there[label]:,} records, fewer than {n:,}")
    left = [label for label in labels if label not in allocation]
    if left:
        raise InputError(f"the allocation does not name stratum '{left[0]}'; 0 leaves it out")
    if not sum(allocation.values()):
        raise InputError("the allocation draws nothing")
    return np.array([int(allocation[label]) for label in labels], dtype=np.int64)


def _last(
    stage: Stage, names: Sequence[str], strata: Codebook, draws: Draws, counts: Ints, sizes: Ints
) -> tuple[Words, Ints]:
    """Return the random number (and the row) of the last record that is drawn in every stratum."""
    share = sizes / counts
    spread = 6 * np.sqrt(np.maximum(share * (1 - share), 1 / counts) / counts) + 6 / counts
    while True:
        low, high = _words(share - spread), _words(share + spread)
        found = stage.fold(_Window(strata, draws, low, high), list(names))
        below = np.sum([one[0] for one in found], axis=0)
        index, word, row = (np.concatenate([one[i] for one in found]) for i in (1, 2, 3))
        order = np.lexsort((row, word, index))
        index, word, row = index[order], word[order], row[order]
        near = np.bincount(index, minlength=len(sizes))
        want = sizes - below
        # a stratum of which nothing is drawn has no last one
        if ((want >= 0) & (want <= near) & ((want > 0) | (sizes == 0))).all():
            break
        spread = spread * 8
    at = np.cumsum(near) - near + want - 1
    none = sizes == 0
    at = np.where(none, 0, at)
    if not len(word):
        return np.zeros(len(sizes), dtype=np.uint64), np.full(len(sizes), -1, dtype=np.int64)
    return np.where(none, np.uint64(0), word[at]), np.where(none, -1, row[at])


def _words(share: Floats) -> Words:
    """Return numbers between 0 and 1 as whole numbers of 64 bits."""
    return np.array([min(max(int(s * 2.0**64), 0), LAST) for s in np.clip(share, 0, 1).tolist()], dtype=np.uint64)
