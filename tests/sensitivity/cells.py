"""Tables from lists of contributors, written without the package's tabulation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from tabprotect.table.system import LinearSystem
from tabprotect.table.table import Contributions, Table


class Unit(NamedTuple):
    """One contributor to one cell."""

    value: float
    weight: float = 1.0
    holder: int = -1
    waived: bool = False
    request: int = 0


def units(*values: float) -> list[Unit]:
    return [Unit(value) for value in values]


def table_of(cells: list[list[Unit]], keep: int = 5, system: LinearSystem | None = None, **more: Any) -> Table:
    """A table whose cells are given by their contributors; equations only where a system is given."""
    n = len(cells)
    shape = (n, keep)
    values, weights = np.zeros(shape), np.zeros(shape)
    holders = np.full(shape, -1)
    waived, requested = np.zeros(shape, bool), np.zeros(shape, np.int8)
    unwaived, unwaived_holder = np.zeros(n), np.full(n, -1)
    for i, cell in enumerate(cells):
        ordered = sorted(cell, key=lambda unit: -abs(unit.value))
        for j, unit in enumerate(ordered[:keep]):
            values[i, j], weights[i, j] = abs(unit.value), unit.weight
            holders[i, j], waived[i, j], requested[i, j] = unit.holder, unit.waived, unit.request
        free = [unit for unit in ordered if not unit.waived]
        if free:
            unwaived[i], unwaived_holder[i] = abs(free[0].value), free[0].holder
    contributions = Contributions(
        total=np.array([sum(abs(u.value) * u.weight for u in cell) for cell in cells], float),
        values=values,
        weights=weights,
        holders=holders,
        waived=waived,
        requested=requested,
        unwaived=unwaived,
        unwaived_holder=unwaived_holder,
        names=np.array([f"holding {i}" for i in range(1 + holders.max(initial=-1))], dtype=object),
        shadow=more.pop("shadow", None),
    )
    if system is None:
        system = LinearSystem(sparse.csr_array((0, n)), np.zeros(0), pd.RangeIndex(n))
    arguments: dict[str, Any] = {
        "values": np.array([sum(u.value * u.weight for u in cell) for cell in cells], float),
        "counts": np.array([len(cell) for cell in cells], float),
        "weighted_counts": np.array([sum(u.weight for u in cell) for cell in cells], float),
        "contributions": contributions,
    }
    return Table(system, **(arguments | more))
