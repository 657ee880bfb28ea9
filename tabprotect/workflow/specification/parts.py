"""Parts of a specification: hierarchies, limits, what is written, and the last period."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from tabprotect.formats.dialect import Dialect
from tabprotect.table.reading import Recognised
from tabprotect.table.reading.numbers import one_blank

__all__ = [
    "SOURCES",
    "CarriedSpec",
    "HierarchySpec",
    "LimitsSpec",
    "OutputSpec",
    "Strict",
    "Thousands",
    "check_dialect",
    "dialect_of",
]

SOURCES = ("file", "pairs", "codes", "columns", "lengths", "digits", "separator")
"""Keys of a hierarchy, one of which takes the place of another."""


class Strict(BaseModel):
    """What takes no keys besides its own, and no values of other types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _one_blank(given: Any) -> Any:
    return one_blank(given) if isinstance(given, str) else given


Thousands = Annotated[Literal[".", ",", " ", "'", "\u2019", ""] | None, BeforeValidator(_one_blank)]


class HierarchySpec(Strict):
    """Where a hierarchy comes from: one of `file`, `pairs`, `codes`, `columns`, `lengths`, `digits`, `separator`."""

    file: str | None = Field(
        default=None,
        description="Code list, indented (.hrc) or with named columns; the path is relative to the specification.",
    )
    leader: str | None = Field(
        default=None, description="What indents a line of the code list by one level; recognised: @, a tab or blanks."
    )
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


class LimitsSpec(Strict):
    """When to stop; without limits, when the pattern is proven optimal."""

    seconds: float | None = Field(default=None, ge=0, description="Wall-clock seconds.")
    work: int | None = Field(
        default=None, ge=0, description="Work units: the same limit gives the same answer everywhere."
    )
    gap: float = Field(default=0.0, ge=0, le=1, description="Stop at this (cost - bound) / cost.")
    memory: float | None = Field(
        default=None, gt=0, le=1e6, description="Gigabytes (10^9 bytes) that the whole process may hold in memory."
    )


class OutputSpec(Strict):
    """What is written, and where."""

    folder: str = Field(default="release", description="Gets publish/ and internal/; relative to the specification.")
    formats: list[Literal["csv", "text.csv", "parquet", "xlsx"]] = Field(
        default=["csv"],
        min_length=1,
        description="text.csv: a CSV file whose labels no spreadsheet takes for formulas.",
    )
    separate_statuses: bool = Field(default=False, description="Tell the public which hidden cells are primary.")
    decimals: int | None = Field(
        default=None,
        ge=0,
        le=15,
        description="Round published values to so many decimals, and write them with all of these.",
    )
    separator: Literal[",", ";", "|", "\t"] | None = Field(
        default=None, description="Sign between the fields of text; by default as in the data."
    )
    decimal: Literal[".", ","] | None = Field(
        default=None, description="Decimal sign in text; by default as in the data."
    )
    encoding: str | None = Field(default=None, description="Encoding of text; by default as that of the data.")
    thousands: Thousands = Field(
        default=None, description="Sign between thousands on pages; by default as in the data."
    )
    title: str = Field(default="Protected table", description="Heading of the pages; public.")
    source: str = Field(default="", description="Who the values are from, below the table; public.")
    allow_unsafe: bool = Field(
        default=False, description="Write a release although the audit says that it is not safe."
    )


class CarriedSpec(Strict):
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


def dialect_of(output: OutputSpec, recognised: Sequence[Recognised]) -> Dialect:
    """Return how public text and numbers are written: as a specification says, else as the data are.

    Raises
    ------
    InputError
        An encoding that is none.
    """
    return Dialect.like(recognised, **_signs(output))


def check_dialect(output: OutputSpec) -> None:
    """Refuse how public text shall be written, before the data are read, if no data go with it.

    Raises
    ------
    InputError
    """
    Dialect.check_asked(**_signs(output))


def _signs(output: OutputSpec) -> dict[str, str | None]:
    return {name: getattr(output, name) for name in ("separator", "decimal", "encoding", "thousands")}
