"""Flags for the keys of a specification: one table, from which commands, messages and help are made."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

__all__ = ["FLAGS", "OUTPUT", "RELEASE", "SEARCH", "SET", "Flag", "by_key", "flag_names", "with_flags"]

READING, TABLE, CODES = "How the data are written", "What the table is", "What the codes are"
RULES, SEARCH, OUTPUT = "What is sensitive", "How to search", "What to write"

Form = Literal[
    "text",
    "list",
    "path",
    "number",
    "whole",
    "switch",
    "off",
    "pairs",
    "files",
    "words",
    "numbers",
    "factors",
    "several",
    "two",
]

_TYPES: Mapping[str, Any] = {"path": Path | None, "number": float | None, "whole": int | None, "text": str | None,
                             "two": str | None, "switch": bool, "off": bool}  # fmt: skip


@dataclass(frozen=True)
class Flag:
    """One flag, and the key of a specification that it sets.

    Attributes
    ----------
    name : str
        Such as ``--value``.
    key : str
        Such as ``value``, ``output.title``, or ``hierarchy.*.lengths``, where the star is the dimension.
    form : str
        What is given: a text, a list (the flag is repeated), a path, a number, a whole number, nothing (a switch that
        turns something on or off), or something for a dimension: a text, a file, words, whole numbers, factors; for a
        name (the flag is repeated), a text; or two bounds.
    help, panel, metavar : str
        In the help of a command.
    least : float, optional
        The smallest number.
    """

    name: str
    key: str
    form: Form
    help: str
    panel: str
    metavar: str = "COLUMN"
    least: float | None = None

    @property
    def parameter(self) -> str:
        """The name of the function's argument."""
        return "flag_" + self.name.strip("-").replace("-", "_")

    @property
    def annotation(self) -> Any:
        """The argument as the command line needs it."""
        plain = self.form in ("switch", "off")
        more: dict[str, Any] = {} if plain else {"metavar": self.metavar, "show_default": False}
        if self.least is not None:
            more["min"] = self.least
        option = typer.Option(self.name, help=self.help, rich_help_panel=self.panel, **more)
        return Annotated[_TYPES.get(self.form, list[str] | None), option]

    @property
    def by_dimension(self) -> bool:
        """Whether it is given for one dimension."""
        return self.form in ("pairs", "files", "words", "numbers", "factors", "several")


