"""``tabprotect demo``: protect the bundled business register."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tabprotect.cli.arguments import TimeLimit

EPILOG = """Examples:

[bold]tabprotect demo --out demo[/]

[bold]tabprotect demo --out demo --time-limit 10[/]
"""

WORK_LIMIT = 400_000
"""Counted, not clocked, so that every machine writes the same files."""


def demo(
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Gets publish/ and internal/.")] = Path(
        "tabprotect-demo"
    ),
    work_limit: Annotated[
        int, typer.Option("--work-limit", metavar="N", min=0, help="Work units of the search.")
    ] = WORK_LIMIT,
    time_limit: TimeLimit = None,
) -> int:
    """Protect turnover by activity, region and size of 20,000 synthetic enterprises, and write the release.

    A second run writes the same files, byte for byte, unless --time-limit or Ctrl-C ended it; the date and the command
    in internal/release.json are its own.
    """
    from tabprotect.cli import screen
    from tabprotect.cli.run import carry_out
    from tabprotect.instances import data
    from tabprotect.workflow.beforehand import check_beforehand

    content = {
        "data": str(data("register.csv")),
        "by": ["division", "nuts2", "size"],
        "value": "turnover",
        "unit": "1,000 EUR",
        "contributor": "enterprise_id",
        "holding": "group_id",
        "hierarchy": {
            "division": str(data("division.hrc")),
            "size": {"codes": ["0-9", "10-49", "50-249", "250+"]},
        },
        "rules": ["p%=15", "threshold=3"],
        "limits": {"work": work_limit, **({} if time_limit is None else {"seconds": time_limit})},
        "output": {
            "folder": str(out.absolute()),
            "formats": ["csv", "parquet"],
            "title": "Turnover by activity, region and size",
            "source": "synthetic enterprises that come with tabprotect",
        },
    }
    screen.screen().print(
        "20,000 synthetic enterprises; NACE divisions x NUTS regions x size classes; p% rule with 15 %, at least "
        "three contributors, holdings count as one.",
        style="dim",
    )
    # the work limit is part of the demonstration
    return carry_out(check_beforehand(content, "demo", Path()), Path(), planned="work")
