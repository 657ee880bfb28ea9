"""A store of deviations: sparse z with A z = 0 that answer questions of an audit, under any pattern that hides them."""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.keys import Questions
from tabprotect.solver.connected import connected
from tabprotect.solver.growing import GrowingRows
from tabprotect.solver.ranges import entries_of
from tabprotect.solver.tolerances import LEVEL, RESIDUAL

__all__ = ["Deviation", "Pool", "split"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class Deviation(NamedTuple):
    """Another table that the intruder cannot rule out: values + z, with z = 0 outside `cells`.

    Attributes
    ----------
    cells : ndarray of int
        Cells that move, ascending.
    z : ndarray of float
        By how much, in the unit of the values.
    """

    cells: Ints
    z: Floats


def _digest(deviation: Deviation) -> bytes:
    return blake2b(deviation.cells.tobytes() + deviation.z.tobytes(), digest_size=16).digest()


def split(columns: sparse.csc_array, cells: Ints, z: Floats, ends: Ints) -> tuple[Ints, Floats, Ints, Floats]:
    """Split deviations into parts that no equation joins.

    Parameters
    ----------
    columns : scipy.sparse.csc_array
        All equations.
    cells : ndarray of int, shape (entries,)
        Deviation k moves those from ``ends[k]`` to ``ends[k + 1]``, ascending.
    z : ndarray of float, shape (variants, entries)
        Several movements of the same cells.
    ends : ndarray of int, shape (deviations + 1,)

    Returns
    -------
    cells, z, ends, residual
        Of all parts, as `Pool.add` takes them; the largest amount by which a part breaks an equation is its residual.

    Examples
    --------
    >>> A = sparse.csc_array([[1.0, 1, 0, 0], [0, 0, 1, 1]])
    >>> found = split(A, np.arange(4), np.array([[2.0, -2, 3, -3.5]]), np.array([0, 4]))
    >>> [each.tolist() for each in found]
    [[0, 1, 2, 3], [2.0, -2.0, 3.0, -3.5], [0, 2, 4], [0.0, 0.5]]
    """
    n = len(cells)
    entry, sizes = entries_of(columns.indptr, cells)
    column = np.repeat(np.arange(n), sizes)
    owner = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    rows, local = np.unique(columns.indices[entry] + columns.shape[0] * owner[column], return_inverse=True)
    off = [np.bincount(local, columns.data[entry] * each[column], len(rows)) for each in z]
    label = connected(column, n + local, n + len(rows))
    worst = np.zeros((int(label.max(initial=-1)) + 1, len(z)))
    np.maximum.at(worst, label[n:], np.abs(np.stack(off, axis=1)))
    order = np.argsort(label[:n], kind="stable")
    parts = np.searchsorted(label[order], np.arange(len(worst)))
    bounds = np.append((parts + n * np.arange(len(z))[:, None]).ravel(), n * len(z))
    return np.tile(cells[order], len(z)), z[:, order].ravel(), bounds, worst.T.ravel()


class Pool:
    """Deviations, the cells that each needs hidden, and the questions that each answers.

    Parameters
    ----------
    questions : Questions
    n_cells : int
    max_entries : int
        When the deviations hold more entries than this, those not used for longest are forgotten.
    """

    def __init__(self, questions: Questions, n_cells: int, max_entries: int = 20_000_000) -> None:
        self._questions = questions
        self._n_cells = n_cells
        self._max_entries = max_entries
        self._deviations: list[Deviation] = []
        self._answers: list[Ints] = []
        self._spans: list[tuple[Ints, Floats]] = []
        self._entries = 0
        self._used: list[int] = []
        self._number: dict[bytes, int] = {}
        self._clock = 0
        self._built = 0
        self._clear_matrices()

    def _clear_matrices(self) -> None:
        self._built = 0
        asked = len(self._questions.cell)
        self._supports = GrowingRows(self._n_cells, np.int32)
        self._answered = GrowingRows(asked, np.int32)
        self._span = GrowingRows(asked, np.float64)

    def __len__(self) -> int:
        return len(self._deviations)

    def __getitem__(self, number: int) -> Deviation:
        return self._deviations[number]

    def add(self, cells: Ints, z: Floats, ends: Ints, residual: Floats) -> Ints:
        """Store deviations, number k from ``ends[k]`` to ``ends[k + 1]``; return the questions that one answers alone.

        Those that answer nothing, alone or as one side of a sliding level, are left out; what is stored already counts
        as used once more.
        """
        n = len(residual)
        which = np.repeat(np.arange(n), np.diff(ends))
        off = residual[which]
        (up, high), (down, low), (slides, slots) = (self._answered_by(side, cells, z, off) for side in (1, -1, 0))
        number, owner = np.concatenate([high, low]), which[np.concatenate([up, down])]
        order = np.lexsort((number, owner))
        number = number[order]
        own = np.searchsorted(owner[order], np.arange(n + 1))
        sliding = np.searchsorted(which[slides], np.arange(n + 1))
        for k in np.flatnonzero(np.diff(own) + np.diff(sliding)).tolist():
            mine, part = slice(ends[k], ends[k + 1]), slice(sliding[k], sliding[k + 1])
            self._clock += 1
            deviation = Deviation(cells[mine].copy(), z[mine].copy())
            before = self._number.setdefault(_digest(deviation), len(self._deviations))
            if before < len(self._deviations):
                self._used[before] = self._clock
                continue
            self._deviations.append(deviation)
            self._answers.append(number[own[k] : own[k + 1]])
            self._spans.append((slots[part], z[slides[part]]))
            self._used.append(self._clock)
            self._entries += int(ends[k + 1] - ends[k])
            if self._entries > self._max_entries:
                self._forget()
        return number

    def _answered_by(self, side: int, cells: Ints, z: Floats, residual: Floats) -> tuple[Ints, Ints]:
        """Return which entries of deviations answer a question about a side (0: may help to), and which question."""
        q = self._questions
        place = q.place[side][cells]
        at = np.flatnonzero(place >= 0)
        need = q.need[place[at]]
        good = residual[at] <= RESIDUAL * need
        if side:
            good &= side * z[at] >= need * (1 - LEVEL)
        at = at[good]
        return at, place[at]

    def _forget(self) -> None:
        order = np.argsort(-np.array(self._used), kind="stable")
        size = np.cumsum([len(self._deviations[i].cells) for i in order])
        kept = sorted(order[: max(1, int(np.searchsorted(size, self._max_entries // 2)))].tolist())
        self._deviations = [self._deviations[i] for i in kept]
        self._answers = [self._answers[i] for i in kept]
        self._spans = [self._spans[i] for i in kept]
        self._used = [self._used[i] for i in kept]
        self._number = {_digest(d): i for i, d in enumerate(self._deviations)}
        self._entries = sum(len(d.cells) for d in self._deviations)
        self._clear_matrices()

    def _build(self) -> None:
        """Extend the matrices by what was added since."""
        if self._built == len(self._deviations):
            return
        new = slice(self._built, None)
        supports = [d.cells for d in self._deviations[new]]
        for matrix, rows in ((self._supports, supports), (self._answered, self._answers[new])):
            matrix.extend(rows, [np.ones(len(row), np.int32) for row in rows])
        spans = self._spans[new]
        self._span.extend([cells for cells, _ in spans], [z for _, z in spans])
        self._built = len(self._deviations)

    def supports(self, which: Ints) -> sparse.csr_array:
        """A row for each of the given deviations: 1 at the cells that it moves."""
        self._build()
        return self._supports.matrix[which]

    def answers(self, which: Ints) -> sparse.csr_array:
        """A row for each of the given deviations: 1 at the questions that it answers alone."""
        self._build()
        return self._answered.matrix[which]

    def spans(self, which: Ints) -> sparse.csr_array:
        """A row for each of the given deviations: how far it moves the cell of every sliding question."""
        self._build()
        return self._span.matrix[which]

    def valid(self, hidden: Bools) -> Ints:
        """Deviations that move hidden cells only."""
        self._build()
        if not self._built:
            return np.zeros(0, np.int64)
        outside = self._supports.matrix @ (~hidden).astype(np.int32)
        return np.flatnonzero(outside == 0)

    def answered(self, valid: Ints) -> Bools:
        """Which questions the given deviations answer (two together may answer a sliding one)."""
        self._build()
        rows = self._answered.matrix
        here = np.zeros(rows.shape[0], bool)
        here[valid] = True
        yes = np.zeros(len(self._questions.cell), bool)
        yes[rows.indices[np.repeat(here, np.diff(rows.indptr))]] = True
        if self._span.entries:
            part = self._span.matrix[valid]
            high, low = (np.zeros(len(yes)) for _ in range(2))
            np.maximum.at(high, part.indices, part.data)
            np.minimum.at(low, part.indices, part.data)
            sliding = self._questions.side == 0
            yes |= sliding & (high - low >= self._questions.need * (1 - LEVEL))
        for i in valid.tolist():
            self._used[i] = self._clock
        return np.asarray(yes, bool)

    def cover(self, valid: Ints) -> Ints:
        """Some of the given deviations that answer all that one of them answers, and all that answer sliding ones."""
        answered = np.zeros(len(self._questions.cell), bool)
        chosen = []
        for i in sorted(valid.tolist(), key=lambda i: (-len(self._answers[i]), i)):
            if not answered[self._answers[i]].all() or len(self._spans[i][0]):
                answered[self._answers[i]] = True
                chosen.append(i)
        return np.array(chosen, np.int64)

    def avoiding(self, valid: Ints, known: Ints) -> Ints:
        """Those of the given deviations that leave all `known` cells where they are."""
        mark = np.zeros(self._n_cells, np.int32)
        mark[known] = 1
        return np.asarray(valid[(self.supports(valid) @ mark) == 0], np.int64)

    def cheapest(self, question: int, price: Floats) -> tuple[Deviation, ...]:
        """One of all deviations that answer a question alone: the one whose cells have the least sum of prices, if any.

        Parameters
        ----------
        question : int
        price : ndarray of float, shape (cells,)
            inf for cells that it must not move.
        """
        self._build()
        answers = self._answered.matrix
        rows = np.searchsorted(answers.indptr, np.flatnonzero(answers.indices == question), side="right") - 1
        prices = self.supports(rows) @ price
        if not np.isfinite(prices).any():
            return ()
        return (self._deviations[rows[int(np.argmin(prices))]],)

    def best(self, valid: Ints, question: int) -> tuple[Deviation, ...]:
        """Smallest of the given deviations that answer a question: one, or an upper and a lower one if it slides."""
        self._build()
        if self._questions.side[question] == 0:
            column = self._span.matrix[valid][:, [question]].toarray().ravel() if len(valid) else np.zeros(0)
            need = float(self._questions.need[question])
            if not len(column) or max(column.max(), 0.0) - min(column.min(), 0.0) < need * (1 - LEVEL):
                return ()
            none = Deviation(np.zeros(0, np.int64), np.zeros(0))
            ends = (int(np.argmax(column)), int(np.argmin(column)))
            return (
                self._deviations[valid[ends[0]]] if column[ends[0]] > 0 else none,
                self._deviations[valid[ends[1]]] if column[ends[1]] < 0 else none,
            )
        rows = valid[self.answers(valid)[:, [question]].toarray().ravel() > 0] if len(valid) else valid
        if not len(rows):
            return ()
        return (min((self._deviations[i] for i in rows.tolist()), key=lambda d: len(d.cells)),)
