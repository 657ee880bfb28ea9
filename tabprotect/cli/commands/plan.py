"""``tabprotect plan``: from a list of tables to clusters, and a protocol to begin with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tabprotect.workflow.protocol.metadata import Group

EPILOG = """Examples:

[bold]tabprotect plan tables.csv[/]

[bold]tabprotect plan tables.csv --rule "threshold=3" --rule "p%=15" --out publication.toml[/]

[bold]tabprotect plan publication.toml[/]

The list has the columns table_name, indicator (or response), spanning_1, hrc_spanning_1, spanning_2, ..., as rtauargus
reads it, and may have field, hrc_indicator, total_1, ..., cells, data, count, maxima and further keys of tables.
"""

CLUSTER_SECONDS = 20.0
"""The limit that a new protocol gets for every cluster."""


def plan(
    tables: Annotated[
        Path,
        typer.Argument(metavar="TABLES.csv|PROTOCOL.toml", help="A list of tables to be published, or a protocol."),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="PROTOCOL.toml", help="Write a protocol there, and its rules beside it."),
    ] = None,
    rule: Annotated[
        list[str] | None,
        typer.Option("--rule", metavar="RULE", help="For the file of rules; repeat it.", show_default=False),
    ] = None,
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="Heading of the pages.")] = "Protected tables",
    seconds: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            metavar="SECONDS",
            min=0.0,
            show_default=False,
            help=f"Of all clusters, in the protocol; by default {CLUSTER_SECONDS:g} for each.",
        ),
    ] = None,
) -> int:
    """Show which tables are linked, and so have to be protected together, before anything is solved.

    From a list nothing but the list is read. From a protocol the data are read: what is shown are cells in common.
    """
    from tabprotect.cli.app import Exit
    from tabprotect.errors import InputError
    from tabprotect.workflow.protocol.metadata import group_tables, read_metadata

    if tables.suffix.lower() == ".toml":
        if out is not None or rule:
            raise InputError("--out and --rule go with a list of tables; the protocol is there already")
        _of_protocol(tables)
        return Exit.DONE
    groups = group_tables(read_metadata(tables))
    _show(groups)
    if out is not None:
        limit = CLUSTER_SECONDS * len(groups) if seconds is None else seconds
        _write(groups, tables, out, rule or [], title, limit)
    return Exit.DONE


def _show(groups: Sequence[Group]) -> None:
    from rich.table import Table

    from tabprotect.cli import screen

    console = screen.out()
    for group in groups:
        console.print(f"cluster {group.name}: {group.measure}", style="bold")
        grid = Table(show_edge=False, header_style="bold")
        for name in ("table", "dimensions", "shares with"):
            grid.add_column(name, overflow="fold")
        for table in group.tables:
            by = ", ".join(f"{v} ({table.trees[v]})" if v in table.trees else v for v in table.by)
            links = [
                f"{b if a == table.name else a}: {' x '.join(common) or 'the grand total'}"
                for (a, b), common in group.links.items()
                if table.name in (a, b)
            ]
            grid.add_row(table.name, by, "; ".join(links) or "-")
        console.print(grid)
        console.print()


def _of_protocol(path: Path) -> None:
    from rich.table import Table

    from tabprotect.cli import screen
    from tabprotect.table.link.clusters import find_clusters
    from tabprotect.workflow.protocol.period import open_period
    from tabprotect.workflow.protocol.read import read_protocol
    from tabprotect.workflow.specification import each_table

    period = open_period(read_protocol(path), None, fixed=False)
    console = screen.out()
    measures = {} if period.spec is None else {n: s.measure for n, s in each_table(period.spec).items() if s.measure}
    for name, names in period.clusters.items():
        console.print(f"cluster {name}", style="bold")
        grid = Table(show_edge=False, header_style="bold")
        for word in ("table", "dimensions", "cells", "cells in common"):
            grid.add_column(word, overflow="fold", justify="right" if word == "cells" else "left")
        own = {table: period.tables[table] for table in names}
        links: dict[tuple[str, str], int] = {}
        for found in find_clusters(own, measure={n: m for n, m in measures.items() if n in own}):
            links |= found.links
        for table in names:
            common = [f"{b if a == table else a}: {n:,}" for (a, b), n in links.items() if table in (a, b)]
            by = ", ".join(str(d.name) for d in own[table].dimensions)
            grid.add_row(table, by, f"{own[table].n_cells:,}", "; ".join(common) or "-")
        console.print(grid)
        console.print()
    for name, one in period.masks.items():
        console.print(f"microdata {name}: {Path(one.data).name}, {len(one.steps)} methods")


def _write(groups: Sequence[Group], listed: Path, out: Path, rules: list[str], title: str, seconds: float) -> None:
    """Write a protocol and its rules; nothing that is there is replaced."""
    from tabprotect.cli import screen
    from tabprotect.errors import InputError, Problems
    from tabprotect.formats.files import check_writable, write_text
    from tabprotect.workflow.protocol.plan import NO_RULES, rules_file, skeleton

    console = screen.out()
    secret = out.with_name("rules.toml")
    problems = Problems()
    if out.suffix != ".toml":
        problems.add(f"--out {out}: a protocol is a .toml file")
    if out.parent.resolve() != listed.parent.resolve():
        problems.add(f"--out {out}: the protocol stays in the folder of {listed.name}, whose paths it takes over")
    if out.exists():
        problems.add(f"--out {out} is there already, and may have been worked on; name another file")
    if secret.exists() and rules:
        problems.add(f"{secret} is there already; leave --rule out, or move it away")
    problems.raise_if_any()
    trees = dict.fromkeys(tree for group in groups for table in group.tables for tree in table.trees.values())
    files = {tree: _code_list(listed.parent, tree) for tree in trees}
    try:
        text = skeleton(groups, files, title=title, rules=secret.name, seconds=seconds)
    except InputError as error:
        raise InputError(*(f"{listed.name}: {problem}" for problem in error.problems)) from error
    rules_text = rules_file(rules or [NO_RULES])
    check_writable(out)
    if not secret.exists():
        check_writable(secret)
        write_text(secret, rules_text)
        secret.chmod(0o600)
        if not rules:
            console.print(f"{secret} holds {NO_RULES} only; write the rules of your office there", style="yellow")
    write_text(out, text)
    for file in files.values():
        if not (listed.parent / file).exists():
            console.print(f"{file} is named in the protocol, and not there yet", style="yellow")
    screen.facts(
        console, [("protocol", str(out)), ("confidential", str(secret)), ("next", f"tabprotect develop {out}")]
    )


def _code_list(folder: Path, tree: str) -> str:
    """Return the file of a hierarchy: as it is named, or with the ending of a code list."""
    for name in (tree, f"{tree}.hrc", f"{tree}.csv"):
        if (folder / name).is_file():
            return name
    return tree if Path(tree).suffix else f"{tree}.hrc"
