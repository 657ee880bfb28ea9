"""From synthetic microdata to a protection problem, for the benchmark families."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd

from tabprotect.instances.streams import Stream
from tabprotect.problem import Problem
from tabprotect.sensitivity.build import make_problem
from tabprotect.sensitivity.rules.p_percent import PPercent
from tabprotect.sensitivity.rules.threshold import Threshold
from tabprotect.table.dimension import Dimension
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.link import link
from tabprotect.table.tabulate import tabulate

__all__ = ["Microdata", "draw", "flat", "grown", "protection_problem"]


def flat(prefix: str, n: int) -> Hierarchy:
    """Return a total over n codes.

    Examples
    --------
    >>> flat("r", 2).codes
    ('Total', 'r1', 'r2')
    """
    return Hierarchy.flat([f"{prefix}{i + 1}" for i in range(n)])


def grown(prefix: str, children: Sequence[int], stream: Stream, spread: float = 1.0) -> Hierarchy:
    """Return a tree with `children` as the average number of children on each level (at least 2 everywhere).

    Numbers differ from the average by at most `spread`, between 0 and 1, times what it is above 2.

    Examples
    --------
    >>> grown("A", (2, 2), Stream(1)).codes
    ('Total', 'A1', 'A1.1', 'A1.2', 'A2', 'A2.1', 'A2.2')
    """
    splits: list[tuple[str, tuple[str, ...]]] = []
    level = ["Total"]
    for mean in children:
        below: list[str] = []
        half = round(spread * (mean - 2))
        for code, many in zip(level, stream.integers(mean - half, mean + half + 1, len(level)).tolist(), strict=True):
            start = prefix if code == "Total" else f"{code}."
            parts = tuple(f"{start}{i + 1}" for i in range(many))
            splits.append((code, parts))
            below += parts
        level = below
    return Hierarchy(tuple(splits))


@dataclass(frozen=True, eq=False)
class Microdata:
    """Records over several dimensions.

    Parameters
    ----------
    dimensions : mapping of str to Hierarchy
        By column of `frame`.
    frame : pandas.DataFrame
        One column a dimension, ``holder`` (records of one holder are one contribution to a cell) and ``value``.
    """

    dimensions: Mapping[str, Hierarchy]
    frame: pd.DataFrame


def draw(
    dimensions: Mapping[str, Hierarchy],
    per_cell: float,
    stream: Stream,
    *,
    over: Sequence[str] = (),
    skew: float = 0.6,
    sigma: float = 1.3,
    holdings: float = 0.0,
) -> Microdata:
    """Draw records.

    Parameters
    ----------
    dimensions : mapping of str to Hierarchy
    per_cell : float
        Records per inner cell, on average.
    over : sequence of str
        The dimensions whose inner cells are counted for that (all).
    skew : float
        Leaves are used with probabilities proportional to 1/rank**skew; 0 is uniform.
    sigma : float
        Standard deviation of the logarithm of the values; these are whole numbers >= 1.
    holdings : float
        Fraction of records that belong to a holding (of four records on average).
    """
    records = round(per_cell * np.prod([len(dimensions[name].leaves) for name in over or dimensions]))
    columns: dict[str, object] = {}
    for name, hierarchy in dimensions.items():
        rank = stream.order(len(hierarchy.leaves)) + 1.0
        columns[name] = np.array(hierarchy.leaves, dtype=object)[stream.choice(rank**-skew, records)]
    values = np.ceil(stream.lognormal(4.0, sigma, records))
    groups = max(1, round(records * holdings / 4))
    grouped = stream.uniform(records) < holdings
    holders = np.where(grouped, stream.integers(0, groups, records), groups + np.arange(records))
    return Microdata(dimensions, pd.DataFrame(columns | {"holder": holders, "value": values}))


def protection_problem(
    data: Microdata,
    *,
    tables: Sequence[Sequence[str]] | None = None,
    p: float = 10.0,
    threshold: int = 3,
    frequency_range: float = 30.0,
    cost: str = "value",
    bounds: float | None = None,
    singletons: bool = False,
    zeros: Literal["fixed", "free"] = "fixed",
) -> Problem:
    """Tabulate, mark the primaries by the p% and the threshold rule, and state the suppression problem.

    Parameters
    ----------
    tables : sequence of sequences of str, optional
        Dimensions of each of several linked tables; by default one table of all dimensions.
    p : float
        Percentage of the p% rule.
    threshold : int
        Smallest safe number of contributors; empty cells are safe.
    frequency_range : float
        Protection levels under the threshold, in percent of the value.
    cost : {'value', 'unit', 'count'}
        What hiding a cell costs; at least 1.
    bounds : float, optional
        External bounds in percent of the value on both sides; by default 0 below, none above.
    singletons : bool
        Every sole contributor of cells is an attacker who knows these cells; levels are then upper ones only.
    zeros : {'fixed', 'free'}
        Whether empty cells are known to be empty, or may be hidden like any other.
    """
    made = [
        tabulate(
            data.frame,
            [Dimension(name, data.dimensions[name]) for name in names],
            "value",
            contributor="holder",
            empty="structural" if zeros == "fixed" else "zero",
        )
        for names in (tables or [tuple(data.dimensions)])
    ]
    problem = make_problem(
        made[0] if len(made) == 1 else link(made),
        [PPercent(p), Threshold(threshold, frequency_range)],
        cost=cost,
        bounds=None if bounds is None else f"{bounds:g}%",
        singletons=singletons,
        # against somebody who knows most of a cell a lower level is out of reach; the rules' formulas are upper ones
        levels="upper" if singletons else "symmetric",
    )
    return replace(problem, weights=np.maximum(problem.weights, 1.0))
