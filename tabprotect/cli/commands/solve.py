"""``tabprotect solve``: protect an instance file, by hiding cells or by other values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

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
    in_bytes,
)

EPILOG = """Examples:

[bold]tabprotect solve table8.jj[/]

[bold]tabprotect solve hier13.jj.gz --method exact --time-limit 60 --json result.json[/]

[bold]tabprotect solve table8.jj --method adjust --norm l1 --senses free --json adjusted.json[/]

[bold]tabprotect solve table8.jj --method round --base 5[/]
"""

_CHANGE = "Methods that change values"


def _option(flag: str, help_: str, metavar: str = "WORD") -> Any:
    return typer.Option(flag, help=help_, metavar=metavar, rich_help_panel=_CHANGE, show_default=False)


Norm = Annotated[str | None, _option("--norm", "Distance: l1 (default), l2 or linf.")]
Weights = Annotated[
    str | None, _option("--weights", "Of a change: value, reciprocal (default of adjust), unit (of round), problem.")
]
Senses = Annotated[str | None, _option("--senses", "adjust: up, down or free (default).")]
Decimals = Annotated[int | None, _option("--decimals", "adjust: at most so many; 0 for counts.", "N")]
Preserve = Annotated[
    str | None, _option("--preserve", "adjust: what inner cells keep: nothing (default), means or correlation.")
]
Correlation = Annotated[
    float | None, _option("--correlation", "adjust: the least one, for --preserve correlation; 0.99.", "R")
]
Base = Annotated[float | None, _option("--base", "round: the base, such as 5 or 0.1.", "B")]
Steps = Annotated[
    str | None, _option("--steps", "round: bases beyond the neighbouring multiples; or 'least'.", "N|least")
]
Rise = Annotated[bool | None, typer.Option("--rise", help="round: multiples may go up, too.", rich_help_panel=_CHANGE)]
Levels = Annotated[
    bool | None, typer.Option("--levels", help="round: respect protection levels.", rich_help_panel=_CHANGE)
]
JsonOut = Annotated[
    Path | None, typer.Option("--json", metavar="OUT", help="Write the result there; - is standard output.")
]


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
    norm: Norm = None,
    weights: Weights = None,
    senses: Senses = None,
    decimals: Decimals = None,
    preserve: Preserve = None,
    correlation: Correlation = None,
    base: Base = None,
    steps: Steps = None,
    rise: Rise = None,
    levels: Levels = None,
    json_: JsonOut = None,
) -> int:
    """Find a cheap safe pattern of suppressions for an instance, and say how far it can be from the cheapest.

    Or the nearest adjusted or rounded values (--method adjust, --method round), with bound and gap all the same;
    without a limit such a search ends after 40 seconds.
    The first Ctrl-C stops with the best answer so far.
    """
    from tabprotect.cli import patterns, values
    from tabprotect.cli.exits import Exit
    from tabprotect.cli.progress import Display, interruptible
    from tabprotect.cli.screen import out, put_json, screen
    from tabprotect.formats import read_instance
    from tabprotect.formats.files import check_writable
    from tabprotect.methods.suppression import methods
    from tabprotect.solver.limits import Limits

    given = {"engine": engine, "workers": workers, "resume": resume, "norm": norm, "weights": weights,
             "senses": senses, "decimals": decimals, "preserve": preserve, "correlation": correlation, "base": base,
             "steps": steps, "levels": levels, "rise": rise}  # fmt: skip
    values.check_options(method, methods(), given)
    changes = method in values.METHODS
    if changes and time_limit is None and work_limit is None:
        time_limit = values.DEFAULT_SECONDS
    if json_ is not None and str(json_) != "-":
        check_writable(json_)
    problem = read_instance(instance, additive=not changes)
    kind = values if changes else patterns
    with interruptible(screen()) as asked, Display(screen()) as progress:
        limits = Limits(time_limit, work_limit, gap, asked.is_set, in_bytes(memory_limit))
        result = kind.run(problem, method, given, limits, seed, progress)
        content, code = kind.summary(result), kind.exit_code(result)
    if not put_json(_lines(content), json_):
        kind.show(out(), str(instance), result)
    if asked.is_set() and (code == Exit.DONE or content.get("status") == "unknown"):
        return Exit.LIMIT
    return int(code)


def _lines(content: dict[str, Any]) -> str:
    """Return a JSON object with an entry a line."""
    lines = (f"  {json.dumps(name)}: {json.dumps(value, allow_nan=False)}" for name, value in content.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"
