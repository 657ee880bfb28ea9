"""``tabprotect develop``: try settings of a protocol, decide, and fix it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from tabprotect.formats.dialect import Dialect
    from tabprotect.workflow.protocol.develop import Trial
    from tabprotect.workflow.protocol.model import Protocol
    from tabprotect.workflow.protocol.period import Period

EPILOG = """Examples:

[bold]tabprotect develop publication.toml[/]

[bold]tabprotect develop publication.toml --try suppress:method=modular --try round:base=5[/]

[bold]tabprotect develop publication.toml --try suppress:method=modular --choose turnover=2[/]

Trial 1 are the settings of the protocol; those of \\[\\[trial]] in the protocol come next, and those of --try last.
"""


Tries = Annotated[
    list[str] | None,
    typer.Option(
        "--try", metavar="NAME[:OPTION=VALUE,...]", help="A method to compare with; repeat it.", show_default=False
    ),
]
Choose = Annotated[
    list[str] | None,
    typer.Option("--choose", metavar="CLUSTER=NUMBER", help="Decide for a trial; repeat it.", show_default=False),
]
AsGiven = Annotated[
    bool, typer.Option("--as-given", help="Decide for the settings of the protocol, without trying anything.")
]
Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="FOLDER", help="Data to develop on; by default those beside the protocol."),
]
Out = Annotated[Path | None, typer.Option("--out", metavar="FIXED.toml", help="By default PROTOCOL.fixed.toml.")]
TimeLimit = Annotated[
    float | None,
    typer.Option("--time-limit", metavar="SECONDS", min=0.0, help="Of each trial; by default that of the protocol."),
]


def develop(
    protocol: Annotated[Path, typer.Argument(metavar="PROTOCOL.toml", help="What `tabprotect plan` wrote.")],
    tries: Tries = None,
    choose: Choose = None,
    as_given: AsGiven = False,
    data: Data = None,
    out: Out = None,
    time_limit: TimeLimit = None,
) -> int:
    """Compare settings for every cluster, record what was decided, and write the protocol that `apply` runs.

    Without --choose a cluster gets the safe trial of the least cost, among those whose costs are measured alike. What
    was tried is appended to decisions.jsonl in the protocol's internal folder, which is confidential.
    """
    from datetime import UTC, datetime

    from tabprotect.cli import screen
    from tabprotect.cli.app import Exit
    from tabprotect.cli.progress import Display, interruptible
    from tabprotect.comparison.trials import try_settings
    from tabprotect.errors import InputError
    from tabprotect.formats.dialect import Dialect
    from tabprotect.solver.limits import Limits
    from tabprotect.workflow.protocol.develop import append_decisions, decided, fix, fixed_path, untried
    from tabprotect.workflow.protocol.period import open_period
    from tabprotect.workflow.protocol.read import read_protocol

    if as_given and (tries or choose):
        raise InputError("--as-given tries nothing, so --try and --choose do not go with it")
    given = read_protocol(protocol)
    place = fixed_path(given, out)
    settings = _settings(given, tries or [])
    period = open_period(given, data, fixed=False)
    wanted = _choices(choose or [], period, len(settings))
    err = screen.screen()
    with interruptible(err) as asked, Display(err) as progress:
        limits = None if time_limit is None else Limits(time_limit)
        compared = {
            cluster: try_settings(period, cluster, settings, limits=limits, stop=asked.is_set, progress=progress)
            for cluster in (period.clusters if not as_given else ())
        }
    if as_given:
        chosen = untried(period)
        trials: Mapping[str, Sequence[Trial]] = {cluster: [one] for cluster, one in chosen.items()}
    else:
        trials = {cluster: found for cluster, (found, _) in compared.items()}
        _show(trials, {cluster: Dialect.like(found[0].recognised) for cluster, (_, found) in compared.items()})
        chosen = decided(trials, wanted)
    when = datetime.now(UTC).isoformat(timespec="seconds")
    append_decisions(given, period, [one for some in trials.values() for one in some], chosen, when)
    if missing := [cluster for cluster in trials if cluster not in chosen]:
        screen.out().print(f"no trial of {', '.join(missing)} is safe; nothing was fixed", style="bold red")
        return Exit.UNSAFE
    fix(given, period, chosen, place)
    _show_fixed(given, chosen, place)
    return Exit.LIMIT if asked.is_set() else Exit.DONE


def _settings(protocol: Protocol, words: Sequence[str]) -> list[Mapping[str, Any]]:
    """Return the settings to try: those of the protocol, those of its trials, and those of --try."""
    from tabprotect.comparison.approaches import parse_approach
    from tabprotect.comparison.trials import settings_of
    from tabprotect.errors import InputError, Problems

    problems = Problems()
    settings: list[Mapping[str, Any]] = [{}, *protocol.trials]
    for word in words:
        try:
            settings.append(settings_of(parse_approach(word)))
        except InputError as error:
            problems.found += [f"--try {problem}" for problem in error.problems]
    problems.raise_if_any()
    return settings


def _choices(words: Sequence[str], period: Period, trials: int) -> dict[str, int]:
    from tabprotect.errors import collect, did_you_mean

    wanted = {}
    with collect() as problems:
        for word in words:
            cluster, _, number = word.partition("=")
            if cluster not in period.clusters:
                problems.add(
                    f"--choose {word}: there is no cluster '{cluster}'{did_you_mean(cluster, period.clusters)}"
                )
            elif not number.isdecimal() or not 1 <= int(number) <= trials:
                problems.add(f"--choose {word}: write {cluster}=NUMBER, a trial from 1 to {trials}")
            else:
                wanted[cluster] = int(number)
    return wanted


def _show(trials: Mapping[str, Sequence[Trial]], dialects: Mapping[str, Dialect]) -> None:
    from rich.table import Table

    from tabprotect.cli import screen
    from tabprotect.comparison.compare import NOTICE
    from tabprotect.report.numbers import Numbers

    console = screen.out()
    console.print(NOTICE, style="bold red")
    for cluster, found in trials.items():
        n = Numbers.of(dialects[cluster])
        grid = Table(title=f"cluster {cluster}", title_justify="left", show_edge=False, header_style="bold")
        for k, name in enumerate(("trial", "method", "settings", "status", "cost", "bound", "hidden", "exposed")):
            grid.add_column(name, overflow="fold", justify="left" if k in (1, 2, 3) else "right")
        for one in found:
            settings = ", ".join(f"{key}={value}" for key, value in one.settings.items()) or "as given"
            numbers = [
                "-" if number is None else n(number, ",.4g" if abs(number) < 1e4 else ",.0f")
                for number in (one.cost, one.bound)
            ]
            counts = ["-" if count is None else n(count) for count in (one.hidden, one.exposed)]
            grid.add_row(str(one.number), one.method, settings, one.status, *numbers, *counts)
        console.print(grid)
        for one in found:
            if one.message and not one.safe:
                console.print(f"trial {one.number}: {one.message}", style="yellow")
        console.print()


def _show_fixed(protocol: Protocol, chosen: Mapping[str, Trial], place: Path) -> None:
    """Say what was decided, and what comes next."""
    from tabprotect.cli import screen

    console = screen.out()
    for cluster, one in chosen.items():
        console.print(f"{cluster}: trial {one.number} ({one.method})")
    facts = [("fixed protocol", str(place)), ("confidential", f"{protocol.internal}")]
    screen.facts(console, [*facts, ("next", f"tabprotect apply {place} --data DATA --out RELEASE")])
