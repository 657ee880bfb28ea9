"""Tabulation of data frames in memory, on arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from tabprotect.errors import collect
from tabprotect.sums import Limbs
from tabprotect.table.codes import read_codes, rows_of, some
from tabprotect.table.dimension import Dimension
from tabprotect.table.grid import Grid
from tabprotect.table.levels import Measures, Totals, add_up, levels_of
from tabprotect.table.read import read_flags, read_ids, read_numbers
from tabprotect.table.tabulate.entries import Entries
from tabprotect.table.tabulate.ranking import NO_REQUEST, rank
from tabprotect.table.tabulate.roles import Roles, Tabulated
from tabprotect.table.tabulate.rollup import roll_up

__all__ = ["tabulate_frame"]

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Columns:
    """The columns of a frame by role, one entry a record.

    Attributes
    ----------
    dimensions : tuple of Dimension
    leaves : tuple of ndarray
        Position of every record in each of them.
    numbers : dict of str to ndarray
    waived, requested : ndarray or None
    contributor, holding : ndarray or None
        Positions in the names `contributors` and `holdings`, -1 for none.
    """

    roles: Roles
    n: int
    dimensions: tuple[Dimension, ...]
    leaves: tuple[Ints, ...]
    numbers: Mapping[str, Floats]
    waived: Bools | None
    requested: npt.NDArray[Any] | None
    contributors: Sequence[Any]
    contributor: Ints | None
    holdings: Sequence[Any]
    holding: Ints | None

    def number(self, name: str | None, missing: Floats) -> Floats:
        """A column of numbers, or what stands for one that has no role."""
        return missing if name is None else self.numbers[name]

    def holder_names(self, rows: Ints) -> Sequence[str]:
        """Names of the holders to whom some records belong."""
        contributor, holding = self.contributor, self.holding
        return [
            self.roles.holder_name(
                None if holding is None or holding[row] < 0 else self.holdings[holding[row]],
                None if contributor is None else self.contributors[contributor[row]],
                int(row),
            )
            for row in rows
        ]

    def holders(self) -> Ints:
        """Who every record belongs to, named by the first record of the same holder."""
        rows = np.arange(self.n)
        own = rows if self.contributor is None else self.contributor
        key = own if self.holding is None else np.where(self.holding >= 0, -1 - self.holding, own)
        _, first, which = np.unique(key, return_index=True, return_inverse=True)
        return np.asarray(first[which], dtype=np.int64)


def tabulate_frame(frame: nw.DataFrame[Any], roles: Roles) -> Tabulated:
    """Tabulate a data frame whose columns are known to be there."""
    data = _read(frame, roles)
    ones = np.ones(data.n)
    value = data.number(roles.value, ones)
    shadow = data.number(roles.shadow, value)
    cost = None if roles.cost is None else data.numbers[roles.cost]
    w = data.number(roles.weight, ones)
    size = np.abs(shadow) * w
    measures = _measures(roles, value, shadow, cost, w, size)
    grid = Grid(tuple(d.known for d in data.dimensions), tuple(d.name for d in data.dimensions))
    cells, cell = np.unique(_leaf_key(data.leaves, grid), return_inverse=True)
    count = len(cells)
    leaf_cells = np.unravel_index(cells, [len(h.leaves) for h in grid.hierarchies])
    levels = levels_of([np.asarray(c) for c in leaf_cells], grid)
    negative = np.zeros(count, dtype=bool)
    negative[cell[(value < 0) | (shadow < 0)]] = True
    parts = measures.value.split(value * w if measures.weighted else value)
    cost_parts = np.zeros((data.n, 0)) if cost is None else measures.cost.split(cost * w)
    size_parts = measures.total.split(size)
    value_sums, cost_sums, size_sums = (add_up(cell, limbs, count) for limbs in (parts, cost_parts, size_parts))
    totals = Totals(value_sums, cost_sums, size_sums, negative)
    columns = _of_contributions(data, measures, shadow, w, size)
    if data.contributor is None and data.holding is None:
        every = Entries.of(cell, np.arange(data.n), columns, compacted=True)
        summary = roll_up(totals, rank(every, every.cell, count, measures), [], levels, measures)
    else:
        entries = Entries.of(cell, data.holders(), columns)
        first = np.append(True, entries.holder[1:] != entries.holder[:-1])
        alone = first & np.append(first[1:], True)
        one, several = entries.at(np.flatnonzero(alone)), entries.at(np.flatnonzero(~alone))
        summary = roll_up(totals, rank(one, one.cell, count, measures), [several], levels, measures)
    return Tabulated(data.dimensions, grid, summary, measures, data.holder_names)


def _read(frame: nw.DataFrame[Any], roles: Roles) -> _Columns:
    """Read all columns, and note at once all that is wrong with them."""
    n = len(frame)
    with collect() as problems:
        if n == 0:
            problems.add("the data hold no records")
        dimensions, leaves = [], []
        for wanted in roles.by:
            coded = [read_codes(frame[column], column) for column in wanted.columns]
            dimension, leaf = wanted.resolve(coded, problems)
            dimensions.append(dimension)
            leaves.append(leaf)
        numbers = {name: read_numbers(frame, name, problems, decimal=roles.decimal) for name in roles.numbers}
        for name, array in numbers.items():
            below, fraction = array < 0, array != np.floor(array)
            bad = below | fraction if roles.counts and name == roles.value else below
            if bad.any():
                roles.check_number(name, bool(below.any()), bool(fraction.any()), rows_of(bad), problems)
        waived = None if roles.waiver is None else read_flags(frame, roles.waiver, problems).astype(bool)
        requested = None if roles.request is None else read_flags(frame, roles.request, problems, most=2)
        contributors, contributor = ([], None) if roles.contributor is None else read_ids(frame, roles.contributor)
        holdings, holding = ([], None) if roles.holding is None else read_ids(frame, roles.holding)
        if contributor is not None and (contributor < 0).any():
            problems.add(f"column '{roles.contributor}' names no contributor in {rows_of(contributor < 0)}")
        if contributor is not None and holding is not None:
            pairs = np.unique(np.column_stack([contributor, holding]), axis=0)
            twice = np.unique(pairs[1:, 0][pairs[1:, 0] == pairs[:-1, 0]])
            if len(twice):
                names = some([repr(contributors[i]) for i in twice])
                problems.add(f"contributors in more than one holding ('{roles.holding}'): {names}")
    return _Columns(
        roles,
        n,
        tuple(dimensions),
        tuple(leaves),
        numbers,
        waived,
        requested,
        contributors,
        contributor,
        holdings,
        holding,
    )


def _measures(roles: Roles, value: Floats, shadow: Floats, cost: Floats | None, w: Floats, size: Floats) -> Measures:
    weighted = roles.weight is not None
    return Measures(
        value=Limbs.of(value * w),
        shadow=Limbs.of(shadow),
        cost=Limbs.of(cost * w) if cost is not None else Limbs((1.0,)),
        weighted_shadow=Limbs.of(size),
        weight=Limbs.of(w, fractions=True) if weighted else Limbs((1.0,)),
        size=Limbs.of(size, fractions=True),
        weighted=weighted,
        lightest=float(np.min(w[w > 0], initial=np.inf)) if weighted else None,
        signed=bool((shadow < 0).any()),
        top=roles.top,
    )


def _of_contributions(
    data: _Columns, measures: Measures, shadow: Floats, w: Floats, size: Floats
) -> dict[str, npt.NDArray[Any]]:
    """Return the columns that are added up, or compared, over the records of one holder in one cell."""
    columns: dict[str, npt.NDArray[Any]] = {"shadow": measures.shadow.split(shadow)}
    if measures.weighted:
        columns["absolute"] = measures.shadow.split(np.abs(shadow))
        columns["weighted"] = measures.weighted_shadow.split(size)
        columns["light"] = columns["heavy"] = w
    if measures.signed:
        columns["below"], columns["above"] = shadow < 0, shadow > 0
    if data.waived is not None:
        columns["waived"] = data.waived
    if data.requested is not None:
        columns["requested"] = np.where(data.requested > 0, data.requested, NO_REQUEST).astype(np.int8)
    return columns


def _leaf_key(leaves: Sequence[Ints], grid: Grid) -> Ints:
    shape = [len(h.leaves) for h in grid.hierarchies]
    return np.asarray(np.ravel_multi_index(tuple(leaves), shape), dtype=np.int64)
