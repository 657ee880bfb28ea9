"""Building the rows of one field: orders, and the best of several where nothing but public widths decides."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, collect, did_you_mean
from tabprotect.query.camouflage.bounds import Absolute, Bounds, Covering, Place
from tabprotect.query.camouflage.construction import Groups, exchange, rows_in_order, spread
from tabprotect.query.camouflage.data import Table, numbers
from tabprotect.query.camouflage.ranges import ROUNDING

__all__ = ["build", "covered", "orders_of"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

STARTS, SMALL = 10, 1000
"""Orders that are tried for up to so many records, where widths are public."""


def build(
    name: str, table: Table, rule: Bounds, weights: Floats, patterns: Floats, groups: Groups, orders: list[Ints]
) -> Floats:
    """Build the rows of one field: in the first order, or the best of all orders where widths are public."""
    values, place = table.values[name], rule.placement(table.values[name], table.columns(), name)
    if isinstance(rule, Absolute):
        # widths are public: everything but the place of the rows is settled before values and weights are looked at
        def without_place(i: int, a: float, t: float) -> tuple[float, float]:
            return 0.0, place(i, 0.0, 0.5)[1]

        tried = [exchange(_in_order(values, weights, patterns, without_place, groups, o), groups) for o in orders]
        best = min(tried, key=lambda rows: spread(rows, groups))
        return best - (best @ weights)[:, None] + values[:, None]
    return covered(_in_order(values, weights, patterns, place, groups, orders[0]), rule, table)


def _in_order(values: Floats, weights: Floats, patterns: Floats, place: Place, groups: Groups, order: Ints) -> Floats:
    rows = np.empty(patterns.shape)
    rows[order] = rows_in_order(values, weights, patterns, place, groups, order.tolist())
    return rows


def orders_of(table: Table, rule: Bounds, largest_first: str | None, rng: np.random.Generator) -> list[Ints]:
    """Orders in which rows are built: at random, or by descending public sizes; several where the best can be told."""
    column = rule.width if isinstance(rule, Absolute) and isinstance(rule.width, str) else largest_first
    first = rng.permutation(table.n)
    if column is not None:
        first = first[np.argsort(-_sizes(table, column)[first], kind="stable")]
    several = isinstance(rule, Absolute) and table.n <= SMALL
    return [first, *(rng.permutation(table.n) for _ in range(STARTS - 1))] if several else [first]


def covered(rows: Floats, rule: Bounds, table: Table) -> Floats:
    """Let rows reach required ends where rounding kept them from it by a last digit."""
    if not isinstance(rule, Covering):
        return rows
    mended, index = rows.copy(), np.arange(len(rows))
    down, up = rows.argmin(axis=1), rows.argmax(axis=1)
    low, high = table.bounds[rule.lower], table.bounds[rule.upper]
    wide = np.ptp(rows, axis=1) > 0
    size = ROUNDING * np.abs(rows).max(axis=1, initial=0.0)
    for at, end, best in ((down, low, np.minimum), (up, high, np.maximum)):
        near = wide & np.isfinite(end) & (np.abs(rows[index, at] - end) <= size)
        mended[index[near], at[near]] = best(rows[index, at], end)[near]
    return mended


def _sizes(table: Table, name: str) -> Floats:
    if name not in table.public:
        raise InputError(f"there is no public column '{name}'{did_you_mean(name, table.public)}")
    with collect() as problems:
        sizes = numbers(table.public[name], name, problems.add)
    return sizes
