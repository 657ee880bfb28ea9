"""Intruders who know cells: respondents to whose cells nobody else contributes, and those that are named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError, collect
from tabprotect.problem import Attacker, Problem
from tabprotect.sensitivity.concentration import counts
from tabprotect.table.naming import cell_of_table
from tabprotect.table.table import Table

__all__ = ["HOLDING", "knowing", "known_cells", "of_both_levels", "singletons"]

HOLDING: Final = "holding"
"""The name of an attacker who is no individual contributor begins with it."""


def singletons(table: Table, may_hide: npt.NDArray[np.bool_]) -> tuple[Attacker, ...]:
    """Return one attacker for every respondent (holding) who is the only contributor of a cell that may be hidden.

    Such a respondent knows all these cells exactly. Who it is comes from the contributions; in a finished table from a
    column ``holder``, and without either every cell of count 1 has an attacker of its own (what one knows of cells that
    must be equal to it, he finds through the equations). A record of sampling weight w is w contributors, so that it is
    a singleton for w = 1 only; several records are none, whatever their weights add up to. Tables without counts have
    no attackers; no count means no claim.

    Parameters
    ----------
    table : Table
    may_hide : ndarray of bool, shape (cells,)
        Cells that a pattern may suppress; what an attacker knows of others is published anyway.

    Returns
    -------
    tuple of Attacker
        In the order of their first cell; names are internal.

    Examples
    --------
    >>> from tabprotect.table.system import LinearSystem
    >>> system = LinearSystem.from_equations([("t", ["a", "b", "c"])])
    >>> table = Table(system, np.array([9.0, 4, 2, 3]), counts=np.array([4.0, 1, 1, 2]))
    >>> [(x.name, x.known) for x in singletons(table, np.ones(4, bool))]
    [('only contributor of a', (1,)), ('only contributor of b', (2,))]
    """
    if table.counts is None and table.weighted_counts is None and table.kind != "frequency":
        return ()
    alone = np.abs(counts(table) - 1) <= 1e-9
    if table.counts is not None:
        alone &= table.counts <= 1
    cells = np.flatnonzero(alone & may_hide)
    if not len(cells):
        return ()
    who, names = _holders(table, cells)
    known = who >= 0
    # those without a name get numbers of their own after all names
    who = np.where(known, who, len(names) + np.arange(len(cells)))
    order = np.argsort(who, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(who[order]) != 0])
    groups = sorted((group.tolist() for group in np.split(cells[order], starts[1:])), key=lambda group: group[0])
    holder = dict(zip(cells.tolist(), who.tolist(), strict=True))
    return tuple(
        Attacker(
            str(names[holder[group[0]]])
            if holder[group[0]] < len(names)
            else f"only contributor of {table.system.label(group[0])}",
            tuple(group),
        )
        for group in groups
    )


def of_both_levels(table: Table, may_hide: npt.NDArray[np.bool_]) -> tuple[Attacker, ...]:
    """Return the `singletons` of a table, and those of its holdings where rules look at both levels.

    A holding knows the cells of each of its members, and may know more. Both attack: a member must not compute what
    its holding knows, as long as a rule protects another member's cell. Who knows the same cells is one attacker.

    Parameters
    ----------
    table : Table
    may_hide : ndarray of bool, shape (cells,)

    Examples
    --------
    >>> from tabprotect.table.tabulate import tabulate
    >>> data = pd.DataFrame({"region": list("nsw"), "firm": list("abc"), "group": list("ggh"), "v": [5.0, 6.0, 7.0]})
    >>> table = tabulate(data, "region", "v", contributor="firm", holding="group", both_levels=True)
    >>> [(a.name, a.known, a.holding) for a in of_both_levels(table, np.ones(4, bool))]
    [('a', (1,), ''), ('b', (2,), ''), ('c', (3,), 'h'), ('holding g', (1, 2), 'g')]
    """
    found = {attacker.known: attacker for attacker in singletons(table, may_hide)}
    for attacker in () if table.holdings is None else singletons(table.holdings, may_hide):
        same = found.get(attacker.known, replace(attacker, name=f"{HOLDING} {attacker.name}"))
        found[attacker.known] = replace(same, holding=attacker.name)
    return tuple(found.values())


def knowing(problem: Problem, table: Table, attackers: Mapping[str, Sequence[Any]]) -> Problem:
    """Return a problem with further intruders, who know the cells that are named.

    Parameters
    ----------
    problem : Problem
    table : Table
        That it was made from.
    attackers : mapping of str to sequence of cells
        As `tabprotect.table.naming.cell_of_table` takes them. What is published anyway is known to all.

    Raises
    ------
    InputError
        Names every cell that there is not.

    Examples
    --------
    >>> from tabprotect.table.system import LinearSystem
    >>> system = LinearSystem.from_equations([("t", ["a", "b", "c"])])
    >>> table = Table(system, np.array([9.0, 4, 2, 3]))
    >>> problem = Problem.from_arrays(system.A, table.values, [1], lpl=1, upl=1)
    >>> knowing(problem, table, {"tax office": ["c", "b"]}).attackers[0].known
    (2, 3)
    """
    more = []
    for name, known in known_cells(table, attackers).items():
        hidden = tuple(sorted(cell for cell in known if problem.may_hide[cell]))
        if hidden:
            more.append(Attacker(name, hidden))
    return replace(problem, attackers=(*problem.attackers, *more)) if more else problem


def known_cells(table: Table, attackers: Mapping[str, Sequence[Any]]) -> dict[str, set[int]]:
    """Return by the name of each intruder the positions of the cells that he knows.

    Raises
    ------
    InputError
        Names every cell that there is not.
    """
    found: dict[str, set[int]] = {}
    with collect() as problems:
        for name, cells in attackers.items():
            found[name] = known = set()
            for cell in cells:
                try:
                    known.add(cell_of_table(table, cell))
                except InputError as error:
                    problems.found += [f"attacker '{name}': {problem}" for problem in error.problems]
    return found


def _holders(table: Table, cells: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.object_]]:
    """Return the number of the holder of every cell (-1 for unknown), and the names."""
    c = table.contributions
    if "holder" in table.columns:
        codes, names = pd.factorize(pd.Series(np.asarray(table.columns["holder"], dtype=object)[cells]))
        return codes.astype(np.int64), np.asarray(names, dtype=object)
    if c is not None and c.holders.shape[1]:
        return np.asarray(c.holders[cells, 0]), c.names
    if c is not None:
        return np.asarray(c.unwaived_holder[cells]), c.names
    return np.full(len(cells), -1, np.int64), np.zeros(0, dtype=object)
