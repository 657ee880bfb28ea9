"""Which protection levels does a pattern fail to provide? Answered by few linear programmes for all cells together.

A deviation z (A z = 0, -LB x <= z <= UB x) is a witness for every cell that it moves far enough, so one programme

    max sum_p s_p z_p / L_p   subject to   A z = 0,  -LB x <= z <= UB x,  s_p z_p <= L_p

answers most questions at once, once with all signs up and once down, then again on what is left. Only a question that
no witness answers gets a programme of its own, which finds a witness or proves exposure by its multipliers. Witnesses
are kept: z is still one under any other pattern that hides all cells that it moves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.attackers import PATIENCE, AttackProgramme, Patience
from tabprotect.attack.check import Check
from tabprotect.attack.circuits import circuits
from tabprotect.attack.exposure import Exposure, Multipliers, capacity
from tabprotect.attack.kept import KeptProgrammes
from tabprotect.attack.keys import Key, Questions, keys
from tabprotect.attack.pool import Deviation, Pool, split
from tabprotect.attack.region import Region
from tabprotect.problem import Problem, Status
from tabprotect.solver.limits import Budget
from tabprotect.solver.tolerances import MULTIPLIER

__all__ = ["Deviation", "Exposure", "Key", "Multipliers", "Witnesses", "capacity", "keys"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class Witnesses:
    """Judges patterns of one problem; what it learns from one pattern it uses for the next.

    Parameters
    ----------
    problem : Problem
    presolve : bool
        Presolve large programmes, which spares the simplex method the worst where bounds and levels are round numbers,
        and else is as often slower as it is faster.
    patience : Patience
        How long large programmes go on from the last basis.

    Attributes
    ----------
    pool : Pool
        Stored witnesses.
    knows : csr_array, shape (attackers, cells)
        1 where an attacker knows a cell.

    Examples
    --------
    Hiding only the sensitive cell of a row is not enough; one more cell protects it:

    >>> p = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
    >>> judge = Witnesses(p)
    >>> [(e.key.side, e.reached, e.needed) for e in judge.check([False, True, False, False])]
    [(1, 0.0, 2.0), (-1, 0.0, 2.0)]
    >>> judge.check([False, True, True, False])
    ()
    >>> (deviation,) = judge.witness(Key(-1, 1, 1))
    >>> deviation.cells.tolist(), deviation.z.tolist()
    ([1, 2], [2.0, -2.0])
    """

    def __init__(self, problem: Problem, *, presolve: bool = False, patience: Patience = PATIENCE) -> None:
        self.problem = problem
        self.presolve = presolve
        self.patience = patience
        self.questions = Questions.of(problem)
        self.pool = Pool(self.questions, problem.n_cells)
        self.programmes = 0
        self._columns = sparse.csc_array(problem.system.A)
        self._down, self._up = problem.down, problem.up
        self._movable = (problem.status != Status.ZERO) & ((self._down > 0) | (self._up > 0))
        self._known = tuple(np.unique(np.asarray(a.known, np.int64)) for a in problem.attackers)
        self._unasked = tuple(np.array(sorted(a.unasked), np.int64) for a in problem.attackers)
        n_known = [len(k) for k in self._known]
        self.knows = sparse.csr_array(
            (
                np.ones(sum(n_known), np.int32),
                np.concatenate(self._known) if n_known else np.zeros(0, np.int64),
                np.concatenate(([0], np.cumsum(n_known))).astype(np.int64),
            ),
            shape=(len(self._known), problem.n_cells),
        )
        self._last = np.zeros(problem.n_cells, bool)
        self._dismissed: dict[int, Bools] = {}
        self._kept: KeptProgrammes | None = None

    def kept(self, hidden: Bools) -> KeptProgrammes:
        """Return the programmes of a pattern, or those of the last check where its pattern lies closely around."""
        if self._kept is not None and self._kept.serves(hidden):
            self._kept.drop_slow()
            return self._kept
        found = KeptProgrammes(self._columns, hidden)
        self._kept = found if found.lasting else None
        return found

    def dismiss(self, key: Key) -> None:
        """Never ask this question again (a public one: of no attacker): it is known to have no answer."""
        nothing = np.zeros(len(self.questions.cell), bool)
        self._dismissed.setdefault(key.attacker, nothing)[self.questions.place[key.side][key.cell]] = True

    def check(
        self,
        pattern: Bools | list[bool],
        budget: Budget | None = None,
        stop_at_first: bool = False,
        *,
        every: bool = False,
    ) -> tuple[Exposure, ...]:
        """Return what a pattern leaves exposed; nothing means safe up to the tolerance of the linear programmes.

        An attacker is not asked about a cell and side that is exposed to the public already (he knows more).

        Parameters
        ----------
        pattern : sequence of bool, shape (cells,)
            True where a cell is hidden.
        budget : Budget, optional
            When it is exhausted, questions not yet answered are returned as exposures with ``decided=False``.
        stop_at_first : bool
            Return after the first exposure.
        every : bool
            Of a question that the budget leaves open name every attacker to whom it is; by default the first one.

        Returns
        -------
        tuple of Exposure
            By attacker and question, in the order of `keys`.
        """
        run = Check(self, np.asarray(pattern, bool) & self._movable, budget or Budget(), stop_at_first, every=every)
        self._last = run.hidden
        found = run.public()
        if not (found and stop_at_first):
            found += run.attackers([q for q, _ in found])
        return tuple(exposure for _, exposure in found)

    def witness(self, key: Key, pattern: Bools | None = None) -> tuple[Deviation, ...]:
        """Return the smallest stored deviation that answers a question with yes.

        Parameters
        ----------
        key : Key
        pattern : ndarray of bool, optional
            It moves only cells hidden here; by default in the pattern checked last.

        Returns
        -------
        tuple of Deviation
            One; an upper and a lower one (either may be empty) for a sliding level; none when nothing stored answers.
        """
        hidden = self._last if pattern is None else np.asarray(pattern, bool) & self._movable
        valid = self.pool.valid(hidden)
        if key.attacker >= 0:
            valid = self.pool.avoiding(valid, self._known[key.attacker])
        return self.pool.best(valid, int(self.questions.place[key.side][key.cell]))

    def deviations(self, pattern: Bools, *, few: bool = False) -> list[Deviation]:
        """Return all stored deviations that move only cells hidden in a pattern.

        With `few` only some that together answer all questions about the public view which one of them answers.
        """
        valid = self.pool.valid(np.asarray(pattern, bool) & self._movable)
        return [self.pool[i] for i in (self.pool.cover(valid) if few else valid).tolist()]

    def known(self, attacker: int) -> Ints:
        """Return the cells that an attacker knows (none for -1)."""
        return np.zeros(0, np.int64) if attacker < 0 else self._known[attacker]

    def stored(self, pattern: Bools) -> Bools:
        """Return which questions about the public view stored witnesses answer under a pattern."""
        return self.pool.answered(self.pool.valid(np.asarray(pattern, bool) & self._movable))

    def known_about(self, pattern: Bools) -> tuple[Deviation, ...]:
        """Return the stored deviations that move hidden cells only."""
        return tuple(self.deviations(pattern))

    def asks(self, attacker: int, cell: int) -> bool:
        """Whether an attacker is asked about a primary cell: he neither knows it nor is he spared."""
        mine = self._unasked[attacker]
        place = int(np.searchsorted(mine, cell))
        return place == len(mine) or int(mine[place]) != cell

    def sweep(self, pattern: Bools, budget: Budget | None = None) -> Bools:
        """Return which questions about the public view are answered with yes by stored and simultaneous witnesses.

        Cheaper than `check`: what is left open may still be answered by a programme of its own.
        """
        run = Check(self, np.asarray(pattern, bool) & self._movable, budget or Budget(), False, alone=False)
        run.public()
        return self.pool.answered(self.pool.valid(run.hidden))

    def contested(self, pattern: Bools) -> list[Key]:
        """Return what attackers may find out since every stored witness moves a cell that they know.

        No programme is solved: some of these questions may have an answer that nobody looked for yet.
        """
        run = Check(self, np.asarray(pattern, bool) & self._movable, Budget(), False)
        cell, side = self.questions.cell, self.questions.side
        return [Key(attacker, int(cell[k]), int(side[k])) for attacker, left in run.contested() for k in left.tolist()]

    def offer(self, *deviations: Deviation) -> Ints:
        """Store deviations found elsewhere after checking them, each split into parts that no equation joins.

        Returns
        -------
        ndarray of int
            The (public) questions that one part answers alone.
        """
        owner = np.repeat(np.arange(len(deviations)), [len(d.cells) for d in deviations])
        cells = np.concatenate([np.zeros(0, np.int64), *(d.cells for d in deviations)])
        z = np.concatenate([np.zeros(0), *(d.z for d in deviations)])
        order = np.lexsort((cells, owner))
        order = order[self._movable[cells[order]]]
        cells, owner = cells[order], owner[order]
        z = np.clip(z[order], -self._down[cells], self._up[cells])
        ends = np.searchsorted(owner, np.arange(len(deviations) + 1))
        return self.pool.add(*split(self._columns, cells, z[None], ends))

    def offer_many(self, deviations: Sequence[Deviation]) -> None:
        """Do what `offer_all` does with deviations that stand by themselves."""
        start = np.cumsum([0, *(len(d.cells) for d in deviations)])
        if start[-1]:
            moved = np.concatenate([d.z for d in deviations]), np.concatenate([d.cells for d in deviations]), start
            self.offer_all(sparse.csr_array(moved, shape=(len(deviations), len(self._movable))))

    def offer_all(self, deviations: sparse.csr_array) -> None:
        """Store deviations found elsewhere, one a row, after checking them; each as it is, not split into parts."""
        if not deviations.shape[0]:
            return
        rows, cells = deviations.nonzero()
        z = np.clip(deviations.data[deviations.data != 0], -self._down[cells], self._up[cells])
        inside = self._movable[cells] & (z != 0)
        shape = (deviations.shape[0], len(self._movable))
        moved = sparse.csr_array((z[inside], (rows[inside], cells[inside])), shape=shape)
        moved.sort_indices()
        residual = np.zeros(shape[0])
        off = sparse.coo_array(moved @ self._columns.T)
        np.maximum.at(residual, off.row, np.abs(off.data))
        self.pool.add(moved.indices.astype(np.int64), moved.data, moved.indptr.astype(np.int64), residual)

    def offer_circuits(
        self,
        pattern: Bools,
        budget: Budget | None = None,
        order: tuple[npt.NDArray[np.generic], ...] = (),
        *,
        asked: Ints | None = None,
    ) -> None:
        """Store circuits of the hidden cells: deviations of few cells, of which most attackers know none.

        Parameters
        ----------
        pattern : ndarray of bool, shape (cells,)
        budget : Budget, optional
        order : tuple of ndarray, shape (cells,)
            Cells with small keys are wanted in circuits, by the last key first (as in `numpy.lexsort`). The last key of
            all is whether somebody knows the cell, the first one how far it can move.
        asked : ndarray of int, optional
            Only circuits that move the cell of one of these questions are stored.
        """
        hidden = np.flatnonzero(np.asarray(pattern, bool) & self._movable)
        if not len(self.questions.need) or not len(hidden):
            return
        known = self.knows.sum(axis=0) > 0 if len(self._known) else np.zeros(len(self._movable), bool)
        keys = (-np.minimum(self._down, self._up), *order, known)
        wanted = hidden[np.lexsort([key[hidden] for key in keys])]
        found = circuits(self._columns, wanted, self._down, self._up, float(self.questions.need.max()), budget)
        if asked is not None:
            mine = np.zeros(len(self._movable), np.int32)
            mine[self.questions.cell[asked]] = 1
            found = sparse.csr_array(found[np.flatnonzero(abs(found).sign() @ mine)])
        self.offer_all(found)

    def offer_scaled(self, pattern: Bools) -> None:
        """Store the table with all values larger, and smaller, in proportion, where a pattern hides all that are not 0.

        With A x = 0, z = t x is a deviation for every t that the bounds allow. Where little is known of the values, the
        two with the largest t answer all questions about the public view under such a pattern.

        Parameters
        ----------
        pattern : ndarray of bool, shape (cells,)
        """
        values, q = self.problem.values, self.questions
        cells = np.flatnonzero(values)
        if not len(q.need) or not len(cells) or not (np.asarray(pattern, bool) & self._movable)[cells].all():
            return
        asked = values[q.cell] != 0
        widest = (q.need[asked] / np.abs(values[q.cell[asked]])).max(initial=0.0)
        larger = values[cells] > 0
        for sign in (1.0, -1.0):
            room = np.where(larger == (sign > 0), self._up[cells], self._down[cells])
            factor = min(float(np.min(room / np.abs(values[cells]))), 2.0 ** np.ceil(np.log2(max(widest, 1.0))))
            self.offer(Deviation(cells, sign * factor * values[cells]))

    def _take(self, region: Region, programme: AttackProgramme, x: Floats, *, turned: bool) -> Ints:
        """Keep the answer of a programme as witnesses, and turned round."""
        moved = np.abs(x) > MULTIPLIER
        moved[programme.fixed] = False
        cells, z = region.cells[programme.columns[moved]], x[moved] * programme.unit
        both = np.clip([z, -z] if turned else [z], -self._down[cells], self._up[cells])
        return self.pool.add(*split(self._columns, cells, both, np.array([0, len(cells)])))
