"""Better senses by turning some primaries round: a warm linear programme says which turns promise most."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.errors import SolverError
from tabprotect.methods.adjustment.statement import Statement
from tabprotect.solver.limits import Budget
from tabprotect.solver.lp import LinearProgram
from tabprotect.solver.tolerances import IMPROVEMENT

__all__ = ["Session"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: share of the promising turns that is tried at once, at first
_FIRST_SHARE = 0.3

#: share of all senses that a shake turns
_SHAKE = 0.05


class Session:
    """The L1 (or L-infinity) programme for given senses, warm from one set of senses to the next.

    Parameters
    ----------
    statement : Statement
        Without cones.
    weights : ndarray, optional
        Other weights than the statement's (the surrogate of a squared distance).
    """

    def __init__(self, statement: Statement, budget: Budget, weights: Floats | None = None) -> None:
        st = self.statement = statement
        self.budget = budget
        self.weights = st.weights if weights is None else weights
        n, extra = st.n, int(st.norm == "linf")
        rows = [sparse.hstack([st.A, -st.A, sparse.csr_array((st.A.shape[0], extra))])]
        low, high = [st.row_lower], [st.row_upper]
        cost = np.tile(self.weights, 2)
        if extra:
            each = sparse.diags_array(self.weights, format="csr")
            rows.append(sparse.hstack([each, each, sparse.csr_array(-np.ones((n, 1)))]))
            low, high, cost = [*low, np.full(n, -np.inf)], [*high, np.zeros(n)], np.r_[np.zeros(2 * n), 1.0]
        self.senses = np.where(st.forced != 0, st.forced, 1)
        bounds = self._sides(self.senses)
        self._programme = LinearProgram(
            sparse.vstack(rows, format="csr"),
            np.concatenate(low),
            np.concatenate(high),
            np.concatenate((bounds[0], np.zeros(extra))),
            np.concatenate((bounds[1], np.full(extra, np.inf))),
            cost,
            method="dual",
        )

    def _sides(self, senses: Ints) -> tuple[Floats, Floats]:
        lower, upper = self.statement.bounds(senses)
        return (
            np.concatenate((np.maximum(lower, 0.0), np.maximum(-upper, 0.0))),
            np.concatenate((np.maximum(upper, 0.0), np.maximum(-lower, 0.0))),
        )

    def solve(self, senses: Ints) -> tuple[float, Floats, Floats] | None:
        """Return the cost, the deviations, and the price of one more unit of every level; None when impossible."""
        st = self.statement
        turned = st.primaries[senses != self.senses]
        columns = np.concatenate((turned, st.n + turned))
        lower, upper = self._sides(senses)
        self._programme.set_bounds(columns, lower[columns], upper[columns])
        self.senses = senses.copy()
        try:
            answer = self._programme.solve(
                max_seconds=None if np.isinf(self.budget.seconds_left) else self.budget.seconds_left,
                max_iterations=None if np.isinf(self.budget.work_left) else int(self.budget.work_left),
            )
        except SolverError:
            self._programme.clear_basis()
            return None
        self.budget.spend(answer.iterations)
        if answer.status != "optimal":
            return None
        x, p = answer.x, st.primaries
        price = np.where(senses > 0, answer.reduced[p], answer.reduced[st.n + p])
        return answer.objective, x[: st.n] - x[st.n : 2 * st.n], price

    def promise(self, senses: Ints, price: Floats) -> Floats:
        """Estimate by how much the cost falls when one primary turns, if prices stayed as they are.

        A price is the primary's own weight and what the other cells pay; turned round the others gain what they paid.
        """
        st = self.statement
        own = self.weights[st.primaries] if st.norm != "linf" else np.zeros(st.k)
        now, then = np.where(senses > 0, st.up, st.down), np.where(senses > 0, st.down, st.up)
        free = st.forced == 0
        gain = np.full(st.k, -np.inf)
        gain[free] = price[free] * now[free] - (2 * own[free] - price[free]) * then[free]
        return gain

    def descend(self, senses: Ints, rng: np.random.Generator, ends: float) -> tuple[float, Floats, Ints] | None:
        """Turn promising primaries, many at first, then fewer, until no single promising turn helps.

        Returns
        -------
        (cost, z, senses) or None
            Cost in the statement's unit and the session's weights.
        """
        best = self.solve(senses)
        if best is None:
            return None
        share = _FIRST_SHARE
        while not self.budget.exhausted and self.budget.seconds < ends:
            gain = self.promise(senses, best[2])
            order = np.flatnonzero(gain > IMPROVEMENT * abs(best[0]))
            if not len(order):
                break
            order = order[np.argsort(-gain[order] * rng.random(len(order)) ** 0.5)]
            some = max(1, int(share * len(order)))
            improved = False
            for turn in [order[:some]] if some > 1 else order[:, None]:
                if self.budget.exhausted or self.budget.seconds >= ends:
                    break
                trial = senses.copy()
                trial[turn] *= -1
                found = self.solve(trial)
                if found is not None and found[0] < best[0] * (1 - IMPROVEMENT):
                    best, senses, improved = found, trial, True
                    break
            if not improved:
                if some == 1:
                    break
                share /= 2
        return best[0], best[1], senses

    def shaken(self, senses: Ints, rng: np.random.Generator) -> Ints:
        """Turn a few primaries at random."""
        free = np.flatnonzero(self.statement.forced == 0)
        trial = senses.copy()
        if len(free):
            trial[
                rng.choice(free, max(1, min(len(free), 2 + int(_SHAKE * len(free) * rng.random()))), replace=False)
            ] *= -1
        return trial
