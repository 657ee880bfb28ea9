"""``tabprotect export``: a written release in the forms of dissemination systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tabprotect.counted import counted

if TYPE_CHECKING:
    from rich.text import Text

    from tabprotect.errors import Problems
    from tabprotect.formats.published import Published

EPILOG = """Examples:

[bold]tabprotect export out table.px[/]

[bold]tabprotect export linked size.px --table "activity and size"[/]   (xlsx: all tables, a sheet each)

[bold]tabprotect export out table.xml --form ml-2.1 --agency XX --structure DSD_FIRMS --code region:Total=_T[/]
"""

STRUCTURE = "structure-2.1"

_SUFFIXES = {".px": "px", ".xlsx": "xlsx", ".json": "json-stat", ".csv": "csv-2.0", ".xml": "ml-3.0"}

Form = Annotated[
    str | None,
    typer.Option(
        "--form",
        help="px, xlsx, json-stat, or SDMX: csv-1.0, csv-2.0, ml-2.1, ml-2.1-generic, ml-3.0, and structure-2.1, "
        "the data structure; by default by the ending of OUT.",
    ),
]
TableName = Annotated[
    str | None,
    typer.Option("--table", metavar="NAME", help="Of linked tables: this one; xlsx holds all, a sheet a table."),
]
Agency = Annotated[str, typer.Option("--agency", help="SDMX: agency of the data structure.")]
Structure = Annotated[str, typer.Option("--structure", help="SDMX: the data structure.")]
Statuses = Annotated[str, typer.Option("--statuses", help="SDMX: codes as in sdmx, or as in estat.")]
Together = Annotated[bool, typer.Option("--together", help="SDMX: do not tell primary and secondary cells apart.")]
Conf = Annotated[
    list[str] | None,
    typer.Option("--conf", metavar="STATUS=CODE", help="SDMX: CONF_STATUS of a status, such as secondary=D."),
]
Obs = Annotated[
    list[str] | None,
    typer.Option("--obs", metavar="STATUS=CODE", help="SDMX: OBS_STATUS of a status, such as primary=Q."),
]
Hierarchies = Annotated[
    list[str] | None,
    typer.Option("--hierarchy", metavar="DIM=FILE", help="structure-2.1: code list that says which code is above."),
]
Codes = Annotated[list[str] | None, typer.Option("--code", metavar="DIM:CODE=ID", help="SDMX: identifier of a code.")]
Names = Annotated[list[str] | None, typer.Option("--name", metavar="DIM=ID", help="SDMX: identifier of a dimension.")]
Fixed = Annotated[list[str] | None, typer.Option("--fixed", metavar="DIM=ID", help="SDMX: a dimension with one code.")]
AllowUnsafe = Annotated[bool, typer.Option("--allow-unsafe", help="Export what is not safe, on your responsibility.")]


def export(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release folder.", show_default=False)],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.", show_default=False)],
    form: Form = None,
    table: TableName = None,
    agency: Agency = "ORG",
    structure: Structure = "DSD_TABLE",
    statuses: Statuses = "sdmx",
    together: Together = False,
    conf: Conf = None,
    obs: Obs = None,
    hierarchy: Hierarchies = None,
    code: Codes = None,
    name: Names = None,
    fixed: Fixed = None,
    allow_unsafe: AllowUnsafe = False,
) -> int:
    """Write the public table of a release as PC-Axis, JSON-stat, SDMX or a coloured Excel sheet.

    What is exported is in the public files, so nothing confidential can get into it. They must be those that were
    proven; of a release that is not safe nothing is written (exit code 1), unless that is allowed.
    """
    from tabprotect.cli.exits import Exit
    from tabprotect.cli.screen import out as console
    from tabprotect.errors import collect
    from tabprotect.formats.files import write_bytes
    from tabprotect.formats.folder import check_outside
    from tabprotect.formats.published import read_tables
    from tabprotect.formats.sdmx import ESTAT, SDMX
    from tabprotect.release.read import intact_release

    chosen = form or _SUFFIXES.get(out.suffix.lower())
    maps = {"sdmx": SDMX, "estat": ESTAT}
    with collect() as problems:
        _check_form(chosen, out, problems)
        if statuses not in maps:
            problems.add(f"statuses must be sdmx or estat, not '{statuses}'")
        codes = _codes(code or (), problems)
        names = _pairs(name, "--name", "DIM=ID, such as region=REF_AREA", problems)
        constants = _pairs(fixed, "--fixed", "DIM=ID, such as TIME_PERIOD=2025", problems)
        files = _pairs(hierarchy, "--hierarchy", "DIM=FILE, such as region=region.hrc", problems)
        confidentiality = _pairs(conf, "--conf", "STATUS=CODE, such as secondary=D", problems)
        observation = _pairs(obs, "--obs", "STATUS=CODE, such as primary=Q", problems)
        sdmx = bool(name or code or fixed or conf or obs or together)
        _check_fitting(chosen, sdmx=sdmx, files=bool(files), problems=problems)
    by = maps[statuses].together() if together else maps[statuses]
    by = replace(by, conf={**by.conf, **confidentiality}, obs={**by.obs, **observation})
    check_outside(out)
    tables = _chosen(release, read_tables(release), table, single=chosen != "xlsx")
    safe = intact_release(release).safe
    if not (safe or allow_unsafe):
        console().print(_unsafe("nothing was written (--allow-unsafe writes it on your responsibility)."))
        return Exit.UNSAFE
    data = _encoded(tables, chosen or "", hierarchy=files, agency=agency, structure=structure, statuses=by, names=names,
                    codes=codes, fixed=constants)  # fmt: skip
    write_bytes(out, data)
    console().print(f"{out}: {_what(list(tables.values()))}, as {chosen}.", markup=False)
    if safe:
        return Exit.DONE
    console().print(_unsafe("written because --allow-unsafe is set."))
    return Exit.UNSAFE


def _unsafe(what: str) -> Text:
    from rich.text import Text

    return Text.assemble(("The release is NOT SAFE", "bold red"), f": {what}")


def _known() -> tuple[str, ...]:
    from tabprotect.formats.sdmx import FORMATS

    return ("px", "xlsx", "json-stat", *FORMATS, STRUCTURE)


def _check_form(form: str | None, out: Path, problems: Problems) -> None:
    """Refuse a form that there is not, or an ending that stands for none."""
    from tabprotect.errors import did_you_mean

    if form not in _known():
        problems.add(f"no form '{form or out.suffix}'{did_you_mean(form or '', _known())}")


def _check_fitting(form: str | None, *, sdmx: bool, files: bool, problems: Problems) -> None:
    """Refuse options for SDMX, and files of hierarchies, where the form has no use for them."""
    from tabprotect.formats.sdmx import FORMATS

    if sdmx and form in _known() and form not in (*FORMATS, STRUCTURE):
        problems.add(f"--name, --code, --fixed, --conf, --obs and --together are for SDMX, not for {form}")
    if files and form != STRUCTURE:
        problems.add(f"--hierarchy is for {STRUCTURE}, not for {form}")


def _chosen(release: Path, tables: dict[str, Published], name: str | None, *, single: bool) -> dict[str, Published]:
    """Return the tables to write."""
    from tabprotect.errors import InputError, did_you_mean

    named = [one for one in tables if one]
    if name is not None and not named:
        raise InputError(f"{release} holds one table, which has no name; leave out --table")
    if name is not None and name not in tables:
        raise InputError(f"{release} holds no table '{name}'{did_you_mean(name, named)}")
    if name is None and single and len(tables) > 1:
        flags = " or ".join(f'--table "{one}"' for one in named)
        raise InputError(
            f"{release} holds {len(tables)} linked tables, and this form holds one: name it, {flags}; "
            "or write .xlsx, which has a sheet for every table"
        )
    return tables if name is None else {name: tables[name]}


def _encoded(tables: Mapping[str, Published], form: str, *, hierarchy: Mapping[str, str], **words: Any) -> bytes:
    """Return tables in a form: the only one, but for Excel's."""
    from tabprotect.formats.crosstab import encode_crosstab
    from tabprotect.formats.jsonstat import encode_jsonstat
    from tabprotect.formats.px import encode_px
    from tabprotect.formats.sdmx import encode_sdmx, encode_structure
    from tabprotect.table.hierarchy import Hierarchy

    table = next(iter(tables.values()))
    if form == "xlsx":
        return encode_crosstab(tables if len(tables) > 1 else table)
    if form == "px":
        return encode_px(table)
    if form == "json-stat":
        return encode_jsonstat(table)
    if form != STRUCTURE:
        return encode_sdmx(table, form, **words)
    trees = {name: Hierarchy.read(file) for name, file in hierarchy.items()}
    return encode_structure(table, hierarchies=trees, **words)


def _what(tables: Sequence[Published]) -> str:
    """Say how much was written."""
    # public files do not tell which rows are of the same cell
    rows, hidden = sum(len(one.frame) for one in tables), sum(int(one.hidden.sum()) for one in tables)
    what = counted(rows, "row") if len(tables) == 1 else f"{len(tables)} tables, {counted(rows, 'row')}"
    return f"{what}, {hidden:,} of them hidden"


def _codes(words: Sequence[str], problems: Problems) -> dict[str, dict[str, str]]:
    """Read identifiers of codes, by dimension and code."""
    codes: dict[str, dict[str, str]] = {}
    for word in words:
        dimension, colon, rest = word.partition(":")
        own, sign, identifier = rest.rpartition("=")
        if not (colon and sign and dimension):
            problems.add(f"--code '{word}': write DIM:CODE=ID, such as region:Total=_T")
        codes.setdefault(dimension, {})[own] = identifier
    return codes


def _pairs(words: Sequence[str] | None, flag: str, form: str, problems: Problems) -> dict[str, str]:
    """Read words of two parts."""
    if bad := [word for word in words or () if "=" not in word]:
        problems.add(f"{flag} '{bad[0]}': write {form}")
    return dict(word.split("=", 1) for word in words or () if "=" in word)
