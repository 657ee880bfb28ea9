"""What the concentration rules share: the largest contributors of every cell, with weights, waivers and holdings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabprotect.sensitivity.rule import TIE, Verdict
from tabprotect.table.table import Contributions, Table

__all__ = ["Coalition", "coalition", "counts", "everybody_waived", "verdict"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Coalition:
    """The contributor whose value is guessed, and what he and the guessers contribute together.

    Attributes
    ----------
    target : ndarray, shape (cells,)
        Largest contribution of a contributor without waiver; 0 where everybody has waived.
    together : ndarray, shape (cells,)
        The target plus the largest others, `size` contributors in all.
    rest : ndarray, shape (cells,)
        Cell total minus `together`: what the guessers do not know.
    holder : ndarray of int, shape (cells,)
        Who the target is: a position in the names of the contributions, -1 for unknown.
    """

    target: Floats
    together: Floats
    rest: Floats
    holder: npt.NDArray[np.int64]


def contributions(table: Table) -> Contributions:
    """Return the contributions of a table that is known to have them."""
    assert table.contributions is not None
    return table.contributions


def counts(table: Table) -> Floats:
    """Return the number of contributors of every cell; a record of weight w counts as w of them.

    Tables without sampling weights have their unweighted counts here, frequency tables without counts their values.
    """
    for given in (table.weighted_counts, table.counts):
        if given is not None:
            return given
    return table.values


def everybody_waived(table: Table) -> Bools:
    """Return the cells whose contributors have all consented to publication."""
    c = table.contributions
    if c is None or c.values.shape[1] == 0:
        return np.zeros(table.n_cells, bool)
    present = c.weights > 0
    nobody_left = (c.unwaived_holder < 0) & (c.unwaived == 0)
    return np.asarray(present[:, 0] & ~(present & ~c.waived).any(axis=1) & nobody_left)


def coalition(c: Contributions, size: int) -> Coalition:
    """Add up the largest contributor without waiver and the largest others, `size` contributors in all.

    A record of value x and sampling weight w is w contributors of x each. Fractional weights are filled up as
    tau-ARGUS does (libtauargus, ``CDataCell::ComputeWeightedScoreCell``): records are taken from the largest down, each
    with its whole weight while that fits into `size`, and of the first that does not fit only the remaining fraction.
    So (100, w = 4) alone fills a coalition of two with 2 * 100, and (100, w = 1.5), (10, w = 7) give 150 + 0.5 * 10.

    Weights below 1 can leave the coalition unfilled although the cell has further contributors beyond the kept ones.
    The missing part then counts as large as the smallest one kept, which errs on the side of safety; tau-ARGUS counts
    it as 0.

    Parameters
    ----------
    c : Contributions
    size : int
        Number of contributors taken together, the target included.

    Notes
    -----
    Waivers follow the Handbook on Statistical Disclosure Control (Hundepool et al., section 4.2): with s the largest
    contributor without waiver and r the largest other one, the p% rule looks at X - x_s - x_r < p/100 x_s and the
    (2, k) rule at x_s + x_r > k/100 X. A target that is not among the kept contributions counts with weight 1.
    """
    n, k = c.values.shape
    rows = np.arange(n)
    free = (c.weights > 0) & ~c.waived
    kept = free.any(axis=1)
    where = free.argmax(axis=1) if k else np.zeros(n, np.int64)
    target = np.where(kept, c.values[rows, where], np.abs(c.unwaived)) if k else np.abs(c.unwaived)
    holder = np.where(kept, c.holders[rows, where], c.unwaived_holder) if k else c.unwaived_holder
    unit = np.where(kept, np.minimum(c.weights[rows, where], 1.0), 1.0) if k else np.ones(n)
    weights = c.weights.copy()
    weights[rows[kept], where[kept]] -= unit[kept]
    before = np.cumsum(weights, axis=1) - weights
    taken = np.clip((size - unit)[:, None] - before, 0.0, weights)
    together = unit * target + (taken * c.values).sum(axis=1)
    if k:
        known = (c.weights * c.values).sum(axis=1)
        unfilled = np.maximum(size - unit - taken.sum(axis=1), 0.0)
        unknown = np.where(c.weights[:, -1] > 0, c.total - known - np.where(kept, 0.0, target), 0.0)
        unknown[unknown <= TIE * c.total] = 0.0
        together += np.minimum(unfilled * c.values[:, -1], unknown)
    together = np.minimum(together, c.total)
    return Coalition(target, together, c.total - together, holder)


def scale(table: Table) -> Floats | float:
    """Return the factor from the unit of the contributions to that of the cell values.

    It differs from 1 for a shadow variable only: tau-ARGUS takes the level as a fraction of the shadow total and
    applies it to the cell value (libtauargus, ``CTable::SetProtectionLevelCell``).
    """
    c = contributions(table)
    if c.shadow is None:
        return 1.0
    return np.divide(np.abs(table.values), c.total, out=np.zeros(table.n_cells), where=c.total > 0)


def verdict(table: Table, excess: Floats, noise: Floats) -> Verdict:
    """Return the cells whose excess over the limit is positive, which is also their level in both directions.

    The excess is the upper protection level; the lower one is set equal, as tau-ARGUS does and the Handbook says.
    """
    cells = np.flatnonzero((excess > noise) & ~everybody_waived(table))
    level = (excess * scale(table))[cells]
    return Verdict(cells, level, level.copy())
