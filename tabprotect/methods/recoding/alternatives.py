"""The finest of several groupings of the same codes, nested or not, that leaves no sensitive cell in a table."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

import pandas as pd

from tabprotect.errors import InputError, Problems, did_you_mean
from tabprotect.sensitivity.assess import assess
from tabprotect.sensitivity.requirements import Rules
from tabprotect.solver.interrupts import cancel_on_interrupt
from tabprotect.solver.limits import Budget, Limits, as_limits
from tabprotect.table.table import Table

__all__ = ["GroupingResult", "least_grouping"]

Groupings = Mapping[str, Mapping[str, Mapping[Any, str]]]


@dataclass(frozen=True)
class GroupingResult:
    """Which grouping every variable takes.

    Attributes
    ----------
    chosen : dict of str to str, or None
        The name of the grouping of every variable; None where none was found.
    cost, bound : float or None
        Combinations of codes that the groups are fewer by, and what no combination of groupings without sensitive
        cells can fall below; without any such combination the bound is None.
    status : {'optimal', 'infeasible', 'unknown'}
        'infeasible': every combination was assessed and has sensitive cells. 'unknown': a limit ended the search; the
        bound is proven, but whether any combination will do is not.
    assessed : int
        Combinations that were tabulated and assessed.
    message : str
    """

    chosen: Mapping[str, str] | None
    cost: float | None
    bound: float | None
    status: Literal["optimal", "infeasible", "unknown"]
    assessed: int
    message: str


def least_grouping(
    data: pd.DataFrame,
    groupings: Groupings,
    tabulated: Callable[[pd.DataFrame], Table],
    rules: Rules,
    *,
    limits: Limits | float | None = None,
) -> GroupingResult:
    """Choose one grouping for every variable so that no cell is sensitive, at the least loss of detail.

    Parameters
    ----------
    data : DataFrame
        Microdata.
    groupings : mapping of str to mapping of str to mapping of str to str
        For every variable its groupings by name; a grouping maps every code, as text or as in the data, to its group.
        Groupings of a variable need not be nested. The codes as they are take part only as a grouping of their own.
    tabulated : callable
        Makes the table from the recoded microdata.
    rules : Rule, str, or a sequence of them
    limits : Limits or float, optional

    Returns
    -------
    GroupingResult

    Raises
    ------
    InputError
        Unknown variables, variables without groupings, groupings of different codes, codes without a group.

    Warnings
    --------
    The table is assessed by itself. Next to a table of the same data by another grouping, differences of cells may
    give cells of the intersections: such tables must be audited together, which is not done here.

    Notes
    -----
    Combinations are assessed in the order of their loss, which is known before the table is. So the first one without
    sensitive cells is the least, whatever the rules; none is skipped because a finer one is safe or unsafe.

    Examples
    --------
    >>> from tabprotect.table.tabulate import tabulate
    >>> data = pd.DataFrame({"age": ["0", "5", "10", "10", "15", "15"]})
    >>> ages = {
    ...     "single": {"0": "0", "5": "5", "10": "10", "15": "15"},
    ...     "offset": {"0": "0-4", "5": "5-14", "10": "5-14", "15": "15-19"},
    ...     "ten": {"0": "0-9", "5": "0-9", "10": "10-19", "15": "10-19"},
    ... }
    >>> result = least_grouping(data, {"age": ages}, lambda recoded: tabulate(recoded, ["age"]), "threshold=2")
    >>> result.chosen, result.cost, result.bound, result.status
    ({'age': 'ten'}, 2.0, 2.0, 'optimal')
    """
    groupings = {
        name: {which: {str(code): group for code, group in grouping.items()} for which, grouping in given.items()}
        for name, given in groupings.items()
    }
    text = _checked(data, groupings)
    budget = Budget(as_limits(limits), None)
    assessed = 0
    with cancel_on_interrupt(budget):
        for cost, chosen in _by_loss(groupings):
            if budget.exhausted:
                return GroupingResult(
                    None, None, cost, "unknown", assessed, f"not proven: the search ended early, {budget.stopped}"
                )
            recoded = data.assign(**{name: text[name].map(groupings[name][which]) for name, which in chosen.items()})
            budget.spend(len(data))
            assessed += 1
            if not len(assess(tabulated(recoded), rules).primaries):
                alone = "no cell is sensitive in this table by itself; not audited next to other groupings"
                return GroupingResult(chosen, cost, cost, "optimal", assessed, alone)
    return GroupingResult(None, None, None, "infeasible", assessed, "every combination has sensitive cells")


def _by_loss(groupings: Groupings) -> Iterator[tuple[float, dict[str, str]]]:
    """Go through all combinations, those with the most groups first."""
    names = list(groupings)
    sizes = [sorted(((-len(set(g.values())), which) for which, g in groupings[name].items())) for name in names]
    codes = prod(len(next(iter(groupings[name].values()))) for name in names)

    def loss(at: tuple[int, ...]) -> int:
        return codes - prod(-size[i][0] for size, i in zip(sizes, at, strict=True))

    start = (0,) * len(names)
    heap, seen = [(loss(start), start)], {start}
    while heap:
        cost, at = heapq.heappop(heap)
        yield float(cost), {name: size[i][1] for name, size, i in zip(names, sizes, at, strict=True)}
        for d, size in enumerate(sizes):
            following = (*at[:d], at[d] + 1, *at[d + 1 :])
            if following[d] < len(size) and following not in seen:
                seen.add(following)
                heapq.heappush(heap, (loss(following), following))


def _checked(data: pd.DataFrame, groupings: Groupings) -> dict[str, pd.Series]:
    """Return the codes of every variable as text, once the groupings are known to fit them."""
    problems, text = Problems(), {}
    for name, given in groupings.items():
        if name not in data:
            problems.add(f"groupings name '{name}', which is no column{did_you_mean(name, list(data.columns))}")
        elif not given:
            problems.add(f"'{name}' has no grouping")
        else:
            text[name] = data[name].map(str, na_action="ignore")
            first, codes = next((which, set(g)) for which, g in given.items())
            for which, grouping in given.items():
                if different := sorted(codes ^ set(grouping)):
                    problems.add(f"'{name}': groupings '{first}' and '{which}' differ in code '{different[0]}'")
            if lacking := sorted(set(text[name].dropna()) - codes):
                problems.add(f"'{name}': code '{lacking[0]}' of the data has no group in '{first}'")
    problems.raise_if_any()
    if not groupings:
        raise InputError("no groupings are given; name the groupings of at least one variable")
    return text
