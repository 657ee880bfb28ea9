"""Cells that attackers know and a recoding gives up: their codes stay in the system, below those that are published."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from tabprotect.errors import InputError, collect
from tabprotect.methods.recoding.fewer_codes import codes_of_cells, without_cells
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.link.groupings import without_codes
from tabprotect.table.naming import cell_of_table
from tabprotect.table.table import Table
from tabprotect.workflow.open_ends import tabulated_anew
from tabprotect.workflow.source import Source

__all__ = ["Attackers", "Finer", "finer_table", "with_known"]

Attackers = Mapping[str, Sequence[Any]]


@dataclass(frozen=True, eq=False)
class Finer:
    """A table before its last recodings, and the cells that attackers know of it.

    Attributes
    ----------
    table : Table
    known : mapping of str to tuple
        By attacker, the keys of the cells.
    """

    table: Table = field(repr=False)
    known: Attackers


def finer_table(
    attackers: Attackers,
    source: Source,
    recoded: pd.DataFrame | None,
    table: Table,
    top: int,
    memory: str | None,
) -> Finer:
    """Find the cells that attackers know, in the table or in the one before its records were recoded.

    Parameters
    ----------
    attackers : mapping of str to sequence of cells
    source : Source
        Of the records as they came.
    recoded : DataFrame or None
        The same records with other codes; None where they have the same.
    table : Table
        Of the recoded records.
    top : int
        Contributions kept per cell.
    memory : str or None
        How much of it tabulation may take.

    Raises
    ------
    InputError
        Every cell that there is in neither, or that may be either an old or a new one.
    """
    if not attackers or not table.dimensions:
        return Finer(table, attackers)
    before = None if recoded is None else source.records()
    merged = {} if before is None or recoded is None else _merged(before, recoded, table)
    found = table
    if before is not None and recoded is not None and any(not _is_in(table, c) for a in attackers.values() for c in a):
        found = _before(source, before, recoded, merged, table, top, memory)
    known: dict[str, tuple[Any, ...]] = dict.fromkeys(attackers, ())
    names = [dimension.name for dimension in table.dimensions]
    with collect() as problems:
        for name, cell in ((name, cell) for name, cells in attackers.items() for cell in cells):
            within = table if _is_in(table, cell) else found
            try:
                key = within.system.cells[cell_of_table(within, cell)]
            except InputError as error:
                why = _swallowed(merged, cell)
                problems.found += [f"attacker '{name}': {problem}{why}" for problem in error.problems]
                continue
            if clash := _clash(merged, dict(zip(names, key if isinstance(key, tuple) else (key,), strict=True))):
                problems.add(f"attacker '{name}': {cell!r} may be another cell: {clash}")
            known[name] += (key,)
    return Finer(found, known)


def with_known(finer: Finer, table: Table) -> tuple[Table, str]:
    """Return a recoded table with what attackers know of the finer one, unpublished; and which codes that are.

    Of every code that was given up and above a known cell all parts stay: who knows one of them knows what the others
    add up to. What rules find sensitive among them gets levels.

    Parameters
    ----------
    finer : Finer
    table : Table
        What is left of it.
    """
    lost = [key for cells in finer.known.values() for key in cells if not _is_in(table, key)]
    if not lost or not table.dimensions:
        return table, ""
    hierarchies, removed, below = {}, np.zeros(finer.table.n_cells, bool), {}
    for d, (old, new) in enumerate(zip(finer.table.dimensions, table.dimensions, strict=True)):
        whole, left = old.known, new.known
        above = _above(whole, {str(key[d] if isinstance(key, tuple) else key) for key in lost})
        parents, kept, splits = {parent for parent, _ in left.splits}, {whole.total}, []
        for parent, parts in whole.splits:
            if parent in kept and parent in parents | above:
                splits.append((parent, parts))
                kept.update(parts)
        hierarchies[old.name] = Hierarchy(tuple(splits), (whole.total,), whole.labels)
        place = {code: whole.canonical[whole.position[code]] for code in kept}
        removed |= ~np.isin(codes_of_cells(finer.table, old, d), list(place.values()))
        shown = {place[code] for code in left.codes}
        if more := [code for code in hierarchies[old.name].codes if place[code] not in shown]:
            below[old.name] = more
    words = "; ".join(f"{name}: {', '.join(codes)}" for name, codes in below.items())
    kept_table = without_cells(finer.table, removed, hierarchies)
    return without_codes(kept_table, below), f"not published, but audited, since attackers know cells of them: {words}"


def _is_in(table: Table, cell: Any) -> bool:
    try:
        cell_of_table(table, cell)
    except InputError:
        return False
    return True


def _merged(before: pd.DataFrame, recoded: pd.DataFrame, table: Table) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return for every dimension of one column the old codes of every new one that differs from them."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for dimension in table.dimensions:
        column = dimension.columns[0]
        if len(dimension.columns) > 1 or column not in before:
            continue
        pairs = pd.DataFrame({"new": recoded[column], "old": before[column]}).dropna().astype(str).drop_duplicates()
        groups = {str(new): tuple(sorted(olds)) for new, olds in pairs.groupby("new")["old"]}
        found[dimension.name] = {new: olds for new, olds in groups.items() if olds != (new,)}
    return found


def _before(
    source: Source,
    before: pd.DataFrame,
    recoded: pd.DataFrame,
    merged: Mapping[str, Mapping[str, tuple[str, ...]]],
    table: Table,
    top: int,
    memory: str | None,
) -> Table:
    """Return the table with old codes below the new ones, but where an old one is called as a new one."""
    dimensions, frame = list(table.dimensions), recoded
    for d, dimension in enumerate(dimensions):
        hierarchy, column = dimension.known, dimension.columns[0]
        taken = set(hierarchy.codes)
        # a group that is called as one of its codes, or as another group's, cannot be distinguished from it
        parts = {new: olds for new, olds in merged.get(dimension.name, {}).items() if taken.isdisjoint(olds)}
        if parts:
            frame = frame.assign(**{column: recoded[column].where(~recoded[column].isin(parts), before[column])})
            finest = Hierarchy((*hierarchy.splits, *parts.items()), labels=hierarchy.labels)
            dimensions[d] = replace(dimension, hierarchy=finest, total=None)
    return tabulated_anew(frame, source, table, dimensions, top, memory)


def _clash(merged: Mapping[str, Mapping[str, tuple[str, ...]]], codes: Mapping[str, Any]) -> str:
    """Say which of the codes of a cell is an old one and a new one at once; nothing if none is."""
    for name, groups in merged.items():
        olds = groups.get(str(codes[name]), ())
        if str(codes[name]) in olds:
            return (
                f"'{codes[name]}' of {name} is one of {', '.join(olds)}, and what the recoding puts together of them; "
                "give the new code a name of its own"
            )
    return ""


def _swallowed(merged: Mapping[str, Mapping[str, tuple[str, ...]]], cell: Any) -> str:
    """Say why an old code of a cell is not there: one of those it was put together with is called as a new code."""
    given: Any = cell.values() if isinstance(cell, Mapping) else cell.split(" x ") if isinstance(cell, str) else cell
    codes = set(map(str, given)) if isinstance(given, Iterable) else {str(given)}
    for name, groups in merged.items():
        for new, olds in groups.items():
            if not codes.isdisjoint(olds):
                return (
                    f"; the recoding makes '{new}' of {', '.join(olds)} of {name}, and one of these is called as a new "
                    "code: give new codes names of their own"
                )
    return ""


def _above(hierarchy: Hierarchy, codes: set[str]) -> set[str]:
    """Return all codes that some codes are parts of, at whatever depth."""
    above: set[str] = set()
    for parent, parts in reversed(hierarchy.splits):
        if not (codes | above).isdisjoint(parts):
            above.add(parent)
    return above
