"""``tabprotect mask``: from a specification to a masked microdata file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EPILOG = """Examples:

[bold]tabprotect mask people.toml --out release[/]

[bold]tabprotect mask people.toml --out release --seed 7[/]

A specification names the data, the schema and one \\[\\[steps]] table for every method; see tabprotect methods. With
large = true the steps go through files of any size in batches.
"""


def mask(
    spec: Annotated[Path, typer.Argument(metavar="SPEC.toml", help="Data, schema and methods.")],
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Folder that gets publish/ and internal/.")],
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Same seed, same answer; without one a fresh secret is drawn.")
    ] = None,
) -> int:
    """Mask microdata, check every claim again, and write what may be published apart from what must stay inside."""
    from tabprotect import microdata as md
    from tabprotect.cli import screen
    from tabprotect.cli.exits import Exit
    from tabprotect.cli.progress import working
    from tabprotect.errors import InputError
    from tabprotect.formats.folder import check_replaceable
    from tabprotect.microdata.specification import read_mask_spec
    from tabprotect.solver.limits import Budget
    from tabprotect.workflow.checking import load_toml

    check_replaceable(out)
    try:
        given = read_mask_spec(load_toml(spec), spec.parent)
    except InputError as error:
        raise InputError(*(f"{spec}: {problem}" for problem in error.problems)) from error
    number = given.seed if seed is None else seed
    with working(screen.screen(), "read") as progress:
        masked = md.mask(
            given.data, given.schema, given.steps, seed=number, title=given.title, large=given.large, progress=progress
        )
        Budget(progress=progress).report("write")
        if isinstance(masked, md.Masked):
            masked.write(out, given.formats, dialect=given.dialect(masked.original.recognised))
        else:
            masked.write(out, given.formats)
    console = screen.out()
    console.print(masked.summary())
    console.print(f"written to {out}: publish/ may leave the building, internal/ may not")
    return Exit.DONE
