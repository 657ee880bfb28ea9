"""Take out of a pattern that is far too large in bulk, and put back what the attacks on the rest ask for."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.keys import Key
from tabprotect.attack.witness import Witnesses
from tabprotect.methods.suppression.options import DEFAULTS, ConstructionOptions
from tabprotect.methods.suppression.start.cheapest import Cheapest
from tabprotect.methods.suppression.start.cleanup import Cleaner, Cut
from tabprotect.methods.suppression.start.series import series
from tabprotect.solver.limits import Budget

__all__ = ["from_everything", "remove_in_bulk"]

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def remove_in_bulk(
    cleaner: Cleaner, budget: Budget, options: ConstructionOptions = DEFAULTS.construction
) -> Iterator[Bools]:
    """Take many classes out of a safe pattern between two attacks; yield every cheaper safe pattern.

    Heavy classes leave until half of the dimensions of the deviations are gone, then a further fifth, and so on. What
    is exposed then gives attacker cuts, and classes of much capacity for their cost come back until the cuts hold. What
    is exposed again and again gets the cheapest deviation inside the last safe pattern. Where the outcome is not
    cheaper than that pattern, smaller steps follow, half-way between what was of use and what was not. It ends where a
    step gains little.

    Parameters
    ----------
    cleaner : Cleaner
        Its pattern is the one yielded last.
    budget : Budget
    options : ConstructionOptions

    Yields
    ------
    ndarray of bool, shape (cells,)

    Notes
    -----
    Reverse deletion of Kelly, Golden and Assad (1992) for many cells at once, with the attacker cuts of Fischetti and
    Salazar-Gonzalez (2000) for the repair.
    """
    return _Removal(cleaner, budget, options).run()


def from_everything(
    judge: Witnesses,
    budget: Budget,
    share: float,
    options: ConstructionOptions = DEFAULTS.construction,
    report: Callable[[float], None] = lambda cost: None,
    cuts: deque[Cut] | None = None,
) -> Bools | None:
    """Return a safe pattern that needs few programmes: everything hidden, then taken out in bulk.

    Parameters
    ----------
    judge : Witnesses
    budget : Budget
    share : float
        Of what is left of the budget, for the removal.
    options : ConstructionOptions
    report : callable
        Called with the cost of every cheaper pattern.
    cuts : deque of Cut, optional
        As for `Cleaner`.

    Returns
    -------
    ndarray of bool, shape (cells,), or None
        None if not even everything hidden is safe, or a limit keeps that from being found out.
    """
    everything = np.ones(judge.problem.n_cells, bool)
    if judge.check(everything, budget):
        return None
    cleaner = Cleaner(judge, everything, options=options, cuts=cuts)
    with budget.part(share) as part:
        for pattern in remove_in_bulk(cleaner, part, options):
            report(judge.problem.cost(pattern))
    return cleaner.pattern.copy()


class _Removal:
    """What is known while cells leave: the last safe pattern, which the cleaner holds, and attacker cuts."""

    def __init__(self, cleaner: Cleaner, budget: Budget, options: ConstructionOptions) -> None:
        self._cleaner, self._budget, self._options = cleaner, budget, options
        self._judge, self._problem = cleaner.judge, cleaner.judge.problem
        self._columns = sparse.csc_array(self._problem.system.A)
        self._cheapest = Cheapest(self._judge, options)
        self._cuts: list[Cut] = []
        # of a removal that was cut short: what it found has to stay, and the size of its lots
        self._kept, self._lot = np.zeros(self._problem.n_cells, bool), 0

    def run(self) -> Iterator[Bools]:
        """Yield every cheaper safe pattern."""
        cleaner, options, cost = self._cleaner, self._options, self._problem.cost
        start = int(cleaner.classes.dimensions.sum())
        least, most, share, tries = 0.0, 1.0, options.bulk_first_share, options.bulk_trials
        while tries and not self._budget.exhausted:
            # a share of little work is none at all
            self._budget.spend(1)
            with self._budget.part(options.bulk_removal_share) as part:
                trial, reached = self._shrunk(int(share * start), part)
            if self._budget.exhausted or (trial is None and reached):
                return
            if trial is None:
                continue
            before, repaired = cost(cleaner.pattern), self._repaired(trial)
            if repaired is not None and cost(repaired) < before:
                cleaner.publish(np.flatnonzero(cleaner.pattern & ~repaired))
                yield cleaner.pattern.copy()
                if not reached:
                    continue
                most = share
                if cost(cleaner.pattern) > (1 - options.bulk_least_gain) * before:
                    return
            else:
                least = share
            tries -= least > 0
            share = (least + most) / 2 if least else options.bulk_step * share

    def _shrunk(self, goal: int, budget: Budget) -> tuple[Bools | None, bool]:
        """Take out lots until the deviations have at most `goal` dimensions, and tell whether they do.

        None when nothing leaves within the budget. After each lot an elimination tells that all primaries can still
        move; whether far enough is for an attack to say. Where one cannot, what left its equations stays, and where
        nothing did, the lot is halved.
        """
        cleaner, must = self._cleaner, self._problem.must_hide
        trial, label, left = cleaner.pattern.copy(), cleaner.classes.label, int(cleaner.classes.dimensions.sum())
        start, lot, kept = left, self._lot or max(64, (left - goal) // 2), self._kept | cleaner.held | cleaner.asked
        while left > goal and not budget.exhausted:
            budget.spend(1)
            lost = self._heaviest(trial, kept, label, min(lot, left - goal))
            if not len(lost):
                break
            less = trial.copy()
            less[lost] = False
            after = series(self._columns, less)
            stuck = after.idle[cleaner.asked[after.idle]]
            if len(stuck):
                near = lost[self._beside(stuck)[lost]] if lot > 1 else lost
                kept[near] = True
                lot = lot if len(near) else max(1, lot // 2)
                continue
            less[after.idle[~must[after.idle]]] = False
            trial, label, left, lot = less, after.label, int(after.dimensions.sum()), lot + lot // 4 + 1
        reached = left <= goal or not budget.exhausted
        self._kept, self._lot = kept & (not reached), 0 if reached else lot
        return (None if left == start else trial), reached

    def _beside(self, cells: Ints) -> Bools:
        """Return which cells have an equation in common with some of these."""
        equations = np.zeros(self._columns.shape[0])
        equations[self._columns[:, cells].indices] = 1.0
        return np.asarray(abs(self._columns).T @ equations > 0)

    def _heaviest(self, pattern: Bools, kept: Bools, label: Ints, most: int) -> Ints:
        """Return the secondaries of the heaviest classes of which no cell is to be kept."""
        n = len(label)
        mine = np.flatnonzero(pattern & ~self._problem.must_hide)
        total = np.bincount(label[mine], weights=self._cleaner.rank[mine], minlength=n)
        total[label[kept & pattern]] = 0.0
        chosen = np.zeros(n, bool)
        chosen[np.argsort(-total, kind="stable")[:most]] = True
        return mine[(chosen & (total > 0))[label[mine]]]

    def _repaired(self, trial: Bools) -> Bools | None:
        """Hide again what makes a part of the last safe pattern safe; None at a limit, or where that costs as much."""
        cleaner, cost = self._cleaner, self._problem.cost
        times: Counter[Key] = Counter()
        trial = self._with_cuts(trial)
        while exposed := [e for e in self._judge.check(trial, self._budget) if not cleaner.ignores(e.key)]:
            if self._budget.exhausted:
                return None
            self._cuts += [cleaner.learn(exposure) for exposure in exposed]
            times.update(exposure.key for exposure in exposed)
            more = self._with_cuts(trial)
            again = [e.key for e in exposed if times[e.key] > self._options.bulk_cut_rounds]
            if again or more.sum() == trial.sum():
                more |= self._answered(again[0] if again else exposed[0].key, more)
            if more.sum() == trial.sum() or cost(more) >= cost(cleaner.pattern):
                return None
            trial = more
        return trial

    def _answered(self, key: Key, trial: Bools) -> Bools:
        """Return what the cheapest deviation for a question moves inside the last safe pattern; nothing at a limit."""
        moved = np.zeros(len(trial), bool)
        price = np.where(trial, 0.0, self._problem.weights)
        for deviation in self._cheapest.find(key, price, self._budget, allowed=self._cleaner.pattern) or ():
            moved[deviation.cells] = True
            self._judge.offer(deviation)
        return moved

    def _with_cuts(self, trial: Bools) -> Bools:
        """Hide classes again until all attacker cuts hold."""
        label, n = self._cleaner.classes.label, self._problem.n_cells
        out = np.flatnonzero(self._cleaner.pattern & ~trial)
        price = np.bincount(label[out], weights=self._problem.weights[out], minlength=n)
        more = trial.copy()
        for cells, capacities, need in self._cuts:
            missing = need - float(capacities[more[cells]].sum())
            free = self._cleaner.pattern[cells] & ~more[cells]
            if missing <= 0 or not free.any():
                continue
            mine = label[cells[free]]
            gain = np.minimum(np.bincount(mine, weights=capacities[free], minlength=n), missing)
            classes = np.unique(mine)
            with np.errstate(divide="ignore"):
                worth = gain[classes] / price[classes]
            classes = classes[np.argsort(-worth, kind="stable")]
            last = int(np.searchsorted(np.cumsum(gain[classes]), missing)) + 1
            more[out[np.isin(label[out], classes[:last])]] = True
        return more
