"""``tabprotect compare``: several methods on one table, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tabprotect.cli.arguments import Seed, WorkLimit

if TYPE_CHECKING:
    from tabprotect.comparison import Comparison
    from tabprotect.problem import Problem
    from tabprotect.workflow.request import Request

EPILOG = """Examples:

[bold]tabprotect compare turnover.toml --html comparison.html[/]

[bold]tabprotect compare table8.jj --method suppress --method adjust:norm=l2 --method round:base=5,levels=yes[/]
"""


def compare(
    spec: Annotated[
        Path,
        typer.Argument(metavar="SPEC.toml|INSTANCE", help="What `tabprotect protect` takes, or an instance file."),
    ],
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            metavar="NAME[:OPTION=VALUE,...]",
            help="{compared}; repeat it.",
            show_default=False,
        ),
    ] = None,
    time_limit: Annotated[
        float, typer.Option("--time-limit", metavar="SECONDS", min=0.0, help="Of each method, and of each judgement.")
    ] = 60.0,
    work_limit: WorkLimit = None,
    seed: Seed = 0,
    html: Annotated[Path | None, typer.Option("--html", metavar="OUT", help="Write a page there.")] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="OUT", help="Draw the main measures: .png, .svg or .pdf.")
    ] = None,
    json_: Annotated[
        Path | None, typer.Option("--json", metavar="OUT", help="Write all measures there; - is standard output.")
    ] = None,
) -> int:
    """Run several methods on one table; show what each loses, what its intruder still learns, and how long it takes.

    Everything that it writes is confidential: it measures distances from the true values.
    """
    from tabprotect.cli.exits import Exit
    from tabprotect.cli.progress import Display, interruptible
    from tabprotect.cli.screen import out, screen
    from tabprotect.comparison import compare as side_by_side
    from tabprotect.comparison import parse_approach
    from tabprotect.errors import InputError, Problems
    from tabprotect.formats.files import check_writable, write_text
    from tabprotect.solver.limits import Limits

    problems = Problems()
    for text in method or ():
        try:
            parse_approach(text)
        except InputError as error:
            problems.found += [f"--method {problem}" for problem in error.problems]
    if plot is not None and plot.suffix not in (".png", ".svg", ".pdf"):
        problems.add(f"--plot {plot}: plots are written as .png, .svg or .pdf")
    problems.raise_if_any()
    for path in (html, plot, json_):
        if path is not None and str(path) != "-":
            check_writable(path)
    with interruptible(screen()) as asked, Display(screen()) as progress:
        found = side_by_side(
            _problem(spec, seed),
            method,
            limits=Limits(time_limit, work_limit, stop=asked.is_set),
            audit_limits=Limits(time_limit),
            seed=seed,
            title=f"Comparison of methods: {spec.name}",
            progress=progress,
        )
    text = _json(found)
    if json_ is not None and str(json_) == "-":
        typer.echo(text, nl=False)
    else:
        if json_ is not None:
            write_text(json_, text)
        _show(out(), found)
    if html is not None:
        write_text(html, found.html())
    if plot is not None:
        found.plot(plot)
    return Exit.LIMIT if asked.is_set() else Exit.DONE


def _problem(path: Path, seed: int) -> Problem | Request:
    """Read an instance, or what a specification asks for."""
    from tabprotect.formats import read_instance
    from tabprotect.workflow.specification import check_spec, load_toml
    from tabprotect.workflow.specified import request_of

    if path.suffix != ".toml":
        return read_instance(path)
    return request_of(check_spec(load_toml(path), str(path)), path.parent, seed=seed)


def _json(found: Comparison) -> str:
    import json
    from dataclasses import asdict
    from math import isfinite

    from tabprotect.comparison.compare import NOTICE

    def finite(content: Any) -> Any:
        if isinstance(content, dict):
            return {name: finite(one) for name, one in content.items()}
        return None if isinstance(content, float) and not isfinite(content) else content

    lines = [
        finite(
            {
                "method": line.approach.name,
                "options": dict(line.approach.options),
                "status": line.status,
                "seconds": round(line.seconds, 3),
                "cost": line.cost,
                "bound": line.bound,
                "gap": line.gap,
                "hidden_value": line.hidden_value(found.problem.values),
                "loss": None if line.loss is None else asdict(line.loss),
                "risk": None if line.risk is None else asdict(line.risk),
                "message": line.message,
            }
        )
        for line in found.lines
    ]
    return json.dumps({"notice": NOTICE, "title": found.title, "methods": lines}, indent=2, allow_nan=False) + "\n"


def _show(console: Any, found: Comparison) -> None:
    """Print the tables, marked as confidential."""
    from rich.table import Table
    from rich.text import Text

    from tabprotect.comparison.compare import NOTICE

    console.print(NOTICE, style="bold red")
    for grid in found.grids():
        table = Table(title=grid.title, title_justify="left", title_style="bold", show_edge=False, header_style="bold")
        for k, name in enumerate(grid.columns):
            table.add_column(name, justify="left" if k == 0 else "right", overflow="fold")
        for i, row in enumerate(grid.rows):
            bad = [(i, k) in grid.bad for k in range(len(row))]
            table.add_row(*(Text(_word(v), style="bold red" if b else "") for v, b in zip(row, bad, strict=True)))
        console.print()
        console.print(table)
        console.print(grid.note, style="dim")


def _word(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return "unbounded" if value == float("inf") else f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
