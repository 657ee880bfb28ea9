"""``tabprotect methods``: what there is to protect with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EPILOG = """Examples:

[bold]tabprotect methods[/]

[bold]tabprotect methods --json methods.json[/]
"""


def methods(
    json_out: Annotated[
        Path | None, typer.Option("--json", metavar="OUT", help="Write the list as JSON.", show_default=False)
    ] = None,
) -> None:
    """List every method for microdata: the scales it takes, what it claims, its parameters, its source."""
    import json
    from dataclasses import MISSING, fields

    from tabprotect import microdata as md
    from tabprotect.cli import screen
    from tabprotect.formats.files import write_text

    known = md.methods()
    if json_out is not None:
        found = [
            {
                "method": name,
                "family": kind.family,
                "scales": [str(scale) for scale in kind.scales],
                "random": kind.random,
                "claims": list(kind.claim_kinds),
                "parameters": {f.name: None if f.default is MISSING else str(f.default) for f in fields(kind)},
                "source": kind.source,
                "about": _about(kind),
            }
            for name, kind in known.items()
        ]
        write_text(json_out, json.dumps(found, indent=2) + "\n")
    columns = ("method", "family", "takes columns that are", "claims", "what it does")
    rows = [
        (name, kind.family, ", ".join(kind.scales), ", ".join(kind.claim_kinds) or "-", _about(kind))
        for name, kind in known.items()
    ]
    screen.cells_table(screen.out(), columns, rows, most=len(rows))


def _about(kind: type) -> str:
    return (kind.__doc__ or "").strip().splitlines()[0]
