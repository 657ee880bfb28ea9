"""The finest of several groupings of the codes of dimensions, for a table of records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from tabprotect.counted import counted
from tabprotect.errors import InfeasibleError, InputError, collect, did_you_mean
from tabprotect.methods.recoding import RecodingRules, least_grouping
from tabprotect.sensitivity.requirements import Rules
from tabprotect.solver.limits import Limits
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.table import Table
from tabprotect.workflow.open_ends import tabulated_anew
from tabprotect.workflow.source import Source

__all__ = ["by_least_grouping"]


def by_least_grouping(
    source: Source,
    table: Table,
    wanted: Mapping[str, Mapping[str, Any]],
    rules: Rules,
    top: int,
    memory: str | None,
    limits: Limits,
) -> tuple[Table, str, pd.DataFrame]:
    """Return the table by groupings that lose least and leave no cell sensitive, these in words, and its records.

    Parameters
    ----------
    source : Source
        Of records.
    table : Table
        Of them as they are.
    wanted : mapping of str to mapping of str to RecodingRules or path
        By dimension its groupings by name: rules, or a .grc file.
    rules : rules
    top : int
        Contributions kept per cell.
    memory : str or None
        How much of it tabulation may take.
    limits : Limits

    Raises
    ------
    InputError
        Every dimension that there is not or that has levels, every grouping that cannot be read or does not fit the
        codes; data without records.
    InfeasibleError
        If every combination of groupings has sensitive cells, or a limit ended the search before one was found that
        has none.
    """
    if source.roles is None:
        raise InputError("groupings are made of records, so they need microdata of one table")
    dimensions = {d.name: d for d in table.dimensions}
    groupings: dict[str, dict[str, dict[str, str]]] = {}
    with collect() as problems:
        for name, given in wanted.items():
            if name not in dimensions:
                problems.add(f"groupings: the table has no dimension '{name}'{did_you_mean(name, dimensions)}")
                continue
            if len(dimensions[name].known.splits) != 1 or len(dimensions[name].columns) != 1:
                problems.add(f"groupings: '{name}' has levels, and groupings are of codes without any")
                continue
            if not given:
                problems.add(f"groupings: '{name}' has no grouping")
            for which, one in given.items():
                try:
                    read = one if isinstance(one, RecodingRules) else RecodingRules.read(Path(one))
                    mapped = read.mapping(dimensions[name].known.splits[0][1])
                    groupings.setdefault(dimensions[name].columns[0], {})[which] = mapped
                except InputError as error:
                    problems.found += [f"groupings: '{name}', '{which}': {problem}" for problem in error.problems]

    def by(recoded: pd.DataFrame) -> Table:
        chosen = [
            replace(d, hierarchy=Hierarchy.flat(_groups(recoded, d.columns[0]), d.known.total), total=None)
            if d.name in wanted
            else d
            for d in table.dimensions
        ]
        return tabulated_anew(recoded, source, table, chosen, top, memory)

    frame = source.records()
    found = least_grouping(frame, groupings, by, rules, limits=limits)
    if found.chosen is None:
        raise InfeasibleError(f"groupings: none found without sensitive cells; {found.message}")
    names = {d.columns[0]: d.name for d in table.dimensions}
    text = {column: frame[column].map(str, na_action="ignore") for column in found.chosen}
    recoded = frame.assign(**{c: text[c].map(groupings[c][which]) for c, which in found.chosen.items()})
    words = [f"{names[c]}: grouping '{which}'" for c, which in found.chosen.items()]
    fewer = f"{counted(int(found.cost or 0), 'combination')} of codes fewer, no finer one is without sensitive cells"
    return by(recoded), "; ".join([*words, fewer, "not audited next to tables by other groupings"]), recoded


def _groups(frame: pd.DataFrame, column: str) -> dict[str, None]:
    return dict.fromkeys(sorted(frame[column].dropna().astype(str).unique()))
