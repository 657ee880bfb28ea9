"""A business register in which holdings own several units near each other, and attack with what they know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from tabprotect.errors import InputError, collect
from tabprotect.instances.microdata import Microdata, flat, grown
from tabprotect.instances.streams import Stream

__all__ = ["holdings"]

EVEN = 0.5
"""Spread of the numbers of children: all seeds make problems of about one size."""

SKEW = 0.5
"""Leaves are used with probabilities proportional to 1/rank**SKEW."""


def holdings(
    stream: Stream,
    *,
    activity: Sequence[int] = (5, 4),
    region: Sequence[int] = (4, 3),
    size: int = 3,
    per_cell: float = 4.0,
    owned: float = 0.35,
    units: float = 5.0,
    home: float = 0.6,
    sigma: float = 1.4,
    cost: str = "value",
) -> tuple[Microdata, dict[str, Any]]:
    """Turnover by activity, region and size class of units that belong to holdings.

    A holding has a favourite activity and region, and units of its own are larger than others by a factor of its own.
    Every holder who is the only contributor of cells is an attacker who knows all these cells.

    Parameters
    ----------
    stream : Stream
    activity, region : sequence of int
        Average numbers of children on each level.
    size : int
        Size classes, of equal numbers of units; 1: no such dimension.
    per_cell : float
        Units per inner cell, on average.
    owned : float
        Share of the units that belong to holdings.
    units : float
        Units of a holding, on average.
    home : float
        Share of its units that are in its activity, and share of those in its region.
    sigma : float
        Standard deviation of the logarithm of turnover among units of one holding, and among those of none.
    cost : {'value', 'unit', 'count'}

    Returns
    -------
    Microdata, dict
        Records and the keywords of `tabprotect.instances.microdata.protection_problem`.

    Raises
    ------
    InputError
        If a share or a number is impossible.

    Examples
    --------
    >>> data, how = holdings(Stream(1))
    >>> int(data.frame.groupby("holder").size().max()) > 5, how["singletons"]
    (True, True)
    """
    with collect() as problems:
        for name, share in {"owned": owned, "home": home}.items():
            if not 0 <= share <= 1:
                problems.add(f"the share '{name}' must lie between 0 and 1, not {share}")
        if size < 1 or per_cell <= 0 or units < 1:
            problems.add(f"size, per_cell and units must be positive, not {size}, {per_cell} and {units}")
    dimensions = {"activity": grown("A", activity, stream, EVEN), "region": grown("R", region, stream, EVEN)}
    n = round(per_cell * size * len(dimensions["activity"].leaves) * len(dimensions["region"].leaves))
    if n < 1:
        raise InputError(f"per_cell={per_cell} leaves no units")
    many = max(1, round(n * owned / units))
    # every holding has one unit, and the number of the others is nearly geometric
    shares = -np.log(stream.uniform(many))
    belongs = stream.uniform(n) < owned
    holder = np.where(belongs, stream.choice(shares, n), many + np.arange(n))
    first = np.flatnonzero(belongs)[:many]
    holder[first] = np.arange(len(first))
    columns: dict[str, Any] = {}
    for name, hierarchy in dimensions.items():
        leaves = np.array(hierarchy.leaves, dtype=object)
        weights = (stream.order(len(leaves)) + 1.0) ** -SKEW
        favourite = stream.choice(weights, many)
        at_home = belongs & (stream.uniform(n) < home)
        anywhere = stream.choice(weights, n)
        columns[name] = leaves[np.where(at_home, favourite[np.minimum(holder, many - 1)], anywhere)]
    scale = np.where(belongs, stream.lognormal(0.7, 1.0, many)[np.minimum(holder, many - 1)], 1.0)
    value = np.ceil(scale * stream.lognormal(4.0, sigma, n))
    if size > 1:
        dimensions["size"] = flat("s", size)
        rank = np.argsort(np.argsort(value, kind="stable"), kind="stable")
        columns["size"] = np.array(dimensions["size"].leaves, dtype=object)[rank * size // n]
    frame = pd.DataFrame(columns | {"holder": holder, "value": value})
    return Microdata(dimensions, frame), {"singletons": True, "cost": cost}
