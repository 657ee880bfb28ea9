"""Plans: which tables of a list are protected together, and a protocol to begin with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tabprotect.errors import InputError, collect
from tabprotect.sensitivity.parse import as_rules
from tabprotect.workflow.protocol.metadata import Group, Planned
from tabprotect.workflow.protocol.toml import toml_of

__all__ = ["rules_file", "skeleton"]

NO_RULES = "threshold=3"
"""What a file of rules begins with where none are given."""


def skeleton(groups: Sequence[Group], files: Mapping[str, str], *, title: str, rules: str, seconds: float) -> str:
    """Return a protocol with every table of a list, in the clusters found.

    Parameters
    ----------
    groups : sequence of Group
    files : mapping of str to str
        The code list of every hierarchy that the list names, relative to the protocol.
    title : str
    rules : str
        Name of the file of rules.
    seconds : float
        Limit of all clusters together.

    Raises
    ------
    InputError
        Where variables of one hierarchy have different names in tables of one measure, and so would not be matched.
    """
    tables: dict[str, Any] = {}
    with collect() as problems:
        for group in groups:
            for table in group.tables:
                try:
                    tables[table.name] = _table(table, group, groups, files)
                except InputError as error:
                    problems.found += [p for p in error.problems if p not in problems.found]
    content = {
        "title": title,
        "rules": rules,
        "limits": {"seconds": seconds},
        "tables": tables,
        "clusters": {group.name: {"tables": [table.name for table in group.tables]} for group in groups},
        "previous": {"factor": 0.1, "revision": False},
    }
    note = (
        "# A protocol: the tables of a publication, and how they are protected, period by period.\n"
        "# Paths are relative to this file. `tabprotect develop` compares settings and fixes them,\n"
        "# `tabprotect apply` runs what is fixed on the data of a period.\n\n"
    )
    return note + toml_of(content)


def rules_file(rules: Sequence[str]) -> str:
    """Return a file of rules; those of an office belong into it, and nowhere else.

    Raises
    ------
    InputError
        If a rule cannot be read.

    Examples
    --------
    >>> print(rules_file(["p%=15"]), end="")
    # CONFIDENTIAL: parameters of rules help intruders.
    rules = ["p%=15"]
    """
    as_rules(list(rules))
    return "# CONFIDENTIAL: parameters of rules help intruders.\n" + toml_of({"rules": list(rules)})


def _table(table: Planned, group: Group, groups: Sequence[Group], files: Mapping[str, str]) -> dict[str, Any]:
    keys = dict(table.keys)
    if "data" not in keys and "cells" not in keys:
        keys["cells"] = f"{table.name}.csv"
    found: dict[str, Any] = {"cells" if "cells" in keys else "data": keys.pop("cells", None) or keys.pop("data")}
    found["by"] = list(table.by)
    if table.family:
        same = [one.name for one in group.tables if set(one.by) == set(table.by)]
        raise InputError(
            f"the responses of {', '.join(same)} add up by {table.family}, so they are one more dimension: list one "
            f"table of them, with the code of the response in a column that has the hierarchy {table.family}"
        )
    for variable, tree in table.trees.items():
        others = sorted({v for one in group.tables for v, t in one.trees.items() if t == tree and v != variable})
        if others:
            raise InputError(
                f"table '{table.name}': '{variable}' and {', '.join(map(repr, others))} are levels of {tree}, so of "
                f"one dimension; give the column one name in all tables of {group.measure}, with codes of all levels"
            )
    if table.response:
        found["value"] = table.response
    found |= keys
    if table.trees:
        found["hierarchy"] = {variable: _source(files[tree]) for variable, tree in table.trees.items()}
        for variable, total in table.totals.items():
            if variable in found["hierarchy"]:
                found["hierarchy"][variable]["total"] = total
    flat = {variable: total for variable, total in table.totals.items() if variable not in table.trees}
    if flat:
        found["total"] = flat
    if len({one.measure for one in groups}) > 1:
        found["measure"] = table.measure
    return found


def _source(file: str) -> dict[str, str]:
    return {"pairs" if file.lower().endswith(".csv") else "file": file}
