"""The yes/no questions of an audit: does the interval of a cell, as an intruder sees it, reach its levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tabprotect.problem import Problem

__all__ = ["Key", "Questions", "keys", "needed"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Key(NamedTuple):
    """One question of an audit.

    Attributes
    ----------
    attacker : int
        Position in ``problem.attackers``; -1 is the intruder who knows only what is published.
    cell : int
        A primary cell.
    side : int
        +1: can the cell be UPL higher? -1: can it be LPL lower? 0: is its interval SPL wide?
    """

    attacker: int
    cell: int
    side: int


@dataclass(frozen=True, eq=False)
class Questions:
    """The questions of the intruder who knows only what is published, as arrays.

    Attributes
    ----------
    cell, side : ndarray of int
    need : ndarray of float
        The level to reach, in the unit of the values.
    place : dict of int to ndarray
        For every side the question of each cell (-1: none).
    """

    cell: Ints
    side: Ints
    need: Floats
    place: dict[int, Ints]

    @classmethod
    def of(cls, problem: Problem) -> Questions:
        """Collect the questions of a problem; levels of 0 ask nothing."""
        primary = problem.primaries
        lpl, upl, spl = (level[primary] for level in (problem.lpl, problem.upl, problem.spl))
        wide = spl > lpl + upl
        cell = np.concatenate((primary[upl > 0], primary[lpl > 0], primary[wide]))
        side = np.repeat(np.array([1, -1, 0]), [np.sum(upl > 0), np.sum(lpl > 0), np.sum(wide)])
        need = np.concatenate((upl[upl > 0], lpl[lpl > 0], spl[wide]))
        place = {s: np.full(problem.n_cells, -1, np.int64) for s in (1, -1, 0)}
        for s, index in place.items():
            index[cell[side == s]] = np.flatnonzero(side == s)
        return cls(cell, side, need, place)

    def about(self, cells: Ints) -> Ints:
        """Return the questions about some cells."""
        found = np.concatenate([index[cells] for index in self.place.values()])
        return found[found >= 0]


def needed(problem: Problem, key: Key) -> float:
    """Return the level that a question asks for, in the unit of the values."""
    return float({1: problem.upl, -1: problem.lpl, 0: problem.spl}[key.side][key.cell])


def keys(problem: Problem) -> tuple[Key, ...]:
    """List all questions of an audit.

    Levels of 0 ask nothing; a sliding level asks something only where SPL > LPL + UPL. An attacker is asked about
    every primary cell that he does not know and is not spared.

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1]], [9, 4, 5], primary=[1, 2], lpl=[0, 1, 0], upl=1, spl=[0, 0, 2])
    >>> [tuple(k) for k in keys(p)]
    [(-1, 1, 1), (-1, 2, 1), (-1, 1, -1), (-1, 2, 0)]
    """
    questions = Questions.of(problem)
    pairs = list(zip(questions.cell.tolist(), questions.side.tolist(), strict=True))
    found = [Key(-1, cell, side) for cell, side in pairs]
    for number, attacker in enumerate(problem.attackers):
        unasked = attacker.unasked
        found += [Key(number, cell, side) for cell, side in pairs if cell not in unasked]
    return tuple(found)
