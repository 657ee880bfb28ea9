"""Tabulation of data frames in memory, on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from tabprotect.errors import collect
from tabprotect.sums import Limbs
from tabprotect.table.codes import read_codes, rows_of, some
from tabprotect.table.grid import Grid
from tabprotect.table.levels import Measures, Totals, add_up, levels_of
from tabprotect.table.read import read_flags, read_ids, read_numbers
from tabprotect.table.tabulate.ranking import NO_REQUEST, Entries, rank
from tabprotect.table.tabulate.roles import Roles, Tabulated
from tabprotect.table.tabulate.rollup import roll_up

__all__ = ["tabulate_frame"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def tabulate_frame(frame: nw.DataFrame[Any], roles: Roles) -> Tabulated:
    """Tabulate a data frame whose columns are known to be there."""
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

    def holder_names(rows: Ints) -> Sequence[str]:
        return [
            roles.holder_name(
                None if holding is None or holding[row] < 0 else holdings[holding[row]],
                None if contributor is None else contributors[contributor[row]],
                int(row),
            )
            for row in rows
        ]

    ones = np.ones(n)
    value = ones if roles.value is None else numbers[roles.value]
    shadow = value if roles.shadow is None else numbers[roles.shadow]
    weight = None if roles.weight is None else numbers[roles.weight]
    cost = None if roles.cost is None else numbers[roles.cost]
    w = ones if weight is None else weight
    size = np.abs(shadow) * w
    measures = Measures(
        value=Limbs.of(value * w),
        shadow=Limbs.of(shadow),
        cost=Limbs.of(cost * w) if cost is not None else Limbs((1.0,)),
        weighted_shadow=Limbs.of(size),
        weight=Limbs.of(w, fractions=True) if weight is not None else Limbs((1.0,)),
        size=Limbs.of(size, fractions=True),
        weighted=weight is not None,
        lightest=None if weight is None else float(np.min(weight[weight > 0], initial=np.inf)),
        signed=bool((shadow < 0).any()),
        top=roles.top,
    )
    grid = Grid(tuple(d.known for d in dimensions), tuple(d.name for d in dimensions))
    cells, cell = np.unique(_leaf_key(leaves, grid), return_inverse=True)
    count = len(cells)
    leaf_cells = np.unravel_index(cells, [len(h.leaves) for h in grid.hierarchies])
    levels = levels_of([np.asarray(c) for c in leaf_cells], grid)
    negative = np.zeros(count, dtype=bool)
    negative[cell[(value < 0) | (shadow < 0)]] = True
    parts = measures.value.split(value if weight is None else value * weight)
    cost_parts = np.zeros((n, 0)) if cost is None else measures.cost.split(cost * w)
    size_parts = measures.total.split(size)
    value_sums, cost_sums, size_sums = (add_up(cell, limbs, count) for limbs in (parts, cost_parts, size_parts))
    totals = Totals(value_sums, cost_sums, size_sums, negative)
    columns: dict[str, npt.NDArray[Any]] = {"shadow": measures.shadow.split(shadow)}
    if weight is not None:
        columns["absolute"] = measures.shadow.split(np.abs(shadow))
        columns["weighted"] = measures.weighted_shadow.split(size)
        columns["light"] = columns["heavy"] = weight
    if measures.signed:
        columns["below"], columns["above"] = shadow < 0, shadow > 0
    if waived is not None:
        columns["waived"] = waived
    if requested is not None:
        columns["requested"] = np.where(requested > 0, requested, NO_REQUEST).astype(np.int8)
    if contributor is None and holding is None:
        every = Entries.of(cell, np.arange(n), columns, compacted=True)
        summary = roll_up(totals, rank(every, every.cell, count, measures), [], levels, measures)
    else:
        entries = Entries.of(cell, _holders(n, contributor, holding), columns)
        first = np.append(True, entries.holder[1:] != entries.holder[:-1])
        alone = first & np.append(first[1:], True)
        one, several = entries.at(np.flatnonzero(alone)), entries.at(np.flatnonzero(~alone))
        summary = roll_up(totals, rank(one, one.cell, count, measures), [several], levels, measures)
    return Tabulated(tuple(dimensions), grid, summary, measures, holder_names)


def _leaf_key(leaves: Sequence[Ints], grid: Grid) -> Ints:
    shape = [len(h.leaves) for h in grid.hierarchies]
    return np.asarray(np.ravel_multi_index(tuple(leaves), shape), dtype=np.int64)


def _holders(n: int, contributor: Ints | None, holding: Ints | None) -> Ints:
    """Return who every record belongs to, named by the first record of the same holder."""
    rows = np.arange(n)
    own = rows if contributor is None else contributor
    if contributor is None and holding is None:
        return rows
    key = own if holding is None else np.where(holding >= 0, -1 - holding, own)
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    return np.asarray(first[which], dtype=np.int64)
