"""``tabprotect schema``: the JSON Schema of specifications."""

from __future__ import annotations

EPILOG = """Examples:

[bold]tabprotect schema > spec.schema.json[/]
"""


def schema() -> None:
    """Print the JSON Schema of the TOML files that `tabprotect protect` reads, for editors that complete them."""
    import json

    import typer

    from tabprotect.workflow.specification import Spec

    typer.echo(json.dumps(Spec.model_json_schema(), indent=2))
