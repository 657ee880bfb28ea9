"""``tabprotect solve``: protect an instance file, by hiding cells or by other values."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tabprotect.cli.arguments import (
    INSTANCE,
    Engine,
    FreshSeed,
    Gap,
    MemoryLimit,
    Method,
    Resume,
    TimeLimit,
    Workers,
    WorkLimit,
)
from tabprotect.counted import counted

if TYPE_CHECKING:
    from tabprotect.methods.suppression.result import SuppressionResult

EPILOG = """Examples:

[bold]tabprotect solve table8.jj[/]

[bold]tabprotect solve hier13.jj.gz --method exact --time-limit 60 --json result.json[/]

[bold]tabprotect solve table8.jj --method adjust --norm l1 --senses free --json adjusted.json[/]

[bold]tabprotect solve table8.jj --method round --base 5[/]
"""

GIGABYTE = 10**9

_CHANGE = "Methods that change values"


def _option(flag: str, help_: str, metavar: str = "WORD") -> Any:
    return typer.Option(flag, help=help_, metavar=metavar, rich_help_panel=_CHANGE, show_default=False)


def solve(
    instance: Annotated[Path, INSTANCE],
    method: Method = "auto",
    time_limit: TimeLimit = None,
    work_limit: WorkLimit = None,
    memory_limit: MemoryLimit = None,
    gap: Gap = 0.0,
    seed: FreshSeed = None,
    engine: Engine = None,
    workers: Workers = None,
    resume: Resume = None,
    norm: Annotated[str | None, _option("--norm", "Distance: l1 (default), l2 or linf.")] = None,
    weights: Annotated[
        str | None,
        _option("--weights", "Of a change: value, reciprocal (default of adjust), unit (of round), problem."),
    ] = None,
    senses: Annotated[str | None, _option("--senses", "adjust: up, down or free (default).")] = None,
    decimals: Annotated[int | None, _option("--decimals", "adjust: at most so many; 0 for counts.", "N")] = None,
    preserve: Annotated[
        str | None, _option("--preserve", "adjust: what inner cells keep: nothing (default), means or correlation.")
    ] = None,
    correlation: Annotated[
        float | None, _option("--correlation", "adjust: the least one, for --preserve correlation; 0.99.", "R")
    ] = None,
    base: Annotated[float | None, _option("--base", "round: the base, such as 5 or 0.1.", "B")] = None,
    steps: Annotated[
        str | None, _option("--steps", "round: bases beyond the neighbouring multiples; or 'least'.", "N|least")
    ] = None,
    rise: Annotated[
        bool | None, typer.Option("--rise", help="round: multiples may go up, too.", rich_help_panel=_CHANGE)
    ] = None,
    levels: Annotated[
        bool | None, typer.Option("--levels", help="round: respect protection levels.", rich_help_panel=_CHANGE)
    ] = None,
    json_: Annotated[
        Path | None, typer.Option("--json", metavar="OUT", help="Write the result there; - is standard output.")
    ] = None,
) -> int:
    """Find a cheap safe pattern of suppressions for an instance, and say how far it can be from the cheapest.

    Or the nearest adjusted or rounded values (--method adjust, --method round), with bound and gap all the same;
    without a limit such a search ends after 40 seconds.
    The first Ctrl-C stops with the best answer so far.
    """
    from tabprotect.cli import values
    from tabprotect.cli.exits import Exit
    from tabprotect.cli.progress import Display, interruptible
    from tabprotect.cli.screen import out, screen
    from tabprotect.formats import read_instance
    from tabprotect.formats.files import check_writable, write_text
    from tabprotect.methods.suppression import methods, suppress
    from tabprotect.solver.limits import Limits
    from tabprotect.solver.tasks.pieces import processes

    given = {
        "engine": engine,
        "workers": workers,
        "resume": resume,
        "norm": norm,
        "weights": weights,
        "senses": senses,
        "decimals": decimals,
        "preserve": preserve,
        "correlation": correlation,
        "base": base,
        "steps": steps,
        "levels": levels,
        "rise": rise,
    }
    values.check_options(method, methods(), given)
    changes = method in values.METHODS
    if changes and time_limit is None and work_limit is None:
        time_limit = values.DEFAULT_SECONDS
    to_screen = json_ is not None and str(json_) == "-"
    if json_ is not None and not to_screen:
        check_writable(json_)
    problem = read_instance(instance, additive=not changes)
    with interruptible(screen()) as asked, Display(screen()) as progress:
        limits = Limits(
            time_limit, work_limit, gap, asked.is_set, None if memory_limit is None else int(GIGABYTE * memory_limit)
        )
        if changes:
            changed = values.run(problem, method, given, limits, seed, progress)
            content, code = values.summary(changed), values.exit_code(changed)
        else:
            with nullcontext() if workers is None else processes(workers) as executor:
                result = suppress(
                    problem,
                    method=method,
                    limits=limits,
                    seed=seed or 0,
                    engine=engine or "scip",
                    progress=progress,
                    executor=executor,
                    resume=resume,
                )
            content, code = summary(result), exit_code(result)
    lines = (f"  {json.dumps(k)}: {json.dumps(v, allow_nan=False)}" for k, v in content.items())
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    if to_screen:
        typer.echo(text, nl=False)
    else:
        if json_ is not None:
            write_text(json_, text)
        if changes:
            values.show(out(), str(instance), changed)
        else:
            show(out(), str(instance), result)
    if asked.is_set() and (code == Exit.DONE or content.get("status") == "unknown"):
        return Exit.LIMIT
    return code


def summary(result: SuppressionResult) -> dict[str, Any]:
    """Return a result as JSON holds it."""
    from math import isfinite

    from tabprotect.formats.pattern import cell_ids
    from tabprotect.proven import hidden_warnings, optimality

    def finite(x: float | None) -> float | None:
        return x if x is not None and isfinite(x) else None

    return {
        "status": result.status,
        "cost": finite(result.cost),
        "bound": finite(result.bound),
        "gap": finite(result.gap),
        "suppressed": cell_ids(result.problem.system, result.suppressed),
        "safe": bool(result.safe),
        "seconds": round(result.seconds, 3),
        "optimality": optimality(result),
        "warnings": hidden_warnings(result),
        "message": result.message,
    }


def exit_code(result: SuppressionResult) -> int:
    """Return what the end of a run means for the caller."""
    from tabprotect.cli.exits import Exit

    if not result.safe:
        return Exit.UNSAFE
    return Exit.LIMIT if result.stopped else Exit.DONE


def show(console: Any, name: str, result: SuppressionResult) -> None:
    """Print a result."""
    from rich.text import Text

    from tabprotect.cli.screen import cells_table, facts, number, verdict
    from tabprotect.proven import hidden_warnings, optimality

    problem = result.problem
    sizes = (
        f"{counted(problem.n_cells, 'cell')}, {len(problem.primaries):,} primary, "
        f"{counted(problem.system.n_equations, 'equation')}"
    )
    status = Text.assemble(f"{optimality(result)}, ", verdict(result.safe))
    lines: list[tuple[str, str | Text]] = [("instance", f"{name}: {sizes}"), ("status", status)]
    if result.cost is not None:
        lines.append(("cost", number(result.cost)))
    if result.bound is not None:
        lines.append(("bound", number(result.bound)))
    if result.gap is not None:
        lines.append(("gap", f"{100 * result.gap:.2f} %"))
    hidden = f"{counted(len(result.suppressed), 'cell')}, {len(result.secondaries):,} of them secondary"
    lines += [("hidden", hidden), ("method", result.method), ("time", f"{result.seconds:.1f} s")]
    if result.message:
        lines.append(("message", result.message))
    lines += [("warning", line) for line in hidden_warnings(result)]
    facts(console, lines)
    if result.unprotectable:
        console.print("\nNo pattern can protect:", style="bold")
        label = problem.system.label
        rows = [(label(u.cell), *u.reachable, *u.needed, u.reason) for u in result.unprotectable]
        cells_table(console, ["cell", "reaches", "to", "needs", "to", "reason"], rows)
