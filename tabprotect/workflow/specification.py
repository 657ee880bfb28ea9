"""Specifications: what to protect and how, as TOML or as flags, checked as a whole."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from tabprotect.errors import InputError, did_you_mean
from tabprotect.formats.dialect import Dialect
from tabprotect.formats.files import read_text
from tabprotect.table.reading import Recognised

__all__ = [
    "HierarchySpec",
    "LimitsSpec",
    "OutputSpec",
    "Spec",
    "TableSpec",
    "check_spec",
    "dialect_of",
    "each_table",
    "load_toml",
]


def _list_methods(schema: dict[str, Any]) -> None:
    """Name the methods of the registry, which is read when the schema is asked for."""
    from tabprotect.methods.registry import METHODS

    schema["enum"] = list(METHODS)
    schema["description"] = " ".join(f"{one.name}: {one.summary}" for one in METHODS.values())


def _list_options(schema: dict[str, Any]) -> None:
    from tabprotect.methods.registry import options_help

    groups = (f"{', '.join(group)}: {', '.join(options)}." for group, options in options_help().items())
    schema["description"] = f"Of a method that changes values. {' '.join(groups)}"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class HierarchySpec(_Strict):
    """Where a hierarchy comes from: one of `file`, `pairs`, `codes`, `columns`, `lengths`, `digits`, `separator`."""

    file: str | None = Field(
        default=None, description="Indented code list (.hrc); the path is relative to the specification."
    )
    leader: str = Field(default="@", description="What indents a line of the code list by one level.")
    pairs: str | None = Field(default=None, description="CSV file with the columns parent and child.")
    codes: list[str] | None = Field(default=None, min_length=1, description="Codes below the total, in this order.")
    columns: list[str] | None = Field(
        default=None, min_length=2, description="Nested columns of the data, outermost first."
    )
    lengths: list[int] | None = Field(
        default=None, min_length=1, description="Where the codes of every level end: 2, 4, 5."
    )
    digits: list[int] | None = Field(
        default=None, min_length=1, description="Characters that every level adds: 2, 2, 1."
    )
    separator: str | None = Field(default=None, min_length=1, description="The sign between the levels of a code.")
    total: str | None = Field(default=None, description="Code of the total.")


class LimitsSpec(_Strict):
    """When to stop; without limits, when the pattern is proven optimal."""

    seconds: float | None = Field(default=None, ge=0, description="Wall-clock seconds.")
    work: int | None = Field(
        default=None, ge=0, description="Work units: the same limit gives the same answer everywhere."
    )
    gap: float = Field(default=0.0, ge=0, le=1, description="Stop at this (cost - bound) / cost.")
    memory: float | None = Field(
        default=None, gt=0, le=1e6, description="Gigabytes (10^9 bytes) that the whole process may hold in memory."
    )


class OutputSpec(_Strict):
    """What is written, and where."""

    folder: str = Field(default="release", description="Gets publish/ and internal/; relative to the specification.")
    formats: list[Literal["csv", "text.csv", "parquet", "xlsx"]] = Field(
        default=["csv"],
        min_length=1,
        description="text.csv: a CSV file whose labels no spreadsheet takes for formulas.",
    )
    separate_statuses: bool = Field(default=False, description="Tell the public which hidden cells are primary.")
    decimals: int | None = Field(default=None, ge=0, le=15, description="Round published values.")
    separator: Literal[",", ";", "|", "\t"] | None = Field(
        default=None, description="Sign between the fields of text; by default as in the data."
    )
    decimal: Literal[".", ","] | None = Field(
        default=None, description="Decimal sign in text; by default as in the data."
    )
    encoding: str | None = Field(default=None, description="Encoding of text; by default as that of the data.")
    title: str = Field(default="Protected table", description="Heading of the pages; public.")
    allow_unsafe: bool = Field(
        default=False, description="Write a release although the audit says that it is not safe."
    )


class CarriedSpec(_Strict):
    """How the pattern of the last period is carried forward."""

    release: str = Field(description="Folder of the last release.")
    factor: float = Field(
        default=0.1, gt=0, le=1, description="Costs of cells that were hidden in the last period are multiplied by it."
    )
    keep: bool = Field(default=False, description="Cells that were hidden in the last period stay hidden.")
    revision: bool = Field(
        default=False,
        description="Both releases are of the same quantities: they are audited together, and safe only together.",
    )


class TableSpec(_Strict):
    """One table; in a specification of several linked ones, what it has besides what all of them have."""

    data: str | None = Field(
        default=None,
        description="Microdata: text, Excel, Parquet or DuckDB, relative to the specification.",
    )
    cells: str | None = Field(default=None, description="Or a finished table: one row a cell.")
    by: list[str] = Field(default=[], min_length=1, description="Columns of the dimensions.")
    value: str | None = Field(default=None, description="Column that is summed; without it, records are counted.")
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
    total: dict[str, str] = Field(
        default={}, description="Dimension -> code of the total, where there is no hierarchy."
    )
    missing: dict[str, list[str]] = Field(default={}, description="Dimension -> codes that stand for 'unknown'.")
    empty: Literal["zero", "structural", "drop"] | None = Field(
        default=None, description="What cells without any record are; see the documentation of tabulate."
    )
    decimal: Literal[".", ","] | None = Field(
        default=None, description="Decimal sign of numbers in text files; without it, it is recognised, and said."
    )
    thousands: Literal[".", ",", " ", "'", "\u2019", ""] | None = Field(
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

    tables: dict[str, TableSpec] = Field(
        default={}, description="Linked tables that are protected together: a name, and how each differs from the rest."
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
    rules: list[str] = Field(min_length=1, description="Such as p%=15, nk=2,85, pq=10,50, threshold=3.")
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

        try:
            as_rules(texts)
        except InputError as error:
            raise PydanticCustomError("rule", "{why}", {"why": "\n".join(error.problems)}) from error
        return texts


def dialect_of(output: OutputSpec, recognised: Sequence[Recognised]) -> Dialect:
    """Return how public text files are written: as a specification says, else as the data are.

    Raises
    ------
    InputError
        An encoding that is none.
    """
    return Dialect.like(recognised, separator=output.separator, decimal=output.decimal, encoding=output.encoding)


def load_toml(path: str | Path) -> dict[str, Any]:
    """Read a TOML file, unchecked.

    Raises
    ------
    InputError
        If it cannot be read, or where it is not TOML.
    """
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {error}") from error


def check_spec(content: Mapping[str, Any], name: str) -> Spec:
    """Return the specification, or raise one error with everything that is wrong in it."""
    lines = _together(content)
    spec = None
    try:
        spec = Spec.model_validate(dict(content))
    except ValidationError as error:
        lines = [line for one in error.errors() for line in _explain(one)] + lines
    if spec is None or lines:
        raise InputError(*(f"{name}: {line}" for line in dict.fromkeys(lines)))
    return spec


def each_table(spec: Spec) -> dict[str, Spec]:
    """Return the specifications of the linked tables, each with what all of them have."""
    found = {}
    for name, table in spec.tables.items():
        own = {key: getattr(table, key) for key in table.model_fields_set}
        shared = {} if own.keys().isdisjoint(_INPUTS) else dict.fromkeys(_INPUTS)
        by_dimension = {key: {**getattr(spec, key), **own.get(key, {})} for key in _BY_DIMENSION}
        found[name] = spec.model_copy(update={"tables": {}, **shared, **own, **by_dimension})
    return found


_INPUTS = ("data", "cells")
_BY_DIMENSION = ("hierarchy", "total", "missing")
_MICRODATA = ("contributor", "holding", "weight", "request", "waiver")
_FINISHED = (
    "count", "weighted_count", "maxima", "holders", "status", "lpl", "upl", "spl", "margins", "tolerance",
)  # fmt: skip
_SOURCES = ("file", "pairs", "codes", "columns", "lengths", "digits", "separator")
_MODELS: dict[str, type[BaseModel]] = {
    "limits": LimitsSpec, "output": OutputSpec, "hierarchy": HierarchySpec, "previous": CarriedSpec,
}  # fmt: skip


def _together(content: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the keys taken together, however wrong their values are."""
    tables = content.get("tables", {})
    if not isinstance(tables, dict) or not all(isinstance(one, dict) for one in tables.values()):
        return []
    if not tables:
        return _of_one(content)
    wrong = {name: _of_one(_filled_in(content, one)) for name, one in tables.items()}
    shared = [line for line in next(iter(wrong.values())) if all(line in lines for lines in wrong.values())]
    own = [f"tables.{name}: {line}" for name, lines in wrong.items() for line in lines if line not in shared]
    return shared + own


