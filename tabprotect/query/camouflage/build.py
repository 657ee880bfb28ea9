"""Building the rows of one field: orders, and the best of several where nothing but public widths decides."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, collect, did_you_mean
from tabprotect.query.camouflage.bounds import Absolute, Bounds, Lattice, Row, Rule
from tabprotect.query.camouflage.construction import Choose, Groups, exchange, rows_in_order, spread
from tabprotect.query.camouflage.data import Table, numbers

__all__ = ["at_random", "build", "orders_of", "unit_of"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

STARTS, SMALL = 10, 1000
"""Orders that are tried for up to so many records, where widths are public."""


def build(
    name: str,
    table: Table,
    bounds: Bounds,
    lattice: Lattice,
    weights: Ints,
    patterns: Floats,
    groups: Groups,
    orders: list[Ints],
    choose: Choose,
) -> Floats:
    """Build the rows of one field: in the first order, or the best of all orders where widths are public."""
    values, rule = table.values[name], bounds.rows(table.values[name], table.columns(), name, lattice)

    def in_order(rule: Rule, order: Ints) -> Floats:
        rows = np.empty(patterns.shape)
        rows[order] = rows_in_order(values, weights, patterns, rule, groups, order.tolist(), choose)
        return rows

    if not isinstance(bounds, Absolute):
        return in_order(rule, orders[0])

    # widths are public: everything but the place of the rows is settled before values and weights are looked at
    def without_place(i: int, a: float, pattern: Sequence[float], weights: Sequence[int]) -> list[Row]:
        return [(0.0, rule(i, a, pattern, weights)[0][1])]

    tried = [exchange(in_order(without_place, order), groups) for order in orders]
    best = min(tried, key=lambda rows: spread(rows, groups))
    return best + (values - best @ weights / lattice.steps)[:, None]


def at_random(picks: Floats) -> Choose:
    """Choose among admitted rows by one random number in [0, 1) for every record."""
    return lambda i, rows: rows[int(picks[i] * len(rows))]


def unit_of(values: Floats) -> float:
    """Return the last decimal of some values; of values with more than nine digits, the ninth of the largest one."""
    largest = float(np.abs(values).max(initial=0.0))
    finest = -9 + (math.ceil(math.log10(largest)) if largest > 0 else 9)
    for digits in range(max(1, -finest + 1)):
        if np.array_equal(np.round(values, digits), values):
            return float(10.0**-digits)
    return float(10.0**finest)


def orders_of(table: Table, bounds: Bounds, largest_first: str | None, rng: np.random.Generator) -> list[Ints]:
    """Orders in which rows are built: at random, or by descending public sizes; several where the best can be seen."""
    column = bounds.width if isinstance(bounds, Absolute) and isinstance(bounds.width, str) else largest_first
    first = rng.permutation(table.n)
    if column is not None:
        first = first[np.argsort(-_sizes(table, column)[first], kind="stable")]
    several = isinstance(bounds, Absolute) and table.n <= SMALL
    return [first, *(rng.permutation(table.n) for _ in range(STARTS - 1))] if several else [first]


def _sizes(table: Table, name: str) -> Floats:
    if name not in table.public:
        raise InputError(f"there is no public column '{name}'{did_you_mean(name, table.public)}")
    with collect() as problems:
        sizes = numbers(table.public[name], name, problems.add)
    return sizes
