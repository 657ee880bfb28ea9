"""Open classes at the ends of the dimensions of a table of records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from tabprotect.errors import InputError, collect, did_you_mean
from tabprotect.methods.recoding import RecodingRules
from tabprotect.methods.recoding.open_classes import open_classes
from tabprotect.sensitivity.requirements import Rules
from tabprotect.table.dimension import Dimension
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.table import Table
from tabprotect.table.tabulate import tabulate
from tabprotect.workflow.source import Source

__all__ = ["open_ends", "tabulated_anew"]

_ROLES = ("value", "shadow", "contributor", "holding", "weight", "request", "waiver", "kind", "empty", "both_levels")


def open_ends(
    source: Source, table: Table, wanted: Mapping[str, Sequence[str] | None], rules: Rules, top: int, memory: str | None
) -> tuple[Table, str, pd.DataFrame]:
    """Return the table of records with open classes at the ends of some dimensions, these in words, and the records.

    Parameters
    ----------
    source : Source
        Of records.
    table : Table
        Of them as they are.
    wanted : mapping of str to sequence of str or None
        Dimensions, and their categories in order.
    rules : rules
    top : int
        Contributions kept per cell.
    memory : str or None
        How much of it tabulation may take.

    Raises
    ------
    InputError
        Every dimension that there is not or that has levels; data without records.
    """
    roles = source.roles
    if roles is None:
        raise InputError("open classes are made of records, so they need microdata of one table")
    dimensions = {d.name: d for d in table.dimensions}
    with collect() as problems:
        for name in wanted:
            if name not in dimensions:
                problems.add(f"open: the table has no dimension '{name}'{did_you_mean(name, dimensions)}")
            elif len(dimensions[name].known.splits) != 1 or len(dimensions[name].columns) != 1:
                problems.add(f"open: '{name}' has levels, and open classes are of categories without any")
    frame, words = source.records(), []
    for name, order in wanted.items():
        old = dimensions[name]
        categories = _in_order(old) if order is None else [str(code) for code in order]
        found = open_classes(table, name, rules, categories)
        joined = [f"{', '.join(part)} in one class" for part in (found.bottom, found.top) if part]
        if joined:
            words.append(f"{name}: {'; '.join(joined)}{'' if found.safe else ' (not safe yet)'}")
        else:
            words.append(f"{name}: no open class {'needed' if found.safe else 'at its ends is safe'}")
        if found.recode is not None:
            frame = frame.assign(**{old.columns[0]: found.recode.apply(frame[old.columns[0]])})
            dimensions[name] = replace(old, hierarchy=_recoded(old, categories, found.recode), total=None)
    return tabulated_anew(frame, source, table, list(dimensions.values()), top, memory), "; ".join(words), frame


def tabulated_anew(
    frame: pd.DataFrame, source: Source, table: Table, dimensions: Sequence[Dimension], top: int, memory: str | None
) -> Table:
    """Return the table of recoded records over dimensions of their own, all else as before."""
    roles = source.roles or {}
    given = {name: roles[name] for name in _ROLES if roles.get(name) is not None}
    again = tabulate(frame, dimensions, cost=table.roles.get("cost"), top=top, memory_limit=memory, **given)
    return replace(again, backend=table.backend, recognised=table.recognised)


def _in_order(dimension: Dimension) -> list[str]:
    """Return the categories of a dimension, numbers by size, others as in its hierarchy; not those for 'unknown'."""
    hierarchy = dimension.known
    codes = [code for code in hierarchy.splits[0][1] if code not in dimension.missing]
    try:
        return sorted(codes, key=float)
    except ValueError:
        return codes


def _recoded(dimension: Dimension, categories: Sequence[str], rules: RecodingRules) -> Hierarchy:
    """Return the hierarchy of recoded categories, in their order, the rest behind them."""
    old = dimension.known
    rest = [code for code in old.splits[0][1] if code not in categories]
    new = rules.apply(pd.Series([*categories, *rest], dtype=object))
    return Hierarchy.flat(dict.fromkeys(map(str, new)), old.total)
