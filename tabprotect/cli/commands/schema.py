"""``tabprotect schema``: the JSON Schema of specifications and protocols."""

from __future__ import annotations

from typing import Annotated

import typer

EPILOG = """Examples:

[bold]tabprotect schema > spec.schema.json[/]

[bold]tabprotect schema --protocol > protocol.schema.json[/]
"""


def schema(
    protocol: Annotated[
        bool, typer.Option("--protocol", help="Of the protocols of `tabprotect plan`, `develop` and `apply`.")
    ] = False,
) -> None:
    """Print the JSON Schema of the TOML files that `tabprotect protect` reads, for editors that complete them."""
    import json

    from tabprotect.workflow.protocol.model import schema_of_protocols
    from tabprotect.workflow.specification import Spec

    typer.echo(json.dumps(schema_of_protocols() if protocol else Spec.model_json_schema(), indent=2))
