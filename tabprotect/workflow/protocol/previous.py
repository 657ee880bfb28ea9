"""The release of the last period: its pattern as a preference, and what an intruder makes of both releases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.attack.audit import Audit, audit
from tabprotect.attack.values import ValuesCertificate
from tabprotect.certificate.limits import UNLIMITED
from tabprotect.errors import InputError
from tabprotect.problem import Problem, Status
from tabprotect.release.read import read_release
from tabprotect.release.suppressed import Release
from tabprotect.sensitivity.assess import assess
from tabprotect.sensitivity.costs import costs
from tabprotect.table.table import Table
from tabprotect.workflow.request import Request

__all__ = ["Both", "Earlier", "Stability", "judge_both", "preferring", "read_earlier", "revising", "stability"]

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

_OPEN = ("", "s", None)
"""Statuses of a finished table that say nothing."""


@dataclass(frozen=True, eq=False)
class Earlier:
    """A release of the last period, checked.

    Attributes
    ----------
    folder : Path
    problem : Problem
        Its table, with the sums that were protected as further cells.
    hidden : ndarray of bool, shape (cells of the problem,)
    position : mapping of str to int
        The cell of every label.
    """

    folder: Path
    problem: Problem = field(repr=False)
    hidden: Bools = field(repr=False)
    position: Mapping[str, int] = field(repr=False)

    def match(self, table: Table) -> Ints:
        """Return the cell of this release for every cell of a table; -1 where it has none."""
        return np.array([self.position.get(table.system.label(i), -1) for i in range(table.n_cells)], np.int64)


@dataclass(frozen=True)
class Stability:
    """How far a pattern is that of the last period. Confidential, as it names why cells changed.

    Attributes
    ----------
    cells : int
        That both releases have.
    kept : int
        Of them, those with the same status (hidden or published).
    suppressed, freed : tuple of str
        Cells that are hidden now and were published, and the other way round.
    new, gone : int
        Cells that only one of the releases has.
    """

    cells: int
    kept: int
    suppressed: tuple[str, ...]
    freed: tuple[str, ...]
    new: int
    gone: int

    @property
    def share(self) -> float:
        """Share of the common cells whose status is kept; 1 without any."""
        return self.kept / self.cells if self.cells else 1.0


@dataclass(frozen=True, eq=False)
class Both:
    """What an intruder who has both releases of the same quantities makes of them.

    Attributes
    ----------
    now, before : Audit
        Of either release, where only cells that both hide count as hidden.
    published_before : tuple of str
        Cells that are sensitive now, and that the earlier release published.
    """

    now: Audit = field(repr=False)
    before: Audit = field(repr=False)
    published_before: tuple[str, ...]

    @property
    def safe(self) -> bool:
        """Whether both releases together reach every protection level."""
        return self.now.safe and self.before.safe and not self.published_before

    def problems(self, most: int = 20) -> list[str]:
        """Say what is disclosed by both releases together, and what can be done."""
        lines = [
            f"{label} is sensitive now, and the last release published it: its value is known, whatever is hidden now"
            for label in self.published_before[:most]
        ]
        if len(self.published_before) > most:
            lines.append(f"{len(self.published_before) - most} more cells are sensitive now and were published")
        known = set(self.published_before)
        for found, whose in ((self.now, "this release"), (self.before, "the last release")):
            short = [line for line in found.shortfalls() if line.partition(" moves ")[0] not in known]
            lines += [f"{line} (in {whose}, by an intruder who has both)" for line in short[:most]]
        return lines


def read_earlier(folder: Path) -> Earlier:
    """Read a release of the last period.

    Raises
    ------
    InputError
        If it is no release of hidden cells, or its files are not what was proven.
    """
    # limits are against documents of others
    found = read_release(folder, UNLIMITED)
    if found.failures:
        raise InputError(
            f"{folder} is not the release that was written ({found.failures[0]}); name the release that was published"
        )
    if isinstance(found.certificate, ValuesCertificate):
        raise InputError(f"{folder} publishes changed values, and has no pattern of hidden cells to keep")
    label = found.problem.system.label
    position = {label(i): i for i in range(found.problem.n_cells)}
    return Earlier(folder, found.problem, found.pattern, position)


def preferring(request: Request, table: Table, earlier: Earlier, factor: float) -> Request:
    """Return the request with lower costs of cells that were hidden in the last period.

    Parameters
    ----------
    request : Request
        Whose method hides cells, without recoding.
    table : Table
    earlier : Earlier
    factor : float
        Above 0 and at most 1: what the costs are multiplied by.
    """
    how = request.hiding
    cost = costs(table, how.cost, transform=how.transform, preferences=how.preferences)
    match = earlier.match(table)
    hidden = (match >= 0) & earlier.hidden[match]
    chosen = replace(how, cost=np.where(hidden, factor * cost, cost), transform=None, preferences=None)
    return request.asking(method=chosen)


def revising(request: Request, table: Table, earlier: Earlier) -> tuple[Table, tuple[str, ...]]:
    """Return the table of a revision: what was published stays published, what was sensitive stays protected.

    Whoever has both releases knows what either publishes. So a cell that was published protects nothing now, and
    hiding it again would be of no use; a cell that was sensitive keeps its protection levels.

    Returns
    -------
    Table
    tuple of str
        Cells that are sensitive now and were published: nothing can protect them any more.
    """
    match = earlier.match(table)
    there = match >= 0
    assessed = assess(table, request.rules, levels=request.levels)
    sensitive = assessed.status == Status.PRIMARY
    was = np.where(there, earlier.problem.status[match], Status.SAFE)
    published = there & ~earlier.hidden[match]
    status = np.array(table.columns.get("status", np.full(table.n_cells, "")), dtype=object)
    quiet = np.array([one in _OPEN for one in status]) & (assessed.status == Status.SAFE)
    status[published & quiet] = "p"
    again = (was == Status.PRIMARY) & there & earlier.hidden[match] & ~sensitive & quiet
    status[again] = "u"
    columns: dict[str, Any] = {**table.columns, "status": status}
    for name in ("lpl", "upl", "spl"):
        given = np.array(table.columns.get(name, np.full(table.n_cells, np.nan)), dtype=np.float64)
        columns[name] = np.where(again, getattr(earlier.problem, name)[match], given)
    disclosed = tuple(table.system.label(int(i)) for i in np.flatnonzero(published & sensitive))
    return replace(table, columns=columns), disclosed


def judge_both(release: Release, earlier: Earlier, published_before: tuple[str, ...]) -> Both:
    """Audit both releases, each with only those cells hidden that both hide."""
    match = earlier.match(release.table)
    there = match >= 0
    now = release.result.pattern.copy()
    cells = np.flatnonzero(there)
    now[cells] &= earlier.hidden[match[cells]]
    before = earlier.hidden.copy()
    before[match[cells]] &= release.pattern[cells]
    return Both(
        audit(_without_forced(release.problem), now, intervals=False),
        audit(_without_forced(earlier.problem), before, intervals=False),
        published_before,
    )


def stability(release: Release, earlier: Earlier) -> Stability:
    """Compare a pattern with that of the last period."""
    match = earlier.match(release.table)
    cells = np.flatnonzero(match >= 0)
    now, was = release.pattern[cells], earlier.hidden[match[cells]]
    label = release.table.system.label
    return Stability(
        len(cells),
        int(np.sum(now == was)),
        tuple(label(int(i)) for i in cells[now & ~was]),
        tuple(label(int(i)) for i in cells[~now & was]),
        release.table.n_cells - len(cells),
        int(earlier.problem.n_cells - len(set(match[cells].tolist()))),
    )


def _without_forced(problem: Problem) -> Problem:
    """Return the problem without cells that have to be hidden although nothing protects them."""
    status = np.where(problem.status == Status.FORCED, Status.SAFE, problem.status).astype(problem.status.dtype)
    return replace(problem, status=status)
