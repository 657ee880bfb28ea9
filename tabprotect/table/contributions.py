"""The largest contributions to every cell of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Contributions"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Contributions:
    """The largest contributions to every cell, after grouping by holding.

    Sorted by absolute size, largest first, ties by order of first appearance; rows are padded with zeros.

    Parameters
    ----------
    total : ndarray, shape (cells,)
        Weighted sum of absolute contributions of the shadow variable (equal to the cell value where it is that and
        nothing is negative).
    values : ndarray, shape (cells, k)
        Absolute contribution of one contributor (not multiplied by its sampling weight).
    weights : ndarray, shape (cells, k)
        Sampling weight: this contribution counts as that many contributors of the same value; 0 marks padding.
    holders : ndarray of int, shape (cells, k)
        Who it is: a position in `names`; -1 for unknown or padding.
    waived : ndarray of bool, shape (cells, k)
        The contributor consented to publication.
    requested : ndarray of int8, shape (cells, k)
        Request code of the contributor (0 none, 1 or 2: which of the two request percentages applies).
    unwaived : ndarray, shape (cells,)
        Largest contribution of a contributor without waiver (it need not be among the k largest).
    unwaived_holder : ndarray of int, shape (cells,)
        Who that is; -1 when everybody has waived.
    names : ndarray of object
        Names of contributors (or holdings); internal, never published.
    shadow : str, optional
        Name of the variable that the contributions are of, where that is not the cell value. Protection levels are then
        carried over as fractions of the total.
    lightest : float, optional
        The smallest sampling weight above 0 of any record, that of contributions that are not kept included.
    """

    total: Floats
    values: Floats
    weights: Floats
    holders: Ints
    waived: Bools
    requested: npt.NDArray[np.int8]
    unwaived: Floats
    unwaived_holder: Ints
    names: npt.NDArray[np.object_]
    shadow: str | None = None
    lightest: float | None = None

    def __repr__(self) -> str:
        cells, top = self.values.shape
        return f"Contributions(up to {top} for each of {cells:,} cells)"
