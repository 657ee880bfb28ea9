"""Global recoding in batches: what becomes of a value is known once all different values, or their ends, are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tabprotect.errors import InputError
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.large.part import Codebook, Part, plain, records_of, replaced
from tabprotect.microdata.large.plan import Plan, Task, like, need_numbers, planner, prototype, weight_sql
from tabprotect.microdata.large.quantiles import quantiles
from tabprotect.microdata.large.stage import RECORDS, Stage, distinct, number_sql
from tabprotect.microdata.masking.recoding import GlobalRecoding
from tabprotect.microdata.masking.relabel import range_label, relabelled
from tabprotect.microdata.scales import NUMERIC
from tabprotect.microdata.schema import Schema

__all__: list[str] = []

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _ByValue:
    """Every value becomes a label."""

    name: str
    book: Codebook
    labels: pa.Array

    def __call__(self, part: Part) -> pa.Array:
        index = self.book.columns(part.table.select([self.name]))[:, 0]
        return self.labels.take(pa.array(index, mask=index < 0))


@dataclass(frozen=True)
class _ByRange:
    """Every interval becomes a label; those without a record have none."""

    name: str
    edges: Floats
    place: Ints
    labels: pa.Array

    def at(self, part: Part) -> Ints:
        """Return the interval of every record, -1 where the value is missing."""
        x = part.numbers(self.name)
        at = np.clip(np.searchsorted(self.edges, x, side="right") - 1, 0, len(self.edges) - 2)
        return np.where(np.isnan(x), -1, at).astype(np.int64)

    def used(self, part: Part) -> Ints:
        """Return the intervals that occur."""
        found = np.unique(self.at(part))
        return found[found >= 0]

    def __call__(self, part: Part) -> pa.Array:
        at = self.at(part)
        return self.labels.take(pa.array(self.place[at], mask=at < 0))


@dataclass(frozen=True)
class _Recoded:
    columns: tuple[_ByValue | _ByRange, ...]

    def __call__(self, part: Part) -> Part:
        table = part.table
        for one in self.columns:
            table = replaced(table, one.name, one(part))
        return Part(part.rows, table)


@planner(GlobalRecoding)
def _plan(method: GlobalRecoding, task: Task) -> Plan:
    stage, schema, arrow = task.stage, task.schema, task.stage.arrow
    facts, claims, columns = {}, [], []
    ranges = method.cuts is not None or method.width is not None or method.classes is not None
    if method.level is not None:
        flat = [name for name in method.columns if name not in schema.hierarchies]
        if flat:
            raise InputError(
                f"column '{flat[0]}' has no hierarchy in the schema, whose level {method.level} could be taken"
            )
    for name in method.columns:
        one, labels, schema = (_ranges if ranges else _values)(method, stage, schema, name)
        arrow = like(arrow, name, one.labels.type)
        columns.append(one)
        words = [str(label) for label in labels]
        facts[name] = {"categories": words}
        text = f"'{name}' holds one of {len(words)} categories only"
        claims.append(Claim("categories", (name,), text, {"column": name, "values": words}))
        claims.append(_consistent(one, name, words))
    return Plan(_Recoded(tuple(columns)), arrow, schema, facts, tuple(claims))


def _consistent(one: _ByValue | _ByRange, name: str, words: Sequence[str]) -> Claim:
    if isinstance(one, _ByValue):
        text = f"equal values of '{name}' have equal categories"
        return Claim("function-of", (name,), text, {"column": name}, (name,))
    # function-of would have to remember every number; where a number belongs can be seen record by record
    used = np.flatnonzero(one.place >= 0) if words else np.zeros(0, dtype=np.int64)
    ends = [[_end(one.edges[i]), _end(one.edges[i + 1])] for i in used]
    ends[0:1] = [[None, ends[0][1]]] if ends else []
    ends[-1:] = [[ends[-1][0], None]] if ends else []
    text = f"every value of '{name}' is in the interval that it has become"
    return Claim("interval", (name,), text, {"column": name, "values": list(words), "ends": ends}, (name,))


def _end(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _values(
    method: GlobalRecoding, stage: Stage, schema: Schema, name: str
) -> tuple[_ByValue | _ByRange, list[Any], Schema]:
    """Recode the different values as the method does in memory."""
    found = distinct(stage, [name]).select([name])
    records = records_of(found, schema.only([name]))
    labels, index, _, ordered = method.recode(records, name)
    done = relabelled(records, name, labels, index, ordered=ordered)
    book = Codebook.of([name], found)
    # one row for every value: what it became
    became = plain(done.frame[name].to_native())
    at = book.columns(found)[:, 0]
    order = np.argsort(at[at >= 0])
    array = became.filter(pa.array(at >= 0)).take(pa.array(order))
    after = _relabelled_schema(schema, done.schema, name)
    return _ByValue(name, book, array), labels, after


def _ranges(
    method: GlobalRecoding, stage: Stage, schema: Schema, name: str
) -> tuple[_ByValue | _ByRange, list[Any], Schema]:
    scale = prototype(stage.arrow, schema).scale(name)
    if scale not in NUMERIC:
        raise InputError(f"column '{name}' is {scale}; intervals need a continuous one")
    need_numbers(stage, (name,))
    x = number_sql(stage, name)
    ends = stage.query(
        f"SELECT min({x}) AS low, max({x}) AS high, sum(CASE WHEN {x} % 1 <> 0 THEN 1 ELSE 0 END) AS parts "
        f"FROM {RECORDS}"
    ).to_pylist()[0]
    labels: list[Any] = []
    edges, place = np.array([-np.inf, np.inf]), np.zeros(1, dtype=np.int64)
    if ends["low"] is not None:
        edges = _edges(method, stage, schema, name, np.array([ends["low"], ends["high"]]))
        names = [
            range_label(a, b, not ends["parts"]) for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
        ]
        if method.labels is not None:
            if len(method.labels) != len(names):
                raise InputError(
                    f"column '{name}' gets {len(names)} intervals ({', '.join(names)}), not {len(method.labels)}"
                )
            names = list(method.labels)
        draft = _ByRange(name, edges, place, pa.array([], pa.string()))
        used = np.unique(np.concatenate(stage.fold(draft.used, [name])))
        labels = [names[i] for i in used]
        place = np.full(len(names), -1, dtype=np.int64)
        place[used] = np.arange(len(used))
    one = prototype(stage.arrow, schema, max(len(labels), 1))
    index = np.arange(len(labels)) if labels else np.array([-1])
    done = relabelled(one, name, labels, index, ordered=True)
    return _ByRange(name, edges, place, plain(done.frame[name].to_native())), labels, done.schema


def _edges(method: GlobalRecoding, stage: Stage, schema: Schema, name: str, ends: Floats) -> Floats:
    """Return the boundaries of the intervals as the method finds them in memory."""
    if method.classes is None or method.equal == "width":
        return method.edges(ends, np.ones(2))
    shares = [i / method.classes for i in range(1, method.classes)]
    weight = weight_sql(stage, schema)
    cuts = quantiles(stage, name, weight, shares)
    borders = {border for cut in set(cuts) if (border := _next(stage, name, cut)) is not None}
    return np.array([-np.inf, *sorted(borders), np.inf])


def _next(stage: Stage, name: str, cut: float) -> float | None:
    """Return the smallest value above a number."""
    x = number_sql(stage, name)
    found = (
        stage.query(f"SELECT min({x}) AS x FROM {RECORDS} WHERE {x} > CAST('{cut!r}' AS DOUBLE)").column("x")[0].as_py()
    )
    return None if found is None else float(found)


def _relabelled_schema(schema: Schema, part: Schema, name: str) -> Schema:
    """Return a schema in which one column is what another schema says."""
    others = {n: order for n, order in schema.orders.items() if n != name}
    trees = {n: tree for n, tree in schema.hierarchies.items() if n != name}
    scales = {n: scale for n, scale in schema.scales.items() if n != name}
    return Schema(
        schema.keys, schema.confidential, schema.identifiers, schema.weight, schema.household, schema.strata,
        {**trees, **part.hierarchies}, {**others, **part.orders}, {**scales, **part.scales},
    )  # fmt: skip
