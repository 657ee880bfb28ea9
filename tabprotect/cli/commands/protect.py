"""``tabprotect protect``: from a specification or flags to a release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from tabprotect.cli.arguments import MemoryLimit, Resume, TimeLimit, Workers, WorkLimit

EPILOG = """Examples:

[bold]tabprotect protect turnover.toml[/]

[bold]tabprotect protect register.csv --by nace --by region --hierarchy nace=nace.hrc --value turnover
--contributor enterprise_id --holding group_id --rule "p%=15" --rule "threshold=3" --out release[/]

[bold]tabprotect protect register.csv --by nace --by region --value turnover --rule "p%=15" --method round
--base 1000[/]
"""

DATA = (
    ".csv", ".tsv", ".tab", ".txt", ".gz", ".zip", ".xlsx", ".xlsm", ".parquet", ".pq", ".duckdb", ".ddb",
)  # fmt: skip

_READING = "How the data are written"
_TABLE, _RULES, _SEARCH, _OUTPUT = "What the table is", "What is sensitive", "How to search", "What to write"


def _text(flag: str, help_: str, panel: str = _TABLE, metavar: str = "COLUMN") -> Any:
    return typer.Option(flag, help=help_, rich_help_panel=panel, metavar=metavar, show_default=False)


def protect(
    spec: Annotated[
        Path | None,
        typer.Argument(
            metavar="SPEC.toml|DATA",
            help="Everything in one file, overridden by flags; or the microdata (text, Excel, Parquet, DuckDB).",
            show_default=False,
        ),
    ] = None,
    data: Annotated[Path | None, _text("--data", "Microdata: text, Excel, Parquet or DuckDB.", metavar="FILE")] = None,
    cells: Annotated[Path | None, _text("--cells", "Or a finished table, one row a cell.", metavar="FILE")] = None,
    by: Annotated[list[str] | None, _text("--by", "A dimension; repeat it.")] = None,
    value: Annotated[str | None, _text("--value", "What is summed; without it records are counted.")] = None,
    hierarchy: Annotated[
        list[str] | None,
        _text("--hierarchy", "Hierarchy of a dimension: .hrc, parent and child, or a code list.", metavar="DIM=FILE"),
    ] = None,
    total: Annotated[list[str] | None, _text("--total", "Code of the total.", metavar="DIM=CODE")] = None,
    contributor: Annotated[str | None, _text("--contributor", "Who the record belongs to.")] = None,
    holding: Annotated[str | None, _text("--holding", "The group that counts as one contributor.")] = None,
    weight: Annotated[str | None, _text("--weight", "Sampling weight.")] = None,
    shadow: Annotated[str | None, _text("--shadow", "The variable that rules look at.")] = None,
    request: Annotated[str | None, _text("--request", "Request codes.")] = None,
    waiver: Annotated[str | None, _text("--waiver", "Consent to publication.")] = None,
    count: Annotated[str | None, _text("--count", "Number of contributors (finished table).")] = None,
    maxima: Annotated[
        list[str] | None, _text("--maximum", "Largest contributions (finished table); repeat it.")
    ] = None,
    status: Annotated[str | None, _text("--status", "Statuses given by hand (finished table).")] = None,
    rule: Annotated[
        list[str] | None,
        _text("--rule", "A primary rule, such as p%=15, nk=2,85, threshold=3; repeat it.", _RULES, "RULE"),
    ] = None,
    levels: Annotated[str | None, _text("--levels", "symmetric, upper or sliding.", _RULES, "WORD")] = None,
    protect_hidden: Annotated[
        bool,
        typer.Option(
            "--protect-hidden",
            help="Hidden cells that no rule asks protection levels for get some, too.",
            rich_help_panel=_RULES,
        ),
    ] = False,
    cost: Annotated[
        str | None, _text("--cost", "What hiding costs: value, unit, count, or a column.", _SEARCH, "WORD")
    ] = None,
    transform: Annotated[
        str | None, _text("--transform", "Of the costs of hiding: log, or boxcox=0.5.", _SEARCH, "WORD")
    ] = None,
    preference: Annotated[
        list[str] | None,
        _text("--preference", "Factors on the costs by level, the total first; repeat it.", _SEARCH, "DIM=F,F,..."),
    ] = None,
    previous: Annotated[
        Path | None,
        _text("--previous", "Release of the last period, whose hidden cells cost a tenth.", _SEARCH, "FOLDER"),
    ] = None,
    keep_previous: Annotated[
        bool,
        typer.Option("--keep-previous", help="Cells hidden then stay hidden.", rich_help_panel=_SEARCH),
    ] = False,
    revision: Annotated[
        bool,
        typer.Option(
            "--revision",
            help="Both releases are of the same quantities, and audited together.",
            rich_help_panel=_SEARCH,
        ),
    ] = False,
    random_costs: Annotated[
        float | None,
        _text(
            "--random-costs", "Costs are raised at random by up to this share, from a secret seed.", _SEARCH, "SHARE"
        ),
    ] = None,
    method: Annotated[
        str | None,
        _text(
            "--method",
            "Hiding: {hiding}. Other values: {tables}; from microdata: {records}. Fewer categories: {recoding}.",
            _SEARCH,
            "WORD",
        ),
    ] = None,
    round_base: Annotated[float | None, _text("--base", "Of the rounding methods.", _SEARCH, "B")] = None,
    option: Annotated[
        list[str] | None,
        _text("--option", "Of a method that changes values; repeat it. {options}", _SEARCH, "NAME=VALUE"),
    ] = None,
    time_limit: TimeLimit = None,
    work_limit: WorkLimit = None,
    memory_limit: MemoryLimit = None,
    workers: Workers = None,
    resume: Resume = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Same seed, same answer.", rich_help_panel=_SEARCH)
    ] = None,
    decimal: Annotated[str | None, _text("--decimal", "Decimal sign; recognised.", _READING, "SIGN")] = None,
    thousands: Annotated[
        str | None, _text("--thousands", "Sign between thousands; recognised.", _READING, "SIGN")
    ] = None,
    separator: Annotated[
        str | None, _text("--separator", "Sign between fields, or 'tab'; recognised.", _READING, "SIGN")
    ] = None,
    encoding: Annotated[str | None, _text("--encoding", "Such as cp1252; recognised.", _READING, "NAME")] = None,
    set_: Annotated[
        list[str] | None,
        _text("--set", "Any key of a specification, such as output.decimals=1; repeat it.", _OUTPUT, "KEY=VALUE"),
    ] = None,
    out: Annotated[Path | None, _text("--out", "Folder that gets publish/ and internal/.", _OUTPUT, "FOLDER")] = None,
    format_: Annotated[
        list[str] | None,
        _text("--format", "csv, text.csv (for spreadsheets), parquet or xlsx; repeat it.", _OUTPUT, "WORD"),
    ] = None,
    title: Annotated[str | None, _text("--title", "Heading of the pages; public.", _OUTPUT, "TEXT")] = None,
    separate: Annotated[
        bool,
        typer.Option("--separate-statuses", help="Tell the public which cells are primary.", rich_help_panel=_OUTPUT),
    ] = False,
    unsafe: Annotated[
        bool,
        typer.Option("--allow-unsafe", help="Write the release even if it is not safe.", rich_help_panel=_OUTPUT),
    ] = False,
) -> int:
    """Find the sensitive cells of a table, hide or change as little as possible to protect them, and prove it.

    Writes publish/ (for everybody) and internal/ (confidential). The first Ctrl-C stops with the best answer so far.
    """
    from tabprotect.cli.run import carry_out
    from tabprotect.cli.settings import read_settings
    from tabprotect.errors import InputError
    from tabprotect.workflow.specification import check_spec, load_toml

    if spec is not None and spec.suffix.lower() in DATA:
        if data is not None:
            raise InputError(f"microdata are given twice: {spec} and --data {data}")
        spec, data = None, spec
    base = Path() if spec is None else spec.parent

    def place(path: Path | None) -> str | None:
        # paths of flags are relative to where we are, those of a specification to where it is
        return None if path is None else str(path if spec is None else path.absolute())

    given: dict[str, Any] = {
        "data": place(data),
        "cells": place(cells),
        "by": by,
        "value": value,
        "hierarchy": {dim: place(Path(file)) for dim, file in _pairs("--hierarchy", "DIM=FILE", hierarchy).items()},
        "total": _pairs("--total", "DIM=CODE", total),
        "contributor": contributor,
        "holding": holding,
        "weight": weight,
        "shadow": shadow,
        "request": request,
        "waiver": waiver,
        "count": count,
        "maxima": maxima,
        "status": status,
        "rules": rule,
        "levels": levels,
        "protect_hidden": protect_hidden or None,
        "cost": cost,
        "random_costs": random_costs,
        "previous": {"release": place(previous), "keep": keep_previous or None, "revision": revision or None},
        "transform": transform,
        "preferences": _factors(preference),
        "method": method,
        "options": {**_pairs("--option", "NAME=VALUE", option), **({} if round_base is None else {"base": round_base})},
        "decimal": decimal,
        "thousands": thousands,
        "separator": "\t" if separator in ("tab", "\\t") else separator,
        "encoding": encoding,
        "seed": seed,
        "limits": {"seconds": time_limit, "work": work_limit, "memory": memory_limit},
        "output": {
            "folder": place(out),
            "formats": format_,
            "title": title,
            "separate_statuses": separate or None,
            "allow_unsafe": unsafe or None,
        },
    }
    content = {} if spec is None else load_toml(spec)
    name = "flags" if spec is None else str(spec)
    return carry_out(
        check_spec(_merged(_merged(content, read_settings(set_ or ())), given), name),
        base,
        workers=workers,
        resume=resume,
    )


def _pairs(flag: str, form: str, words: list[str] | None) -> dict[str, str]:
    """Read ``name=value`` words."""
    from tabprotect.errors import collect

    with collect() as problems:
        for word in words or ():
            if "=" not in word:
                problems.add(f"{flag} '{word}': write {form}")
    return dict(word.split("=", 1) for word in words or ())


def _factors(words: list[str] | None) -> dict[str, list[float]]:
    """Read ``dimension=factor,factor`` words."""
    from tabprotect.errors import collect

    found: dict[str, list[float]] = {}
    with collect() as problems:
        for name, numbers in _pairs("--preference", "DIM=F,F,...", words).items():
            try:
                found[name] = [float(number) for number in numbers.split(",")]
            except ValueError:
                problems.add(f"--preference '{name}={numbers}': factors are numbers, such as {name}=100,10,1")
    return found


def _merged(content: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Put what was given over what is there; None and empty mappings were not given."""
    merged = dict(content)
    for name, value in given.items():
        if isinstance(value, dict):
            below = merged.get(name, {})
            inner = _merged(below, value) if isinstance(below, dict) else below
            if inner:
                merged[name] = inner
        elif value is not None:
            merged[name] = value
    return merged
