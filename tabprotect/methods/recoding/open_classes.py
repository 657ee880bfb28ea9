"""Open classes at the ends of an ordered variable: "under 15", "80 and over"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError, did_you_mean
from tabprotect.methods.recoding.global_recode import RecodingRules
from tabprotect.sensitivity.level import by_level
from tabprotect.sensitivity.merge import merged
from tabprotect.sensitivity.parse import as_rules
from tabprotect.sensitivity.requirements import Rules
from tabprotect.sensitivity.rule import Rule
from tabprotect.table.table import Table

__all__ = ["OpenClasses", "open_classes"]


@dataclass(frozen=True)
class OpenClasses:
    """The smallest open classes at both ends.

    Attributes
    ----------
    dimension : str
    bottom, top : tuple of str
        The categories that become one class, in order; empty where none is needed.
    recode : RecodingRules or None
        To be applied to the records before they are tabulated anew; None where nothing is to be done.
    safe : bool
        False where even half of all categories at an end do not make a safe class.
    """

    dimension: str
    bottom: tuple[str, ...]
    top: tuple[str, ...]
    recode: RecodingRules | None
    safe: bool


def open_classes(table: Table, dimension: str, rules: Rules, order: Sequence[str] | None = None) -> OpenClasses:
    """Find the fewest categories at both ends of a variable that make safe open classes.

    From either end categories are put together until no cell of the class, crossed with all codes of the other
    dimensions, is sensitive by the rules. The rules look at the contributors of the class: holdings that are in
    several of its cells count once. Where the table keeps too few contributions to tell, the class counts as
    sensitive.

    Parameters
    ----------
    table : Table
    dimension : str
        Name of the dimension.
    rules : rules
        As `tabprotect.sensitivity.assess.assess` takes them.
    order : sequence of str, optional
        The categories in their order; by default the codes under the total, in the order of the hierarchy.

    Returns
    -------
    OpenClasses

    Raises
    ------
    InputError
        Unknown dimension or categories.

    Examples
    --------
    >>> from tabprotect.table.tabulate import tabulate
    >>> data = pd.DataFrame({"age": [str(a) for a in [1, 2, 2, 3, 3, 3, 4, 4, 4, 5, 6]]})
    >>> classes = open_classes(tabulate(data, "age"), "age", "threshold=3")
    >>> classes.bottom, classes.top
    (('1', '2'), ('4', '5', '6'))
    >>> print(classes.recode)
    "1-2": 1, 2
    "4-6": 4, 5, 6
    """
    wanted = [rule for rule in as_rules(rules) if isinstance(rule, Rule)]
    if not wanted:
        raise InputError("open classes need a rule that finds cells sensitive")
    names = [d.name for d in table.dimensions]
    if dimension not in names or not isinstance(table.system.cells, pd.MultiIndex):
        raise InputError(f"the table has no dimension '{dimension}'{did_you_mean(dimension, names)}")
    hierarchy = table.dimensions[names.index(dimension)].hierarchy
    level = table.system.cells.get_level_values(names.index(dimension)).astype(str)
    if order is None:
        order = next((parts for parent, parts in hierarchy.splits if parent == hierarchy.total), ())
    categories = [str(code) for code in order]
    there = set(level) - {hierarchy.total}
    if unknown := [code for code in categories if code not in there]:
        known = [code for code in hierarchy.codes if code in there]
        raise InputError(f"open: category '{unknown[0]}' is not in '{dimension}'{did_you_mean(unknown[0], known)}")
    others = pd.factorize(
        pd.Series(
            list(
                zip(
                    *(table.system.cells.get_level_values(k) for k in range(len(names)) if names[k] != dimension),
                    strict=True,
                )
            )
            if len(names) > 1
            else [()] * table.n_cells
        )
    )[0]
    ends = [_end(table, wanted, level, others, categories), _end(table, wanted, level, others, categories[::-1])]
    bottom, top = (ends[0][0], ends[1][0][::-1])
    rows = [(f"{part[0]}-{part[-1]}", tuple((code, code) for code in part)) for part in (bottom, top) if part]
    return OpenClasses(
        dimension, tuple(bottom), tuple(top), RecodingRules(tuple(rows)) if rows else None, ends[0][1] and ends[1][1]
    )


def _end(
    table: Table, rules: list[Rule], level: pd.Index, others: npt.NDArray[np.int64], categories: list[str]
) -> tuple[list[str], bool]:
    """Return the fewest first categories that are a safe class, and whether there are any within half of them."""
    for size in range(1, len(categories) // 2 + 1):
        cells = np.flatnonzero(level.isin(categories[:size]))
        groups = [cells[others[cells] == other] for other in np.unique(others[cells])]
        if not any(_sensitive(seen, judges, groups) for seen, judges, _ in by_level(table, rules)):
            return ([], True) if size == 1 else (categories[:size], True)
    half = categories[: len(categories) // 2]
    return (half, False) if len(half) > 1 else ([], False)


def _sensitive(table: Table, rules: Sequence[Rule], groups: Sequence[npt.NDArray[np.int64]]) -> bool:
    """Return whether a rule finds one of the sums of cells sensitive, in the worst case."""
    _, worst = merged(table, groups, max(rule.needs().top for rule in rules))
    return any(len(rule.judge(worst).cells) for rule in rules)