FLAGS: tuple[Flag, ...] = (
    Flag("--data", "data", "path", "Microdata: text, Excel, Parquet or DuckDB.", TABLE, "FILE"),
    Flag("--cells", "cells", "path", "Or a finished table, one row a cell.", TABLE, "FILE"),
    Flag("--by", "by", "list", "A dimension; repeat it.", TABLE),
    Flag("--value", "value", "text", "What is summed; without it records are counted.", TABLE),
    Flag("--contributor", "contributor", "text", "Who the record belongs to.", TABLE),
    Flag("--holding", "holding", "text", "The group that counts as one contributor.", TABLE),
    Flag("--weight", "weight", "text", "Sampling weight.", TABLE),
    Flag("--shadow", "shadow", "text", "The variable that rules look at.", TABLE),
    Flag("--request", "request", "text", "Request codes.", TABLE),
    Flag("--waiver", "waiver", "text", "Consent to publication.", TABLE),
    Flag("--kind", "kind", "text", "magnitude or frequency.", TABLE, "WORD"),
    Flag("--count", "count", "text", "Number of contributors (finished table).", TABLE),
    Flag("--weighted-count", "weighted_count", "text", "Sum of weights (finished table).", TABLE),
    Flag("--maximum", "maxima", "list", "Largest contributions (finished table); repeat it.", TABLE),
    Flag("--holder", "holders", "list", "Whose they are (finished table); repeat it.", TABLE),
    Flag("--status", "status", "text", "Statuses given by hand (finished table).", TABLE),
    Flag("--lpl", "lpl", "text", "Lower protection levels (finished table).", TABLE),
    Flag("--upl", "upl", "text", "Upper protection levels (finished table).", TABLE),
    Flag("--spl", "spl", "text", "Sliding protection levels (finished table).", TABLE),
    Flag("--margins", "margins", "text", "check (default) or add those that are not there (finished table).", TABLE,
         "WORD"),
    Flag("--tolerance", "tolerance", "number", "Largest rounding residual accepted (finished table).", TABLE, "T", 0.0),
    Flag("--empty", "empty", "text", "What cells without records are: zero, structural, drop.", TABLE, "WORD"),
    Flag("--hierarchy", "hierarchy.*.file", "files",
         "Hierarchy of a dimension: indented (.hrc), parent and child, or a code list; known by what is in it.", CODES,
         "DIM=FILE"),
    Flag("--pairs", "hierarchy.*.pairs", "files", "Or a CSV file with the columns parent and child.", CODES,
         "DIM=FILE"),
    Flag("--codes", "hierarchy.*.codes", "words", "Or the codes below the total, in this order.", CODES, "DIM=A,B,..."),
    Flag("--columns", "hierarchy.*.columns", "words", "Or nested columns of the data, outermost first.", CODES,
         "DIM=A,B,..."),
    Flag("--lengths", "hierarchy.*.lengths", "numbers", "Or where the codes of every level end, as 2,4,5.", CODES,
         "DIM=N,N,..."),
    Flag("--digits", "hierarchy.*.digits", "numbers", "Or the characters that every level adds, as 2,2,1.", CODES,
         "DIM=N,N,..."),
    Flag("--total", "total", "pairs", "Code of the total.", CODES, "DIM=CODE"),
    Flag("--missing", "missing", "words", "Codes that stand for 'unknown'.", CODES, "DIM=A,B,..."),
    Flag("--rule", "rules", "list", "A primary rule, such as p%=15, nk=2,85, threshold=3; repeat it.", RULES, "RULE"),
    Flag("--holding-rule", "holding_rules", "list",
         "A rule at the level of holdings, beside those at that of contributors; repeat it.", RULES, "RULE"),
    Flag("--levels", "levels", "text", "symmetric (default), upper or sliding.", RULES, "WORD"),
    Flag("--bounds", "bounds", "two",
         "What intruders know: 50% of the value both ways; or LOWER,UPPER: numbers, percentages, columns of a finished "
         "table; either may be left empty.", RULES, "LOWER,UPPER"),
    Flag("--protect-hidden", "protect_hidden", "switch",
         "Hidden cells that no rule asks protection levels for get some, too.", RULES),
    Flag("--no-singletons", "singletons", "off", "Respondents alone in a cell do not attack.", RULES),
    Flag("--attacker", "attackers", "several", "A cell that an intruder of this name knows; repeat it.", RULES,
         "NAME=CELL"),
    Flag("--unions", "unions", "text", "Sensitive sums of hidden cells: repair (default), audit or off.", RULES,
         "WORD"),
    Flag("--cost", "cost", "text", "What hiding costs: value, unit, count, or a column.", SEARCH, "WORD"),
    Flag("--random-costs", "random_costs", "number",
         "Costs are raised at random by up to this share, from a secret seed.", SEARCH, "SHARE"),
    Flag("--transform", "transform", "text", "Of the costs of hiding: log, or boxcox=0.5.", SEARCH, "WORD"),
    Flag("--preference", "preferences", "factors", "Factors on the costs by level, the total first; repeat it.", SEARCH,
         "DIM=F,F,..."),
    Flag("--previous", "previous.release", "path", "Release of the last period, whose hidden cells cost a tenth.",
         SEARCH, "FOLDER"),
    Flag("--keep-previous", "previous.keep", "switch", "Cells hidden then stay hidden.", SEARCH),
    Flag("--revision", "previous.revision", "switch",
         "Both releases are of the same quantities, and audited together.", SEARCH),
    Flag("--base", "options.base", "number", "Of the rounding methods.", SEARCH, "B"),
    Flag("--option", "options", "pairs", "Of a method that changes values; repeat it. {options}", SEARCH,
         "NAME=VALUE"),
    Flag("--engine", "engine", "text", "What solves suppression: scip (default), highs or pyomo.", SEARCH, "WORD"),
    Flag("--gap", "limits.gap", "number", "Stop at this (cost - bound) / cost.", SEARCH, "GAP"),
    Flag("--decimal", "decimal", "text", "Decimal sign; recognised, and said.", READING, "SIGN"),
    Flag("--thousands", "thousands", "text", "Sign between thousands; recognised, and said.", READING, "SIGN"),
    Flag("--separator", "separator", "text", "Sign between fields, or 'tab'; recognised, and said.", READING, "SIGN"),
    Flag("--encoding", "encoding", "text", "Such as cp1252; recognised, and said.", READING, "NAME"),
    Flag("--member", "member", "text", "File in a zip archive that holds several.", READING, "NAME"),
    Flag("--sheet", "sheet", "text", "Sheet of an Excel file that holds several.", READING, "NAME"),
    Flag("--relation", "relation", "text", "Table of a DuckDB file that holds several.", READING, "NAME"),
    Flag("--title", "output.title", "text", "Heading of the pages; public.", OUTPUT, "TEXT"),
)  # fmt: skip
"""What states a table and its protection; the same for every command that takes them."""

