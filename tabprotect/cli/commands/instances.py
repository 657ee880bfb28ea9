"""``tabprotect instances``: the benchmark instances."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EPILOG = """Examples:

[bold]tabprotect instances[/]

[bold]tabprotect instances eustat-investment --out investment.jj[/]
"""


def _names(incomplete: str) -> list[str]:
    from tabprotect.instances import names

    return [name for name in names() if name.startswith(incomplete)]


def instances(
    name: Annotated[
        str | None, typer.Argument(help="Write this one to a file.", autocompletion=_names, show_default=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.jj", help="Where to; by default NAME.jj.", show_default=False)
    ] = None,
) -> None:
    """List the instances that come with tabprotect with the best answers known, or write one as a .jj file.

    Attackers with known cells cannot be written to such a file; they are left out, and the command says so.
    """
    from dataclasses import replace

    from tabprotect import instances as library
    from tabprotect.cli import screen
    from tabprotect.errors import InputError
    from tabprotect.formats.jj import write_jj

    console = screen.out()
    if name is None:
        if out is not None:
            raise InputError("--out needs the name of an instance")
        index = library.index()
        columns = ["cells", "primaries", "equations", "attackers", "cost", "bound"]
        known = [column for column in columns if column in index]
        rows = [(str(key), *row) for key, row in zip(index.index, index[known].to_numpy(), strict=True)]
        screen.cells_table(console, ["name", *known], rows, most=len(rows))
        return
    problem = library.load(name)
    path = Path(f"{name}.jj") if out is None else out
    write_jj(replace(problem, attackers=()), path)
    console.print(f"{path}: {problem.n_cells:,} cells, {len(problem.primaries):,} primary", markup=False)
    if problem.attackers:
        screen.screen().print(f"Left out: {len(problem.attackers):,} attackers who know cells.", style="yellow")
