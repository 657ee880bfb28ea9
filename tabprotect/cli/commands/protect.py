"""``tabprotect protect``: from a specification or flags to a release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from tabprotect.cli.arguments import Resume, Workers
from tabprotect.cli.flags import FLAGS, OUTPUT, Flag, takes

EPILOG = """Examples:

[bold]tabprotect protect turnover.toml[/]

[bold]tabprotect protect register.csv --by nace --by region --hierarchy nace=nace.hrc --value turnover
--contributor enterprise_id --holding group_id --rule "p%=15" --rule "threshold=3" --out release[/]

[bold]tabprotect protect register.csv --by nace --by region --value turnover --rule "p%=15" --method round
--base 1000[/]
"""


@takes(FLAGS)
def protect(
    spec: Annotated[
        Path | None,
        typer.Argument(
            metavar="SPEC.toml|DATA",
            help="Everything in one file, overridden by flags; or the microdata (text, Excel, Parquet, DuckDB).",
            show_default=False,
        ),
    ] = None,
    *,
    flags: Mapping[Flag, Any],
    workers: Workers = None,
    resume: Resume = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Any key of a specification, such as output.decimals=1; repeat it.",
            rich_help_panel=OUTPUT,
            metavar="KEY=VALUE",
            show_default=False,
        ),
    ] = None,
) -> int:
    """Find the sensitive cells of a table, hide or change as little as possible to protect them, and prove it.

    Writes publish/ (for everybody) and internal/ (confidential). The first Ctrl-C stops with the best answer so far.
    """
    from tabprotect.cli.request import specification
    from tabprotect.cli.run import carry_out

    whole, base = specification(spec, flags, settings or ())
    return carry_out(whole, base, workers=workers, resume=resume)
