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

from tabprotect.attack.witness import Witnesses
from tabprotect.errors import SolverError
from tabprotect.methods.suppression.large.stages import parts_of
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.search.exact import exact
from tabprotect.methods.suppression.search.greedy import greedy
from tabprotect.problem import Attacker, Problem, Status
from tabprotect.solver.limits import Budget, Limits
from tabprotect.solver.tasks.pieces import Means
from tabprotect.solver.tasks.store import digest
from tabprotect.table.system import LinearSystem

__all__ = ["Passes", "Piece"]

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


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


def _protect_piece(part: Problem, limits: Limits, seed: int, options: Options) -> PiecePattern:
    """Protect a piece by the exact engine, or by cheapest witnesses."""
    result = None
    if part.n_cells <= options.classic.passes.exact_cells:
        # levels may lie at the very end of what is possible; the other method is less sensitive to that
        with suppress_errors(SolverError):
            result = exact(part, limits=limits, seed=seed, prove=False, options=options)
    if result is None:
        result = greedy(part, limits=replace(limits, work=None), seed=seed, restarts=0, options=options)
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
    means : Means, optional
        Where the answers of pieces are kept. Each builds on those before it, so an executor finds nothing to do.
    options : Options

    Attributes
    ----------
    pattern : ndarray of bool
        What is hidden so far. What is hidden in one piece is hidden in the others, and no more: what that leaves open
        is for the repair of the whole.
    """

    def __init__(
        self,
        problem: Problem,
        pieces: Sequence[Piece],
        pattern: Bools,
        *,
        means: Means | None = None,
        options: Options = DEFAULTS,
    ) -> None:
        self.problem = problem
        self.pieces = pieces
        self._options = options
        self._means = means or Means()
        self.pattern = pattern | problem.must_hide
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
            if visits[k] > self._options.classic.passes.visits:
                continue
            changed = self._protect(self.pieces[k], budget, seed)
            again = {user for cell in changed.tolist() for user in self._users[cell] if user != k and visits[user]}
            waiting |= again
            budget.report(stage, message=f"{len(waiting)} pieces to go")

    def _protect(self, piece: Piece, budget: Budget, seed: int) -> Ints:
        """Protect one piece; return the cells that are newly hidden."""
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
        new = x & ~self.pattern[cells]
        self.pattern[cells[new]] = True
        return cells[new]

    def _solve(self, part: Problem, budget: Budget, seed: int) -> Bools | None:
        # never by the clock alone: a search cut short at once hides everything
        options = self._options.classic.passes
        limits = Limits(
            work=int(min(max(options.piece_work, options.work // len(self.pieces)), budget.work_left)),
            gap=max(options.gap, budget.limits.gap),
            stop=lambda: budget.exhausted,
        )
        name = digest("passes", parts_of(part), limits.work, limits.gap, seed, self._options)
        (found,) = self._means.answers(
            lambda part: _protect_piece(part, limits, seed, self._options), [part], [name], budget
        )
        if found is None:
            return None
        budget.spend(found.work)
        # what was cut short may hide everything
        cut_short = budget.exhausted and found.pattern is not None and found.pattern[part.may_hide].all()
        return None if cut_short else found.pattern

    def _part(self, piece: Piece) -> Problem:
        """State one piece as a problem of its own."""
        problem, cells = self.problem, piece.cells
        status = problem.status[cells].copy()
        primary = status == Status.PRIMARY
        hidden = self.pattern[cells]
        carried = hidden & (status != Status.PRIMARY)
        status[carried] = Status.FORCED
        place = np.full(problem.n_cells, -1, np.int64)
        place[cells] = np.arange(len(cells))

        def within(known: tuple[int, ...]) -> tuple[int, ...]:
            found = place[list(known)]
            return tuple(found[found >= 0].tolist())

        A = problem.system.A[piece.rows][:, cells]
        return replace(
            problem,
            system=LinearSystem(A, A @ problem.values[cells], pd.RangeIndex(len(cells))),
            values=problem.values[cells],
            status=status,
            lpl=np.where(primary, problem.lpl[cells], 0.0),
            upl=np.where(primary, problem.upl[cells], 0.0),
            spl=np.where(carried, 0.0, problem.spl[cells]),
            weights=problem.weights[cells],
            lower=problem.lower[cells],
            upper=problem.upper[cells],
            attackers=tuple(
                Attacker(str(k), within(a.known), spared=within(a.spared))
                for k, a in enumerate(problem.attackers)
                if within(a.known)
            ),
            notes=(),
        )
