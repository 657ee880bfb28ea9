"""Columns under new, coarser labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.microdata.categories import Categories
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import NUMERIC, Scale

__all__ = ["number_label", "range_label", "relabelled"]

Ints = npt.NDArray[np.int64]


def relabelled(records: Records, name: str, labels: Sequence[Any], index: Ints, *, ordered: bool = False) -> Records:
    """Replace a column by labels, and have the schema say what the new column is.

    Parameters
    ----------
    records : Records
    name : str
    labels : sequence
    index : ndarray of int, shape (records,)
        Position of each record's label, -1 for none.
    ordered : bool
        The labels are in an order, lowest first.
    """
    schema = records.schema
    orders = {column: order for column, order in schema.orders.items() if column != name}
    scales = {column: scale for column, scale in schema.scales.items() if column != name}
    trees = dict(schema.hierarchies)
    if name in trees and not all(str(label) in trees[name].position for label in labels):
        del trees[name]
    if ordered and name not in trees:
        orders[name] = tuple(labels)
    elif name not in trees and records.scale(name) in NUMERIC:
        scales[name] = Scale.UNORDERED
    done = records.with_categories(name, Categories(tuple(labels), index))
    return replace(done, schema=replace(schema, orders=orders, scales=scales, hierarchies=trees))


def number_label(value: float) -> str:
    """Return a number as text, whole ones without a point.

    Examples
    --------
    >>> number_label(35.0), number_label(0.1)
    ('35', '0.1')
    """
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def range_label(low: float, high: float, whole: bool) -> str:
    """Return the label of the values from `low` up to, not including, `high`; infinite ends are open.

    Examples
    --------
    >>> range_label(20, 25, True), range_label(37, 39, False), range_label(80, np.inf, True)
    ('20-24', '[37, 39)', '>=80')
    """
    if np.isneginf(low) and np.isposinf(high):
        return "*"
    if np.isneginf(low):
        return f"<{number_label(high)}"
    if np.isposinf(high):
        return f">={number_label(low)}"
    if whole and low == int(low) and high == int(high):
        if high - low == 1:
            return number_label(low)
        dash = "-" if low >= 0 else ".."
        return f"{number_label(low)}{dash}{number_label(high - 1)}"
    return f"[{number_label(low)}, {number_label(high)})"
