"""``tabprotect apply``: a fixed protocol on the data of a period."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tabprotect.workflow.protocol.apply import Protected

EPILOG = """Examples:

[bold]tabprotect apply publication.fixed.toml --data 2024 --out release2024[/]

[bold]tabprotect apply publication.fixed.toml --data 2025 --previous release2024 --out release2025[/]

[bold]tabprotect apply publication.fixed.toml --data 2024-final --previous release2024 --revision --out final2024[/]
"""

Previous = Annotated[
    Path | None,
    typer.Option(
        "--previous", metavar="RELEASE", help="The last period's release: its pattern is kept where it can be."
    ),
]
Revision = Annotated[
    bool | None,
    typer.Option(
        "--revision/--no-revision",
        help="Both releases are of the same quantities, and are audited together; by default as the protocol says.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        min=1,
        help="Clusters at a time, each in a process; by default one for every processor, unless they are small.",
        show_default=False,
    ),
]


def apply(
    protocol: Annotated[Path, typer.Argument(metavar="FIXED.toml", help="What `tabprotect develop` wrote.")],
    data: Annotated[
        Path, typer.Option("--data", metavar="FOLDER|FILE", help="Data of the period, under the protocol's file names.")
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="Gets a folder for every cluster and every microdata file.")
    ],
    previous: Previous = None,
    revision: Revision = None,
    workers: Workers = None,
) -> int:
    """Run a fixed protocol on new data, and verify every release; data of another structure are refused.

    Nothing is written unless every release is safe. The first Ctrl-C stops with the best answers so far.
    """
    from tabprotect.cli import screen
    from tabprotect.cli.app import Exit
    from tabprotect.cli.progress import Display, interruptible
    from tabprotect.solver.limits import Budget
    from tabprotect.workflow.protocol.apply import protect_period
    from tabprotect.workflow.protocol.period import open_period
    from tabprotect.workflow.protocol.read import read_protocol
    from tabprotect.workflow.protocol.writing import check_place, write_period

    given = read_protocol(protocol)
    check_place(out)
    period = open_period(given, data)
    err = screen.screen()
    with interruptible(err) as asked, Display(err) as progress:
        protected = protect_period(
            period, previous, revision=revision, workers=workers, stop=asked.is_set, progress=progress
        )
        written = protected.safe or protected.allow_unsafe
        if written:
            Budget(progress=progress).report("write")
            write_period(protected, out)
    _show(protected)
    console = screen.out()
    if not protected.safe:
        console.print("NOT SAFE: nothing was written." if not written else "NOT SAFE, written as the protocol allows.")
        return Exit.UNSAFE
    parts = (*protected.releases, *protected.masked)
    screen.facts(console, [("written and verified", ", ".join(str(out / name) for name in parts))])
    return Exit.LIMIT if protected.stopped or asked.is_set() else Exit.DONE


def _show(protected: Protected) -> None:
    from tabprotect.cli import screen
    from tabprotect.table.codes import some

    console = screen.out()
    for name, release in protected.releases.items():
        console.print(f"cluster {name}", style="bold")
        console.print(release.summary())
        if not release.safe and release.judgement is not None:
            console.print(release.judgement.summary(), style="red")
        if name in protected.stability:
            kept = protected.stability[name]
            console.print(
                f"stability: {kept.kept:,} of {kept.cells:,} cells ({100 * kept.share:.1f} %) have the status of the "
                f"last period; {len(kept.suppressed):,} newly suppressed, {len(kept.freed):,} freed, {kept.new:,} new, "
                f"{kept.gone:,} gone"
            )
            for word, cells in (("newly suppressed", kept.suppressed), ("freed", kept.freed)):
                if cells:
                    console.print(f"  {word}: {some(cells)}")
        if name in protected.both:
            both = protected.both[name]
            console.print(
                "with the last release: " + ("safe" if both.safe else "not decided" if both.undecided else "NOT SAFE")
            )
            for line in both.problems():
                screen.wrong(console, line)
        console.print()
    for name, masked in protected.masked.items():
        console.print(f"microdata {name}", style="bold")
        console.print(masked.summary())
        console.print()
    for note in protected.notes:
        console.print(f"note: {note}", style="yellow")
