"""Families of protection problems that span the field, from a dozen to tens of thousands of cells.

Those of `FAMILIES` are built from synthetic microdata with the p% rule (10) and the threshold rule (3); those of
`tabprotect.instances.margins.DRAWN` draw their primaries. Same name, seed and sizes, same problem, on every machine.

Examples
--------
>>> problem = family("flat2d", seed=1, rows=4, columns=5)
>>> problem.n_cells, len(problem.primaries)
(30, 1)
"""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tabprotect.errors import InputError, collect, did_you_mean
from tabprotect.instances.holdings import holdings
from tabprotect.instances.margins import DRAWN
from tabprotect.instances.microdata import Microdata, draw, flat, grown, protection_problem
from tabprotect.instances.register import SIZES, hrc, register
from tabprotect.instances.streams import Stream
from tabprotect.kinds import check_given, of_kinds
from tabprotect.problem import Problem
from tabprotect.table.hierarchy import Hierarchy

__all__ = ["FAMILIES", "family", "microdata"]

#: What a family hands over: records and how to make a problem of them.
Made = tuple[Microdata, dict[str, Any]]

EVEN = 0.4
"""Spread of the numbers of children where all seeds are to make problems of about one size."""


def flat2d(stream: Stream, *, rows: int = 10, columns: int = 10, per_cell: float = 8.0, cost: str = "value") -> Made:
    """One table of two dimensions without subtotals."""
    dimensions = {"row": flat("r", rows), "column": flat("c", columns)}
    return draw(dimensions, per_cell, stream), {"cost": cost}


def flat3d(stream: Stream, *, a: int = 6, b: int = 6, c: int = 6, per_cell: float = 12.0, cost: str = "value") -> Made:
    """One table of three dimensions without subtotals."""
    dimensions = {"a": flat("a", a), "b": flat("b", b), "c": flat("c", c)}
    return draw(dimensions, per_cell, stream), {"cost": cost}


def hier2d(
    stream: Stream,
    *,
    activity: Sequence[int] = (4, 3, 3),
    region: Sequence[int] = (3, 3),
    per_cell: float = 8.0,
    cost: str = "value",
) -> Made:
    """Activity by region, both hierarchical; the numbers are the average numbers of children on each level."""
    dimensions = {"activity": grown("A", activity, stream), "region": grown("R", region, stream)}
    return draw(dimensions, per_cell, stream), {"cost": cost}


def hier3d(
    stream: Stream,
    *,
    activity: Sequence[int] = (4, 3),
    region: Sequence[int] = (3, 3),
    size: int = 4,
    per_cell: float = 8.0,
    cost: str = "value",
) -> Made:
    """Activity by region by size class, the first two hierarchical, as in business statistics."""
    dimensions = {
        "activity": grown("A", activity, stream),
        "region": grown("R", region, stream),
        "size": flat("s", size),
    }
    return draw(dimensions, per_cell, stream), {"cost": cost}


def linked(
    stream: Stream,
    *,
    activity: Sequence[int] = (4, 3),
    region: Sequence[int] = (3, 3),
    size: int = 5,
    legal: int = 4,
    per_cell: float = 10.0,
    cost: str = "value",
) -> Made:
    """Four linked tables: activity x region, activity x size, region x size x legal form, activity x legal form."""
    dimensions = {
        "activity": grown("A", activity, stream),
        "region": grown("R", region, stream),
        "size": flat("s", size),
        "legal": flat("l", legal),
    }
    data = draw(dimensions, per_cell, stream, over=("activity", "region"))
    tables = [("activity", "region"), ("activity", "size"), ("region", "size", "legal"), ("activity", "legal")]
    return data, {"tables": tables, "cost": cost}


def singletons(
    stream: Stream,
    *,
    activity: Sequence[int] = (4, 3),
    region: Sequence[int] = (3, 2),
    per_cell: float = 3.0,
    holdings: float = 0.3,
    cost: str = "value",
) -> Made:
    """A thin hierarchical table with holdings: many cells have one contributor, and each of these is an attacker."""
    dimensions = {"activity": grown("A", activity, stream), "region": grown("R", region, stream)}
    data = draw(dimensions, per_cell, stream, holdings=holdings)
    return data, {"singletons": True, "cost": cost}


def sparse(
    stream: Stream,
    *,
    activity: Sequence[int] = (5, 3),
    region: Sequence[int] = (4, 3),
    size: int = 5,
    per_cell: float = 2.0,
    zeros: str = "fixed",
    cost: str = "value",
) -> Made:
    """A three-dimensional hierarchical table in which most inner cells are empty."""
    dimensions = {
        "activity": grown("A", activity, stream),
        "region": grown("R", region, stream),
        "size": flat("s", size),
    }
    data = draw(dimensions, per_cell, stream, skew=1.2)
    return data, {"zeros": zeros, "cost": cost}


def unit(
    stream: Stream, *, activity: Sequence[int] = (4, 3), region: Sequence[int] = (3, 3), per_cell: float = 8.0
) -> Made:
    """A hierarchical table in which every suppression costs one: many equal optima."""
    dimensions = {"activity": grown("A", activity, stream), "region": grown("R", region, stream)}
    return draw(dimensions, per_cell, stream), {"cost": "unit"}