RELEASE: tuple[Flag, ...] = (
    Flag("--out", "output.folder", "path", "Folder that gets publish/ and internal/.", OUTPUT, "FOLDER"),
    Flag("--format", "output.formats", "list", "csv, text.csv (for spreadsheets), parquet or xlsx; repeat it.", OUTPUT,
         "WORD"),
    Flag("--unit", "unit", "text", "Unit of the values, such as '1,000 EUR'; public.", OUTPUT, "TEXT"),
    Flag("--source", "output.source", "text", "Who the values are from; public.", OUTPUT, "TEXT"),
    Flag("--decimals", "output.decimals", "whole",
         "Round published values to so many decimals, and write them with all of these.", OUTPUT, "N", 0),
    Flag("--separate-statuses", "output.separate_statuses", "switch", "Tell the public which cells are primary.",
         OUTPUT),
    Flag("--allow-unsafe", "output.allow_unsafe", "switch", "Write the release even if it is not safe.", OUTPUT),
    Flag("--no-intervals", "intervals", "off", "Compute no interval of any hidden cell.", OUTPUT),
)  # fmt: skip
"""What states a release."""

ELSEWHERE: Mapping[str, str] = {
    "method": "--method",
    "seed": "--seed",
    "limits.seconds": "--time-limit",
    "limits.work": "--work-limit",
    "limits.memory": "--memory-limit",
}
"""Keys whose flags are arguments of their own: they differ between commands."""

SET = Flag("--set", "", "list", "Any key of a specification, such as output.decimals=1; repeat it.", OUTPUT,
           "KEY=VALUE")  # fmt: skip


def by_key() -> dict[str, Flag]:
    """Return the flags by the keys that they set."""
    return {flag.key: flag for flag in (*FLAGS, *RELEASE)}


def flag_names() -> dict[str, str]:
    """Return the names of flags by the keys that they set, as ``hierarchy.*.lengths``."""
    both = [flag for flag in by_key().values() if flag.form == "two"]
    sides = {side: flag.name for flag in both for side in ("lower", "upper")}
    return {**{key: flag.name for key, flag in by_key().items()}, **sides, **ELSEWHERE}


def with_flags(*, release: bool) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command the flags of specifications, which it gets as one mapping, `flags`.

    Parameters
    ----------
    release : bool
        Whether those of a release are among them.
    """
    taken = (*FLAGS, *(RELEASE if release else ()), SET)

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        own = inspect.signature(command, eval_str=True)

        @functools.wraps(command)
        def called(**given: Any) -> int:
            flags = {flag.name: given.pop(flag.parameter) for flag in taken}
            return command(**given, flags=flags)

        named: list[inspect.Parameter] = []
        for parameter in own.parameters.values():
            named += _parameters(taken) if parameter.name == "flags" else [parameter]
        parameters = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in named]
        called.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        called.__annotations__ = {one.name: one.annotation for one in parameters} | {"return": int}
        return called

    return decorate


def _parameters(flags: Iterable[Flag]) -> list[inspect.Parameter]:
    kind = inspect.Parameter.KEYWORD_ONLY
    return [
        inspect.Parameter(
            one.parameter, kind, default=False if one.form in ("switch", "off") else None, annotation=one.annotation
        )
        for one in flags
    ]
