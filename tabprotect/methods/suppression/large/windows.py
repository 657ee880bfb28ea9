"""Small windows of a large pattern, made as cheap as they can be by the exact engine."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from tabprotect.methods.suppression.large.rebuild import Rebuilder
from tabprotect.methods.suppression.large.surroundings import Block, Surroundings
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.methods.suppression.search.exact import exact
from tabprotect.methods.suppression.search.known import Known
from tabprotect.problem import Problem, Status
from tabprotect.solver.limits import Budget
from tabprotect.solver.tolerances import COST_NOISE
from tabprotect.table.system import LinearSystem

__all__ = ["Windows"]

Ints = npt.NDArray[np.int64]


class Windows:
    """Opens the questions around one secondary after the other and lets the exact engine answer them together.

    All cells outside of the window stand still in the new deviations, and what other questions rely on stays hidden.
    Cells that cost more than all that can be saved are left out. What the engine finds is a pattern; the cheapest
    deviations within it take the place of the old ones.

    Parameters
    ----------
    rebuilder : Rebuilder
        Of the cover that is changed.
    near : Surroundings
    seed : int
    engine : {'scip', 'highs'}
    """

    def __init__(
        self,
        rebuilder: Rebuilder,
        near: Surroundings,
        seed: int,
        engine: str = "scip",
        options: Options = DEFAULTS,
    ) -> None:
        self._options = options.local.windows
        self._exact = options
        self.rebuilder = rebuilder
        self.cover = rebuilder.cover
        self.near = near
        self.engine = engine
        self._rng = np.random.default_rng(seed)
        self._queue: list[int] = []
        self._settled: set[int] = set()
        self._stage = 0
        self._tries = self._hard = 0

    def step(self, budget: Budget) -> float:
        """Try one window; return what that gained."""
        cover = self.cover
        budget.spend(1)
        cell = self._next()
        asked = self._asked(cell) if cell >= 0 else []
        if not asked:
            return 0.0
        before = cover.cost
        moved = [witness.deviation.cells for k in asked for witness in cover.relies[k]]
        paid = {c for k in asked for witness in cover.relies[k] for c in witness.paid}
        old = {k: cover.release(k) for k in asked}
        most = before - cover.cost
        block = self._block(np.unique(np.concatenate(moved)), most, cover.keys[asked[0]].cell)
        found = self._solved(block, asked, paid, budget)
        self._tries += 1
        self._hard += found is not None and found.status != "optimal"
        if found is not None and found.safe and found.cost is not None and found.cost < most - COST_NOISE:
            price = cover.price.copy()
            price[block.cells[found.pattern]] = 0.0
            self.rebuilder.inside(sorted(asked, key=lambda k: (-cover.need[k], k)), budget, price)
            if all(cover.relies[k] for k in asked) and cover.cost < before:
                return before - cover.cost
        elif found is not None and found.status == "optimal":
            self._settled |= paid
        cover.reinstate(old, before)
        return 0.0

    def _next(self) -> int:
        """The next secondary that no window of this pass has settled; -1 for a turn without one."""
        if not self._queue:
            self._queue = self._rng.permutation(self.cover.secondaries).tolist()
            self._settled = set()
            if self._tries > 2 * self._hard:
                self._stage = min(self._stage + 1, len(self._options.targets) - 1)
            self._tries = self._hard = 0
        while self._queue:
            cell = self._queue.pop()
            if cell not in self._settled and self.cover.users(cell):
                return cell
        return -1

    def _asked(self, cell: int) -> list[int]:
        """One-sided questions of the public around a secondary that have an answer."""
        cover = self.cover
        asked = {k for witness in cover.users(cell) for k in witness.asked}
        asked |= self.rebuilder.around(cell, self._options.targets[self._stage])
        return sorted(k for k in asked if cover.keys[k].attacker < 0 and cover.keys[k].side != 0)

    def _block(self, cells: Ints, most: float, keep: int) -> Block:
        stage = self._stage
        allowed, price = self.cover.problem.may_hide, self.cover.price
        reach, size = self._options.equations[stage], self._options.cells[stage]
        window = self.near.ball(cells, reach, allowed, price=price, limit=most, most=size)
        return self.near.closed(window, keep)

    def _solved(self, block: Block, asked: list[int], paid: set[int], budget: Budget) -> SuppressionResult | None:
        """Solve a window; None when a cell in question cannot move in it."""
        cover, problem, cells = self.cover, self.cover.problem, block.cells
        n = len(cells)
        free = cover.price[cells] > 0
        status = np.where(free, np.int8(Status.SAFE), np.int8(Status.FORCED))
        levels = {side: np.zeros(n) for side in (1, -1)}
        for k in asked:
            key = cover.keys[k]
            place = int(np.searchsorted(cells, key.cell))
            if place == n or cells[place] != key.cell:
                return None
            status[place] = Status.PRIMARY
            levels[key.side][place] = cover.need[k]
        window = Problem(
            LinearSystem(sparse.csr_array(block.A.array()), np.zeros(block.A.shape[0]), pd.RangeIndex(n)),
            np.zeros(n),
            status,
            levels[-1],
            levels[1],
            np.zeros(n),
            cover.weight[cells],
            -problem.down[cells],
            problem.up[cells],
        )
        start, seed = ~free | np.isin(cells, list(paid)), int(self._rng.integers(2**31))
        with budget.run(gap=0.0, work=self._options.work) as part:
            part.progress = None
            found = exact(
                window,
                limits=part,
                seed=seed,
                engine=self.engine,
                known=Known(start),
                prove=False,
                options=self._exact,
            )
        budget.spend(self._options.setup_work)
        return found
