"""A smaller statement of the same adjustment problem: cells that always move together are one, dependent rows go."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.errors import InfeasibleError
from tabprotect.methods.adjustment.options import DEFAULTS
from tabprotect.methods.adjustment.statement import Statement
from tabprotect.solver.exact.elimination import Elimination, Stopped, eliminate
from tabprotect.solver.qp import Cone
from tabprotect.solver.stops import Stop

__all__ = ["Reduction", "reduce"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Reduction:
    """The smaller statement and the way back.

    Attributes
    ----------
    statement : Statement
    back : csr_array, shape (n, reduced n)
        z = back @ reduced z.
    leader : ndarray of int, shape (k,)
        For every old primary its primary in the smaller statement.
    turned : ndarray of int, shape (k,)
        -1 where the old primary moves against its leader, else +1.
    """

    statement: Statement
    back: sparse.csr_array
    leader: Ints
    turned: Ints

    def senses(self, reduced: Ints) -> Ints:
        """Senses of the old primaries."""
        return np.asarray(reduced[self.leader] * self.turned)

    def leading(self, senses: Ints) -> Ints:
        """Senses of the new primaries; of tied ones that are asked to part, one decides."""
        new = np.zeros(self.statement.k, np.int64)
        new[self.leader] = senses * self.turned
        return new


def reduce(
    statement: Statement, label: object = str, most_cells: int = DEFAULTS.reduced_cells, stop: Stop | None = None
) -> Reduction:
    """Tie cells that are multiples of each other in every solution, and drop equations that follow from others.

    A statement with more than `most_cells` cells is left as it is, and so is one whose elimination `stop` ends.

    Raises
    ------
    InfeasibleError
        If the equations alone (or cells tied together) let a primary move to neither side.
    """
    st = statement
    plain = (st.row_lower == 0) & (st.row_upper == 0)
    equations = sparse.csr_array(st.A[np.flatnonzero(plain)])
    as_it_is = Reduction(st, sparse.eye_array(st.n, format="csr"), np.arange(st.k), np.ones(st.k, np.int64))
    if st.n > most_cells or not st.k:
        return as_it_is
    try:
        elimination = eliminate(equations, stop=stop)
    except Stopped:
        return as_it_is
    leader, ratio = _ties(elimination, st)
    kept = np.unique(leader[ratio != 0])
    place = np.full(st.n, -1, np.int64)
    place[kept] = np.arange(len(kept))
    some = np.flatnonzero(ratio != 0)
    back = sparse.csr_array((ratio[some], (some, place[leader[some]])), shape=(st.n, len(kept)))
    lower, upper = _bounds(st, ratio[some], some, place[leader[some]], len(kept))
    size = {"l1": np.abs(ratio), "l2": ratio**2, "linf": np.abs(ratio)}[st.norm] * st.weights
    weights = np.zeros(len(kept))
    (np.maximum if st.norm == "linf" else np.add).at(weights, place[leader[some]], size[some])

    stuck = st.primaries[ratio[st.primaries] == 0]
    if len(stuck):
        raise _stuck("the equations do not let these cells move at all", st, stuck, label)
    own = place[leader[st.primaries]]
    primaries, new = np.unique(own, return_inverse=True)
    r = ratio[st.primaries]
    up, down = np.zeros(len(primaries)), np.zeros(len(primaries))
    np.maximum.at(up, new, np.where(r > 0, st.up, st.down) / np.abs(r))
    np.maximum.at(down, new, np.where(r > 0, st.down, st.up) / np.abs(r))
    caught = (np.isinf(up) | (up > upper[primaries])) & (np.isinf(down) | (down > -lower[primaries]))
    if caught.any():
        together = st.primaries[caught[new]]
        raise _stuck(
            "cells that move together with these let them move to neither side by their level", st, together, label
        )
    rows = np.concatenate((np.flatnonzero(plain)[elimination.independent], np.flatnonzero(~plain)))
    smaller = replace(
        st,
        A=sparse.csr_array(st.A[rows] @ back),
        row_lower=st.row_lower[rows],
        row_upper=st.row_upper[rows],
        lower=lower,
        upper=upper,
        weights=weights,
        primaries=primaries,
        up=up,
        down=down,
        cones=tuple(
            Cone(sparse.csr_array(c.F @ back), c.offset, c.radius, np.asarray(back.T @ c.slope)) for c in st.cones
        ),
        cells=st.cells[kept],
    )
    return Reduction(smaller, back, np.asarray(new, np.int64), np.where(r > 0, 1, -1))


def _ties(elimination: Elimination, st: Statement) -> tuple[Ints, Floats]:
    """Return of every cell the one that it moves with, and how much for each unit of that: 0 where it cannot move."""
    zero, tied = elimination.ties(np.random.default_rng(0))
    if st.step is not None:
        # whole steps and ratios other than 1 do not go together
        tied = [tie for tie in tied if abs(tie[2]) == 1]
    leader, ratio = np.arange(st.n), np.ones(st.n)
    ratio[zero] = 0.0
    for j, i, s in tied:
        leader[j], ratio[j] = i, float(s)
    return leader, ratio


def _bounds(st: Statement, ratio: Floats, cells: Ints, place: Ints, n: int) -> tuple[Floats, Floats]:
    """Return how far each of n leaders can move, with all cells that move with it."""
    lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    ends = np.sort(np.stack((st.lower[cells] / ratio, st.upper[cells] / ratio)), axis=0)
    np.maximum.at(lower, place, ends[0])
    np.minimum.at(upper, place, ends[1])
    return lower, upper


def _stuck(what: str, st: Statement, cells: Ints, label: object) -> InfeasibleError:
    assert callable(label)
    names = [label(int(st.cells[i])) for i in cells[:5]]
    return InfeasibleError(f"{what}: {', '.join(names)}{f' and {len(cells) - 5} more' if len(cells) > 5 else ''}")
