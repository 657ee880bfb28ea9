"""A fixed protocol on the data of a period: checked, protected, judged beside the last period, written and verified."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tabprotect.errors import InputError, Problems, collect
from tabprotect.formats.folder import INTERNAL, MANIFEST
from tabprotect.methods.suppression.method import Suppress
from tabprotect.microdata import Masked, mask
from tabprotect.paths import possible
from tabprotect.release.carried import Both, Stability
from tabprotect.release.earlier import Earlier, read_earlier
from tabprotect.release.publication import Publication
from tabprotect.release.suppressed import Release
from tabprotect.solver.limits import Budget, Progress
from tabprotect.solver.tasks.apart import run_apart
from tabprotect.solver.tasks.pieces import processors
from tabprotect.workflow.carry_out import carry_out
from tabprotect.workflow.judge import judging
from tabprotect.workflow.previous import judge_both, preferring, revising, stability, with_both
from tabprotect.workflow.protocol.period import Period
from tabprotect.workflow.protocol.tables import Held
from tabprotect.workflow.request import Request

__all__ = ["Protected", "protect_period"]

SMALL_CELLS = 1000
"""Clusters of no more cells are protected sooner than another process begins."""


@dataclass(frozen=True, eq=False)
class Protected:
    """All releases of a period, before anything is written. Confidential.

    Attributes
    ----------
    period : Period
    releases : mapping of str to Publication
        By cluster.
    masked : mapping of str to Masked
    stability : mapping of str to Stability
        Of the clusters that the last period has, too.
    both : mapping of str to Both
        Of revisions: what both releases together tell.
    notes : tuple of str
    """

    period: Period
    releases: Mapping[str, Publication]
    masked: Mapping[str, Masked]
    stability: Mapping[str, Stability]
    both: Mapping[str, Both]
    notes: tuple[str, ...]

    @property
    def safe(self) -> bool:
        """Whether every release is safe, of a revision also beside the last one."""
        return all(one.safe for one in self.releases.values()) and all(one.safe for one in self.both.values())

    @property
    def allow_unsafe(self) -> bool:
        """Whether the protocol takes the responsibility for releases that are not."""
        return bool(self.period.spec is not None and self.period.spec.output.allow_unsafe)

    @property
    def stopped(self) -> bool:
        """Whether a limit ended a search."""
        return any(one.stopped for one in self.releases.values())


def protect_period(
    period: Period,
    previous: Path | None = None,
    *,
    revision: bool | None = None,
    workers: int | None = 1,
    stop: Callable[[], bool] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Protected:
    """Protect every cluster and every microdata file.

    Parameters
    ----------
    period : Period
    previous : Path, optional
        The release of the last period: its pattern is preferred, and of a revision both are audited together.
    revision : bool, optional
        In the place of what the protocol says.
    workers : int or None
        Processes: as many clusters at a time. None: one for every processor, where two clusters at least are not small.
        Without a limit of time the answer does not depend on it.
    stop, progress : callable, optional
        See `tabprotect.Limits` and `tabprotect.Progress`.

    Raises
    ------
    InputError
        Everything that is wrong with the last release, or with the settings.
    """
    protocol = period.protocol
    revised = protocol.previous.revision if revision is None else revision
    if revised and previous is None:
        raise InputError("a revision is judged beside the release that it revises; name it: --previous RELEASE")
    requests: dict[str, Request] = {}
    with collect() as problems:
        for name in period.clusters:
            found = problems.attempt(period.request, name)
            if found is not None:
                requests[name] = found
        earlier, notes = _earlier(period, requests, previous, revised, problems) if previous is not None else ({}, [])
    factor = protocol.previous.factor
    tasks = {name: _Task(request, earlier.get(name), revised, factor) for name, request in requests.items()}
    if workers is None:
        large = [name for name, cells in period.cells.items() if cells > SMALL_CELLS]
        workers = processors() if len(large) > 1 else 1
    done = run_apart(_protect, tasks, workers, stop=stop, progress=progress)
    releases = {name: release for name, (release, _) in done.items()}
    kept: dict[str, Stability] = {}
    both: dict[str, Both] = {}
    for name, (release, disclosed) in done.items():
        if name in earlier and isinstance(release, Release):
            notes.append(f"{name}: cost and bound count cells that the last period hid with {factor:g} of their cost")
            kept[name] = stability(release, earlier[name])
            if revised:
                limits = replace(requests[name].limits, stop=stop)
                budget = judging(Budget(limits), limits, progress)
                both[name] = judge_both(release, earlier[name], disclosed, budget)
                releases[name] = with_both(release, both[name], budget.stopped)
    masked = {
        name: mask(one.data, one.schema, one.steps, seed=one.seed, title=one.title)
        for name, one in period.masks.items()
    }
    return Protected(period, releases, masked, kept, both, tuple(notes))


@dataclass(frozen=True, eq=False)
class _Task:
    """One cluster: what is asked for, what the last period released of it, and how that counts."""

    request: Request
    last: Earlier | None
    revised: bool
    factor: float


def _protect(
    task: _Task, /, stop: Callable[[], bool] | None, progress: Callable[[Progress], None] | None
) -> tuple[Publication, tuple[str, ...]]:
    """Protect one cluster; return cells, too, that a revision finds sensitive and that were published."""
    request = task.request.asking(progress=progress, limits=replace(task.request.limits, stop=stop))
    if task.last is None:
        return carry_out(request), ()
    source = request.source
    assert isinstance(source, Held)
    disclosed: tuple[str, ...] = ()
    if task.revised:
        table, disclosed = revising(request, source.held, task.last)
        request = request.asking(source=replace(source, held=table, final=True))
    return carry_out(preferring(request, task.last, task.factor)), disclosed


def _earlier(
    period: Period, requests: Mapping[str, Request], previous: Path, revised: bool, problems: Problems
) -> tuple[dict[str, Earlier], list[str]]:
    """Read what the last period released of every cluster that hides cells."""
    found: dict[str, Earlier] = {}
    notes: list[str] = []
    if not possible(previous).is_dir():
        problems.add(f"{previous}: there is no such folder; name what `tabprotect apply --out` wrote")
        return found, notes
    alone = (previous / INTERNAL / MANIFEST).is_file() and len(period.clusters) == 1
    for name, request in requests.items():
        folder = previous if alone and not (previous / name).is_dir() else previous / name
        if not isinstance(request.method, Suppress):
            words = f"{name}: {request.method} has no pattern of hidden cells to keep"
            if revised:
                problems.add(f"{words}, so a revision cannot be judged beside the last release")
            notes.append(words)
        elif folder.is_dir():
            last = problems.attempt(read_earlier, folder)
            if last is not None:
                found[name] = last
                notes += [f"{name}: the last release was written as not safe: {why}" for why in last.not_safe]
        elif revised:
            problems.add(f"{previous}: there is no release of '{name}' in it, which a revision is judged beside")
        else:
            notes.append(f"{name}: the last period has no release of it")
    return found, notes
