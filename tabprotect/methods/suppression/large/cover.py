"""A pattern as the union of what its witnesses move, so that it is safe at every moment, however it is changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabprotect.attack.keys import Key, Questions
from tabprotect.attack.witness import Deviation
from tabprotect.problem import Problem
from tabprotect.solver.tolerances import LEVEL

__all__ = ["Cover", "Witness"]

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(eq=False, slots=True)
class Witness:
    """A deviation in use.

    Attributes
    ----------
    deviation : Deviation
    paid : list of int
        Cells that it moves and that would not be hidden anyway.
    asked : list of int
        Questions that rely on it.
    """

    deviation: Deviation
    paid: list[int]
    asked: list[int]


class Cover:
    """Which witnesses each question relies on, and the cells that these hide.

    Parameters
    ----------
    problem : Problem

    Attributes
    ----------
    keys : list of Key
        The questions; those of the public first, those of attackers as they are met.
    need : list of float
    relies : list of tuple of Witness
        For every question; empty while it is open.
    weight : ndarray of float, shape (cells,)
        What hiding a cell costs; 0 for those hidden in every pattern.
    price : ndarray of float, shape (cells,)
        The same, and 0 once a cell is hidden.
    cost : float
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.questions = q = Questions.of(problem)
        self.keys = [Key(-1, c, s) for c, s in zip(q.cell.tolist(), q.side.tolist(), strict=True)]
        self.need: list[float] = q.need.tolist()
        self.relies: list[tuple[Witness, ...]] = [()] * len(self.keys)
        self.number = {key: k for k, key in enumerate(self.keys)}
        self._base = problem.must_hide
        self.weight = np.where(self._base, 0.0, problem.weights)
        self._both = np.minimum(problem.down, problem.up)
        self._primary = np.zeros(problem.n_cells, bool)
        self._primary[q.cell] = True
        self._place = {side: q.place[side] for side in (1, -1)}
        self._users: dict[int, list[Witness]] = {}
        self.price = self.weight.copy()
        self.cost = 0.0

    @property
    def pattern(self) -> Bools:
        """The hidden cells."""
        pattern = self._base.copy()
        pattern[list(self._users)] = True
        return pattern

    @property
    def secondaries(self) -> Ints:
        """Hidden cells that would not be hidden anyway, ascending."""
        return np.array(sorted(self._users), dtype=np.int64)

    def question(self, key: Key, need: float) -> int:
        """Return the number of a question, which is added when it is new."""
        if key not in self.number:
            self.number[key] = len(self.keys)
            self.keys.append(key)
            self.need.append(need)
            self.relies.append(())
        return self.number[key]

    def users(self, cell: int) -> list[Witness]:
        """Witnesses that move a secondary."""
        return list(self._users.get(cell, ()))

    def answered(self, deviation: Deviation) -> Ints:
        """Questions of the public that a deviation answers alone, on the side where it moves."""
        cells = deviation.cells
        mine = np.flatnonzero(self._primary[cells])
        found = []
        for side in (1, -1):
            asked = self._place[side][cells[mine]]
            there = asked >= 0
            number = asked[there]
            found.append(number[side * deviation.z[mine[there]] >= self.questions.need[number] * (1 - LEVEL)])
        return np.concatenate(found)

    def take(self, deviation: Deviation, only: Iterable[int] | None = None) -> list[int]:
        """Use a deviation for all open questions that it answers, turned round too where the bounds let it.

        With `only`, for these questions and whether it answers them or not (two ends of a sliding level).

        Returns
        -------
        list of int
            The questions that rely on it now.
        """
        done: list[int] = []
        if only is not None:
            done = list(only)
            self._keep(deviation, done)
            return done
        asked = [k for k in self.answered(deviation).tolist() if not self.relies[k]]
        if asked:
            self._keep(deviation, asked)
        if (np.abs(deviation.z) <= self._both[deviation.cells]).all():
            turned = Deviation(deviation.cells, -deviation.z)
            more = [k for k in self.answered(turned).tolist() if not self.relies[k]]
            if more:
                self._keep(turned, more)
                asked += more
        return asked

    def _keep(self, deviation: Deviation, asked: list[int]) -> None:
        paid = deviation.cells[~self._base[deviation.cells]].tolist()
        self.restore(Witness(deviation, paid, []), asked)

    def restore(self, witness: Witness, asked: list[int]) -> None:
        """Rely on a witness for some questions."""
        if not witness.asked:
            for cell in witness.paid:
                users = self._users.get(cell)
                if users is None:
                    self._users[cell] = [witness]
                    self.price[cell] = 0.0
                    self.cost += float(self.weight[cell])
                else:
                    users.append(witness)
        witness.asked += asked
        for k in asked:
            self.relies[k] = (*self.relies[k], witness)

    def release(self, question: int) -> tuple[Witness, ...]:
        """Open a question again; return what it relied on."""
        before = self.relies[question]
        self.relies[question] = ()
        for witness in before:
            witness.asked.remove(question)
            if not witness.asked:
                for cell in witness.paid:
                    users = self._users[cell]
                    users.remove(witness)
                    if not users:
                        del self._users[cell]
                        self.price[cell] = self.weight[cell]
                        self.cost -= float(self.weight[cell])
        return before

    def reinstate(self, old: Mapping[int, tuple[Witness, ...]], cost: float | None = None) -> None:
        """Let questions rely on what they relied on before they were released (and at the cost that was then)."""
        for k in old:
            if self.relies[k]:
                self.release(k)
        back: dict[int, tuple[Witness, list[int]]] = {}
        for k, witnesses in old.items():
            for witness in witnesses:
                back.setdefault(id(witness), (witness, []))[1].append(k)
        for witness, questions in back.values():
            self.restore(witness, questions)
        if cost is not None:
            self.cost = cost

    def witnesses(self) -> list[Witness]:
        """Witnesses in use, each once."""
        return list({id(w): w for relies in self.relies for w in relies}.values())

    def reset_prices(self) -> None:
        """Charge every cell that is not hidden its weight."""
        self.price[:] = np.where(self.pattern, 0.0, self.weight)

    def open(self) -> Ints:
        """Questions that rely on nothing."""
        return np.array([k for k, relies in enumerate(self.relies) if not relies], dtype=np.int64)
