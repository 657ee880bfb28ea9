"""A first safe pattern, within a moment: everything hidden that may be, then published again what no witness needs.

Hiding everything is safe if any pattern is. What shows that it is safe are deviations, and cells that none of those in
use moves are published again without asking anybody: the pattern is the union of what its witnesses move, so it is safe
at every step. Circuits (`tabprotect.attack.circuits`) are witnesses of few cells, thousands within a second; those of
cells with little weight, wide enough for the levels in question, make a pattern that costs a small part of everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.keys import Key
from tabprotect.attack.witness import Witnesses
from tabprotect.methods.suppression.options import DEFAULTS, CircuitOptions, Options
from tabprotect.methods.suppression.postsolve.finish import finish
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.methods.suppression.start.cheapest import Cheapest
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget
from tabprotect.solver.tolerances import LEVEL

__all__ = ["first_patterns", "first_results"]

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def first_results(
    problem: Problem, budget: Budget, start: SuppressionResult | None = None, options: Options = DEFAULTS
) -> Iterator[SuppressionResult]:
    """Yield everything hidden if that is safe, then a pattern that hides less; nothing where a limit comes before.

    Parameters
    ----------
    problem : Problem
    budget : Budget
        The slice that the first pattern may take.
    start : SuppressionResult, optional
        Of this problem: its pattern is hidden, and what is known of it need not be found again.
    options : Options

    Yields
    ------
    SuppressionResult
        Without a bound; with the deviations that show its safety. Status 'infeasible' with the cells named where not
        even everything hidden protects them; the pattern then protects all others.

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
    >>> [(r.status, r.suppressed.tolist(), r.cost) for r in first_results(p, Budget())]
    [('feasible', [0, 1, 2, 3], 31.0), ('feasible', [1, 3], 5.0)]
    """
    judge = Witnesses(problem)
    if start is not None:
        judge.offer_many(start.deviations)
    for pattern in first_patterns(judge, budget, None if start is None else start.pattern, options):
        result = finish(problem, judge, pattern, budget, "first pattern", options)
        if result.status != "unknown":
            yield replace(result, deviations=judge.known_about(result.pattern), stopped="")


def first_patterns(
    judge: Witnesses, budget: Budget, start: Bools | None = None, options: Options = DEFAULTS
) -> Iterator[Bools]:
    """Yield patterns that protect all that hiding everything protects: everything hidden, then a cheaper one.

    Parameters
    ----------
    judge : Witnesses
        It is left with the witnesses of the patterns.
    budget : Budget
        Nothing is yielded where it is exhausted before hiding everything is judged. Of large tables only everything
        hidden is, where the table in proportion shows that this is safe.
    start : ndarray of bool, shape (cells,), optional
        Cells hidden in any case.
    options : Options
    """
    problem = judge.problem
    if not len(judge.questions.need):
        yield problem.must_hide
        return
    everything = problem.may_hide | problem.must_hide
    judge.offer_scaled(everything)
    known = not problem.attackers and bool(judge.stored(everything).all())
    large = problem.n_cells > options.circuits.most_cells
    if large and not known:
        return
    if not known:
        judge.offer_circuits(everything, budget)
    budget.spend(1)
    exposed = judge.check(everything, budget)
    if not all(e.decided for e in exposed) and budget.exhausted:
        return
    lost = {e.key for e in exposed}
    yield everything
    if large:
        return
    with budget.part(options.circuits.cheaper_slice_share) as cheaper:
        if known:
            judge.offer_circuits(everything, cheaper)
        with cheaper.part(options.circuits.circuit_share) as part:
            _cheap_circuits(judge, part, start, options.circuits)
        pattern = _Choice(judge, lost, start, options).run(cheaper)
    if pattern is not None and problem.cost(pattern) < problem.cost(everything):
        yield pattern


def _cheap_circuits(judge: Witnesses, budget: Budget, start: Bools | None, options: CircuitOptions) -> None:
    """Offer circuits of cells that cost little, for levels of every size."""
    problem = judge.problem
    room = np.minimum(problem.down, problem.up)
    price = np.where(problem.must_hide if start is None else problem.must_hide | start, 0.0, problem.weights)
    levels = np.quantile(judge.questions.need, options.level_quantiles, method="higher")
    for level in dict.fromkeys(levels.tolist()):
        if budget.exhausted:
            return
        narrow = room < level
        judge.offer_circuits(problem.may_hide, budget, (np.where(narrow, 0.0, price), narrow))
        budget.spend(1)


class _Choice:
    """The choice of witnesses whose cells cost little together.

    Parameters
    ----------
    judge : Witnesses
    lost : set of Key
        Questions that nothing answers.
    start : ndarray of bool, shape (cells,), optional
        Cells hidden in any case.
    options : Options
    """

    def __init__(self, judge: Witnesses, lost: set[Key], start: Bools | None, options: Options) -> None:
        self._options = options.circuits
        problem = judge.problem
        self._judge, self._lost = judge, lost
        self._valid = judge.pool.valid(problem.may_hide)
        self._supports = sparse.csr_array(judge.pool.supports(self._valid))
        self._answers = sparse.csr_array(judge.pool.answers(self._valid))
        self._by_question = sparse.csc_array(self._answers)
        self._moves = sparse.csc_array(judge.pool.spans(self._valid))
        self._pattern = problem.must_hide.copy() if start is None else problem.must_hide | start
        self._price = np.where(self._pattern, 0.0, problem.weights)
        self._cheapest = Cheapest(judge, options.construction)
        sizes = np.diff(self._supports.indptr)
        self._sizes = sizes
        self._few = sizes <= options.circuits.long_witness * float(np.median(sizes)) if len(sizes) else sizes > 0
        self._apart: dict[int, Bools] = {}

    def run(self, budget: Budget) -> Bools | None:
        """Answer the public, then attackers, then what is still exposed; None where a limit ends that."""
        judge, q = self._judge, self._judge.questions
        answered = judge.stored(self._pattern)
        for question in np.argsort(-q.need, kind="stable").tolist():
            key = Key(-1, int(q.cell[question]), int(q.side[question]))
            if not answered[question] and not self._ignored(key):
                answered[self._take(key)] = True
        self._attackers(budget)
        while exposed := [e.key for e in judge.check(self._pattern, budget) if not self._ignored(e.key)]:
            if budget.exhausted:
                return None
            before = self._pattern.copy()
            for key in exposed:
                if not (judge.witness(key, self._pattern) or self._any(key)):
                    return None
            if np.array_equal(before, self._pattern):
                # a stored witness may answer in floating point what the check does not accept
                return None
        return self._pattern

    def _attackers(self, budget: Budget) -> None:
        """Answer attackers who know a cell of all witnesses in use: by programmes, or circuits when time is short."""
        with budget.part(self._options.attacker_share) as part:
            for (cell, side), attackers in self._contested().items():
                if part.exhausted or not self._together(cell, side, attackers, part):
                    for attacker in attackers:
                        self._take(Key(attacker, cell, side))
        for (cell, side), attackers in self._contested().items():
            if not self._together(cell, side, attackers, budget):
                for attacker in attackers:
                    self._any(Key(attacker, cell, side))

    def _contested(self) -> dict[tuple[int, int], list[int]]:
        """For every cell and side in question the attackers who ask."""
        found: dict[tuple[int, int], list[int]] = {}
        for key in self._judge.contested(self._pattern):
            if not self._ignored(key):
                found.setdefault((key.cell, key.side), []).append(key.attacker)
        return found

    def _together(self, cell: int, side: int, attackers: list[int], budget: Budget) -> bool:
        """Hide what the cheapest deviation moves that none of some attackers knows, or those of halves of them."""
        allowed = self._judge.problem.may_hide.copy()
        for attacker in attackers:
            allowed[self._judge.known(attacker)] = False
        key, price = Key(-1, cell, side), self._price
        found = () if budget.exhausted else self._cheapest.find(key, price, budget, allowed=allowed)
        for deviation in found or ():
            self._hide(deviation.cells)
            self._judge.offer(deviation)
        if found is None and len(attackers) > 1:
            half = len(attackers) // 2
            parts = attackers[:half], attackers[half:]
            answered = [self._together(cell, side, part, budget) for part in parts]
            return all(answered)
        return bool(found)

    def _take(self, key: Key) -> Ints:
        """Hide what the cheapest circuit for a question moves; return the questions that it answers."""
        rows = self._answering(key)
        rows = rows[self._few[rows]]
        if not len(rows):
            return np.zeros(0, np.int64)
        supports = self._supports[rows]
        # of those that cost the same the one that hides least: a cell may cost nothing
        cost, size = supports @ self._price, supports @ (~self._pattern).astype(np.int32)
        best = int(np.lexsort((size, cost))[0])
        self._hide(supports.indices[supports.indptr[best] : supports.indptr[best + 1]].astype(np.int64))
        own = slice(self._answers.indptr[rows[best]], self._answers.indptr[rows[best] + 1])
        return np.asarray(self._answers.indices[own], np.int64)

    def _any(self, key: Key) -> bool:
        """Hide what any stored witness of a question moves: the smallest one."""
        rows = self._reaching(key) if key.side == 0 else self._answering(key)
        if not len(rows):
            return False
        for row in rows if key.side == 0 else rows[[int(np.argmin(self._sizes[rows]))]]:
            own = slice(self._supports.indptr[row], self._supports.indptr[row + 1])
            self._hide(self._supports.indices[own].astype(np.int64))
        return True

    def _reaching(self, key: Key) -> Ints:
        """Return the stored deviations that move a cell furthest up and down, where they reach a sliding level."""
        question = int(self._judge.questions.place[0][key.cell])
        own = slice(self._moves.indptr[question], self._moves.indptr[question + 1])
        rows, moves = self._moves.indices[own], self._moves.data[own]
        if key.attacker >= 0:
            apart = self._avoiding(key.attacker)[rows]
            rows, moves = rows[apart], moves[apart]
        if not len(rows):
            return np.zeros(0, np.int64)
        ends = int(np.argmax(moves)), int(np.argmin(moves))
        width = max(float(moves[ends[0]]), 0.0) - min(float(moves[ends[1]]), 0.0)
        if width < self._judge.questions.need[question] * (1 - LEVEL):
            return np.zeros(0, np.int64)
        return np.array([rows[end] for end, sign in zip(ends, (1, -1), strict=True) if sign * moves[end] > 0], np.int64)

    def _answering(self, key: Key) -> Ints:
        """Stored deviations that answer a question alone, and move no cell that its attacker knows."""
        question = int(self._judge.questions.place[key.side][key.cell])
        rows = self._by_question.indices[self._by_question.indptr[question] : self._by_question.indptr[question + 1]]
        return np.asarray(rows if key.attacker < 0 else rows[self._avoiding(key.attacker)[rows]], np.int64)

    def _avoiding(self, attacker: int) -> Bools:
        """Which stored deviations move no cell that an attacker knows."""
        if attacker not in self._apart:
            mark = np.zeros(len(self._price), np.int32)
            mark[self._judge.known(attacker)] = 1
            self._apart[attacker] = (self._supports @ mark) == 0
        return self._apart[attacker]

    def _ignored(self, key: Key) -> bool:
        return key in self._lost or Key(-1, key.cell, key.side) in self._lost

    def _hide(self, cells: Ints) -> None:
        self._pattern[cells] = True
        self._price[cells] = 0.0
