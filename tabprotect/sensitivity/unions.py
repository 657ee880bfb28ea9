"""Sums of hidden cells that the published rest gives away, judged like cells of their own.

Two hidden cells of one row, whose sum is what the published cells leave of the margin, are each uncertain, but
their sum is published in all but name. If one contributor dominates that sum, he is exposed although both intervals
are wide. The interval audit of single cells cannot see this (Cox 2001; Handbook on Statistical Disclosure Control,
section 4.2: the protection level is "a necessary, but not always sufficient criterion").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, islice
from typing import Final

import numpy as np
import numpy.typing as npt

from tabprotect.counted import counted
from tabprotect.errors import InputError, as_items, as_number, need
from tabprotect.problem import Attacker
from tabprotect.sensitivity.assess import Levels, check_levels, smallest_level
from tabprotect.sensitivity.attackers import HOLDING
from tabprotect.sensitivity.determined import determined_unions
from tabprotect.sensitivity.invariants import disjoint, invariant_sums
from tabprotect.sensitivity.level import by_level
from tabprotect.sensitivity.parse import as_rules
from tabprotect.sensitivity.requirements import Rules
from tabprotect.sensitivity.rule import TIE, Rule, measure
from tabprotect.sensitivity.union_exposure import UnionExposure, concerned, declared_safe, judged, once_each
from tabprotect.table.table import Table, need_table

__all__ = ["determined_unions", "dominated_sums", "union_exposures"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

DOMINATED: Final = 8
"""Hidden cells of one contributor, at most, of which all triples and quadruples are candidates."""

CANDIDATES: Final = 1000
"""Sums that one contributor dominates, at most, that are put to the audit."""


def union_exposures(
    table: Table,
    rules: Rules,
    pattern: Bools,
    *,
    levels: Levels = "symmetric",
    minimum: float | None = None,
    attackers: Sequence[Attacker] = (),
    notes: list[str] | None = None,
) -> tuple[UnionExposure, ...]:
    """Find the determined sums of hidden cells that the rules would not let pass as cells.

    Contributions of one holder in several cells of a sum are added up. A contributor whom the table does not name
    counts as a different one in every cell (Handbook, section 4.2). A holder with sampling weights has their mean.
    Where a cell has more contributors than the table keeps, the worst case that is consistent with its total
    decides; exposures that exist in the worst case only have ``decided=False``.

    Parameters
    ----------
    table : Table
    rules : rules
        As `assess` takes them. Sums of cells all of which an override declares safe (missing codes, an a-priori
        file) are passed over; the other overrides do not concern sums.
    pattern : ndarray of bool, shape (cells,)
        True where a cell is hidden; longer patterns (of a problem with unions) are cut.
    levels, minimum
        As in `assess`.
    attackers : sequence of Attacker
        Respondents who know cells: sums that only they can compute are looked for, too, without the cells that they
        know. In a rule that protects respondents from each other (`PPercent`, `PQ`, `Threshold`) he who computes a sum
        counts as one more of its contributors, as large as the largest other one, in place of what he has in it.
    notes : list of str, optional
        What was not looked at because of its size is added here.

    Returns
    -------
    tuple of UnionExposure
        In the order of their cells.

    Notes
    -----
    Sums of few equations are said in `determined_unions`, whatever their size; sums of any number of equations in
    `tabprotect.sensitivity.invariants`, up to eight cells and within the limits said there. Sums in which a cell is
    counted twice (a margin and a part of it) are left out of the latter. Requests of contributors beyond the kept ones
    are unknown and not guessed.

    Examples
    --------
    Each of two hidden cells has one contributor. Their sum is published minus published:

    >>> import pandas as pd
    >>> from tabprotect.table.tabulate import tabulate
    >>> data = pd.DataFrame({"region": list("nssw"), "firm": list("abcd"), "turnover": [80.0, 10, 10, 5]})
    >>> table = tabulate(data, ["region"], "turnover", contributor="firm")
    >>> hidden = np.isin(table.system.cells.get_level_values("region"), ["n", "w"])
    >>> for exposure in union_exposures(table, "p%=15", hidden):
    ...     print(exposure.cells, exposure.value, exposure.upl, exposure.reason)
    (1, 3) 85.0 12.0 n + w = 85 can be computed and violates p%=15
    """
    need_table(table, "union_exposures")
    pattern = np.asarray(pattern)
    if pattern.dtype != np.bool_ or pattern.ndim != 1:
        raise InputError("the pattern must be True or False for every cell")
    attackers = as_items(attackers, Attacker, "attackers", "tabprotect.Attacker")
    check_levels(levels)
    if notes is not None:
        need(notes, list, "union_exposures(notes=)", "to which it adds what was left out")
    if pattern.shape[0] < table.n_cells:
        raise InputError(
            f"the pattern has {counted(pattern.shape[0], 'entry', 'entries')} for {counted(table.n_cells, 'cell')}"
        )
    hidden = pattern[: table.n_cells]
    wanted = as_rules(rules)
    least = smallest_level(table) if minimum is None else as_number(minimum, "minimum")
    found: list[UnionExposure] = []
    for seen, judges, level in by_level(table, wanted):
        # positions of cells are those of both levels
        who = _of_holdings(attackers) if level else _of_individuals(attackers)
        safe = declared_safe(table, wanted)
        found += _exposed(seen, judges, hidden, safe, (levels, least, level), who, notes)
    return once_each(found)


Seen = tuple[Attacker, bool]
"""An attacker, and whether rules take him for a respondent of their level."""


def _of_individuals(attackers: Sequence[Attacker]) -> list[Seen]:
    """Return all attackers; what a holding knows beyond each of its members is not that of one contributor."""
    return [(a, not (a.holding and a.name == f"{HOLDING} {a.holding}")) for a in attackers]


def _of_holdings(attackers: Sequence[Attacker]) -> list[Seen]:
    """Return attackers by the names of holdings, without those who know no more than a holding does."""
    held = [set(a.known) for a in attackers if a.holding]
    return [
        (replace(a, name=a.holding or a.name), True)
        for a in attackers
        if a.holding or not any(known >= set(a.known) for known in held)
    ]


def _exposed(
    table: Table,
    judges: Sequence[Rule],
    hidden: Bools,
    safe: Bools,
    how: tuple[Levels, float, str],
    attackers: Sequence[Seen],
    notes: list[str] | None,
) -> list[UnionExposure]:
    """Find the determined sums that rules of one level find sensitive."""
    found = {tuple(cells.tolist()): -1 for cells in determined_unions(table.system, hidden)}
    measures = [_noiseless(measure(rule, table), table) for rule in judges]
    searched = invariant_sums(table.system.A, hidden, measures, [a for a, _ in attackers])
    further = searched.sums
    if notes is not None:
        notes += searched.shortcomings()
    single = disjoint(table.system.A, [cells for _, cells in further])
    for (who, cells), fine in zip(further, single, strict=True):
        if fine:
            found.setdefault(tuple(cells.tolist()), who)
    sets = sorted(concerned(safe, [np.array(cells, np.int64) for cells in found]), key=lambda c: c.tolist())
    seen_by = np.array([found[tuple(cells.tolist())] for cells in sets], np.int64)
    by_respondent = np.array([who >= 0 and attackers[who][1] for who in seen_by.tolist()], bool)
    exposures: list[UnionExposure] = []
    for respondents in (False, True):
        part = np.flatnonzero(by_respondent == respondents)
        mine = [sets[i] for i in part.tolist()]
        names = [attackers[who][0].name if who >= 0 else "" for who in seen_by[part].tolist()]
        exposures += judged(table, judges, mine, names, how, respondents)
    return exposures


def dominated_sums(
    table: Table, rules: Rules, pattern: Bools, *, levels: Levels = "symmetric", minimum: float | None = None
) -> tuple[UnionExposure, ...]:
    """Return sums of hidden cells that one contributor dominates and a rule finds sensitive, determined or not.

    They are candidates: whether an intruder can tell such a sum too closely is a question for the audit. Looked at are
    pairs, triples and quadruples of hidden cells in which one named contributor is the largest, for contributors with
    at most `DOMINATED` such cells, and pairs and the sum of all of them for others; at most `CANDIDATES` in all, by
    the order of the contributors' names in the table.

    Parameters
    ----------
    table, rules, pattern, levels, minimum
        As for `union_exposures`.
    """
    hidden = np.flatnonzero(np.asarray(pattern, dtype=bool)[: table.n_cells])
    wanted = as_rules(rules)
    least = smallest_level(table) if minimum is None else as_number(minimum, "minimum")
    found: list[UnionExposure] = []
    for seen, judges, level in by_level(table, wanted):
        sets = concerned(declared_safe(table, wanted), _sets_of_the_largest(seen, hidden))
        fine = disjoint(table.system.A, sets)
        sets = [cells for cells, one in zip(sets, fine, strict=True) if one]
        found += judged(seen, judges, sets, [""] * len(sets), (levels, least, level), False)
    return once_each(found)


def _sets_of_the_largest(table: Table, hidden: Ints) -> list[Ints]:
    """Return sets of hidden cells in which one named contributor is the largest."""
    c = table.contributions
    if c is None or not c.holders.shape[1] or not len(hidden):
        return []
    largest = c.holders[hidden, 0]
    order = np.argsort(largest, kind="stable")
    starts = np.flatnonzero(np.diff(largest[order], prepend=-2))
    sets: list[Ints] = []
    for group in np.split(hidden[order], starts[1:]):
        if c.holders[group[0], 0] < 0 or len(group) < 2:
            continue
        sizes = range(2, 5) if len(group) <= DOMINATED else (2, len(group))
        some = (np.array(one, np.int64) for size in sizes for one in combinations(group.tolist(), size))
        sets += islice(some, CANDIDATES - len(sets))
    return sets


def _noiseless(measures: Floats, table: Table) -> Floats:
    """Return measures with noise of floating-point arithmetic set to 0."""
    total = np.abs(table.values) if table.contributions is None else table.contributions.total
    return np.where(np.abs(measures) <= TIE * total, 0.0, measures)