def _filled_in(content: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a table says, and what it leaves to all tables; not the dimensions of the others."""
    left = {"tables"} if table.keys().isdisjoint(_INPUTS) else {"tables", *_INPUTS}
    filled = {**{key: given for key, given in content.items() if key not in left}, **table}
    by = [one.get("by", content.get("by")) for one in content["tables"].values()]
    anywhere = {name for names in by if isinstance(names, list) for name in names if isinstance(name, str)}
    mine = filled["by"] if isinstance(filled.get("by"), list) else []
    for key in _BY_DIMENSION:
        shared, own = content.get(key, {}), table.get(key, {})
        if isinstance(shared, dict) and isinstance(own, dict):
            filled[key] = {name: one for name, one in shared.items() if name in mine or name not in anywhere} | own
    return filled


def _of_one(content: Mapping[str, Any]) -> list[str]:
    wrong: list[str] = [] if "by" in content else [f"'by' is missing: {Spec.model_fields['by'].description}"]
    if ("data" in content) == ("cells" in content):
        wrong.append("give either 'data' (microdata) or 'cells' (a finished table)")
    elif "data" in content:
        wrong += [
            f"'{k}' belongs to a finished table (cells = ...), not to microdata" for k in _FINISHED if k in content
        ]
    else:
        wrong += [
            f"'{k}' belongs to microdata (data = ...), not to a finished table" for k in _MICRODATA if k in content
        ]
    if "data" in content:
        for side in ("lower", "upper"):
            bound = content.get(side)
            if isinstance(bound, str) and not bound.strip().endswith("%"):
                wrong.append(f"{side}: '{bound}' is neither a number nor a percentage such as '50%'")
    by: list[Any] = content["by"] if isinstance(content.get("by"), list) else []
    for key in ("hierarchy", "total", "missing") if by else ():
        given = content.get(key)
        strange = [name for name in given if name not in by] if isinstance(given, dict) else []
        wrong += [f"{key}.{name}: no such dimension{did_you_mean(name, by)}" for name in strange]
    hierarchies = content.get("hierarchy")
    for name, one in hierarchies.items() if isinstance(hierarchies, dict) else ():
        sources = [k for k in _SOURCES if k in one] if isinstance(one, dict) else ["file"]
        if len(sources) != 1:
            wrong.append(f"hierarchy.{name}: give exactly one of {', '.join(_SOURCES)}")
    return wrong


def _explain(error: Any) -> list[str]:
    place = [str(part) for part in error["loc"]]
    where = ".".join(place)
    kind = error["type"]
    whole: type[BaseModel] = Spec
    if place[0] == "tables" and len(place) > 2:
        place, whole = place[2:], TableSpec
    model = _MODELS.get(place[0], whole) if len(place) > 1 else whole
    if kind == "extra_forbidden":
        return [f"unknown key '{where}'{did_you_mean(place[-1], model.model_fields)}"]
    if kind == "missing":
        return [f"'{where}' is missing: {model.model_fields[place[-1]].description}"]
    if kind == "rule":
        return str(error["msg"]).split("\n")
    given = error["input"]
    if kind == "literal_error":
        options = [word.strip("'") for word in str(error["ctx"]["expected"]).replace(" or ", ", ").split(", ")]
        return [f"{where}: '{given}' is not possible{did_you_mean(given, options)}"]
    if place[-1] in ("float", "str"):
        # both forms of a value that may be either
        return [f"{where.rpartition('.')[0]}: should be a number or a text, not {given!r}"]
    message = _WORDS.get(kind, str(error["msg"]))
    return [f"{where}: {message[:1].lower()}{message[1:]}, not {given!r}"]


_WORDS = {
    "too_short": "should not be empty",
    "model_type": "should be a table of keys",
    "dict_type": "should be a table of keys",
    "list_type": "should be a list",
    "string_type": "should be a text",
    "float_type": "should be a number",
    "int_type": "should be a whole number",
    "bool_type": "should be true or false",
}
