"""Noise on cells, looked up by their keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError
from tabprotect.methods.cell_key.flex import Flex
from tabprotect.methods.cell_key.keys import KEYS, other_key
from tabprotect.methods.cell_key.table import PerturbationTable
from tabprotect.methods.frames import frame_of
from tabprotect.problem import Problem
from tabprotect.table.table import Table

__all__ = ["Additivity", "CellKeyResult", "cell_key", "cell_key_magnitudes"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Additivity:
    """How far the perturbed cells are from adding up (beyond the residuals of the table itself).

    Attributes
    ----------
    equations, broken : int
        All equations, and those that do not hold any more.
    mean, largest : float
        Mean and largest absolute difference between a margin and its parts, in the unit of the values.
    """

    equations: int
    broken: int
    mean: float
    largest: float

    @classmethod
    def of(cls, problem: Problem, values: Floats) -> Additivity:
        """Measure the loss of additivity of published values."""
        off = np.abs(problem.system.A @ (values - problem.values))
        noise = 1e-9 * (abs(problem.system.A) @ np.abs(problem.values))
        return cls(
            len(off), int(np.sum(off > noise)), float(off.mean()) if len(off) else 0.0, float(off.max(initial=0.0))
        )


@dataclass(frozen=True, eq=False)
class CellKeyResult:
    """Perturbed values.

    Attributes
    ----------
    problem : Problem
    values : ndarray
        What is published, for every cell.
    additivity : Additivity
        What the noise does to the sums.
    expected_variance : float
        Mean variance of the noise over the cells, by the perturbation table.
    """

    problem: Problem = field(repr=False)
    values: Floats = field(repr=False)
    additivity: Additivity
    expected_variance: float

    @property
    def frame(self) -> pd.DataFrame:
        """One row a cell: its codes, ``value``, ``status`` and ``published``; confidential.

        `InputError` where the cells of the problem have positions only, and no codes.
        """
        return frame_of(self.problem, self.values)

    @property
    def noise(self) -> Floats:
        """Published minus true values."""
        return self.values - self.problem.values

    @property
    def changed(self) -> Ints:
        """Positions of the cells that got noise other than 0."""
        return np.flatnonzero(self.values != self.problem.values)


def cell_key(problem: Problem, keys: Ints, table: PerturbationTable) -> CellKeyResult:
    """Perturb counts: every cell gets the noise that its count and its key have in the perturbation table.

    Cells of the same records have the same key, hence the same published value, in whatever table they occur. Zeros
    stay zeros. Structural zeros and cells that must be published (statuses z and p) are left as they are; all
    others are perturbed, sensitive or not, since the protection is the doubt about every figure.

    Parameters
    ----------
    problem : Problem
        Of a frequency table (whole numbers, >= 0).
    keys : ndarray of int, shape (cells,)
        From `cell_keys`.
    table : PerturbationTable

    Returns
    -------
    CellKeyResult

    Raises
    ------
    InputError
        Values that are no counts, keys that are none, a perturbation table with fractions.

    References
    ----------
    Fraser & Wooton (2005); Thompson, Broadfoot & Elazar (2013); Handbook on Statistical Disclosure Control, section
    5.4.

    Examples
    --------
    The example of the Handbook: record keys .9, .3, .6 make the cell key .8; three of them become four.

    >>> table = PerturbationTable(
    ...     np.array([-1.0, 0, 1]), np.array([[0, 1, 0], [0.5, 0, 0.5], [0.1, 0.8, 0.1], [0.3, 0.4, 0.3]])
    ... )
    >>> problem = Problem.from_arrays([[-1, 1, 1]], [3, 3, 0], primary=[], lpl=0, upl=0, integer=True)
    >>> cell_key(problem, np.array([int(0.8 * KEYS)] * 3), table).values.tolist()
    [4.0, 4.0, 0.0]
    """
    keys = _checked_keys(problem, keys)
    counts = problem.values
    if np.any((counts < 0) | (counts != np.rint(counts))):
        raise InputError("cell_key perturbs counts, whole numbers from 0; use cell_key_magnitudes for other values")
    if np.any(table.noise != np.rint(table.noise)):
        raise InputError("the perturbation table has fractions; design one for counts with step=1")
    free = problem.may_hide & (counts > 0)
    rows = counts.astype(np.int64)
    values = np.where(free, counts + table.lookup(rows, keys), counts)
    variance = np.where(free, table.variance[np.minimum(rows, len(table.variance) - 1)], 0.0)
    return CellKeyResult(problem, values, Additivity.of(problem, values), float(variance.mean()) if len(free) else 0.0)


def cell_key_magnitudes(
    problem: Problem,
    keys: Ints,
    table: PerturbationTable,
    flex: Flex,
    contributions: Table,
    *,
    same_key: bool = False,
    decimals: int | None = None,
) -> CellKeyResult:
    """Perturb magnitudes by noise in proportion to the largest contributions.

    With x_1 >= x_2 >= ... the largest contributions, d_j = m(x_j) w_j x_j (`Flex`) and v_j a noise from the table,
    the value moves by d_j v_j, one j after the other. The row of the table for v_j is a = |value so far| / d_j;
    between two rows both are looked up with the same key and interpolated. So no value changes its sign, and each
    step is unbiased.

    Parameters
    ----------
    problem : Problem
    keys : ndarray of int, shape (cells,)
        From `cell_keys`.
    table : PerturbationTable
        Without blocked values; fractions (step > 1) are usual.
    flex : Flex
    contributions : Table
        The table of the problem, with as many of the largest contributions as `flex` has weights.
    same_key : bool
        Look up the largest contribution by the cell key itself, as counts are. By default by a key that is mixed
        from it, so that published counts say nothing about the noise.
    decimals : int, optional
        Round the perturbed values to so many.

    Returns
    -------
    CellKeyResult

    Raises
    ------
    InputError
        Too few contributions, keys that are none.

    References
    ----------
    Giessing & Tent (2019), Concepts for generalising tools implementing the cell key method to the case of continuous
    variables; Handbook on Statistical Disclosure Control, section 4.6.

    Examples
    --------
    The example of the Handbook: 300 with a largest contribution of 200 and a share of 0.5 moves by 0.5 * 200 * 1.

    >>> import pandas as pd
    >>> from tabprotect.table.tabulate import tabulate
    >>> data = pd.DataFrame({"region": ["n", "n"], "turnover": [200.0, 100.0]})
    >>> cells = tabulate(data, "region", "turnover")
    >>> problem = Problem(cells.system, cells.values, *np.zeros((4, 1)), np.ones(1), np.zeros(1), np.full(1, np.inf))
    >>> table = PerturbationTable(
    ...     np.array([-1.0, 0, 1]), np.array([[0, 1, 0], [0.5, 0, 0.5], [0.1, 0.8, 0.1], [0.3, 0.4, 0.3]])
    ... )
    >>> def moved(share):
    ...     keys = np.array([int(0.8 * KEYS)])
    ...     return cell_key_magnitudes(problem, keys, table, Flex(share, share, 1.0), cells, same_key=True).values[0]
    >>> float(moved(0.5)), float(moved(0.6))
    (400.0, 360.0)
    """
    keys = _checked_keys(problem, keys)
    top = len(flex.weights)
    c = contributions.contributions
    if contributions.n_cells != problem.n_cells:
        raise InputError(f"the table has {contributions.n_cells} cells, the problem {problem.n_cells}")
    if c is None or c.values.shape[1] < top:
        kept = 0 if c is None else c.values.shape[1]
        raise InputError(
            f"the {top} largest contributions are needed, the table keeps {kept}: give top={top} to tabulate"
        )
    if c.shadow is not None:
        raise InputError("contributions are of a shadow variable; noise is made from those of the value itself")
    if table.probabilities.shape[0] <= table.deviation:
        raise InputError("the perturbation table needs a row for every whole number up to its deviation")
    values = problem.values.copy()
    free = problem.may_hide
    variance = np.zeros(len(values))
    for j in range(top):
        scale = flex.share(c.values[:, j]) * flex.weights[j] * c.values[:, j]
        size = np.abs(values)
        noisy = free & (scale > 0) & (size > 0)
        a = np.divide(size, scale, out=np.zeros(len(size)), where=noisy)
        below = np.minimum(np.floor(a), len(table.probabilities) - 1).astype(np.int64)
        part = np.clip(a - below, 0.0, 1.0)
        part[below == len(table.probabilities) - 1] = 0.0
        key = keys if same_key and j == 0 else other_key(keys, j + 1)
        low, high = (table.lookup(below + k, key) for k in (0, 1))
        noise = (1 - part) * low + part * high
        moved = values + np.sign(values) * np.where(noisy, scale, 0.0) * noise
        values = np.where(np.sign(moved) * np.sign(values) < 0, 0.0, moved)
        spread = table.variance[np.minimum(below, len(table.variance) - 1)]
        variance += np.where(noisy, scale**2 * spread, 0.0)
    if decimals is not None:
        values = np.where(free, np.round(values, decimals) + 0.0, values)
    return CellKeyResult(problem, values, Additivity.of(problem, values), float(variance.mean()) if top else 0.0)


def _checked_keys(problem: Problem, keys: Ints | Sequence[int]) -> Ints:
    array = np.asarray(keys)
    if array.shape != (problem.n_cells,):
        raise InputError(f"keys have shape {array.shape}; {problem.n_cells} cells need ({problem.n_cells},)")
    if not np.issubdtype(array.dtype, np.integer) or np.any((array < 0) | (array >= KEYS)):
        raise InputError(f"keys must be whole numbers from 0 to {KEYS - 1}; make them with cell_keys")
    return array.astype(np.int64)
