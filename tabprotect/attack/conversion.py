"""Stored deviations become exact witnesses, each tried once; those of many cells come last."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tabprotect.attack.answers import Answers
from tabprotect.attack.chosen import for_everybody
from tabprotect.attack.exact_problem import ExactProblem
from tabprotect.attack.witness import Deviation, Witnesses
from tabprotect.solver.limits import Budget

__all__ = ["LARGE", "Conversion"]

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

LARGE = 1_000
"""Deviations of more cells that rounding does not make exact come last: each may take seconds to minutes, and fail."""

AT_ONCE = 500
"""Deviations made exact between two looks at the limits."""


class Conversion:
    """What was made exact of the deviations of a judge, and what failed.

    Parameters
    ----------
    exact : ExactProblem
    hidden : ndarray of bool, shape (cells,)
        The cells that deviations may move.
    judge : Witnesses
    budget : Budget
    store : Answers
        Takes the exact witnesses.
    """

    def __init__(self, exact: ExactProblem, hidden: Bools, judge: Witnesses, budget: Budget, store: Answers) -> None:
        self._exact, self._hidden, self._judge, self._budget, self._store = exact, hidden, judge, budget, store
        # by address, which nothing else has while they are kept
        self._tried: dict[int, Floats] = {}
        self._large: dict[int, Floats] = {}

    def was_tried(self, deviation: Deviation) -> bool:
        """Whether a deviation was made exact, or cannot be."""
        return id(deviation.z) in self._tried

    def convert(self, deviations: Sequence[Deviation], most: float = math.inf) -> bool:
        """Store exact witnesses near deviations that were not tried before.

        Those that move more cells than `most` are rounded only; return whether that failed for one.
        """
        new = list({id(d.z): d for d in deviations if id(d.z) not in self._tried}.values())
        failed = False
        for k in range(0, len(new), AT_ONCE):
            if self._budget.exhausted:
                break
            some = new[k : k + AT_ONCE]
            for deviation, witness in zip(some, self._exact.exactly(some, most=most), strict=True):
                done = witness is not None or len(deviation.cells) <= most
                (self._tried if done else self._large)[id(deviation.z)] = deviation.z
                failed |= not done
                if witness is not None:
                    self._store.add(witness)
        return failed

    def of_stored(self, most: float = math.inf) -> bool:
        """Make stored deviations exact that answer what is left; with `most`, return whether larger ones would.

        What rounding fails for is left out, and others are chosen in its place.
        """
        pool, failed = self._judge.pool, True
        while failed and not self._budget.exhausted:
            valid = pool.valid(self._hidden)
            if not math.isinf(most):
                valid = valid[np.array([id(pool[i].z) not in self._large for i in valid.tolist()], bool)]
            failed = self.convert(for_everybody(self._exact.questions, pool, valid, self._store.missing()), most)
        return any(len(questions) for _, questions in self._store.missing()) and bool(self._large)
