"""Flags that set keys of a specification: one table of them, for every command that takes what `protect` takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from tabprotect.cli.arguments import MEMORY_LIMIT, TIME_LIMIT, WORK_LIMIT

__all__ = ["FLAGS", "INPUT", "Flag", "takes"]

READING, TABLE, RULES = "How the data are written", "What the table is", "What is sensitive"
SEARCH, OUTPUT = "How to search", "What to write"


@dataclass(frozen=True)
class Flag:
    """A flag for one key of a specification.

    Attributes
    ----------
    flag : str
    key : str
        The key, with dots where it is in a table, such as 'limits.seconds'.
    help : str
    panel : str
        Heading under which the help lists it.
    metavar : str
        What the help calls the value; 'DIM=...' where each dimension has one.
    kind : type
        Of a value; bool for a flag without one.
    several : bool
        Whether it can be repeated.
    option : OptionInfo, optional
        Shared with other commands; instead of help and metavar.
    """

    flag: str
    key: str
    help: str = ""
    panel: str = TABLE
    metavar: str = "COLUMN"
    kind: type = str
    several: bool = False
    option: Any = None

    @property
    def name(self) -> str:
        """Name of the parameter."""
        return self.flag.removeprefix("--").replace("-", "_") + "_"

    def parameter(self) -> inspect.Parameter:
        """Return it as a parameter of a command."""
        shown: dict[str, Any] = {"help": self.help, "rich_help_panel": self.panel, "show_default": False}
        if self.kind is not bool:
            shown["metavar"] = self.metavar
        option = self.option or typer.Option(self.flag, **shown)
        kind: Any = list[self.kind] if self.several else self.kind  # type: ignore[name-defined]
        whole = Annotated[bool, option] if self.kind is bool else Annotated[kind | None, option]
        default = False if self.kind is bool else None
        return inspect.Parameter(self.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=whole)


INPUT: tuple[Flag, ...] = (
    Flag("--data", "data", "Microdata: text, Excel, Parquet or DuckDB.", metavar="FILE", kind=Path),
    Flag("--cells", "cells", "Or a finished table, one row a cell.", metavar="FILE", kind=Path),
    Flag("--by", "by", "A dimension; repeat it.", several=True),
    Flag("--value", "value", "What is summed; without it records are counted."),
    Flag(
        "--hierarchy", "hierarchy.file", "Hierarchy of a dimension: .hrc, parent and child, or a code list.",
        metavar="DIM=FILE", several=True,
    ),
    Flag(
        "--pairs", "hierarchy.pairs", "Hierarchy as a CSV file with the columns parent and child.", metavar="DIM=FILE",
        several=True,
    ),
    Flag(
        "--lengths", "hierarchy.lengths", "Hierarchy by prefixes: where the codes of every level end, such as 2,4,5.",
        metavar="DIM=N,N,...", several=True,
    ),
    Flag(
        "--digits", "hierarchy.digits", "The same by what every level adds, such as 2,2,1.", metavar="DIM=N,N,...",
        several=True,
    ),
    Flag("--total", "total", "Code of the total.", metavar="DIM=CODE", several=True),
    Flag("--missing", "missing", "Codes that stand for 'unknown'.", metavar="DIM=CODE,...", several=True),
    Flag("--empty", "empty", "What cells without records are: zero, structural or drop.", metavar="WORD"),
    Flag("--contributor", "contributor", "Who the record belongs to."),
    Flag("--holding", "holding", "The group that counts as one contributor."),
    Flag("--weight", "weight", "Sampling weight."),
    Flag("--shadow", "shadow", "The variable that rules look at."),
    Flag("--request", "request", "Request codes."),
    Flag("--waiver", "waiver", "Consent to publication."),
    Flag("--count", "count", "Number of contributors (finished table)."),
    Flag("--maximum", "maxima", "Largest contributions (finished table); repeat it.", several=True),
    Flag("--status", "status", "Statuses given by hand (finished table)."),
    Flag("--lpl", "lpl", "Lower protection levels (finished table)."),
    Flag("--upl", "upl", "Upper protection levels (finished table)."),
    Flag("--margins", "margins", "check, or add those that are not there (finished table).", metavar="WORD"),
    Flag(
        "--tolerance", "tolerance", "Largest rounding residual of an equation (finished table).", metavar="AMOUNT",
        kind=float,
    ),
    Flag(
        "--rule", "rules", "A primary rule, such as p%=15, nk=2,85, threshold=3; repeat it.", RULES, "RULE",
        several=True,
    ),
    Flag("--levels", "levels", "symmetric, upper or sliding.", RULES, "WORD"),
    Flag(
        "--bounds", "bounds", "What intruders know of any value: how far below and above, such as 50%,100%.", RULES,
        "LOWER,UPPER",
    ),
    Flag(
        "--protect-hidden", "protect_hidden", "Hidden cells that no rule asks protection levels for get some, too.",
        RULES, kind=bool,
    ),
    Flag(
        "--attacker", "attackers", "A cell that an intruder of this name knows; repeat it.", RULES, "NAME=CELL",
        several=True,
    ),
    Flag("--cost", "cost", "What hiding costs: value, unit, count, or a column.", SEARCH, "WORD"),
    Flag("--decimal", "decimal", "Decimal sign; recognised.", READING, "SIGN"),
    Flag("--thousands", "thousands", "Sign between thousands; recognised.", READING, "SIGN"),
    Flag("--separator", "separator", "Sign between fields, or 'tab'; recognised.", READING, "SIGN"),
    Flag("--encoding", "encoding", "Such as cp1252; recognised.", READING, "NAME"),
)  # fmt: skip
"""What the table is and what is sensitive in it: what `compare` takes, too."""

FLAGS: tuple[Flag, ...] = (
    *INPUT,
    Flag(
        "--random-costs", "random_costs", "Costs are raised at random by up to this share, from a secret seed.", SEARCH,
        "SHARE", float,
    ),
    Flag(
        "--method", "method",
        "Hiding: {hiding}. Other values: {tables}; from microdata: {records}. Fewer categories: {recoding}.", SEARCH,
        "WORD",
    ),
    Flag("--base", "options.base", "Of the rounding methods.", SEARCH, "B"),
    Flag(
        "--option", "options", "Of a method that changes values; repeat it. {options}", SEARCH, "NAME=VALUE",
        several=True,
    ),
    Flag("--time-limit", "limits.seconds", kind=float, option=TIME_LIMIT),
    Flag("--work-limit", "limits.work", kind=int, option=WORK_LIMIT),
    Flag("--memory-limit", "limits.memory", kind=float, option=MEMORY_LIMIT),
    Flag("--seed", "seed", "Same seed, same answer.", SEARCH, "N", int),
    Flag("--out", "output.folder", "Folder that gets publish/ and internal/.", OUTPUT, "FOLDER", Path),
    Flag(
        "--format", "output.formats", "csv, text.csv (for spreadsheets), parquet or xlsx; repeat it.", OUTPUT, "WORD",
        several=True,
    ),
    Flag("--title", "output.title", "Heading of the pages; public.", OUTPUT, "TEXT"),
    Flag(
        "--separate-statuses", "output.separate_statuses", "Tell the public which cells are primary.", OUTPUT,
        kind=bool,
    ),
    Flag(
        "--allow-unsafe", "output.allow_unsafe", "Write the release even if it is not safe.", OUTPUT, kind=bool
    ),
)  # fmt: skip
"""What `protect` takes."""


def takes(flags: Iterable[Flag]) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command these flags; it gets those that were given as ``flags``, a mapping from `Flag` to value.

    The flags follow the command's first parameter in its help.
    """
    known = {flag.name: flag for flag in flags}

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        def run(*args: Any, **named: Any) -> int:
            given: Mapping[Flag, Any] = {
                flag: value
                for name, flag in known.items()
                if (value := named.pop(name, None)) is not None and value is not False and value != []
            }
            return command(*args, flags=given, **named)

        own = inspect.signature(command, eval_str=True)
        first, *others = [one for one in own.parameters.values() if one.name != "flags"]
        keyword = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in others]
        parameters = [first, *(flag.parameter() for flag in known.values()), *keyword]
        run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__name__, run.__doc__, run.__module__ = command.__name__, command.__doc__, command.__module__
        run.__annotations__ = {one.name: one.annotation for one in parameters} | {"return": int}
        return run

    return decorate
