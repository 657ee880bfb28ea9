"""Fields that are hidden in the hull of protecting vectors: answers, checks and changes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.counted import counted
from tabprotect.errors import InputError, SolverError, collect, did_you_mean
from tabprotect.query.camouflage.answering import Answering
from tabprotect.query.camouflage.bounds import Bounds, Covering, Lattice, required
from tabprotect.query.camouflage.build import at_random
from tabprotect.query.camouflage.construction import draw_patterns, group_sums, rows_in_order
from tabprotect.query.camouflage.data import Grouping, Table, groups_of, numbers, read
from tabprotect.query.camouflage.intruder import ranges_given
from tabprotect.query.camouflage.ranges import ROUNDING
from tabprotect.query.camouflage.vectors import Vectors

__all__ = ["Camouflage", "Protection", "checked"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Protection:
    """The check of protecting vectors, from the vectors alone. Internal.

    Attributes
    ----------
    values : int
        Confidential values.
    uncovered : int
        Those whose range over the hull is short of what is required: 0, or nothing is built.
    residual : float
        Largest distance of a true value from its weighted mean of the vectors, relative to the entries of its row.
    candidates : int
        Vectors of the hull that are as likely as the true one to who knows all protecting vectors: one for every choice
        of weights. None of them is a protecting vector.
    """

    values: int
    uncovered: int
    residual: float
    candidates: int


@dataclass(frozen=True, eq=False)
class Camouflage(Answering):
    """A table whose confidential fields are hidden in the hull of protecting vectors.

    What answers (`vectors`, `public`) knows no true value. `table`, `parts`, `weights` and `seed` are
    internal: whoever has the weights has all values.

    Attributes
    ----------
    vectors : Vectors
    public : Mapping of str to ndarray
    n : int
        Number of records.
    version : int
        0, and one more after every change.
    """

    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    workload: tuple[Grouping, ...] = ((),)
    version: int = 0
    table: Table = field(repr=False, kw_only=True)
    units: Mapping[str, float] = field(kw_only=True)
    steps: int = field(kw_only=True)
    parts: Ints = field(repr=False, kw_only=True)
    seed: int = field(repr=False, kw_only=True)

    @property
    def weights(self) -> Floats:
        """The secret weights."""
        return np.asarray(self.parts / self.steps)

    def protection(self) -> Protection:
        """Check again that every range is covered and that the hull contains the true vector."""
        uncovered, residual, columns = 0, 0.0, self.table.columns()
        for name, p in self.vectors.of.items():
            l, u = required(self.bounds[name], columns, p)
            size = np.abs(p).max(axis=1, initial=0.0)
            slack = 0.0 if isinstance(self.bounds[name], Covering) else ROUNDING * size
            uncovered += int(np.sum((p.min(axis=1) > l + slack) | (p.max(axis=1) < u - slack)))
            off = np.abs(p @ self.weights - self.table.values[name])[size > 0] / size[size > 0]
            residual = max(residual, float(off.max(initial=0.0)))
        candidates = math.comb(self.steps - 1, self.vectors.k - 1)
        return Protection(self.n * len(self.vectors.of), uncovered, residual, candidates)

    def ranges_given(self, known: Mapping[str, Sequence[int]]) -> dict[str, tuple[Floats, Floats]]:
        """Return what somebody concludes who has all answers and knows some true values. Internal.

        Parameters
        ----------
        known : Mapping of str to sequence of int
            Positions of the records whose values are known, by field.

        Returns
        -------
        dict of str to (ndarray, ndarray)
            Least and largest possible value of every record.
        """
        with collect() as problems:
            for name in known:
                if name not in self.vectors.of:
                    problems.add(f"there is no confidential field '{name}'{did_you_mean(name, self.vectors.of)}")
        pairs = [(name, self._positions(list(records))) for name, records in known.items()]
        rows = np.concatenate([np.zeros((0, self.vectors.k)), *(self.vectors.of[name][at] for name, at in pairs)])
        values = np.concatenate([np.zeros(0), *(self.table.values[name][at] for name, at in pairs)])
        return {name: ranges_given(p, rows, values) for name, p in self.vectors.of.items()}

    def insert(self, frame: Any) -> Camouflage:
        """Return a new version with more records, given in a frame with the same columns; old rows stay as they are."""
        new = read(frame, list(self.vectors.of), self.bounds, list(self.public))
        table = self.table.with_records(new)
        added = np.arange(self.n, table.n)
        grown = {f: np.vstack([p, np.zeros((new.n, self.vectors.k))]) for f, p in self.vectors.of.items()}
        return self._changed(table, grown, dict.fromkeys(grown, added))

    def delete(self, records: Sequence[int]) -> Camouflage:
        """Return a new version without some records, given by position."""
        keep = np.setdiff1d(np.arange(self.n), self._positions(records))
        rows = {f: p[keep] for f, p in self.vectors.of.items()}
        return self._changed(self.table.only(keep), rows, {})

    def update(self, records: Sequence[int], values: Mapping[str, Any]) -> Camouflage:
        """Return a new version with other values of some records.

        Values that stay the same keep their rows, others get a new pattern; the weights never change.

        Parameters
        ----------
        records : sequence of int
            Positions, each once.
        values : Mapping of str to sequence
            New values by confidential field (and by column of bounds).
        """
        at = self._positions(records)
        old = {**self.table.values, **self.table.bounds}
        with collect() as problems:
            if len(set(at.tolist())) != len(at):
                problems.add("each record may be updated once only")
            for name in values:
                if name not in old:
                    problems.add(f"column '{name}' is no confidential one{did_you_mean(name, old)}")
        with collect() as problems:
            new = {c: numbers(x, c, problems.add, infinite=c in self.table.bounds) for c, x in values.items()}
            for c, x in new.items():
                if x.shape != at.shape:
                    problems.add(f"column '{c}': {counted(x.size, 'value')} for {counted(len(at), 'record')}")
        merged = {c: _with(x, at, new[c]) if c in new else x for c, x in old.items()}
        table = replace(
            self.table,
            values={f: merged[f] for f in self.table.values},
            bounds={c: merged[c] for c in self.table.bounds},
        )
        touched = {}
        for name, b in self.bounds.items():
            mine = (name, b.lower, b.upper) if isinstance(b, Covering) else (name,)
            touched[name] = at[np.any([merged[c][at] != old[c][at] for c in mine], axis=0)]
        return self._changed(table, dict(self.vectors.of), touched)

    def _changed(self, table: Table, rows: dict[str, Floats], touched: Mapping[str, Ints]) -> Camouflage:
        version, groups = self.version + 1, groups_of(table, self.workload)
        rng = np.random.default_rng([self.seed, 1, version])
        for name, p in rows.items():
            records = touched.get(name, np.zeros(0, np.int64))
            lattice = Lattice(self.units[name], self.steps, self.vectors.k)
            rule = self.bounds[name].rows(table.values[name], table.columns(), name, lattice)
            others = p.copy()
            others[records] = 0.0
            patterns, choose = draw_patterns(table.n, self.vectors.k, rng), at_random(rng.random(table.n))
            others[records] = rows_in_order(
                table.values[name],
                self.parts,
                patterns,
                rule,
                groups,
                records.tolist(),
                choose,
                group_sums(others, groups),
                p if table.n == self.n else None,
            )
            rows[name] = others
        new = replace(self, vectors=Vectors(rows), public=table.public, n=table.n, table=table, version=version)
        return checked(new)

    def _positions(self, records: Sequence[int]) -> Ints:
        found = np.asarray(records)
        if found.size == 0:
            return np.zeros(0, np.int64)
        if found.ndim != 1 or found.dtype.kind not in "iu" or found.min() < 0 or found.max() >= self.n:
            raise InputError(f"records are given by positions from 0 to {self.n - 1}")
        return np.asarray(found, np.int64)


def checked(made: Camouflage) -> Camouflage:
    """Return what was made, if its vectors hide every value as far as they must.

    Raises
    ------
    SolverError
    """
    found = made.protection()
    if found.uncovered or found.residual > ROUNDING / 4:
        raise SolverError(
            f"vectors cannot be built in floating-point numbers: {found.uncovered} of {found.values} ranges are short, "
            f"relative error {found.residual:.1e}; give the fields in other units or wider bounds"
        )
    return made


def _with(column: Floats, at: Ints, new: Floats) -> Floats:
    changed = column.copy()
    changed[at] = new
    return changed
