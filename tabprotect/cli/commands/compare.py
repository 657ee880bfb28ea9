"""``tabprotect compare``: several methods on one table, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tabprotect.cli.arguments import MemoryLimit, Seed, WorkLimit, in_bytes
from tabprotect.cli.flags import SEARCH, with_flags

if TYPE_CHECKING:
    from tabprotect.comparison import Comparison
    from tabprotect.comparison.approaches import Approach
    from tabprotect.errors import Problems
    from tabprotect.problem import Problem
    from tabprotect.report.numbers import Numbers
    from tabprotect.workflow.request import Request
    from tabprotect.workflow.specification import OutputSpec

EPILOG = """Examples:

[bold]tabprotect compare turnover.toml --html comparison.html[/]

[bold]tabprotect compare register.csv --by nace --by region --value turnover --rule "p%=15" --json -[/]

[bold]tabprotect compare table8.jj --method suppress --method adjust:norm=l2 --method round:base=5,levels=yes[/]
"""

SpecOrInstance = Annotated[
    Path | None,
    typer.Argument(
        metavar="SPEC.toml|DATA|INSTANCE",
        help="What `tabprotect protect` takes, or an instance file such as .jj.",
        show_default=False,
    ),
]
Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        metavar="NAME[:OPTION=VALUE,...]",
        help="{compared}; repeat it. --base and --option go to each that has them.",
        rich_help_panel=SEARCH,
        show_default=False,
    ),
]
TimeLimit = Annotated[
    float, typer.Option("--time-limit", metavar="SECONDS", min=0.0, help="Of each method, and of each judgement.")
]
Html = Annotated[Path | None, typer.Option("--html", metavar="OUT", help="Write a page there.")]
Plot = Annotated[Path | None, typer.Option("--plot", metavar="OUT", help="Draw the main measures: .png, .svg or .pdf.")]
JsonOut = Annotated[
    Path | None, typer.Option("--json", metavar="OUT", help="Write all measures there; - is standard output.")
]


@with_flags(release=False)
def compare(
    spec: SpecOrInstance = None,
    method: Methods = None,
    time_limit: TimeLimit = 60.0,
    work_limit: WorkLimit = None,
    memory_limit: MemoryLimit = None,
    seed: Seed = 0,
    *,
    flags: Mapping[str, Any],
    html: Html = None,
    plot: Plot = None,
    json_: JsonOut = None,
) -> int:
    """Run several methods on one table; show what each loses, what its intruder still learns, and how long it takes.

    It takes the data, specifications and flags of `tabprotect protect`, and solves the problem that this would solve.
    Everything that it writes is confidential: it measures distances from the true values.
    """
    from tabprotect.cli.exits import Exit
    from tabprotect.cli.progress import Display, interruptible
    from tabprotect.cli.screen import out, put_json, screen
    from tabprotect.comparison import compare as side_by_side
    from tabprotect.formats.dialect import Dialect
    from tabprotect.formats.files import write_text
    from tabprotect.report.numbers import Numbers
    from tabprotect.solver.limits import Limits
    from tabprotect.workflow.request import Request
    from tabprotect.workflow.specification import dialect_of

    problem, approaches, output = _checked(spec, flags, method, (html, plot, json_), memory_limit, seed)
    heading = flags["--title"] or f"Comparison of methods: {_source(spec, flags)}"
    with interruptible(screen()) as asked, Display(screen()) as progress:
        if isinstance(problem, Request) and output is not None:
            problem = problem.asking(when_read=lambda read: progress.write_as(dialect_of(output, read)))
        found = side_by_side(
            problem,
            approaches,
            limits=Limits(time_limit, work_limit, flags["--gap"] or 0.0, asked.is_set, in_bytes(memory_limit)),
            audit_limits=Limits(time_limit, stop=asked.is_set),
            seed=seed,
            title=heading,
            progress=progress,
        )
    dialect = None if output is None else dialect_of(output, found.recognised)
    if not put_json(_json(found), json_):
        _show(out(), found, Numbers.of(dialect or Dialect.like(found.recognised)))
    if html is not None:
        write_text(html, found.html(dialect))
    if plot is not None:
        found.plot(plot)
    return Exit.LIMIT if asked.is_set() or any(line.stopped for line in found.lines) else Exit.DONE


def _source(spec: Path | None, flags: Mapping[str, Any]) -> str:
    path = spec or flags["--data"] or flags["--cells"]
    return "flags" if path is None else path.name


def _checked(
    spec: Path | None,
    flags: Mapping[str, Any],
    methods: list[str] | None,
    written: tuple[Path | None, Path | None, Path | None],
    memory: float | None,
    seed: int,
) -> tuple[Problem | Request, list[Approach] | None, OutputSpec | None]:
    """Return what is compared, how, and what is said of the output; or raise one error with all that is wrong."""
    from tabprotect.comparison.approaches import Approach, Hide
    from tabprotect.errors import InputError, Problems
    from tabprotect.formats.files import check_writable

    problems = Problems()
    approaches = None if methods is None or _opened(methods) else _approaches(methods, flags, problems)
    if methods is not None and _opened(methods):
        approaches = [Approach(Hide.name)]  # what `protect` does with the table that it makes
    if methods is None and (flags["--base"] is not None or flags["--option"]):
        problems.add("--base and --option go with --method: name the methods that are compared")
    plot = written[1]
    if plot is not None and plot.suffix not in (".png", ".svg", ".pdf"):
        problems.add(f"--plot {plot}: plots are written as .png, .svg or .pdf")
    for path in written:
        if path is not None and str(path) != "-":
            problems.attempt(check_writable, path)
    problem = output = None
    try:
        problem, output = _problem(spec, flags, methods, memory, seed)
    except InputError as error:
        # a method that is alone is a part of the request, too
        told = {said.removeprefix("--method ") for said in problems.found}
        problems.found += [said for said in error.problems if said not in told]
    problems.raise_if_any()
    assert problem is not None
    return problem, approaches, output


def _opened(methods: list[str] | None) -> bool:
    """Whether only open classes are asked for: a table of their own, for no other method to be compared with."""
    from tabprotect.methods.registry import OPEN_CLASSES

    return methods == [OPEN_CLASSES]


def _approaches(methods: list[str], flags: Mapping[str, Any], problems: Problems) -> list[Approach]:
    """Read methods and their options; --base and --option go to each that has them, and to one at least."""
    from tabprotect.comparison import parse_approach
    from tabprotect.comparison.approaches import APPROACHES, Approach
    from tabprotect.errors import InputError
    from tabprotect.methods.base.options import option_names

    shared = dict(one.split("=", 1) for one in flags["--option"] or () if "=" in one)
    if flags["--base"] is not None and "base" in shared:
        problems.add(
            f"options.base is given twice: by --base {flags['--base']:g} and by --option base={shared['base']}; "
            "take one of them out"
        )
    if flags["--base"] is not None:
        shared["base"] = flags["--base"]
    found: list[Any] = []
    taken: set[str] = set()
    for text in methods:
        try:
            one = parse_approach(text)
            more = {key: shared[key] for key in option_names(APPROACHES[one.name]) if key in shared}
            taken.update(more)
            found.append(Approach(one.name, {**more, **one.options}))
        except InputError as error:
            problems.found += [f"--method {problem}" for problem in error.problems]
    if not problems.found:
        left = [name for name in shared if name not in taken]
        for name in left:
            problems.add(f"--option {name}: no method that is compared has it; there are {', '.join(methods)}")
    return found


def _problem(
    spec: Path | None, flags: Mapping[str, Any], methods: list[str] | None, memory: float | None, seed: int
) -> tuple[Problem | Request, OutputSpec | None]:
    """Read an instance, or what `tabprotect protect` would be asked for."""
    from tabprotect.cli.asked import asked, is_given
    from tabprotect.cli.flags import FLAGS, SET
    from tabprotect.errors import InputError
    from tabprotect.formats import is_instance, read_instance
    from tabprotect.methods.registry import names
    from tabprotect.workflow.beforehand import check_beforehand
    from tabprotect.workflow.specification import check_dialect
    from tabprotect.workflow.specified import request_of

    searching = ("--title", "--base", "--option", "--gap")
    if spec is not None and is_instance(spec):
        given = [one.name for one in (*FLAGS, SET) if is_given(flags[one.name])]
        if strange := [name for name in given if name not in searching]:
            raise InputError(f"{', '.join(strange)} state a table; {spec} is an instance, which says all that itself")
        return read_instance(spec), None
    alone = methods is not None and len(methods) == 1 and methods[0] in names() and methods[0] not in names("recode")
    if alone or _opened(methods):
        # a method may ask for another problem: swapping, for cells that are not known to be empty; recoding gives up
        # cells of the problem as it is
        found = asked(spec, flags, method=methods[0] if methods else None, limits={"memory": memory})
    else:
        options = dict.fromkeys(("--base", "--option"))
        found = asked(spec, {**flags, **options}, limits={"memory": memory})
    checked = check_beforehand(found.content, found.name, found.base, writes=False, **found.more)
    check_dialect(checked.output)  # what is wrong with it is said before the work
    return request_of(checked, found.base, seed=seed, **found.more), checked.output


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
                "optimality": line.words,
                "seconds": round(line.seconds, 3),
                "cost": line.cost,
                "bound": line.bound,
                "gap": line.gap,
                "hidden_value": line.hidden_value(found.problem.values),
                "loss": None if line.loss is None else asdict(line.loss),
                "risk": None if line.risk is None else asdict(line.risk),
                "stopped": line.stopped,
                "message": line.message,
            }
        )
        for line in found.lines
    ]
    content = {"notice": NOTICE, "title": found.title, "notes": found.problem.notes, "methods": lines}
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def _show(console: Any, found: Comparison, numbers: Numbers) -> None:
    """Print the tables, marked as confidential."""
    from rich.table import Table
    from rich.text import Text

    from tabprotect.comparison.compare import NOTICE

    console.print(NOTICE, style="bold red")
    for note in found.problem.notes:
        console.print(Text(f"note: {note}", "yellow"))
    for grid in found.grids():
        table = Table(title=grid.title, title_justify="left", title_style="bold", show_edge=False, header_style="bold")
        for k, name in enumerate(grid.columns):
            table.add_column(name, justify="left" if k == 0 else "right", overflow="fold")
        for i, row in enumerate(grid.rows):
            bad = [(i, k) in grid.bad for k in range(len(row))]
            table.add_row(
                *(Text(_word(v, numbers), style="bold red" if b else "") for v, b in zip(row, bad, strict=True))
            )
        console.print()
        console.print(table)
        console.print(grid.note, style="dim")


def _word(value: Any, numbers: Numbers) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return "unbounded" if value == float("inf") else numbers(value, ",.4g" if abs(value) < 1e4 else ",.0f")
    return numbers.said(value) if isinstance(value, str) else numbers.words(value)
