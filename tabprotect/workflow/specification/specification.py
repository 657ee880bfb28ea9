"""What a specification says of one table, and of everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from pydantic import ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from tabprotect.errors import InputError
from tabprotect.workflow.specification.parts import (
    CarriedSpec,
    HierarchySpec,
    LimitsSpec,
    OutputSpec,
    Strict,
    Thousands,
)

__all__ = ["BY_DIMENSION", "INPUTS", "STATED", "Spec", "TableSpec", "each_table"]

INPUTS = ("data", "cells")
"""Keys that name the data; a table that has one of them takes neither from what all tables share."""

STATED = frozenset({"status", "lpl", "upl", "spl"})
"""Columns of a finished table that say without a rule which cells are sensitive."""

BY_DIMENSION = ("hierarchy", "total", "missing")
"""Keys that say something of each dimension."""


def _list_methods(schema: dict[str, Any]) -> None:
    """Name the methods of the registry, which is read when the schema is asked for."""
    from tabprotect.methods.registry import METHODS

    schema["enum"] = list(METHODS)
    schema["description"] = " ".join(f"{one.name}: {one.summary}" for one in METHODS.values())


def _list_options(schema: dict[str, Any]) -> None:
    from tabprotect.methods.registry import options_help

    groups = (f"{', '.join(group)}: {', '.join(options)}." for group, options in options_help().items())
    schema["description"] = f"Of a method that changes values. {' '.join(groups)}"


class TableSpec(Strict):
    """One table; in a specification of several linked ones, what it has besides what all of them have."""

    data: str | None = Field(
        default=None,
        description="Microdata: text, Excel, Parquet or DuckDB, relative to the specification.",
    )
    cells: str | None = Field(default=None, description="Or a finished table: one row a cell.")
    by: list[str] = Field(default=[], min_length=1, description="Columns of the dimensions.")
    value: str | None = Field(default=None, description="Column that is summed; without it, records are counted.")
    unit: str | None = Field(default=None, description="Unit of the value on the pages, such as 1,000 EUR; public.")
    shadow: str | None = Field(default=None, description="Column that the rules look at instead of the value.")
    contributor: str | None = Field(default=None, description="Column of the respondent's id (microdata).")
    holding: str | None = Field(
        default=None, description="Column of the group that counts as one respondent (microdata)."
    )
    weight: str | None = Field(default=None, description="Column of the sampling weight (microdata).")
    request: str | None = Field(default=None, description="Column of request codes (microdata).")
    waiver: str | None = Field(default=None, description="Column of consent to publication (microdata).")
    kind: str | None = Field(default=None, description="magnitude or frequency.")
    count: str | None = Field(default=None, description="Column of the number of contributors (finished table).")
    weighted_count: str | None = Field(default=None, description="Column of the sum of weights (finished table).")
    maxima: list[str] = Field(default=[], description="Columns of the largest contributions (finished table).")
    holders: list[str] = Field(default=[], description="Columns that say whose they are (finished table).")
    status: str | None = Field(default=None, description="Column of statuses given by hand (finished table).")
    lpl: str | None = Field(default=None, description="Column of lower protection levels (finished table).")
    upl: str | None = Field(default=None, description="Column of upper protection levels (finished table).")
    spl: str | None = Field(default=None, description="Column of sliding protection levels (finished table).")
    margins: Literal["check", "add"] = Field(
        default="check", description="Whether margins that are not there are computed (finished table)."
    )
    tolerance: float | None = Field(
        default=None, ge=0, description="Largest rounding residual accepted (finished table)."
    )
    hierarchy: dict[str, HierarchySpec] = Field(default={}, description="Dimension -> code list file, or a source.")
    total: dict[str, str] = Field(default={}, description="Dimension -> code of the total.")
    missing: dict[str, list[str]] = Field(default={}, description="Dimension -> codes that stand for 'unknown'.")
    empty: Literal["zero", "structural", "drop"] | None = Field(
        default=None, description="What cells without any record are; see the documentation of tabulate."
    )
    decimal: Literal[".", ","] | None = Field(
        default=None, description="Decimal sign of numbers in text files; without it, it is recognised, and said."
    )
    thousands: Thousands = Field(
        default=None, description="Sign between thousands in text files; without it, it is recognised."
    )
    separator: str | None = Field(
        default=None, min_length=1, max_length=1, description="Sign between the fields of text files."
    )
    encoding: str | None = Field(default=None, description="Encoding of text files, such as utf-8 or cp1252.")
    member: str | None = Field(default=None, description="File in a zip archive that holds several.")
    sheet: str | None = Field(default=None, description="Sheet of an Excel file that holds several.")
    relation: str | None = Field(default=None, description="Table of a DuckDB file that holds several.")
    measure: str | None = Field(
        default=None,
        description="What the values are, where linked tables call them differently. Tables that measure different "
        "things share no cells.",
    )

    @field_validator("hierarchy", mode="before")
    @classmethod
    def _files(cls, given: Any) -> Any:
        if isinstance(given, dict):
            return {name: {"file": one} if isinstance(one, str) else one for name, one in given.items()}
        return given


class Spec(TableSpec):
    """Everything that ``tabprotect protect`` does."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [{"required": [key]} for key in ("rules", "holding_rules", *sorted(STATED), "tables")]
        }
    )

    tables: dict[str, TableSpec] = Field(
        default={}, description="Linked tables that are protected together: a name, and how each differs from the rest."
    )
    unpublished: dict[str, list[str]] = Field(
        default={}, description="Of linked tables: dimension -> codes whose cells nobody publishes, below all groups."
    )
    cost: str = Field(default="value", description="What hiding a cell costs: value, unit, count, or a column.")
    random_costs: float = Field(
        default=0.0, ge=0, description="Costs of hiding are raised at random, by up to this share, from a secret seed."
    )
    transform: str | None = Field(
        default=None, description="What is done to the costs of hiding: log, or boxcox=0.5 (from 0 to 1)."
    )
    preferences: dict[str, list[float]] = Field(
        default={}, description="Dimension -> factors on the costs of hiding by level, the total first: [100, 10, 1]."
    )
    previous: CarriedSpec | None = Field(
        default=None, description="The release of the last period: its folder, or a table with more to say."
    )
    rules: list[str] = Field(default=[], description="Such as p%=15, nk=2,85, pq=10,50, threshold=3.")
    holding_rules: list[str] = Field(
        default=[],
        description="Rules at the level of holdings, alone or beside those of contributors (microdata).",
    )
    levels: Literal["symmetric", "upper", "sliding"] = "symmetric"
    lower: float | str | None = Field(
        default=None, description="What intruders know: a number, '50%' of the value, a column."
    )
    upper: float | str | None = Field(default=None, description="The same upwards; without it no upper bound is known.")
    singletons: bool = Field(default=True, description="Respondents alone in a cell attack with what they know.")
    attackers: dict[str, list[str]] = Field(
        default={}, description="Name of an intruder -> labels of cells that he knows, such as 'N x small'."
    )
    unions: Literal["repair", "audit", "off"] = Field(default="repair", description="Sensitive sums of hidden cells.")
    protect_hidden: bool = Field(
        default=False, description="Hidden cells that no rule asks protection levels for get some, too."
    )
    intervals: bool = Field(default=True, description="Compute the intruder's interval of every hidden cell.")
    method: str = Field(default="auto", json_schema_extra=_list_methods)
    options: dict[str, Any] = Field(default={}, json_schema_extra=_list_options)
    engine: str = "scip"
    seed: int | None = Field(
        default=None, ge=0, description="Without one, methods that draw values at random draw a fresh secret one."
    )
    limits: LimitsSpec = LimitsSpec()
    output: OutputSpec = OutputSpec()

    @field_validator("previous", mode="before")
    @classmethod
    def _folder(cls, given: Any) -> Any:
        return {"release": given} if isinstance(given, str) else given

    @field_validator("rules")
    @classmethod
    def _rules(cls, texts: list[str]) -> list[str]:
        from tabprotect.sensitivity.parse import as_rules

        _parsed(as_rules, texts)
        return texts

    @field_validator("holding_rules")
    @classmethod
    def _holding_rules(cls, texts: list[str]) -> list[str]:
        from tabprotect.sensitivity.level import at_holdings
        from tabprotect.sensitivity.parse import as_rules

        _parsed(lambda given: at_holdings(as_rules(given)), texts)
        return texts

    @property
    def all_rules(self) -> tuple[Any, ...]:
        """The rules of both levels."""
        from tabprotect.sensitivity.level import at_holdings
        from tabprotect.sensitivity.parse import as_rules

        return as_rules((*as_rules(self.rules), *at_holdings(as_rules(self.holding_rules))))

    @field_validator("transform")
    @classmethod
    def _transform(cls, text: str | None) -> str | None:
        from tabprotect.sensitivity.costs import parse_transform

        if text is not None:
            _parsed(parse_transform, text)
        return text


def _parsed(parse: Callable[[Any], Any], given: Any) -> None:
    """Let the parser say what is wrong with a text of its own language."""
    try:
        parse(given)
    except InputError as error:
        raise PydanticCustomError("parsed", "{why}", {"why": "\n".join(error.problems)}) from error


def each_table(spec: Spec) -> dict[str, Spec]:
    """Return the specifications of the linked tables, each with what all of them have."""
    found = {}
    for name, table in spec.tables.items():
        own = {key: getattr(table, key) for key in table.model_fields_set}
        shared = {} if own.keys().isdisjoint(INPUTS) else dict.fromkeys(INPUTS)
        by_dimension = {key: {**getattr(spec, key), **own.get(key, {})} for key in BY_DIMENSION}
        found[name] = spec.model_copy(update={"tables": {}, **shared, **own, **by_dimension})
    return found
