"""Recoding before anything is hidden: by hand in the microdata, and the least roll-up of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from tabprotect.counted import counted
from tabprotect.errors import InfeasibleError, InputError, collect, did_you_mean
from tabprotect.methods.recoding import RecodingRules, least_recoding
from tabprotect.methods.recoding.open_classes import open_classes
from tabprotect.sensitivity.assess import Assessment, Rules
from tabprotect.solver.limits import Limits, Progress
from tabprotect.table.dimension import Dimension
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.table import Table
from tabprotect.table.tabulate import tabulate

if TYPE_CHECKING:
    from tabprotect.workflow.source import Source

__all__ = ["open_ends", "recode_microdata", "roll_up"]


def recode_microdata(frame: pd.DataFrame, by_hand: Mapping[str, Any]) -> pd.DataFrame:
    """Return microdata with columns recoded by hand.

    Parameters
    ----------
    frame : DataFrame
    by_hand : mapping of str to RecodingRules, path or str
        By column.

    Raises
    ------
    InputError
        Unknown columns, rules that cannot be read or do not fit the codes.
    """
    with collect() as problems:
        for column, given in by_hand.items():
            if column not in frame:
                problems.add(f"the recoding of '{column}' finds no such column{did_you_mean(column, frame.columns)}")
                continue
            try:
                rules = given if isinstance(given, RecodingRules) else RecodingRules.read(Path(given))
                frame = frame.assign(**{column: rules.apply(frame[column])})
            except InputError as error:
                problems.found += [f"{column}: {problem}" for problem in error.problems]
    return frame


_ROLES = ("value", "shadow", "contributor", "holding", "weight", "request", "waiver", "kind", "empty", "both_levels")


def open_ends(
    source: Source, table: Table, wanted: Mapping[str, Sequence[str] | None], rules: Rules, top: int, memory: str | None
) -> tuple[Table, str]:
    """Return the table of the records with open classes at the ends of some dimensions, and which these are, in words.

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
        unsafe = "" if found.safe else " (not safe yet)"
        joined = [f"{', '.join(part)} in one class" for part in (found.bottom, found.top) if part]
        words.append(f"{name}: {'; '.join(joined) or 'no open class needed'}{unsafe}")
        if found.recode is not None:
            frame = frame.assign(**{old.columns[0]: found.recode.apply(frame[old.columns[0]])})
            dimensions[name] = replace(old, hierarchy=_recoded(old, categories, found.recode), total=None)
    given = {name: roles[name] for name in _ROLES if roles.get(name) is not None}
    cost = table.roles.get("cost")
    again = tabulate(frame, list(dimensions.values()), cost=cost, top=top, memory_limit=memory, **given)
    return replace(again, backend=table.backend, recognised=table.recognised), "; ".join(words)


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


def roll_up(
    table: Table,
    assessment: Assessment,
    keep: Mapping[str, int],
    limits: Limits,
    progress: Callable[[Progress], None] | None,
) -> tuple[Table, str]:
    """Return the table without the parts of as few codes as possible, and what was given up, in words.

    Raises
    ------
    InfeasibleError
        If some sensitive cell has no code that may be given up.
    """
    result = least_recoding(table, assessment.primaries, keep=keep, limits=limits, progress=progress)
    if result.status == "infeasible":
        raise InfeasibleError(f"no recoding is rid of all sensitive cells: {result.message}")
    given_up = [f"{name}: {', '.join(codes)}" for name, codes in result.collapsed.items()]
    lost = "" if result.cost is None else f"{counted(int(result.removed.sum()), 'cell')} given up"
    bound = "" if result.bound is None else f", at least {result.bound:,.10g} needed"
    return result.recoded(), "; ".join([*given_up, lost + bound]) if given_up else "nothing given up"
