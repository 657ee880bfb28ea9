"""``tabprotect compare-masks``: many methods on one file, scored and mapped."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

EPILOG = """Example:

[bold]tabprotect compare-masks people.toml --out comparison[/]

A specification names the data, the schema and one \\[\\[candidates]] table for every method; a grid in it lists values
of parameters: grid = {alpha = \\[0.1, 0.5]}.
"""


def compare_masks(
    spec: Annotated[Path, typer.Argument(metavar="SPEC.toml", help="Data, schema and candidates.")],
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Folder for table and map.")],
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Same seed, same answer.")] = None,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Candidates at the same time.")] = 1,
    linkage: Annotated[bool, typer.Option("--linkage", help="Count record linkage among the risks.")] = False,
) -> int:
    """Mask a file with many methods and parameters, and map information loss against disclosure risk."""
    from rich.markup import escape

    from tabprotect.cli import screen
    from tabprotect.cli.exits import Exit
    from tabprotect.cli.progress import working
    from tabprotect.errors import InputError, Problems
    from tabprotect.formats.folder import check_replaceable
    from tabprotect.microdata.choosing import compare_masks as compare
    from tabprotect.microdata.choosing import expand_grid
    from tabprotect.microdata.records import read_records
    from tabprotect.microdata.specification import read_mask_spec
    from tabprotect.workflow.checking import load_toml

    check_replaceable(out)
    content = dict(load_toml(spec))
    problems = Problems()
    given: Any = content.pop("candidates", None)
    candidates: dict[str, Any] = {}
    if not isinstance(given, list) or not given:
        problems.add(f"{spec}: 'candidates' are missing: one [[candidates]] table for every method")
        given = []
    for i, one in enumerate(given):
        try:
            candidates.update(expand_grid(one))
        except InputError as error:
            problems.found += [f"{spec}: candidate {i + 1}: {problem}" for problem in error.problems]
    try:
        read = read_mask_spec(content, spec.parent, steps=False)
    except InputError as error:
        problems.found += [f"{spec}: {problem}" for problem in error.problems]
    else:
        if read.large:
            problems.add(f"{spec}: large: candidates are compared with all records in memory; leave it out")
    problems.raise_if_any()
    number = read.seed if seed is None else seed
    with working(screen.screen(), "compare"):
        original = read_records(read.data, read.schema)
        found = compare(original, read.schema, candidates, seed=number, workers=workers, linkage=linkage)
        found.write(out)
    screen.said(original.recognised)
    console = screen.out()
    console.print(escape(found.summary()), soft_wrap=True)
    console.print(f"written to {escape(str(out))}: internal/map.html and tables; nothing of it may be published")
    return Exit.DONE
