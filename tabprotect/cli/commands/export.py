"""``tabprotect export``: a written release in the forms of dissemination systems."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tabprotect.counted import counted

EPILOG = """Examples:

[bold]tabprotect export out table.px[/]

[bold]tabprotect export out table.xml --form ml-2.1 --agency XX --structure DSD_FIRMS --code region:Total=_T[/]
"""

_SUFFIXES = {".px": "px", ".xlsx": "xlsx", ".json": "json-stat", ".csv": "csv-2.0", ".xml": "ml-3.0"}


def export(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release folder.", show_default=False)],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.", show_default=False)],
    form: Annotated[
        str | None,
        typer.Option(
            "--form",
            help="px, xlsx, json-stat, or SDMX: csv-1.0, csv-2.0, ml-2.1, ml-2.1-generic, ml-3.0; by default by the "
            "ending of OUT.",
        ),
    ] = None,
    agency: Annotated[str, typer.Option("--agency", help="SDMX: agency of the data structure.")] = "ORG",
    structure: Annotated[str, typer.Option("--structure", help="SDMX: the data structure.")] = "DSD_TABLE",
    statuses: Annotated[str, typer.Option("--statuses", help="SDMX: codes as in sdmx, or as in estat.")] = "sdmx",
    together: Annotated[
        bool, typer.Option("--together", help="SDMX: do not tell primary and secondary cells apart.")
    ] = False,
    code: Annotated[
        list[str] | None, typer.Option("--code", metavar="DIM:CODE=ID", help="SDMX: identifier of a code.")
    ] = None,
    fixed: Annotated[
        list[str] | None, typer.Option("--fixed", metavar="DIM=ID", help="SDMX: a dimension with one code.")
    ] = None,
) -> int:
    """Write the public table of a release as PC-Axis, JSON-stat, SDMX or a coloured Excel sheet.

    Only public files of the release are read, so nothing confidential can get into the export.
    """
    from tabprotect.cli.exits import Exit
    from tabprotect.cli.screen import out as console
    from tabprotect.errors import InputError, collect, did_you_mean
    from tabprotect.formats.crosstab import encode_crosstab
    from tabprotect.formats.files import write_bytes
    from tabprotect.formats.jsonstat import encode_jsonstat
    from tabprotect.formats.published import read_published
    from tabprotect.formats.px import encode_px
    from tabprotect.formats.sdmx import ESTAT, FORMATS, SDMX, encode_sdmx

    chosen = form or _SUFFIXES.get(out.suffix.lower())
    known = ("px", "xlsx", "json-stat", *FORMATS)
    maps = {"sdmx": SDMX, "estat": ESTAT}
    codes: dict[str, dict[str, str]] = {}
    with collect() as problems:
        if chosen not in known:
            problems.add(f"no form '{chosen or out.suffix}'{did_you_mean(chosen or '', known)}")
        if statuses not in maps:
            problems.add(f"statuses must be sdmx or estat, not '{statuses}'")
        for word in code or ():
            dimension, colon, rest = word.partition(":")
            name, sign, identifier = rest.rpartition("=")
            if not (colon and sign and dimension):
                problems.add(f"--code '{word}': write DIM:CODE=ID, such as region:Total=_T")
            codes.setdefault(dimension, {})[name] = identifier
        if bad := [word for word in fixed or () if "=" not in word]:
            problems.add(f"--fixed '{bad[0]}': write DIM=ID, such as TIME_PERIOD=2025")
        if chosen in known and chosen not in FORMATS and (code or fixed or together):
            problems.add(f"--code, --fixed and --together are for SDMX, not for {chosen}")
    table = read_published(release)
    if chosen == "px":
        data = encode_px(table)
    elif chosen == "xlsx":
        data = encode_crosstab(table)
    elif chosen == "json-stat":
        data = encode_jsonstat(table)
    else:
        if chosen is None:
            raise InputError("no form")
        by = maps[statuses].together() if together else maps[statuses]
        constants = dict(word.split("=", 1) for word in fixed or ())
        data = encode_sdmx(table, chosen, agency=agency, structure=structure, statuses=by, codes=codes, fixed=constants)
    write_bytes(out, data)
    console().print(
        f"{out}: {counted(len(table.frame), 'cell')}, {int(table.hidden.sum()):,} hidden, as {chosen}.", markup=False
    )
    return Exit.DONE
