"""A system protected piece by piece: what one piece hides is carried into all others that have the cell, until nothing
changes.

A piece is a set of equations: a subtable of a hierarchy (`modular`), or one of several linked tables
(`suppress_linked`). The pieces alone do not make a system safe, since what is fine in each may be undone by all
together; so everything made here goes through `complete`, which judges and repairs the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress as suppress_errors
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.attack.witness import Deviation, Witnesses
from tabprotect.errors import SolverError
from tabprotect.methods.suppression.large.stages import parts_of
from tabprotect.methods.suppression.search.exact import exact
from tabprotect.methods.suppression.search.greedy import greedy
from tabprotect.problem import Attacker, Problem, Status
from tabprotect.solver.limits import Budget, Limits
from tabprotect.solver.tasks.pieces import Means
from tabprotect.solver.tasks.store import digest
from tabprotect.table.system import LinearSystem

__all__ = ["Passes", "Piece"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

EXACT_CELLS = 800
"""Larger pieces are protected by cheapest witnesses and clean-up."""

WORK = 20_000
"""Work units for the exact search in one piece, where the limits do not ask for less."""

TOGETHER = 200_000
"""Where there are few pieces, they share this many work units."""

GAP = 0.01
"""The search in a piece ends at this gap; the repair of the whole moves the cost by more than that."""

REOPEN = 100.0
"""Where cells are carried with levels, one that an earlier piece publishes costs this many times its weight: hiding it
opens those pieces again, and what that hides more opens others."""

CARRIED = 1.0 - 1e-6
"""Levels are carried a little smaller than witnesses are, whose last digits are noise."""

VISITS = 4
"""Every piece is looked at so often at most; what then does not fit together is repaired as a whole."""


@dataclass(frozen=True, eq=False)
class Piece:
    """Some equations and their cells (ascending)."""

    rows: Ints
    cells: Ints


@dataclass(frozen=True, eq=False)
class PiecePattern:
    """What is hidden in a piece (None when nothing safe was found); the piece of `Means`."""

    pattern: Bools | None
    work: int
    stopped: str


def _protect_piece(part: Problem, limits: Limits, seed: int) -> PiecePattern:
    """Protect a piece by the exact engine, or by cheapest witnesses."""
    result = None
    if part.n_cells <= EXACT_CELLS:
        # carried levels may lie at the very end of what is possible; the other method is less sensitive to that
        with suppress_errors(SolverError):
            result = exact(part, limits=limits, seed=seed, prove=False)
    if result is None:
        result = greedy(part, limits=replace(limits, work=None), seed=seed, restarts=0)
    return PiecePattern(None if result.status == "unknown" else result.pattern, result.work, result.stopped)


class Passes:
    """The state while pieces are protected one after the other.

    Parameters
    ----------
    problem : Problem
    pieces : sequence of Piece
        In the order in which they are protected.
    pattern : ndarray of bool
        Cells hidden to begin with.
    carry : bool
        Cells hidden in one piece are protected in the others, too; without it they are hidden there and no more, and
        what that leaves open is for the repair of the whole.
    means : Means, optional
        Where the answers of pieces are kept. Each builds on those before it, so an executor finds nothing to do.

    Attributes
    ----------
    pattern : ndarray of bool
        What is hidden so far.
    up, down : ndarray of float
        How far every hidden cell has to be able to move: primaries by their levels, carried cells as far as the
        witnesses move them in the pieces where they were chosen (never further than the largest level that such a
        witness serves, nor than the cell's own external bounds).
    """

    def __init__(
        self,
        problem: Problem,
        pieces: Sequence[Piece],
        pattern: Bools,
        *,
        carry: bool,
        means: Means | None = None,
    ) -> None:
        self.problem = problem
        self.pieces = pieces
        self._carries = carry
        self._means = means or Means()
        self.pattern = pattern | problem.must_hide
        primary = problem.status == Status.PRIMARY
        self.up = np.where(primary, problem.upl, 0.0)
        self.down = np.where(primary, problem.lpl, 0.0)
        self._seen = np.zeros(problem.n_cells, bool)
        self._users: list[list[int]] = [[] for _ in range(problem.n_cells)]
        for k, piece in enumerate(pieces):
            for cell in piece.cells.tolist():
                self._users[cell].append(k)

    def run(self, budget: Budget, seed: int, stage: str) -> None:
        """Protect the pieces in their order, and again those in which later ones changed a cell."""
        waiting = set(range(len(self.pieces)))
        visits = [0] * len(self.pieces)
        while waiting and not budget.exhausted:
            k = min(waiting, key=lambda k: (visits[k], k))
            waiting.discard(k)
            visits[k] += 1
            if visits[k] > VISITS:
                continue
            changed = self._protect(self.pieces[k], budget, seed)
            self._seen[self.pieces[k].cells] = True
            again = {user for cell in changed.tolist() for user in self._users[cell] if user != k and visits[user]}
            waiting |= again
            budget.report(stage, message=f"{len(waiting)} pieces to go")

    def _protect(self, piece: Piece, budget: Budget, seed: int) -> Ints:
        """Protect one piece; return the cells that are newly hidden or have to move further than before."""
        cells = piece.cells
        part = self._part(piece)
        if not len(part.primaries):
            return np.zeros(0, np.int64)
        judge = Witnesses(part)
        x = part.must_hide
        if judge.check(x):
            found = self._solve(part, budget, seed)
            if found is None:
                return np.zeros(0, np.int64)
            x = found
            if self._carries:
                judge.check(x)
        new = x & ~self.pattern[cells]
        self.pattern[cells[new]] = True
        further = self._carry(cells, part, judge.deviations(x, few=True)) if self._carries else new
        return cells[new | further]

    def _solve(self, part: Problem, budget: Budget, seed: int) -> Bools | None:
        # never by the clock alone: a search cut short at once hides everything
        limits = Limits(
            work=int(min(max(WORK, TOGETHER // len(self.pieces)), budget.work_left)),
            gap=max(GAP, budget.limits.gap),
            stop=lambda: budget.exhausted,
        )
        name = digest("passes", parts_of(part), limits.work, limits.gap, seed)
        (found,) = self._means.answers(lambda part: _protect_piece(part, limits, seed), [part], [name], budget)
        if found is None:
            return None
        budget.spend(found.work)
        # what was cut short may hide everything
        cut_short = budget.exhausted and found.pattern is not None and found.pattern[part.may_hide].all()
        return None if cut_short else found.pattern

    def _carry(self, cells: Ints, part: Problem, deviations: list[Deviation]) -> Bools:
        """Raise the levels of hidden cells to what the witnesses of a piece need; tell which rose."""
        up, down = np.zeros(len(cells)), np.zeros(len(cells))
        for d in deviations:
            # one witness may serve many cells and move a margin by the sum of their levels
            served = np.where(d.z > 0, part.upl[d.cells], part.lpl[d.cells])
            most = float(served[np.abs(d.z) >= served * (1 - 1e-9)].max(initial=0.0))
            size = np.minimum(np.abs(d.z), most) * CARRIED
            np.maximum.at(up, d.cells, np.where(d.z > 0, size, 0.0))
            np.maximum.at(down, d.cells, np.where(d.z < 0, size, 0.0))
        up, down = np.minimum(up, part.up), np.minimum(down, part.down)
        further = (up > self.up[cells] * (1 + 1e-9)) | (down > self.down[cells] * (1 + 1e-9))
        self.up[cells], self.down[cells] = np.maximum(self.up[cells], up), np.maximum(self.down[cells], down)
        return np.asarray(further)

    def _part(self, piece: Piece) -> Problem:
        """State one piece as a problem of its own."""
        problem, cells = self.problem, piece.cells
        status = problem.status[cells].copy()
        hidden = self.pattern[cells]
        carried = hidden & (status != Status.PRIMARY)
        status[carried] = Status.FORCED
        status[carried & ((self.up[cells] > 0) | (self.down[cells] > 0))] = Status.PRIMARY
        published = self._seen[cells] & ~hidden
        place = np.full(problem.n_cells, -1, np.int64)
        place[cells] = np.arange(len(cells))
        known = [place[list(a.known)] for a in problem.attackers]
        A = problem.system.A[piece.rows][:, cells]
        return replace(
            problem,
            system=LinearSystem(A, A @ problem.values[cells], pd.RangeIndex(len(cells))),
            values=problem.values[cells],
            status=status,
            lpl=self.down[cells],
            upl=self.up[cells],
            spl=np.where(carried, 0.0, problem.spl[cells]),
            weights=problem.weights[cells] * np.where(published & self._carries, REOPEN, 1.0),
            lower=problem.lower[cells],
            upper=problem.upper[cells],
            attackers=tuple(Attacker(str(k), tuple(i[i >= 0].tolist())) for k, i in enumerate(known) if (i >= 0).any()),
            notes=(),
        )