def bounded(
    stream: Stream,
    *,
    activity: Sequence[int] = (4, 3),
    region: Sequence[int] = (3, 3),
    per_cell: float = 8.0,
    bounds: float = 50.0,
    cost: str = "value",
) -> Made:
    """A hierarchical table whose cells everybody knows to within `bounds` percent."""
    dimensions = {"activity": grown("A", activity, stream), "region": grown("R", region, stream)}
    return draw(dimensions, per_cell, stream), {"bounds": bounds, "cost": cost}


def business(
    stream: Stream, *, n: int = 20_000, activity: str = "division", p: float = 15.0, singletons: bool = False
) -> Made:
    """Turnover by activity, region and size class from `tabprotect.instances.register` with the same seed."""
    frame = register(n, seed=stream.seed[0])
    dimensions = {
        activity: Hierarchy.from_hrc(hrc(activity)),
        "nuts": Hierarchy.from_hrc(hrc("nuts")),
        "size": Hierarchy.flat(SIZES),
    }
    holder = frame["group_id"].fillna(frame["enterprise_id"])
    records = Microdata(dimensions, frame.assign(holder=holder, value=frame["turnover"].astype(float)))
    return records, {"p": p, "singletons": singletons}


def wide(
    stream: Stream,
    *,
    activity: Sequence[int] = (14, 8),
    region: Sequence[int] = (12,),
    per_cell: float = 6.0,
    cost: str = "value",
) -> Made:
    """Activity by region with many children of every code and few levels: equations of many cells.

    Parameters
    ----------
    stream : Stream
    activity, region : sequence of int
        Average numbers of children on each level.
    per_cell : float
        Records per inner cell, on average.
    cost : {'value', 'unit', 'count'}

    Examples
    --------
    >>> p = family("wide", seed=1, activity=(12,), region=(9,))
    >>> p.n_cells, p.system.n_equations
    (90, 19)
    """
    dimensions = {
        "activity": grown("A", activity, stream, EVEN),
        "region": grown("R", region, stream, EVEN),
    }
    return draw(dimensions, per_cell, stream), {"cost": cost}


def deep(
    stream: Stream,
    *,
    activity: Sequence[int] = (2, 2, 3, 2, 2, 2),
    region: Sequence[int] = (2, 2, 2),
    per_cell: float = 6.0,
    cost: str = "value",
) -> Made:
    """Activity by region with few children of every code and many levels: short equations that reach far.

    Parameters
    ----------
    stream : Stream
    activity, region, per_cell, cost
        See `wide`.

    Examples
    --------
    >>> p = family("deep", seed=1, activity=(2, 2, 2, 2), region=(2, 2))
    >>> p.n_cells, p.system.n_equations
    (217, 198)
    """
    dimensions = {"activity": grown("A", activity, stream), "region": grown("R", region, stream)}
    return draw(dimensions, per_cell, stream), {"cost": cost}


#: The families with records behind them, by name.
FAMILIES: dict[str, Callable[..., Made]] = {
    function.__name__: function
    for function in (
        *(flat2d, flat3d, hier2d, hier3d, linked, singletons, sparse, unit, bounded, business),
        *(wide, deep, holdings),
    )
}


def _checked(name: str, known: Mapping[str, Callable[..., Any]], size: dict[str, Any]) -> None:
    """Raise if there is no such family or size."""
    if name not in known:
        raise InputError(f"there is no family '{name}'{did_you_mean(name, known)}")
    keys = [key for key in inspect.signature(known[name]).parameters if key != "stream"]
    with collect() as problems:
        for key in size:
            if key not in keys:
                problems.add(f"family '{name}' has no size '{key}'{did_you_mean(key, keys)}")
    check_given(known[name], size)


def _stream(name: str, seed: int) -> Stream:
    return Stream(seed, zlib.crc32(name.encode()))


@of_kinds()
def family(name: str, seed: int = 0, **size: Any) -> Problem:
    """Make one problem of a family.

    Parameters
    ----------
    name : str
        A key of `FAMILIES` or `tabprotect.instances.margins.DRAWN`.
    seed : int
    **size
        Sizes and shape, the keyword parameters of the family's function.

    Returns
    -------
    Problem

    Raises
    ------
    InputError
        If there is no such family or size.

    Examples
    --------
    >>> family("hier2d", seed=3).status.shape == family("hier2d", seed=3).values.shape
    True
    """
    _checked(name, {**FAMILIES, **DRAWN}, size)
    if name in DRAWN:
        return DRAWN[name](_stream(name, seed), **size)
    data, how = FAMILIES[name](_stream(name, seed), **size)
    return protection_problem(data, **how)


def microdata(name: str, seed: int = 0, **size: Any) -> Microdata:
    """Return the records behind `family` with the same arguments.

    Raises
    ------
    InputError
        If there is no such family or size, or its problems are drawn without records.
    """
    if name in DRAWN:
        raise InputError(f"family '{name}' is drawn without records; these have some: {', '.join(sorted(FAMILIES))}")
    _checked(name, FAMILIES, size)
    return FAMILIES[name](_stream(name, seed), **size)[0]
