"""``tabprotect risk``: how much an intruder learns from a microdata file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EPILOG = """Examples:

[bold]tabprotect risk people.toml[/]

[bold]tabprotect risk people.toml --json risk.json[/]

[bold]tabprotect risk people.toml --release release --report report.html[/]

The specification names data and schema as for mask, one \\[\\[measures]] table for every measure, such as measure =
'individual-risk', and perhaps a masked file, or the \\[\\[steps]] that made it, which a report needs. Everything
printed is confidential.
"""


def risk(
    spec: Annotated[Path, typer.Argument(metavar="SPEC.toml", help="Data, schema, measures, and perhaps steps.")],
    json_out: Annotated[
        Path | None,
        typer.Option(
            "--json", metavar="OUT", help="Write values, details and the risk of every record.", show_default=False
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="OUT.html", help="Write a disclosure report (internal).", show_default=False),
    ] = None,
    release: Annotated[
        Path | None,
        typer.Option(
            "--release",
            metavar="FOLDER",
            help="What mask wrote: take its seed, compare its records.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Measure the disclosure risk of a microdata file, or of a masked one beside its original."""
    import json

    from rich.markup import escape

    from tabprotect.cli import screen
    from tabprotect.cli.progress import working
    from tabprotect.errors import InputError
    from tabprotect.formats.files import check_writable, write_text
    from tabprotect.microdata.choosing import disclosure_report
    from tabprotect.microdata.measures import mask_again, measure_file, read_measures
    from tabprotect.microdata.records import read_records
    from tabprotect.workflow.checking import load_toml

    for path in (json_out, report):
        if path is not None:
            check_writable(path)
    try:
        wanted = read_measures(load_toml(spec), spec.parent, report=report is not None)
        if release is not None and not wanted.spec.steps:
            raise InputError("--release goes with [[steps]], the methods that made it")
    except InputError as error:
        raise InputError(*(f"{spec}: {problem}" for problem in error.problems)) from error
    with working(screen.screen(), "risk"):
        masked = mask_again(wanted, release) if wanted.spec.steps else None
        original = read_records(wanted.spec.data, wanted.spec.schema) if masked is None else masked.original
        found = measure_file(wanted, masked, original=original)
        page = disclosure_report(masked, risks=found) if report is not None and masked is not None else None
    screen.said(original.recognised)
    if json_out is not None:
        write_text(json_out, json.dumps([one.to_dict() for one in found], indent=2, ensure_ascii=False) + "\n")
    if report is not None and page is not None:
        write_text(report, page)
    console = screen.out()
    for one in found:
        console.print(escape(one.summary()), soft_wrap=True)
    if report is not None:
        console.print(f"disclosure report written to {escape(str(report))}; it may not be published")
