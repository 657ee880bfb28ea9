"""``tabprotect arb``: run a batch of tau-ARGUS."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tabprotect.cli.arguments import FreshSeed, TimeLimit, WorkLimit

EPILOG = """Examples:

[bold]tabprotect arb firms.arb --check[/]

[bold]tabprotect arb firms.arb --folder out --release out/releases[/]
"""


def arb(
    batch: Annotated[Path, typer.Argument(metavar="BATCH", help="A batch file (.arb).", show_default=False)],
    folder: Annotated[
        Path | None, typer.Option("--folder", metavar="DIR", help="Write there; by default beside the batch.")
    ] = None,
    release: Annotated[
        Path | None,
        typer.Option("--release", metavar="DIR", help="Write releases with report and certificate there, too."),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Read the batch and say what is wrong; run nothing.")] = False,
    time_limit: TimeLimit = None,
    work_limit: WorkLimit = None,
    seed: FreshSeed = None,
    allow_unsafe: Annotated[
        bool, typer.Option("--allow-unsafe", help="Write what is not safe, on your responsibility.")
    ] = False,
) -> int:
    """Run a batch of tau-ARGUS (.arb) with the methods of this package.

    Tables are read, protected, judged and written in the six forms of tau-ARGUS. The logbook says what was done
    differently; what is not safe is not written. Limits given here replace those of the batch.
    """
    from tabprotect.cli.exits import Exit
    from tabprotect.cli.progress import Display, interruptible
    from tabprotect.cli.screen import facts, out, screen
    from tabprotect.formats.argus import read_batch
    from tabprotect.solver.limits import Limits
    from tabprotect.workflow.argus import run_batch
    from tabprotect.workflow.argus.protection import Means

    if check:
        found = read_batch(batch)
        out().print(f"{len(found.commands)} commands, all understood ({found.encoding}).")
        return Exit.DONE
    with interruptible(screen()) as asked, Display(screen()) as progress:
        given = time_limit is not None or work_limit is not None
        limits = Limits(time_limit, work_limit, stop=asked.is_set) if given else None
        means = Means(limits, seed, allow_unsafe, progress)
        outcome = run_batch(batch, folder=folder, release=release, means=means)
    console = out()
    console.print(str(outcome.log), markup=False, highlight=False)
    facts(console, [("logbook", str(outcome.logbook)), *(("written", str(path)) for path in outcome.written)])
    if not outcome.safe:
        console.print("NOT SAFE: see the logbook.", style="bold red")
        return Exit.UNSAFE
    return Exit.LIMIT if outcome.stopped else Exit.DONE
