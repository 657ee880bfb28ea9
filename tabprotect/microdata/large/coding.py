"""Top and bottom coding in batches: one limit for the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tabprotect.microdata.claims import Claim
from tabprotect.microdata.columns import like_numbers
from tabprotect.microdata.large.part import Part, replaced
from tabprotect.microdata.large.plan import Plan, Task, like, need_numbers, planner, prototype, refuse, weight_sql
from tabprotect.microdata.large.quantiles import quantiles
from tabprotect.microdata.large.stage import RECORDS, number_sql
from tabprotect.microdata.large.sums import exact_sums
from tabprotect.microdata.masking.coding import BottomCoding, TopCoding

__all__ = ["floats_as"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def floats_as(values: Floats, kind: pa.DataType) -> pa.Array:
    """Return floats as an array of numbers of some type, nan as missing."""
    missing = np.isnan(values)
    array = pa.array(np.where(missing, 0.0, values), type=pa.float64(), mask=missing)
    return array if kind == pa.float64() else array.cast(kind, safe=not pa.types.is_floating(kind))


@dataclass(frozen=True)
class _One:
    """What is done to one column: values beyond the limit become another one."""

    name: str
    limit: float
    into: float
    above: bool
    kind: pa.DataType

    def out(self, values: Floats) -> npt.NDArray[np.bool_]:
        return values > self.limit if self.above else values < self.limit


@dataclass(frozen=True)
class _Coded:
    columns: tuple[_One, ...]

    def __call__(self, part: Part) -> Part:
        table = part.table
        for one in self.columns:
            values = part.numbers(one.name)
            new = np.where(one.out(values), one.into, values)
            table = replaced(table, one.name, floats_as(new, one.kind))
        return Part(part.rows, table)


@dataclass(frozen=True)
class _Beyond:
    """Weights, and weights times values, of what is beyond the limit."""

    one: _One
    weight: str | None

    def __call__(self, part: Part) -> tuple[Ints, Floats]:
        values = part.numbers(self.one.name)
        w = np.ones(len(values)) if self.weight is None else part.numbers(self.weight)
        out = self.one.out(values)
        return np.where(out, 0, -1).astype(np.int64), np.column_stack([w, np.where(out, w * values, 0.0)])


@planner(TopCoding, BottomCoding)
def _plan(method: Any, task: Task) -> Plan:
    stage, schema, above = task.stage, task.schema, isinstance(method, TopCoding)
    if method.tail is not None:
        refuse(method, f"tail='{method.tail}'", "fit the distribution to a sample, and give its quantile as threshold")
    need_numbers(stage, method.columns)
    weighted = method.quantile is not None or method.replace == "mean"
    weight = weight_sql(stage, schema) if weighted else None
    arrow = stage.arrow
    facts, claims, columns = {}, [], []
    for name in method.columns:
        limit = _limit(method, task, name, weight)
        one = _One(name, limit, limit, above, stage.arrow.field(name).type)
        sign = ">" if above else "<"
        sql = f"SELECT count(*) AS n FROM {RECORDS} WHERE {number_sql(stage, name)} {sign} CAST('{limit!r}' AS DOUBLE)"
        out = 0 if np.isnan(limit) else stage.query(sql).column("n")[0].as_py()
        into = limit
        if out and method.replace == "mean":
            used = (name,) if schema.weight is None else (name, schema.weight)
            total = exact_sums(stage, _Beyond(one, schema.weight), used, 1)[0]
            into = float(total[1] / total[0])
        elif out and method.replace == "missing":
            into = float("nan")
        if out:
            arrow = like(arrow, name, _kind(task, name, into))
            columns.append(_One(name, limit, into, above, arrow.field(name).type))
        facts[name] = {"limit": limit, "replaced": out, "by": None if np.isnan(into) else into}
        if method.replace != "mean" and not np.isnan(limit):
            word, kind, key = ("above", "at-most", "most") if above else ("below", "at-least", "least")
            text = f"no value of '{name}' is {word} {limit:g}"
            claims.append(Claim(kind, (name,), text, {"column": name, key: limit}))
    return Plan(_Coded(tuple(columns)), arrow, schema, facts, tuple(claims))


def _limit(method: Any, task: Task, name: str, weight: str | None) -> float:
    if method.threshold is not None:
        return float(method.threshold)
    return quantiles(task.stage, name, weight, [method.quantile])[0]


def _kind(task: Task, name: str, into: float) -> pa.DataType:
    """Return the type of a column of which some values become another one, as in memory."""
    old = prototype(task.stage.arrow, task.schema, 1).frame[name]
    kind: pa.DataType = like_numbers(old, np.array([into])).to_native().type
    return kind
