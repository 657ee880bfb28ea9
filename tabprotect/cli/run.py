"""Carry out a specification: read, protect, show, write."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabprotect.cli import screen
from tabprotect.cli.exits import Exit
from tabprotect.cli.line import command_line
from tabprotect.cli.progress import Display, interruptible
from tabprotect.counted import counted
from tabprotect.workflow.specification import Spec, check_dialect, dialect_of

if TYPE_CHECKING:
    import pandas as pd

    from tabprotect.cli.screen import Screen
    from tabprotect.formats.dialect import Dialect
    from tabprotect.release.publication import Publication

__all__ = ["carry_out"]

MORE = 4
"""So many times the limit that was too little is what the terminal proposes."""


def carry_out(
    spec: Spec,
    base: Path,
    *,
    workers: int | None = None,
    resume: Path | None = None,
    planned: str = "",
    **other: Any,
) -> int:
    """Do what a specification says; paths in it are relative to `base`.

    Parameters
    ----------
    spec : Spec
    base : path
    workers : int, optional
        Processes for independent parts of the search.
    resume : path, optional
        Folder of finished pieces.
    planned : str
        The limit that is meant to end the search ('time', 'work'): it is no reason for another exit code.
    **other
        Of `tabprotect.workflow.request.Request`, in the place of what the specification says.

    Raises
    ------
    InputError
        If anything is wrong with the data or the place for the release; nothing is written then.
    """
    from tabprotect.solver.limits import Budget
    from tabprotect.solver.tasks.pieces import processes
    from tabprotect.workflow.carry_out import carry_out as release_of
    from tabprotect.workflow.specified import request_of

    folder = base / spec.output.folder
    check_dialect(spec.output)
    request = request_of(spec, base, resume=resume, **other)
    err = screen.screen()
    pool = nullcontext() if workers is None else processes(workers)
    with interruptible(err) as asked, Display(err) as progress, pool as executor:
        limits = replace(request.limits, stop=asked.is_set)
        release = release_of(
            request.asking(
                limits=limits,
                progress=progress,
                executor=executor,
                command=command_line(),
                when_read=lambda found: progress.write_as(dialect_of(spec.output, found)),
            )
        )
        if release.safe or release.allow_unsafe:
            Budget(progress=progress).report("write")
            dialect = dialect_of(spec.output, release.table.recognised)
            release.write(folder, spec.output.formats, dialect=dialect)
            if "csv" in spec.output.formats:
                _warn_of_formulas(err, release.public.frame)
            if any(one.endswith("csv") for one in spec.output.formats):
                _warn_of_encoding(err, release.public.frame, dialect.encoding)
    return _report(release, folder, dialect_of(spec.output, release.table.recognised), planned, asked=asked.is_set())


def _warn_of_formulas(err: Screen, frame: pd.DataFrame) -> None:
    """Say which labels of a CSV file spreadsheets take for formulas."""
    from tabprotect.formats.frames import as_formulas
    from tabprotect.table.codes import some

    words = as_formulas(frame)
    if words:
        err.print(
            f"Spreadsheets take {counted(len(words), 'label')} of table.csv for formulas: "
            f"{some([repr(w) for w in words], 3)}; "
            "--format text.csv writes them as text.",
            style="yellow",
        )


def _warn_of_encoding(err: Screen, frame: pd.DataFrame, encoding: str) -> None:
    """Say that text files have another encoding than was asked for, where that lacks characters of them."""
    from tabprotect.formats.frames import beyond
    from tabprotect.table.codes import some

    words = beyond(frame, encoding)
    if words:
        err.print(
            f"{encoding} has not all characters of {some([repr(w) for w in words], 3)}: text files are UTF-8, with a "
            "byte-order mark; --set output.encoding=utf-8-sig asks for that.",
            style="yellow",
        )


def _report(release: Publication, folder: Path, dialect: Dialect, planned: str = "", *, asked: bool = False) -> int:
    """Print what was done, and return the exit code."""
    from rich.text import Text

    from tabprotect.release.changed import ChangedRelease
    from tabprotect.release.suppressed import Release

    console = screen.out()
    console.print(release.summary(dialect))
    if said := release.unfinished:
        more = "" if asked else _more(release)
        console.print(Text(f"{said[0].upper()}{said[1:]}: nothing was written{more}.", style="yellow"))
        return Exit.LIMIT if asked else Exit.UNSAFE
    if isinstance(release, ChangedRelease) and release.values is None:
        ending = "found no values before its end" if release.stopped else "has no values for this table"
        console.print(Text(f"Nothing was written: {release.settings['method']} {ending}.", style="yellow"))
        return Exit.LIMIT if asked else Exit.UNSAFE
    if not release.safe:
        if release.judgement is not None:
            console.print(release.judgement.summary(dialect.decimal), style="red")
        bad = ("NOT SAFE", "bold red")
        if not release.allow_unsafe:
            cure = "--allow-unsafe writes it on your responsibility"
            console.print(Text.assemble(bad, f": nothing was written ({cure})."))
            return Exit.UNSAFE
        console.print(Text.assemble(bad, ", written because --allow-unsafe is set."))
    console.print()
    screen.show_table(console, release, release.numbers(dialect))
    console.print()
    screen.facts(
        console,
        [
            ("for everybody", str(folder / "publish" / "index.html")),
            ("confidential", str(folder / "internal" / "report.html")),
            ("proof", f"tabprotect verify {folder}"),
        ],
    )
    if not release.safe:
        return Exit.UNSAFE
    why = release.result.stopped if isinstance(release, Release) else release.stopped
    return Exit.LIMIT if asked or (why and why != planned) else Exit.DONE


def _more(release: Publication) -> str:
    """Name the flag that gives a search, or its judgement, more, where a limit of time or work ended it."""
    from tabprotect.release.suppressed import Release
    from tabprotect.workflow.judge import JUDGE_SECONDS

    flags = {"time": ("--time-limit", "time limit (seconds)"), "work": ("--work-limit", "work limit")}
    flag, setting = flags.get(release.result.stopped if isinstance(release, Release) else "time", ("", ""))
    limit = release.settings.get(setting)
    if limit and release.judgement.undecided and flag == "--time-limit":
        limit = max(limit, JUDGE_SECONDS)  # no less than that is what the judgement had
    return f"; try {flag} {MORE * limit:g}" if limit else ""
