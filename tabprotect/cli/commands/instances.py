"""``tabprotect instances``: the benchmark instances."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tabprotect.counted import counted

EPILOG = """Examples:

[bold]tabprotect instances --long[/]

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
    long: Annotated[
        bool, typer.Option("--long", help="Also how each is made, and who found its answers and how.")
    ] = False,
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
        index["gap %"] = (100 * (index["cost"] - index["bound"]) / index["cost"]).clip(lower=0).round(2)
        columns = ["cells", "primaries", "equations", "attackers", "cost", "bound", "gap %"]
        columns = ["family", "seed", "arguments", *columns, "proof"] if long else columns
        rows = [(str(key), *row) for key, row in zip(index.index, index[columns].to_numpy(), strict=True)]
        screen.cells_table(console, ["name", *columns], rows, most=len(rows))
        return
    problem = library.load(name)
    path = Path(f"{name}.jj") if out is None else out
    write_jj(replace(problem, attackers=()), path)
    console.print(f"{path}: {counted(problem.n_cells, 'cell')}, {len(problem.primaries):,} primary")
    if problem.attackers:
        screen.screen().print(
            f"Left out: {counted(len(problem.attackers), 'attacker')} who know cells.", style="yellow"
        )
