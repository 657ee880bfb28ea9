"""Which region of a pattern is tried next: the one with the most credit."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tabprotect.methods.suppression.options import DEFAULTS
from tabprotect.methods.suppression.options.local import RegionOptions

__all__ = ["RegionCredit"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(eq=False)
class _Class:
    queue: list[int] = field(default_factory=list)
    passes: int = 0
    tries: int = 0
    gain: float = 0.0
    work: float = 0.0

    def rate(self, trials: int) -> float:
        return float("inf") if self.tries < trials else self.gain / self.work


class RegionCredit:
    """Hands out hidden cells in classes of similar weight; classes that gain much for their work come more often.

    Parameters
    ----------
    seed : int
    options : RegionOptions

    Attributes
    ----------
    rounds : float
        How often every cell was handed out, on average.

    Examples
    --------
    >>> regions = RegionCredit(0)
    >>> weight = np.array([1.0, 100.0, 1.2])
    >>> sorted(regions.next(np.arange(3), weight)[0] for _ in range(2))  # 0 and 2 weigh about the same
    [0, 2]
    """

    def __init__(self, seed: int, options: RegionOptions = DEFAULTS.local.credit) -> None:
        self._options = options
        self._rng = np.random.default_rng(seed)
        self._classes: dict[int, _Class] = {}
        self._last = 0
        self.rounds = 0.0

    def next(self, cells: Ints, weight: Floats) -> tuple[int, int]:
        """Return a cell and how often its class was gone through before; -1 without cells.

        Parameters
        ----------
        cells : ndarray of int
            Those hidden now that need not be.
        weight : ndarray of float, shape (all cells,)
        """
        if not len(cells):
            return -1, 0
        which = np.frexp(weight[cells])[1] // 2
        names, count = np.unique(which, return_counts=True)
        classes = [self._classes.setdefault(int(name), _Class()) for name in names]
        rates = [one.rate(self._options.trials) for one in classes]
        if self._rng.random() < self._options.fair_share:
            self._last = int(self._rng.choice(names, p=count / count.sum()))
        else:
            self._last = int(names[int(np.argmax(rates))])
        mine = self._classes[self._last]
        if not mine.queue:
            mine.queue = self._rng.permutation(cells[which == self._last]).tolist()
            mine.passes += 1
        self.rounds += 1 / len(cells)
        return mine.queue.pop(), mine.passes - 1

    def record(self, gain: float, work: int) -> None:
        """Record what the last try gained and what it took."""
        mine = self._classes[self._last]
        mine.tries += 1
        mine.gain = self._options.fade * mine.gain + gain
        mine.work = self._options.fade * mine.work + max(1, work)
