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

from tabprotect.attack.answers import Answers, View
from tabprotect.attack.check import Open, in_groups
from tabprotect.attack.chosen import for_insiders
from tabprotect.attack.coarse import on_grids
from tabprotect.attack.conversion import LARGE, Conversion
from tabprotect.attack.exact_problem import ExactProblem, ExactWitness
from tabprotect.attack.keys import Key
from tabprotect.attack.moves import FEW, Moves
from tabprotect.attack.witness import Exposure, Witnesses
from tabprotect.counted import counted
from tabprotect.masks import pattern_mask
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget
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


def _order(exposure: Exposure) -> tuple[int, int, int]:
    return exposure.key.attacker, exposure.key.cell, -exposure.key.side


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
        self.conversion = Conversion(self.exact, self.hidden, self.judge, budget, self.store)
        self.moves = Moves(self.exact, self.hidden, self.judge, budget, self.store, self.conversion.convert)

    def first(self) -> tuple[Exposure, ...]:
        """Return the first exposure that floating point is certain of, if there is one."""
        return _certain(self.judge.check(self.hidden, self.budget, stop_at_first=True))

    def run(self) -> Evidence:
        """Deviations for many questions at once and stored ones, then a programme for every question left.

        Once the budget is exhausted every question that is open is named for one intruder to whom it is.
        """
        if self.budget.exhausted:
            questions = np.arange(len(self.exact.questions.cell)).tolist()
            undecided = [self._undecided(self._key(-1, question)) for question in questions]
            return Evidence((), tuple(sorted(undecided, key=_order)), ())
        self.judge.offer_scaled(self.hidden)
        if not self.problem.integer and self.exact.scale >= MANY_DECIMALS:
            self._coarse({}, few=True)
            for w in self.store.witnesses:
                if not self.budget.exhausted:
                    self.judge.offer(w.deviation)
        exposures = {e.key: e for e in _certain(self.judge.check(self.hidden, self.budget))}
        pool, known = self.judge.pool, self.judge.knows
        if self.conversion.of_stored(LARGE) and not self.budget.exhausted:
            self.judge.offer_circuits(self.hidden, self.budget, asked=self._missing(exposures))
            self.conversion.of_stored(LARGE)
            if not self.problem.integer:
                for attempt in (0, 1):
                    self._coarse(exposures, attempt)
        self.conversion.of_stored()
        while not self.budget.exhausted:
            valid = [i for i in pool.valid(self.hidden).tolist() if not self.conversion.was_tried(pool[i])]
            if not (new := for_insiders(pool, np.array(valid, np.int64), known, self.store.missing)):
                break
            self.conversion.convert(new)
        if not self.problem.integer:
            for attempt in (0, 1):
                self._coarse(exposures, attempt)
            self._for_groups(exposures)
        unproven = self._one_by_one(exposures)
        witnesses = self.store.witnesses
        if unproven and self.budget.exhausted:
            exposures.update((key, self._undecided(key)) for key in unproven)
            unproven = []
        if unproven:
            fractional = gather(replace(self.problem, integer=False), self.hidden, self.judge, self.budget)
            witnesses = [*witnesses, *(w for w in fractional.witnesses if w.z.denominator != 1)]
            exposures.update((e.key, e) for e in fractional.exposures)
            unproven = [k for k in unproven if not {k, Key(-1, k.cell, k.side)} & exposures.keys()]
        return Evidence(tuple(witnesses), tuple(sorted(exposures.values(), key=_order)), tuple(unproven))

    def _one_by_one(self, exposures: dict[Key, Exposure]) -> list[Key]:
        """Answer every question left by itself; add what is exposed, and return what has fractional answers only."""
        unproven: list[Key] = []
        seen, named = self._seen(exposures), np.zeros(len(self.exact.questions.cell), bool)
        for attacker, questions in self.store.missing():
            left = questions[~seen[questions]]
            if len(left) and not self.budget.exhausted:
                view = View(self.store, self.judge.known(attacker))
                if not self.problem.integer:
                    self.moves.roomy(self.judge.known(attacker), left, view)
            for question in left[~named[left]].tolist() if self.budget.exhausted else left.tolist():
                key = self._key(attacker, question)
                if key in exposures:
                    continue
                if self.budget.exhausted:
                    # of thousands of attackers and questions there are too many pairs to name each
                    exposures[key], named[question] = self._undecided(key), True
                    continue
                if view.holds(question):
                    continue
                exposure = self._one(key, question, view)
                if exposure is not None and self.problem.integer and not exposure.decided:
                    unproven.append(key)
                elif exposure is not None:
                    exposures[key] = exposure
                seen[question] |= attacker < 0 and exposure is not None
        return unproven

    def _coarse(self, exposures: Mapping[Key, Exposure], attempt: int = 0, *, few: bool = False) -> None:
        """Answer what is left by deviations on decimal grids, many at once."""
        asked = self._missing(exposures)
        if self.budget.exhausted or len(asked) < FEW:
            return
        grids = on_grids(self.problem, self.hidden, asked, self.exact.questions, self.budget, attempt, few=few)
        for digits, deviations in grids:
            for witness in self.exact.exactly(deviations, digits):
                if witness is not None:
                    self.store.add(witness)

    def _missing(self, exposures: Mapping[Key, Exposure]) -> Ints:
        """Return the questions that somebody has no answer to, unless he is known to find out."""
        left = np.zeros(len(self.exact.questions.cell), bool)
        for _, questions in self._left(exposures):
            left[questions] = True
        return np.flatnonzero(left)

    def _for_groups(self, exposures: Mapping[Key, Exposure]) -> None:
        """Answer what many attackers ask as if they knew together what each of them knows."""
        if self.budget.exhausted:
            return

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
        left = [(attacker, questions[~seen[questions]]) for attacker, questions in self.store.missing()]
        left = [
            (attacker, np.setdiff1d(questions, found_out[attacker]) if attacker in found_out else questions)
            for attacker, questions in left
        ]
        return [(attacker, questions) for attacker, questions in left if len(questions)]

    def _seen(self, exposures: Iterable[Key]) -> Bools:
        """Return which questions the public has an answer to: whoever knows more sees what the public sees."""
        seen = np.zeros(len(self.exact.questions.cell), bool)
        seen[[self.exact.questions.place[key.side][key.cell] for key in exposures if key.attacker < 0]] = True
        return seen

    def _key(self, attacker: int, question: int) -> Key:
        q = self.exact.questions
        return Key(attacker, int(q.cell[question]), int(q.side[question]))

    def _undecided(self, key: Key) -> Exposure:
        return Exposure(key, 0.0, self.exact.need[key.side][key.cell] / self.exact.scale, (), decided=False)

    def _one(self, key: Key, question: int, view: View) -> Exposure | None:
        """Answer one question; None means yes."""
        need = self.exact.need[key.side][key.cell] / self.exact.scale
        self.conversion.convert([d for d in self.judge.witness(key, self.hidden) if len(d.cells)])
        if view.holds(question):
            return None
        if self.budget.exhausted:
            return self._undecided(key)
        reached, decided = 0.0, True
        for side in (key.side,) if key.side else (1, -1):
            most, certain = self.moves.furthest(key, question, side, need, view)
            reached += most
            decided &= certain
        if view.holds(question):
            return None
        return Exposure(key, reached, need, (), decided=decided and reached < need)
