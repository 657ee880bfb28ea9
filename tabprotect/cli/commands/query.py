"""``tabprotect query``: ask a protected database, with every step of the test if wanted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EPILOG = """Examples:

[bold]tabprotect query "SELECT SUM(salary) FROM emp" --database emp.duckdb --policy policy.toml --explain[/]

[bold]tabprotect query --role --policy policy.toml[/]
"""


def query(
    sql: Annotated[str | None, typer.Argument(metavar="SQL", help="The query.", show_default=False)] = None,
    policy: Annotated[Path, typer.Option("--policy", metavar="FILE", help="What is public and protected.")] = Path(
        "policy.toml"
    ),
    database: Annotated[
        str | None,
        typer.Option(
            "--database", metavar="PLACE", help="A DuckDB or data file, or postgresql://...", show_default=False
        ),
    ] = None,
    log: Annotated[
        Path, typer.Option("--log", metavar="FILE", help="All queries and answers; made where it is missing.")
    ] = Path("queries.sqlite"),
    user: Annotated[str, typer.Option("--user", help="Whose account the answer goes to.")] = "owner",
    explain: Annotated[
        bool, typer.Option("--explain", help="Print every step of the test (confidential numbers).")
    ] = False,
    role: Annotated[
        bool, typer.Option("--role", help="Print the SQL that creates the read-only role, and end.")
    ] = False,
) -> int:
    """Ask a protected database; the answer counts in its log.

    The exit code is 0 for an answer and 1 for a denial.
    """
    from tabprotect.cli import screen
    from tabprotect.cli.exits import Exit
    from tabprotect.cli.screen import out
    from tabprotect.errors import InputError
    from tabprotect.query.guard import Guard, Policy, read_only_role
    from tabprotect.query.guard.database import connect

    rules = Policy.read(policy)
    if role:
        typer.echo(read_only_role(rules))
        return Exit.DONE
    if sql is None or database is None:
        raise InputError("give the query and --database (a DuckDB file, or postgresql://user@host/name)")
    guard = Guard(lambda: connect(database, lambda found: screen.said([found])), rules, log)
    try:
        answer = guard.query(sql, user=user)
    finally:
        guard.close()
    if explain:
        typer.echo("\n".join(answer.steps))
    console = out()
    if not answer.answered:
        console.print(f"denied: {answer.reason}", markup=False, soft_wrap=True)
        return Exit.UNSAFE
    typer.echo("\t".join(answer.columns))
    for row in answer.rows:
        typer.echo(
            "\t".join("" if cell is None else f"{cell:.15g}" if isinstance(cell, float) else str(cell) for cell in row)
        )
    return Exit.DONE
