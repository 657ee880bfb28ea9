"""From microdata to the table of swapped records, and to what that leaves to an intruder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError
from tabprotect.methods.inner_cells import inner_cells
from tabprotect.methods.record_swapping import swap_records
from tabprotect.methods.record_swapping.method import Swap, Swapped
from tabprotect.problem import Status
from tabprotect.sensitivity.assess import Levels, assess
from tabprotect.sensitivity.requirements import Rules
from tabprotect.table.table import Table
from tabprotect.table.tabulate import tabulate

__all__ = ["swap_table"]

ROLES = ("value", "shadow", "cost", "contributor", "holding", "weight", "request", "waiver", "kind")


def swap_table(
    data: pd.DataFrame, table: Table, method: Swap, seed: int, roles: Mapping[str, Any], rules: Rules, levels: Levels
) -> Swapped:
    """Swap records, and make the same table of them.

    Parameters
    ----------
    data : DataFrame
    table : Table
        Of these records.
    method : Swap
    seed : int
        Whoever knows it can undo the swaps.
    roles : mapping
        How the table was tabulated (`ROLES`).
    rules, levels
        Which cells look sensitive to those who see the published table.

    Raises
    ------
    InputError
        Columns that do not fit, empty cells that everybody knows to be zero, a table that no swap changes.
    """
    if (table.columns.get("status", np.zeros(0, object)) == "z").any():
        raise InputError("swap: empty cells may be filled by swapped records, so they are no known zeros: empty='zero'")
    done = swap_records(
        data, geography=method.geography, risk=method.risk, similar=method.similar,
        household=method.household, k=method.k, rate=method.rate, seed=seed,
    )  # fmt: skip
    if not any(set(d.columns) & set(method.geography) for d in table.dimensions):
        names = ", ".join(method.geography)
        raise InputError(f"swap: no dimension of the table is of {names}, so swapping them changes nothing in it")
    given = {name: roles[name] for name in ROLES if roles.get(name) is not None}
    by = list(table.dimensions)
    finest = [d.columns[-1] for d in by if set(d.columns) & set(method.geography)]
    given["both_levels"] = table.holdings is not None
    again = tabulate(done.frame, by, top=max(1, _kept(table)), empty="zero", **given)
    moved = (done.frame[finest] != data[finest]).any(axis=1)
    flag = "moved"
    while flag in data:
        flag += "_"
    arrived = tabulate(done.frame.assign(**{flag: moved.astype(float)}), by, flag, top=1, empty="zero")
    assert arrived.counts is not None
    inner, _ = inner_cells(table.system)
    looks = inner[assess(again, rules, levels=levels).status[inner] == Status.PRIMARY]
    shown, foreign = float(arrived.counts[looks].sum()), float(arrived.values[looks].sum())
    return Swapped(
        again.values, _unchanged(table, method), len(data), int(moved.sum()), done.households, 2 * len(done.pairs),
        done.risky, len(done.unmatched), int(shown), int(shown - foreign),
    )  # fmt: skip


def _kept(table: Table) -> int:
    return 0 if table.contributions is None else table.contributions.values.shape[1]


def _unchanged(table: Table, method: Swap) -> npt.NDArray[np.int64]:
    """Cells over all areas; and counts by areas of nothing but that in which partners are alike."""
    alike = set.intersection(*(set(columns) for columns in method.similar))
    rows = table.rows
    everywhere, similar = np.ones(len(rows), bool), np.ones(len(rows), bool)
    for d in table.dimensions:
        total = (rows[d.name] == d.known.total).to_numpy()
        if set(d.columns) & set(method.geography):
            everywhere &= total
        elif not set(d.columns) <= alike:
            similar &= total
    plain = table.kind == "frequency" and table.weighted_counts is None
    return np.unique(table.row_cell[everywhere | (similar if plain else False)])
