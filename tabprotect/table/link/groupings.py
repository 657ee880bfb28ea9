"""Tables that group the same codes differently: the codes below, which nobody publishes, tie them together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from tabprotect.errors import InputError, collect, did_you_mean
from tabprotect.table.codes import some
from tabprotect.table.table import Table

__all__ = ["grouped_differently", "without_codes"]


def without_codes(table: Table, unpublished: Mapping[str, Iterable[Any]]) -> Table:
    """Return the table with cells of some codes suppressed and not published, unless they have a status of their own.

    Parameters
    ----------
    table : Table
    unpublished : mapping of str to codes
        By dimension.

    Raises
    ------
    InputError
        Dimensions and codes that there are not.
    """
    if not isinstance(unpublished, Mapping):
        raise InputError(f"unpublished must be codes by dimension, such as {{'age': ['0-4']}}, not {unpublished!r}")
    cells = table.system.cells.to_frame(index=False).astype(str)
    closed, below = np.zeros(table.n_cells, bool), np.zeros(len(table.rows), bool)
    with collect() as problems:
        for name, codes in unpublished.items():
            if name not in cells:
                problems.add(f"unpublished: there is no dimension '{name}'{did_you_mean(name, cells.columns)}")
                continue
            wanted = list(dict.fromkeys(map(str, codes)))
            known = set(cells[name])
            strange = [repr(code) for code in wanted if code not in known]
            if strange:
                problems.add(f"unpublished: '{name}' has no code {some(strange)}")
            closed |= cells[name].isin(wanted).to_numpy()
            below |= table.rows[name].astype(str).isin(wanted).to_numpy()
    status = np.array(table.columns.get("status", np.full(table.n_cells, "")), dtype=object)
    closed &= np.isin(status.astype(str), ("", "s", "None"))
    status[closed] = "m"
    return replace(table, columns={**table.columns, "status": status}, unpublished=below & closed[table.row_cell])


def grouped_differently(table: Table) -> list[str]:
    """Return the dimensions whose codes linked tables group differently, without common codes below.

    Examples
    --------
    >>> import pandas as pd
    >>> from tabprotect.table.link import link
    >>> tens, fifteens = (pd.DataFrame({"age": ["Total", *c], "v": v}) for c, v in (
    ...     (("0-9", "10-19", "20-29"), [9.0, 2, 3, 4]), (("0-14", "15-29"), [9.0, 4, 5])))
    >>> grouped_differently(link([Table.from_cells(one, "age", "v") for one in (tens, fifteens)]))
    ['age']
    """
    leaves: dict[str, list[tuple[set[str], set[str]]]] = {}
    for dimension in (one for dimensions in table.parts.values() for one in dimensions):
        tree = dimension.hierarchy
        if tree is not None:
            leaves.setdefault(str(dimension.name), []).append((set(tree.leaves), set(tree.codes)))
    return [
        name for name, trees in leaves.items() if any(a[0] - b[1] and b[0] - a[1] for a, b in combinations(trees, 2))
    ]
