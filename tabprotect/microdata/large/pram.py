"""PRAM in batches: matrices from counts, one random number for every record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tabprotect.counted import counted
from tabprotect.errors import InputError
from tabprotect.microdata.categories import Categories
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.large.draws import Draws
from tabprotect.microdata.large.part import Codebook, Part, plain, records_of, replaced
from tabprotect.microdata.large.plan import Plan, Task, like, planner, refuse, weight_sql
from tabprotect.microdata.large.stage import COUNT, codebook, distinct
from tabprotect.microdata.large.sums import exact_sums
from tabprotect.microdata.masking.distances import category_distances
from tabprotect.microdata.masking.pram import PRAM

__all__: list[str] = []

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _One:
    """What is done to one column.

    `place` has the category of every value in the book; `reached` has cumulated probabilities, shape (strata,
    categories, categories).
    """

    name: str
    book: Codebook
    place: Ints
    strata: Codebook
    reached: Floats
    labels: pa.Array
    draws: Draws
    stream: int

    def index(self, part: Part) -> Ints:
        """Return the category of every record, -1 where it is missing."""
        at = self.book.columns(part.table.select([self.name]))[:, 0]
        return np.where(at < 0, -1, self.place[at]).astype(np.int64)

    def new(self, part: Part, old: Ints) -> Ints:
        """Draw: the first category whose cumulated probability is above the random number."""
        drawn = self.draws.uniform(part.rows, self.stream)
        strata = self.strata.codes(part.table)
        found = np.full(len(old), -1, dtype=np.int64)
        groups = strata * self.reached.shape[1] + old
        there = np.flatnonzero(old >= 0)
        # the records of one row of one matrix at a time
        order = there[np.argsort(groups[there], kind="stable")]
        for here in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
            if len(here):
                row = self.reached[strata[here[0]], old[here[0]]]
                found[here] = np.searchsorted(row, drawn[here], side="right")
        return found


@dataclass(frozen=True)
class _Changed:
    columns: tuple[_One, ...]

    def __call__(self, part: Part) -> Part:
        table = part.table
        for one in self.columns:
            new = one.new(part, one.index(part))
            table = replaced(table, one.name, one.labels.take(pa.array(new, mask=new < 0)))
        return Part(part.rows, table)

    def moved(self, part: Part) -> list[int]:
        """Return how many values of each column change."""
        return [int((one.new(part, old) != old).sum()) for one in self.columns for old in (one.index(part),)]


@dataclass(frozen=True)
class _Weighted:
    """Weights by category and stratum."""

    one: _One
    weight: str

    def __call__(self, part: Part) -> tuple[Ints, Floats]:
        old = self.one.index(part)
        groups = self.one.strata.codes(part.table) * self.one.reached.shape[1] + old
        return np.where(old < 0, -1, groups), part.numbers(self.weight)[:, None]


@planner(PRAM)
def _plan(method: PRAM, task: Task) -> Plan:
    stage, schema, arrow = task.stage, task.schema, task.stage.arrow
    if method.joint:
        refuse(method, "joint=True", "name the columns one by one, or make one column of them before")
    strata, _ = codebook(stage, schema.strata)
    weight_sql(stage, schema)
    columns, facts, claims = [], {}, []
    for stream, name in enumerate(method.columns):
        one, values, counts = _draft(method, task, name, strata, stream)
        distance = None
        if method.kind == "optimal":
            distance = category_distances(
                records_of(distinct(stage, [name]).select([name]), schema.only([name])), name, values
            )
        matrices = [method.matrix_of(row, distance) for row in counts]
        reached = np.cumsum(np.array(matrices), axis=2)
        reached[:, :, -1] = 1.0
        columns.append(_One(name, one.book, one.place, strata, reached, one.labels, task.draws, stream))
        arrow = like(arrow, name, one.labels.type)
        given = {
            "columns": [name], "values": [str(v) for v in values], "matrices": [m.tolist() for m in matrices],
            "counts": counts.tolist(), "floor": method.least(), "strata": list(schema.strata),
        }  # fmt: skip
        used = tuple(dict.fromkeys((name, *schema.strata)))
        claims.append(Claim("markov", used, method.statement(name), given, used))
        facts[name] = {"matrices": given["matrices"], "values": given["values"]}
    change = _Changed(tuple(columns))
    used = tuple(dict.fromkeys((*method.columns, *schema.strata)))
    changed = np.sum(stage.fold(change.moved, used), axis=0).tolist()
    for name, count in zip(method.columns, changed, strict=True):
        facts[name]["changed"] = count
    return Plan(change, arrow, schema, facts, tuple(claims))


def _draft(method: PRAM, task: Task, name: str, strata: Codebook, stream: int) -> tuple[_One, tuple[Any, ...], Floats]:
    """Return the categories of a column, and how many records (how much weight) each has in every stratum."""
    stage, schema = task.stage, task.schema
    found = distinct(stage, [name]).select([name])
    records = records_of(found, schema.only([name]))
    there = records.categories(name)
    values = there.values if method.categories is None else tuple(method.categories)
    _check_matrix(method, name, there.values, values)
    book = Codebook.of([name], found)
    at = book.columns(found)[:, 0]
    place = np.zeros(max(len(book.values[0]), 1), dtype=np.int64)
    to = np.array([values.index(v) for v in there.values] + [-1], dtype=np.int64)
    place[at[at >= 0]] = to[there.index[at >= 0]]
    became = records.blank([name], max(len(values), 1)).with_categories(
        name, Categories(values, np.arange(len(values)) if values else np.array([-1]))
    )
    m = len(values)
    one = _One(
        name, book, place, strata, np.zeros((len(strata), m, m)), plain(became.frame[name].to_native()),
        task.draws, stream,
    )  # fmt: skip
    if schema.weight is not None:
        columns = tuple(dict.fromkeys((name, *schema.strata, schema.weight)))
        sums = exact_sums(stage, _Weighted(one, schema.weight), columns, len(strata) * m)
        return one, values, sums.reshape(len(strata), m)
    names = tuple(dict.fromkeys((*schema.strata, name)))
    table = distinct(stage, names)
    counts = np.zeros((len(strata), m))
    old = one.index(Part(np.zeros(len(table), np.int64), table))
    np.add.at(counts, (strata.codes(table)[old >= 0], old[old >= 0]), np.asarray(table.column(COUNT))[old >= 0])
    return one, values, counts


def _check_matrix(method: PRAM, name: str, there: tuple[Any, ...], values: tuple[Any, ...]) -> None:
    if method.matrix is not None and len(values) != len(method.matrix):
        found = counted(len(values), "category", "categories")
        raise InputError(f"column '{name}' has {found}, the matrix {counted(len(method.matrix), 'row')}")
    unknown = [value for value in there if value not in values]
    if unknown:
        raise InputError(f"column '{name}' holds {unknown[0]!r}, which categories do not list")
