"""Exact witnesses for every question of an audit; what stays without one does not count as safe.

The judge (`tabprotect.attack.witness`) proposes deviations in floating point. Here each is turned into rational numbers
that satisfy A z = 0, the bounds and the levels exactly: by rounding to a small denominator, else by solving for the
vertex that it stands for, else from a programme of its own, if need be with slightly narrower bounds. Where intruders
know that values are integers only integral deviations count; vertices of network structures are integral by themselves,
elsewhere a small integer programme is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.answers import Answers, View
from tabprotect.attack.check import Open, in_groups
from tabprotect.attack.coarse import on_grids
from tabprotect.attack.exact_problem import ExactProblem, ExactWitness
from tabprotect.attack.keys import Key
from tabprotect.attack.moves import FEW, Moves
from tabprotect.attack.witness import Deviation, Exposure, Witnesses
from tabprotect.counted import counted
from tabprotect.problem import Problem, pattern_mask
from tabprotect.solver.limits import Budget
from tabprotect.solver.ranges import ranges
from tabprotect.solver.tolerances import LEVEL

__all__ = ["Evidence", "gather"]

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MANY_DECIMALS = 10**6
"""Where the numbers of a problem have no common denominator below this, hardly a vertex is a short fraction, and grids
come first."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What was proven about a pattern.

    Attributes
    ----------
    witnesses : tuple of ExactWitness
        Together they answer every question that is not among the exposures; of the unproven ones only those with
        fractions do.
    exposures : tuple of Exposure
        Questions answered with no, or (``decided=False``) not answered.
    unproven : tuple of Key
        Questions of an integer problem that fractional deviations answer, but no integral one that was found.
    """

    witnesses: tuple[ExactWitness, ...]
    exposures: tuple[Exposure, ...]
    unproven: tuple[Key, ...]

    def __repr__(self) -> str:
        return (
            f"Evidence({counted(len(self.witnesses), 'witness', 'witnesses')}, "
            f"{counted(len(self.exposures), 'exposure')}, "
            f"{len(self.unproven):,} unproven)"
        )


def gather(
    problem: Problem,
    pattern: Any,
    judge: Witnesses | None = None,
    budget: Budget | None = None,
    stop_at_first: bool = False,
) -> Evidence:
    """Collect exact witnesses for every question about a pattern, and name the questions that have none.

    Parameters
    ----------
    problem : Problem
    pattern : sequence of bool or of positions
    judge : Witnesses, optional
        Has looked at patterns of the same problem already, so that fewer programmes are needed.
    budget : Budget, optional
        What is not answered when it is exhausted counts as exposed, undecided.
    stop_at_first : bool
        One exposure is enough: what the programmes find exposed first, without witnesses.

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=0.25)
    >>> e = gather(p, [1, 2])
    >>> [(w.cells.tolist(), w.z[0], w.z[1]) for w in e.witnesses], e.exposures
    ([([1, 2], Fraction(1, 4), Fraction(-1, 4)), ([1, 2], Fraction(-2, 1), Fraction(2, 1))], ())
    """
    gathering = _Gathering(problem, pattern_mask(problem, pattern), judge, budget or Budget())
    if stop_at_first and (first := gathering.first()):
        return Evidence((), first, ())
    return gathering.run()


def _certain(judged: Sequence[Exposure]) -> tuple[Exposure, ...]:
    """Return the exposures that floating point can tell from reached levels; exact arithmetic decides the others."""
    return tuple(e for e in judged if e.decided and e.reached < e.needed * (1 - LEVEL))


class _Gathering:
    """One run of `gather`."""

    def __init__(self, problem: Problem, hidden: Bools, judge: Witnesses | None, budget: Budget) -> None:
        self.exact = ExactProblem(problem)
        self.problem = self.exact.problem
        # a judge of the problem before rounding to integers answers other questions
        self.judge = Witnesses(self.problem) if judge is None or problem.integer else judge
        self.hidden = hidden & ((self.problem.down > 0) | (self.problem.up > 0))
        self.budget = budget
        self.store = Answers(self.exact)
        self.tried: dict[int, Floats] = {}  # by address, which nothing else has while they are kept
        self.moves = Moves(self.exact, self.hidden, self.judge, budget, self.store, self._convert)

    def first(self) -> tuple[Exposure, ...]:
        """Return the first exposure that floating point is certain of, if there is one."""
        return _certain(self.judge.check(self.hidden, self.budget, stop_at_first=True))

    def run(self) -> Evidence:
        """Deviations for many questions at once and stored ones, then a programme for every question left."""
        if not self.problem.integer and self.exact.scale >= MANY_DECIMALS:
            self._coarse({}, few=True)
            for w in self.store.witnesses:
                self.judge.offer(w.deviation)
        exposures = {e.key: e for e in _certain(self.judge.check(self.hidden, self.budget))}
        self._convert(self._chosen())
        while new := self._chosen_for_insiders():
            self._convert(new)
        if not self.problem.integer:
            for attempt in (0, 1):
                self._coarse(exposures, attempt)
            self._for_groups(exposures)
        unproven: list[Key] = []
        seen = self._seen(exposures)
        for attacker, questions in self.store.missing():
            left = questions[~seen[questions]]
            if not len(left):
                continue
            view = View(self.store, self.judge.known(attacker))
            if not self.problem.integer:
                self.moves.roomy(self.judge.known(attacker), left, view)
            for question in left.tolist():
                key = self._key(attacker, question)
                if key in exposures or view.holds(question):
                    continue
                exposure = self._one(key, question, view)
                if exposure is not None and self.problem.integer and not exposure.decided:
                    unproven.append(key)
                elif exposure is not None:
                    exposures[key] = exposure
                seen[question] |= attacker < 0 and exposure is not None
        witnesses = self.store.witnesses
        if unproven:
            fractional = gather(replace(self.problem, integer=False), self.hidden, self.judge, self.budget)
            witnesses = [*witnesses, *(w for w in fractional.witnesses if w.z.denominator != 1)]
            exposures.update((e.key, e) for e in fractional.exposures)
            unproven = [k for k in unproven if not {k, Key(-1, k.cell, k.side)} & exposures.keys()]
        found = sorted(exposures.values(), key=lambda e: (e.key.attacker, e.key.cell, -e.key.side))
        return Evidence(tuple(witnesses), tuple(found), tuple(unproven))

    def _coarse(self, exposures: Mapping[Key, Exposure], attempt: int = 0, *, few: bool = False) -> None:
        """Answer what is left by deviations on decimal grids, many at once."""
        q = self.exact.questions
        left = np.zeros(len(q.cell), bool)
        for _, questions in self._left(exposures):
            left[questions] = True
        asked = np.flatnonzero(left)
        if len(asked) < FEW:
            return
        grids = on_grids(self.problem, self.hidden, asked, q, self.budget, attempt, few=few)
        for digits, deviations in grids:
            for witness in self.exact.exactly(deviations, digits):
                if witness is not None:
                    self.store.add(witness)

    def _for_groups(self, exposures: Mapping[Key, Exposure]) -> None:
        """Answer what many attackers ask as if they knew together what each of them knows."""

        def answer(some: list[Open]) -> None:
            known = np.unique(np.concatenate([self.judge.known(attacker) for attacker, _ in some]))
            asked = np.unique(np.concatenate([questions for _, questions in some]))
            view = View(self.store, known)
            open_ = [k for k in asked[~np.isin(self.exact.questions.cell[asked], known)].tolist() if not view.holds(k)]
            if open_:
                self.moves.roomy(known, np.array(open_), view, 1)

        def still() -> list[Open]:
            return [(attacker, questions) for attacker, questions in self._left(exposures) if attacker >= 0]

        in_groups(still(), answer, still, self.budget)

    def _left(self, exposures: Mapping[Key, Exposure]) -> list[Open]:
        """Return the public (-1) and attackers with questions that are neither answered nor known to be exposed."""
        q, seen = self.exact.questions, self._seen(exposures)
        found_out: dict[int, list[int]] = {}
        for key in exposures:
            found_out.setdefault(key.attacker, []).append(int(q.place[key.side][key.cell]))
        left = (
            (attacker, np.setdiff1d(questions[~seen[questions]], found_out.get(attacker, [])))
            for attacker, questions in self.store.missing()
        )
        return [(attacker, questions) for attacker, questions in left if len(questions)]

    def _seen(self, exposures: Iterable[Key]) -> Bools:
        """Return which questions the public has an answer to: whoever knows more sees what the public sees."""
        seen = np.zeros(len(self.exact.questions.cell), bool)
        seen[[self.exact.questions.place[key.side][key.cell] for key in exposures if key.attacker < 0]] = True
        return seen

    def _key(self, attacker: int, question: int) -> Key:
        q = self.exact.questions
        return Key(attacker, int(q.cell[question]), int(q.side[question]))

    def _chosen(self) -> list[Deviation]:
        """Stored deviations that answer what is left, those that answer most first, without those that add nothing."""
        q, pool = self.exact.questions, self.judge.pool
        valid = pool.valid(self.hidden)
        answers = []
        for i in valid.tolist():
            deviation, found = pool[i], []
            for side in (1, -1):
                place = q.place[side][deviation.cells]
                asked = np.flatnonzero(place >= 0)
                found.append(place[asked[side * deviation.z[asked] >= q.need[place[asked]] * (1 - LEVEL)]])
            answers.append(np.concatenate(found))
        done = np.ones(len(q.cell), dtype=bool)
        for _, missing in self.store.missing():
            done[missing] = False
        chosen = []
        for k in sorted(range(len(valid)), key=lambda k: -len(answers[k])):
            if not done[answers[k]].all():
                done[answers[k]] = True
                chosen.append(int(valid[k]))
        deviations = [pool[i] for i in chosen]
        for question in np.flatnonzero(q.side == 0).tolist():
            deviations += [d for d in pool.best(valid, question) if len(d.cells)]
        return deviations

    def _chosen_for_insiders(self) -> list[Deviation]:
        """Stored deviations not tried yet: for each attacker and question left one that moves nothing he knows."""
        pool, valid = self.judge.pool, self.judge.pool.valid(self.hidden)
        fresh = [i for i in valid.tolist() if id(pool[i].z) not in self.tried]
        if not self.problem.attackers or not fresh:
            return []
        answers = pool.answers(np.array(fresh))
        most = np.argsort(-np.diff(answers.indptr), kind="stable")
        which, none = np.array(fresh)[most], len(fresh)
        by_question = sparse.csc_array(answers[most])
        touches = sparse.csr_array(self.judge.knows @ pool.supports(which).T)
        chosen = np.zeros(none + 1, bool)
        for attacker, questions in self.store.missing()[1:]:
            length = np.diff(by_question.indptr)[questions]
            questions, length = questions[length > 0], length[length > 0]
            if not len(questions):
                continue
            moved = np.zeros(none, bool)
            moved[touches.indices[touches.indptr[attacker] : touches.indptr[attacker + 1]]] = True
            starts = np.cumsum(length) - length
            entry = ranges(by_question.indptr[questions], length)
            rows = by_question.indices[entry]
            chosen[np.minimum.reduceat(np.where(moved[rows], none, rows), starts)] = True
        return [pool[i] for i in which[chosen[:none]].tolist()]

    def _convert(self, deviations: Sequence[Deviation]) -> None:
        """Store exact witnesses near deviations that were not tried before."""
        new = list({id(d.z): d for d in deviations if id(d.z) not in self.tried}.values())
        self.tried.update((id(d.z), d.z) for d in new)
        for witness in self.exact.exactly(new):
            if witness is not None:
                self.store.add(witness)

    def _one(self, key: Key, question: int, view: View) -> Exposure | None:
        """Answer one question; None means yes."""
        need = self.exact.need[key.side][key.cell] / self.exact.scale
        self._convert([d for d in self.judge.witness(key, self.hidden) if len(d.cells)])
        if view.holds(question):
            return None
        if self.budget.exhausted:
            return Exposure(key, 0.0, need, (), decided=False)
        reached, decided = 0.0, True
        for side in (key.side,) if key.side else (1, -1):
            most, certain = self.moves.furthest(key, question, side, need, view)
            reached += most
            decided &= certain
        if view.holds(question):
            return None
        return Exposure(key, reached, need, (), decided=decided and reached < need)
