"""Sums of cells judged like cells of their own, by what is known of their contributors and in the worst case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tabprotect.problem import Status
from tabprotect.sensitivity.assess import Levels, shape_levels
from tabprotect.sensitivity.merge import merged, with_respondent
from tabprotect.sensitivity.rule import NOTHING, Override, Rule
from tabprotect.table.table import Table

__all__ = ["UnionExposure", "concerned", "declared_safe", "judged", "once_each", "written"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class UnionExposure:
    """A determined sum of hidden cells that a rule finds sensitive. Internal.

    Attributes
    ----------
    cells : tuple of int
        Positions of the hidden cells, ascending.
    value : float
        Their sum, which everybody can compute.
    rules : tuple of str
        The rules that it violates.
    lpl, upl, spl : float
        The levels that these rules ask for.
    decided : bool
        False when the largest contributions that the table keeps leave it open: it may be sensitive, so it counts
        as it. More of them (``tabulate(top=...)``) may clear it.
    reason : str
    attacker : str
        Name of the respondent who can compute the sum; empty where everybody can.
    """

    cells: tuple[int, ...]
    value: float
    rules: tuple[str, ...]
    lpl: float
    upl: float
    spl: float
    decided: bool
    reason: str
    attacker: str = ""

    def __repr__(self) -> str:
        who = "one respondent" if self.attacker else "everybody"
        return f"UnionExposure(sum of {len(self.cells)} hidden cells, known to {who})"

    def said(self, number: Callable[[float], str]) -> str:
        """Return the reason with the sum as people write numbers.

        Examples
        --------
        >>> one = UnionExposure((1, 3), 85.5, ("p%=15",), 12, 12, 0, True, "n + w = 85.5 can be computed")
        >>> one.said(lambda value: f"{value:.2f}".replace(".", ","))
        'n + w = 85,50 can be computed'
        """
        return self.reason.replace(f" = {written(self.value)} ", f" = {number(self.value)} ")


def written(value: float) -> str:
    """Return a sum as reasons state it."""
    return f"{value:.12g}"


def judged(
    table: Table,
    judges: Sequence[Rule],
    sets: Sequence[Ints],
    names: Sequence[str],
    how: tuple[Levels, float, str],
    respondents: bool,
) -> list[UnionExposure]:
    """Judge sums as cells, as everybody sees them, or the respondents of these names who know their own parts."""
    n, (levels, least, level) = len(sets), how
    if not n:
        return []
    lpl, upl, fired, decided = np.zeros(n), np.zeros(n), np.zeros((n, len(judges)), bool), np.zeros(n, bool)
    holders = _holders_of(table, names) if respondents else None
    top = max(rule.needs().top for rule in judges)
    for sums, sure in zip(merged(table, sets, top), (True, False), strict=True):
        seen = sums if holders is None else with_respondent(sums, holders)
        for k, rule in enumerate(judges):
            verdict = rule.judge(seen if getattr(rule, "among_respondents", False) else sums)
            fired[verdict.cells, k] = True
            decided[verdict.cells] |= sure
            lpl[verdict.cells] = np.maximum(lpl[verdict.cells], np.maximum(verdict.lpl, least))
            upl[verdict.cells] = np.maximum(upl[verdict.cells], np.maximum(verdict.upl, least))
    lpl, upl, spl = shape_levels(lpl, upl, levels)
    return [
        _exposure(
            table,
            sets[i],
            [f"{level}{judges[k]}" for k in np.flatnonzero(fired[i]).tolist()],
            lpl[i],
            upl[i],
            spl[i],
            decided[i],
            names[i],
        )
        for i in np.flatnonzero(fired.any(axis=1)).tolist()
    ]


def _holders_of(table: Table, names: Sequence[str]) -> Ints:
    """Return the positions of respondents among the names of the contributions; -1 where there is none."""
    c = table.contributions
    place = {} if c is None else {str(name): i for i, name in enumerate(c.names)}
    return np.array([place.get(name, -1) for name in names], np.int64)


def _exposure(
    table: Table,
    cells: Ints,
    rules: list[str],
    lpl: float,
    upl: float,
    spl: float,
    decided: bool,
    attacker: str,
) -> UnionExposure:
    value = float(table.values[cells].sum())
    names = [table.system.label(int(cell)) for cell in cells[:4]] + (["..."] if len(cells) > 4 else [])
    who = f" by {attacker}" if attacker else ""
    words = f"{' + '.join(names)} = {written(value)} can be computed{who} and "
    words += "violates " if decided else "may violate "
    words += ", ".join(rules) + ("" if decided else " (the table keeps too few contributions to tell)")
    levels = float(lpl), float(upl), float(spl)
    return UnionExposure(tuple(cells.tolist()), value, tuple(rules), *levels, bool(decided), words, attacker)


def declared_safe(table: Table, rules: Sequence[Rule | Override]) -> Bools:
    """Return the cells that an override declares safe."""
    safe = np.zeros(table.n_cells, bool)
    for override in sorted((rule for rule in rules if isinstance(rule, Override)), key=lambda rule: rule.rank):
        status = override.decide(table).status
        safe = np.where(status == NOTHING, safe, status == Status.SAFE)
    return safe


def concerned(safe: Bools, sets: Sequence[Ints]) -> list[Ints]:
    """Leave out sums whose cells are all declared safe."""
    return [cells for cells in sets if not safe[cells].all()]


def once_each(found: Sequence[UnionExposure]) -> tuple[UnionExposure, ...]:
    """Return exposures in the order of their cells, with those of the same cells at both levels as one."""
    by_cells: dict[tuple[int, ...], UnionExposure] = {}
    for one in found:
        other = by_cells.get(one.cells)
        if other is not None:
            one = replace(
                other,
                rules=(*other.rules, *one.rules),
                lpl=max(other.lpl, one.lpl),
                upl=max(other.upl, one.upl),
                spl=max(other.spl, one.spl),
                decided=other.decided or one.decided,
                reason=f"{other.reason}; {one.reason}",
                attacker=other.attacker if one.attacker else "",
            )
        by_cells[one.cells] = one
    return tuple(by_cells[cells] for cells in sorted(by_cells))
