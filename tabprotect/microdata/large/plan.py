"""What a step does to records in batches, once what it must know of all of them is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from tabprotect.counted import counted
from tabprotect.errors import InputError, Problems
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.large.draws import Draws
from tabprotect.microdata.large.part import records_of
from tabprotect.microdata.large.stage import RECORDS, Change, Stage, number_sql
from tabprotect.microdata.method import Method
from tabprotect.microdata.records import Records
from tabprotect.microdata.schema import Schema

__all__ = ["Plan", "Planner", "Task", "like", "need_numbers", "planner", "planners", "prototype", "weight_sql"]

EXACT = 2**53
"""Whole numbers up to this are exact as floats."""


@dataclass(frozen=True, eq=False)
class Task:
    """What a plan is made from: the records, what the schema says of them, and random numbers."""

    stage: Stage
    schema: Schema
    draws: Draws


@dataclass(frozen=True, eq=False)
class Plan:
    """One step.

    Attributes
    ----------
    change : callable
        What is done to a batch; it holds everything that it needs and can be sent to another process.
    arrow : pyarrow.Schema
        Columns afterwards.
    schema : Schema
        What is known of them.
    facts, claims, notes
        As in `Masking`.
    fewer : bool
        Records are left out.
    """

    change: Change
    arrow: pa.Schema
    schema: Schema
    facts: Mapping[str, Any] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = ()
    fewer: bool = False


Planner = Callable[[Any, Task], Plan]

_PLANNERS: dict[type[Method], Planner] = {}


def planner(*kinds: type[Method]) -> Callable[[Planner], Planner]:
    """Register what plans methods of some kinds; for use as a decorator."""

    def register(work: Planner) -> Planner:
        _PLANNERS.update(dict.fromkeys(kinds, work))
        return work

    return register


def planners() -> dict[type[Method], Planner]:
    """Return every method that can be carried out in batches, with what plans it."""
    return dict(_PLANNERS)


def refuse(method: Method, what: str, cure: str) -> None:
    """Say that a form of a method needs all records at once.

    Raises
    ------
    InputError
        Always.
    """
    raise InputError(f"{method.name}: {what} needs all records in memory; {cure}")


def prototype(arrow: pa.Schema, schema: Schema, count: int = 0) -> Records:
    """Return records with the columns of a stage, all of them missing: for what a method says of columns and types."""
    columns = [pa.nulls(count, type=f.type) for f in arrow]
    return records_of(pa.table(columns, schema=arrow), schema)


def like(arrow: pa.Schema, name: str, kind: pa.DataType) -> pa.Schema:
    """Return columns with one of another type, or one more."""
    at = arrow.get_field_index(name)
    field_ = pa.field(name, kind)
    return arrow.append(field_) if at < 0 else arrow.set(at, field_)


def need_numbers(stage: Stage, names: tuple[str, ...]) -> None:
    """Check that columns hold finite numbers that floats hold exactly.

    Raises
    ------
    InputError
        Names every column that does not.
    """
    problems = Problems()
    for name in names:
        kind = stage.arrow.field(name).type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
            problems.add(f"column '{name}' must hold numbers, but holds values of type {kind}; cast it")
            continue
        size = f"max(abs({number_sql(stage, name)}))"
        largest = stage.query(f"SELECT {size} AS largest FROM {RECORDS}").column("largest")[0].as_py() or 0.0
        if largest == float("inf"):
            problems.add(f"column '{name}' is infinite in some records")
        elif pa.types.is_integer(kind) and largest > EXACT:
            problems.add(f"column '{name}' holds whole numbers beyond 2^53: not exact as floats")
    problems.raise_if_any()


def weight_sql(stage: Stage, schema: Schema) -> str | None:
    """Return the weights as SQL, None without any; check that all are there and above 0.

    Raises
    ------
    InputError
        If one is not.
    """
    if schema.weight is None:
        return None
    need_numbers(stage, (schema.weight,))
    weight = number_sql(stage, schema.weight)
    found = stage.query(f"SELECT count({weight}) AS n, min({weight}) AS least FROM {RECORDS}")
    count, least = found.column("n")[0].as_py(), found.column("least")[0].as_py()
    if count < stage.count:
        raise InputError(
            f"column '{schema.weight}' has no value in {counted(stage.count - count, 'record')}; fill or drop them"
        )
    if least <= 0:
        raise InputError(f"weights in column '{schema.weight}' must be above 0; the smallest is {least:g}")
    return weight
