"""A fixed protocol on the data of a period: checked, protected, judged beside the last period, written and verified."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from tabprotect.errors import InputError, Problems, collect
from tabprotect.formats.folder import INTERNAL, MANIFEST
from tabprotect.methods.suppression.method import Suppress
from tabprotect.microdata import Masked, mask
from tabprotect.microdata.specification import MaskSpec, read_mask_spec
from tabprotect.paths import possible
from tabprotect.release.carried import Both, Stability
from tabprotect.release.earlier import Earlier, read_earlier
from tabprotect.release.publication import Publication
from tabprotect.release.suppressed import Release
from tabprotect.solver.limits import Budget, Progress
from tabprotect.solver.tasks.apart import run_apart
from tabprotect.solver.tasks.pieces import processors
from tabprotect.table.table import Table
from tabprotect.workflow.carry_out import carry_out
from tabprotect.workflow.judge import judging
from tabprotect.workflow.previous import judge_both, preferring, revising, stability, with_both
from tabprotect.workflow.protocol.model import Protocol
from tabprotect.workflow.protocol.structure import columns_of, differences, read_structure, structure_of
from tabprotect.workflow.protocol.tables import Held, clusters_of, located, read_tables, request_of_cluster
from tabprotect.workflow.request import Request
from tabprotect.workflow.specification import Spec

__all__ = ["Period", "Protected", "open_period", "protect_period"]

SMALL_CELLS = 1000
"""Clusters of no more cells are protected sooner than another process begins."""


@dataclass(frozen=True, eq=False)
class Period:
    """The data of a period as a protocol reads them.

    Attributes
    ----------
    protocol : Protocol
    spec : Spec or None
        Of all tables, its files being those of the period; None without tables.
    tables : mapping of str to Table
    clusters : mapping of str to tuple of str
    masks : mapping of str to MaskSpec
    structure : mapping
        What the data look like; see `structure_of`.
    """

    protocol: Protocol
    spec: Spec | None = field(repr=False)
    tables: Mapping[str, Table] = field(repr=False)
    clusters: Mapping[str, tuple[str, ...]]
    masks: Mapping[str, MaskSpec] = field(repr=False)
    structure: Mapping[str, Any] = field(repr=False)

    def request(self, cluster: str, **settings: Any) -> Request:
        """Return what the protocol asks for a cluster, with other settings of the search where they are given.

        A limit in seconds that the protocol sets for all clusters is shared by their numbers of cells; one that a
        cluster sets is its own.
        """
        assert self.spec is not None
        names = self.clusters[cluster]
        request = request_of_cluster(self.protocol, self.spec, cluster, names, self.tables, **settings)
        own = "limits" in settings or "limits" in self.protocol.settings.get(cluster, {})
        if own or request.limits.seconds is None:
            return request
        share = self.cells[cluster] / sum(self.cells.values())
        return request.asking(limits=replace(request.limits, seconds=share * request.limits.seconds))

    @property
    def cells(self) -> dict[str, int]:
        """Return the number of cells of every cluster; cells that its tables share count for each of these."""
        return {name: sum(self.tables[table].n_cells for table in tables) for name, tables in self.clusters.items()}


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


def open_period(protocol: Protocol, data: Path | None, *, fixed: bool = True) -> Period:
    """Read the data of a period, and compare them with the structure that the protocol was fixed for.

    Parameters
    ----------
    protocol : Protocol
    data : Path or None
        Folder of the period's files, under their names in the protocol (or the only file); None for those beside the
        protocol.
    fixed : bool
        Whether the structure has to be that of the protocol.

    Raises
    ------
    InputError
        Everything that is wrong with the data, and every difference of structure.
    """
    before = None
    if fixed:
        if protocol.structure is None:
            raise InputError(
                f"{protocol.path} is not fixed yet: run `tabprotect develop {protocol.path.name}`, which compares "
                "settings, records the decision and writes the fixed protocol"
            )
        before = read_structure(protocol.base / protocol.structure)
    tables: Mapping[str, Table] = {}
    clusters: Mapping[str, tuple[str, ...]] = {}
    spec = None
    problems = Problems()
    if protocol.shared:
        spec = _collected(problems, lambda: located(protocol.spec(), protocol.base, data))
    masks = {
        name: one
        for name, given in protocol.microdata.items()
        if (one := _collected(problems, partial(_mask_spec, protocol, name, given, data)))
    }
    problems.raise_if_any()
    columns = {name: _collected(problems, partial(columns_of, one.data)) or [] for name, one in masks.items()}
    if spec is not None:
        tables = read_tables(spec, problems)
        if len(tables) == len(spec.tables):
            clusters = _collected(problems, lambda: clusters_of(protocol, spec, tables)) or {}
    structure = structure_of(spec, tables, clusters, columns)
    if before is not None:
        differences(before, structure, problems)
    problems.raise_if_any()
    return Period(protocol, spec, tables, clusters, masks, structure)


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
            found = _collected(problems, partial(period.request, name))
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
            last = _collected(problems, partial(read_earlier, folder))
            if last is not None:
                found[name] = last
                notes += [f"{name}: the last release was written as not safe: {why}" for why in last.not_safe]
        elif revised:
            problems.add(f"{previous}: there is no release of '{name}' in it, which a revision is judged beside")
        else:
            notes.append(f"{name}: the last period has no release of it")
    return found, notes


def _mask_spec(protocol: Protocol, name: str, given: Mapping[str, Any], data: Path | None) -> MaskSpec:
    """Read what a protocol says of a microdata file; its data are those of the period."""
    try:
        spec = read_mask_spec(given, protocol.base)
    except InputError as error:
        raise InputError(*(f"microdata.{name}: {problem}" for problem in error.problems)) from error
    if data is None:
        return spec
    if possible(data).is_file():
        if protocol.shared or len(protocol.microdata) > 1:
            raise InputError(f"{data} is one file, and the protocol has several; name the folder of all of them")
        return replace(spec, data=replace(spec.data, path=data))
    for file in (data / str(given["data"]), data / Path(str(given["data"])).name):
        if file.exists():
            return replace(spec, data=replace(spec.data, path=file))
    raise InputError(f"{data}: there is no file '{Path(str(given['data'])).name}' (microdata.{name})")


def _collected(problems: Problems, make: Callable[[], Any]) -> Any:
    """Return what is made, or None and note what is wrong with it."""
    try:
        return make()
    except InputError as error:
        problems.found += error.problems
        return None
