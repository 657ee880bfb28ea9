"""``tabprotect compare``: several methods on one table, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tabprotect.cli.arguments import Seed, WorkLimit
from tabprotect.cli.flags import INPUT, Flag, takes

if TYPE_CHECKING:
    from tabprotect.comparison import Comparison
    from tabprotect.problem import Problem
    from tabprotect.workflow.request import Request

EPILOG = """Examples:

[bold]tabprotect compare turnover.toml --html comparison.html[/]

[bold]tabprotect compare register.csv --by nace --by region --value turnover --rule "p%=15" --method suppress
--method round:base=1000[/]

[bold]tabprotect compare table8.jj --method suppress --method adjust:norm=l2 --method round:base=5,levels=yes[/]
"""


@takes(INPUT)
def compare(
    spec: Annotated[
        Path | None,
        typer.Argument(
            metavar="SPEC.toml|DATA|INSTANCE",
            help="What `tabprotect protect` takes, with its flags, or an instance file.",
            show_default=False,
        ),
    ] = None,
    *,
    flags: Mapping[Flag, Any],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any key of a specification; repeat it.", metavar="KEY=VALUE", show_default=False),
    ] = None,
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
    from tabprotect.cli.screen import screen
    from tabprotect.comparison import compare as side_by_side
    from tabprotect.solver.limits import Limits

    _check(method, plot, (html, plot, json_))
    name, problem = _problem(spec, flags, settings or (), seed)
    with interruptible(screen()) as asked, Display(screen()) as progress:
        found = side_by_side(
            problem,
            method,
            limits=Limits(time_limit, work_limit, stop=asked.is_set),
            audit_limits=Limits(time_limit),
            seed=seed,
            title=f"Comparison of methods: {name}",
            progress=progress,
        )
    _write(found, html, plot, json_)
    return Exit.LIMIT if asked.is_set() else Exit.DONE


def _check(methods: Sequence[str] | None, plot: Path | None, files: Sequence[Path | None]) -> None:
    """Check what can be checked before the work."""
    from tabprotect.comparison import parse_approach
    from tabprotect.errors import InputError, collect
    from tabprotect.formats.files import check_writable

    with collect() as problems:
        for text in methods or ():
            try:
                parse_approach(text)
            except InputError as error:
                problems.found += [f"--method {problem}" for problem in error.problems]
        if plot is not None and plot.suffix not in (".png", ".svg", ".pdf"):
            problems.add(f"--plot {plot}: plots are written as .png, .svg or .pdf")
        for path in files:
            try:
                if path is not None and str(path) != "-":
                    check_writable(path)
            except InputError as error:
                problems.found += error.problems


def _problem(
    path: Path | None, flags: Mapping[Flag, Any], settings: Sequence[str], seed: int
) -> tuple[str, Problem | Request]:
    """Read an instance, or what a specification and flags ask for, with its name."""
    from tabprotect.cli.request import is_data, specification
    from tabprotect.errors import InputError
    from tabprotect.formats import read_instance
    from tabprotect.workflow.specified import request_of

    if path is not None and path.suffix != ".toml" and not is_data(path):
        if flags or settings:
            given = ", ".join(dict.fromkeys([*(flag.flag for flag in flags), *(["--set"] if settings else [])]))
            raise InputError(f"{given} do not go with an instance, which is a whole problem")
        return path.name, read_instance(path)
    spec, base = specification(path, flags, settings)
    name = path.name if path is not None else Path(str(spec.data or spec.cells)).name
    return name, request_of(spec, base, seed=seed)


def _write(found: Comparison, html: Path | None, plot: Path | None, json_: Path | None) -> None:
    from tabprotect.cli.screen import out
    from tabprotect.formats.files import write_text

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
