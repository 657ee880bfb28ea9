"""``tabprotect serve``: the guard as an HTTP service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EPILOG = """Example:

[bold]tabprotect serve --policy policy.toml --database firms.duckdb --log log.sqlite --keys keys.toml[/]
"""


def serve(
    policy: Annotated[Path, typer.Option("--policy", metavar="FILE", help="What is public and protected.")],
    database: Annotated[
        str, typer.Option("--database", metavar="PLACE", help="A DuckDB or data file, or postgresql://...")
    ],
    log: Annotated[Path, typer.Option("--log", metavar="FILE", help="All queries and answers.")],
    keys: Annotated[Path, typer.Option("--keys", metavar="FILE", help='Lines: user = "SHA-256 of the key".')],
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Port to listen on.")] = 8000,
    rate: Annotated[int, typer.Option("--rate", min=1, help="Queries a minute for every user.")] = 60,
) -> int:
    """Serve a protected database over HTTP: POST /query with the header X-API-Key.

    Put it behind something that speaks TLS; it does not.
    """
    from tabprotect.cli import screen
    from tabprotect.cli.exits import Exit
    from tabprotect.errors import InputError
    from tabprotect.query.guard import Guard
    from tabprotect.query.guard.database import connect
    from tabprotect.query.service import Keys, create_app

    try:
        import uvicorn
    except ImportError as error:
        raise InputError("the service needs uvicorn: install tabprotect[serve]") from error
    known = Keys.read(keys)
    guard = Guard(lambda: connect(database, lambda found: screen.said([found])), policy, log)
    try:
        uvicorn.run(create_app(guard, known, per_minute=rate), host=host, port=port, log_level="warning")
    finally:
        guard.close()
    return Exit.DONE
