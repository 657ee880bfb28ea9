"""Local search on a partition: records move to another group, or two of different groups change places.

In every round the best change of each record is found, and those are made that are the best for both groups that they
touch; they do not interfere, so the sum of squares falls by the sum of their gains. Where none is left, groups are
dissolved among their neighbours, or made of records that theirs can spare, if that gains. It ends where no change gains
anything, or with the limit of rounds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabprotect.microdata.masking.microaggregation.partition import renumber, sum_of_squares
from tabprotect.microdata.masking.microaggregation.regroup import regroup
from tabprotect.microdata.masking.microaggregation.search import Search

__all__ = ["Improved", "improve"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Improved:
    """A partition after local search.

    Attributes
    ----------
    group : ndarray of int, shape (records,)
    rounds : int
    settled : bool
        Whether no change of the neighbourhood gains anything; else the limit of rounds was reached.
    """

    group: Ints
    rounds: int
    settled: bool


def improve(points: Floats, group: Ints, k: int, rounds: int, neighbours: int | None = None) -> Improved:
    """Lower the sum of squares of a partition by moves and swaps; sizes stay within k and 2k - 1.

    Parameters
    ----------
    points : ndarray of float, shape (records, coordinates)
    group : ndarray of int, shape (records,)
        Groups of k to 2k - 1 records.
    k, rounds : int
    neighbours : int, optional
        A record may join the groups of so many nearest records; 2k + 10 by default.

    Examples
    --------
    >>> improve(np.array([[0.0], [9.0], [1.0], [10.0]]), np.array([0, 0, 1, 1]), 2, 10).group.tolist()
    [0, 1, 0, 1]
    """
    search = Search(points, renumber(group), k, neighbours or 2 * k + 10)
    done = 0
    while done < rounds and (search.round() or regroup(search)):
        done += 1
    settled = done < rounds
    better = sum_of_squares(points, search.group) <= sum_of_squares(points, group)
    return Improved(renumber(search.group if better else group), done, settled)
