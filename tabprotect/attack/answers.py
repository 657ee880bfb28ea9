"""Exact witnesses, and which questions they answer to whom."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.exact_problem import ExactProblem, ExactWitness
from tabprotect.solver.tolerances import LEVEL_TIE

__all__ = ["Answers", "View"]

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


class Answers:
    """Exact witnesses and the questions that they answer."""

    def __init__(self, exact: ExactProblem) -> None:
        self.exact = exact
        self.witnesses: list[ExactWitness] = []
        self.answered: list[Ints] = []
        self._known = [np.unique(np.asarray(a.known, np.int64)) for a in exact.problem.attackers]
        unasked = (np.array(sorted(a.unasked), np.int64) for a in exact.problem.attackers)
        self._unasked = [exact.questions.about(cells) for cells in unasked]

    def add(self, witness: ExactWitness) -> bool:
        """Keep a witness if it answers a question alone, or may answer a sliding one together with another."""
        answers = self.answers(witness)
        place = self.exact.questions.place[0][witness.cells]
        if not len(answers) and not (place >= 0).any():
            return False
        self.witnesses.append(witness)
        self.answered.append(answers)
        return True

    def answers(self, witness: ExactWitness) -> Ints:
        """Return the one-sided questions that a witness answers, exactly."""
        q, found = self.exact.questions, []
        for side in (1, -1):
            place = q.place[side][witness.cells]
            asked = np.flatnonzero(place >= 0)
            z = witness.z.numerators[asked].astype(object) * (side * self.exact.scale)
            need = self.exact.need[side][witness.cells[asked]].astype(object) * witness.z.denominator
            found.append(place[asked[(z >= need).astype(bool)]])
        return np.concatenate(found)

    def missing(self) -> list[tuple[int, Ints]]:
        """Return for the public (-1) and every attacker the questions that no witness answers."""
        q = self.exact.questions
        n, k, w = self.exact.problem.n_cells, len(q.cell), len(self.witnesses)
        answered = _rows(self.answered, k)
        total = np.bincount(answered.indices, minlength=k)
        sliding, moves = np.flatnonzero(q.side == 0), self._moves()
        total[sliding] = self._slides(sliding, moves, np.arange(w))
        public = np.flatnonzero(total == 0)
        result = [(-1, public)]
        if self._known:
            touches = sparse.csr_array(_rows(self._known, n) @ _rows([e.cells for e in self.witnesses], n).T)
            touches.data[:] = 1
            lost = sparse.csr_array(touches @ answered)
            for attacker, unasked in enumerate(self._unasked):
                part = slice(lost.indptr[attacker], lost.indptr[attacker + 1])
                gone = lost.indices[part][lost.data[part] == total[lost.indices[part]]]
                touched = touches.indices[touches.indptr[attacker] : touches.indptr[attacker + 1]]
                if len(sliding) and len(touched):
                    rest = np.setdiff1d(np.arange(w), touched)
                    gone = np.concatenate((gone, sliding[~self._slides(sliding, moves, rest)]))
                mine = total == 0
                mine[gone], mine[unasked] = True, False
                result.append((attacker, np.flatnonzero(mine)))
        return result

    def _moves(self) -> sparse.csr_array:
        """How far each witness moves the cell of each sliding question, in floating point."""
        q = self.exact.questions
        number = np.cumsum(q.side == 0) - 1
        rows, columns, moved = [], [], []
        for i, witness in enumerate(self.witnesses if np.any(q.side == 0) else ()):
            place = q.place[0][witness.cells]
            at = np.flatnonzero(place >= 0)
            rows += [i] * len(at)
            columns += number[place[at]].tolist()
            moved += [int(z) / witness.z.denominator for z in witness.z.numerators[at]]
        return sparse.csr_array((moved, (rows, columns)), shape=(len(self.witnesses), int(np.sum(q.side == 0))))

    def _slides(self, sliding: Ints, moves: sparse.csr_array, which: Ints) -> Bools:
        """Whether some witnesses together answer the sliding questions; what is close is left to fractions."""
        q, mine = self.exact.questions, sparse.csc_array(moves[which])
        if not len(sliding) or not len(which):
            return np.zeros(len(sliding), bool)
        width = np.maximum(mine.max(axis=0).toarray(), 0.0) - np.minimum(mine.min(axis=0).toarray(), 0.0)
        need = q.need[sliding]
        found: Bools = width >= need
        for k in np.flatnonzero(np.abs(width - need) <= LEVEL_TIE * need).tolist():
            cell = int(q.cell[sliding[k]])
            movers = [self.witnesses[i] for i in which[mine.indices[mine.indptr[k] : mine.indptr[k + 1]]].tolist()]
            z = [Fraction(0), *(e.z[int(np.searchsorted(e.cells, cell))] for e in movers)]
            found[k] = (max(z) - min(z)) * self.exact.scale >= int(self.exact.need[0][cell])
        return found


class View:
    """What the witnesses of a store answer to one intruder, who is not impressed by those that move what he knows."""

    def __init__(self, store: Answers, known: Ints) -> None:
        self._store = store
        self._known = np.zeros(store.exact.problem.n_cells, dtype=bool)
        self._known[known] = True
        self._answered = np.zeros(len(store.exact.questions.cell), dtype=bool)
        self._ends: dict[int, tuple[Fraction, Fraction]] = {}
        self._seen = 0

    def holds(self, question: int) -> bool:
        """Whether a question is answered by the witnesses of now."""
        store, q = self._store, self._store.exact.questions
        for number in range(self._seen, len(store.witnesses)):
            witness = store.witnesses[number]
            if self._known[witness.cells].any():
                continue
            self._answered[store.answered[number]] = True
            place = q.place[0][witness.cells]
            for j in np.flatnonzero(place >= 0).tolist():
                low, high = self._ends.get(int(place[j]), (Fraction(0), Fraction(0)))
                self._ends[int(place[j])] = min(low, witness.z[j]), max(high, witness.z[j])
        self._seen = len(store.witnesses)
        if q.side[question]:
            return bool(self._answered[question])
        low, high = self._ends.get(question, (Fraction(0), Fraction(0)))
        return (high - low) * store.exact.scale >= int(store.exact.need[0][q.cell[question]])


def _rows(indices: Sequence[Ints], width: int) -> sparse.csr_array:
    indptr = np.concatenate(([0], np.cumsum([len(i) for i in indices]))).astype(np.int64)
    flat = np.concatenate([np.zeros(0, np.int64), *indices])
    return sparse.csr_array((np.ones(len(flat), np.int64), flat, indptr), shape=(len(indices), width))
