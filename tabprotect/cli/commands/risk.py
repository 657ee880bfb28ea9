"""``tabprotect risk``: how much an intruder learns from a microdata file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EPILOG = """Examples:

[bold]tabprotect risk people.toml[/]

[bold]tabprotect risk people.toml --json risk.json[/]

The specification names data and schema as for mask, perhaps a masked file, and one \\[\\[measures]] table for every
measure, such as measure = 'individual-risk'. Everything printed is confidential.
"""


def risk(
    spec: Annotated[Path, typer.Argument(metavar="SPEC.toml", help="Data, schema and measures.")],
    json_out: Annotated[
        Path | None,
        typer.Option(
            "--json", metavar="OUT", help="Write values, details and the risk of every record.", show_default=False
        ),
    ] = None,
) -> None:
    """Measure the disclosure risk of a microdata file, or of a masked one beside its original."""
    import json

    from tabprotect.cli import screen
    from tabprotect.errors import InputError
    from tabprotect.formats.files import check_writable, write_text
    from tabprotect.microdata.measures import measure_file, read_measures
    from tabprotect.workflow.specification import load_toml

    if json_out is not None:
        check_writable(json_out)
    try:
        wanted = read_measures(load_toml(spec), spec.parent)
    except InputError as error:
        raise InputError(*(f"{spec}: {problem}" for problem in error.problems)) from error
    found = measure_file(wanted)
    if json_out is not None:
        write_text(json_out, json.dumps([one.to_dict() for one in found], indent=2, ensure_ascii=False) + "\n")
    console = screen.out()
    for one in found:
        console.print(one.summary())
