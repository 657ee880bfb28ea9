"""Intruders who know cells, as a request names them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tabprotect.errors import InputError, collect
from tabprotect.problem import Attacker
from tabprotect.table.naming import cell_of_table
from tabprotect.table.table import Table

__all__ = ["attackers_of"]


def attackers_of(table: Table, given: Any) -> tuple[Attacker, ...]:
    """Return the attackers with the positions of the cells that they know.

    Parameters
    ----------
    table : Table
    given : sequence of Attacker, or mapping of str to sequence of cells
        Cells as `tabprotect.table.naming.cell_of_table` takes them.

    Raises
    ------
    InputError
        Everything that is no attacker, and every cell that is not there.

    Examples
    --------
    >>> import pandas as pd
    >>> from tabprotect.table.tabulate import tabulate
    >>> table = tabulate(pd.DataFrame({"region": ["N", "S"], "turnover": [3.0, 4.0]}), ["region"], "turnover")
    >>> attackers_of(table, {"bank": ["N"]})[0].known
    (1,)
    """
    named: Iterable[tuple[str, Any]]
    if isinstance(given, Mapping):
        named = given.items()
    elif isinstance(given, Iterable) and not isinstance(given, str) and all(isinstance(a, Attacker) for a in given):
        named = [(a.name, a.known) for a in given]
    else:
        raise InputError(
            "attackers must be a list of tabprotect.Attacker, or a mapping of names to the cells that they know, "
            f"such as {{'bank': ['ES211 x Food']}}; not {type(given).__name__}"
        )
    found = []
    with collect() as problems:
        for name, cells in named:
            if isinstance(cells, str) or not isinstance(cells, Iterable):
                problems.add(f"attacker '{name}' needs a list of cells, not {cells!r}")
                continue
            known = []
            for cell in cells:
                try:
                    known.append(cell_of_table(table, cell))
                except InputError as error:
                    problems.found += [f"attacker '{name}': {problem}" for problem in error.problems]
            found.append(Attacker(str(name), tuple(dict.fromkeys(known))))
    return tuple(found)
