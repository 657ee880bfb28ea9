"""Aggregate categories and suppress values until no table of records is granulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pandas as pd

from tabprotect.errors import InputError, did_you_mean
from tabprotect.methods.granularity.index import LEVEL, GranularityReport, _check, granularity, unit_cells
from tabprotect.table.hierarchy import Hierarchy

__all__ = ["Degranulated", "remove_granularity"]


@dataclass(frozen=True)
class Degranulated:
    """Records without granularity, and what was done to them.

    Attributes
    ----------
    data : pandas.DataFrame
        The records in their order; keys are aggregated or missing.
    log : tuple of str
        Every aggregation and suppression, in order.
    aggregated : tuple of (str, str)
        Key and the code that its parts were aggregated to.
    suppressed : int
        Number of values that were made missing.
    rounds : int
    report : GranularityReport
        Of the result: safe.
    """

    data: pd.DataFrame = field(repr=False)
    log: tuple[str, ...] = field(repr=False)
    aggregated: tuple[tuple[str, str], ...]
    suppressed: int
    rounds: int
    report: GranularityReport


def remove_granularity(
    data: pd.DataFrame,
    keys: Sequence[str],
    hierarchies: Mapping[str, Hierarchy] | None = None,
    *,
    level: float = LEVEL,
    dimensions: Sequence[int] = (2, 3),
    prefer: Literal["aggregate", "suppress"] = "aggregate",
) -> Degranulated:
    """Protect records so that no table of two or three keys has a hyper-row of mostly unit cells.

    The algorithm of the Eustat notebook: (1) make all tables over the keys; (2) a table is unsafe if the unit cells
    of any of its hyper-rows reach the level; (3) in unsafe tables aggregate categories, or suppress unit cells; (4)
    repeat (1) to (3) (the print says "Step 4 is repeated") until no table is unsafe; (5) the records are the
    result.

    In step (3) with ``prefer='aggregate'`` one parent a round is aggregated: of all parents of codes in use, the
    one with the most unit cells under it, per record that it changes. Where no hierarchy can go on, and with
    ``prefer='suppress'``, one key of every record in a unit cell is made missing: the key of the cell that the most
    unit cells share, then the one with the most categories. Totals are not aggregated to, which would be to
    suppress the key.

    Parameters
    ----------
    data : pandas.DataFrame
    keys : sequence of str
        Identifying variables, categorical.
    hierarchies : mapping of str to Hierarchy, optional
        For keys that can be aggregated.
    level : float
        Per cent of unit cells from which a hyper-row is unsafe.
    dimensions : sequence of int
    prefer : {'aggregate', 'suppress'}

    Returns
    -------
    Degranulated

    Raises
    ------
    InputError
        Unknown columns, or codes that a hierarchy does not have.

    Examples
    --------
    >>> tree = Hierarchy((("Total", ("A", "B")), ("A", ("a1", "a2")), ("B", ("b1", "b2"))))
    >>> data = pd.DataFrame({"place": ["a1", "a1", "a2", "b1", "b1", "b1"], "sex": list("mmmfff")})
    >>> result = remove_granularity(data, ["place", "sex"], {"place": tree}, dimensions=(2,))
    >>> result.data["place"].tolist(), result.log
    (['A', 'A', 'A', 'b1', 'b1', 'b1'], ('place: a1, a2 aggregated to A (3 records)',))
    """
    hierarchies = hierarchies or {}
    _check(data, keys, None, dimensions)
    if prefer not in ("aggregate", "suppress"):
        raise InputError(f"prefer must be 'aggregate' or 'suppress', not {prefer!r}")
    work = data.reset_index(drop=True)
    for name in keys:
        work[name] = work[name].astype(object).where(work[name].notna(), None)
    _check_codes(work, keys, hierarchies)
    log: list[str] = []
    aggregated: list[tuple[str, str]] = []
    suppressed = rounds = 0
    while found := unit_cells(work, keys, np.ones(len(work)), dimensions, level):
        rounds += 1
        step = _aggregation(work, found, hierarchies) if prefer == "aggregate" else None
        if step is None:
            suppressed += _suppress(work, found, log)
            continue
        name, parent, codes = step
        inside = work[name].isin(codes)
        parts = ", ".join(sorted(set(work.loc[inside, name])))
        log.append(f"{name}: {parts} aggregated to {parent} ({int(inside.sum())} records)")
        work.loc[inside, name] = parent
        aggregated.append((name, parent))
    report = granularity(work, keys, dimensions=dimensions, level=level)
    work.index = data.index
    return Degranulated(work, tuple(log), tuple(aggregated), suppressed, rounds, report)


def _check_codes(data: pd.DataFrame, keys: Sequence[str], hierarchies: Mapping[str, Hierarchy]) -> None:
    problems = []
    for name, hierarchy in hierarchies.items():
        if name not in keys:
            problems.append(f"hierarchies name '{name}', which is no key{did_you_mean(name, keys)}")
            continue
        unknown = sorted({str(code) for code in data[name].dropna().unique() if code not in hierarchy.position})
        if unknown:
            hint = did_you_mean(unknown[0], hierarchy.codes)
            problems.append(f"key '{name}' has codes that its hierarchy does not: {', '.join(unknown[:5])}{hint}")
    if problems:
        raise InputError(*problems)


def _aggregation(
    data: pd.DataFrame, found: list[tuple[tuple[str, ...], pd.DataFrame]], hierarchies: Mapping[str, Hierarchy]
) -> tuple[str, str, list[str]] | None:
    """Return key, parent and codes below it of the best aggregation: most unit cells per changed record."""
    best: tuple[float, str, str, list[str]] | None = None
    for name, hierarchy in hierarchies.items():
        hits = pd.concat([cells[name] for table, cells in found if name in table] or [pd.Series(dtype=object)])
        units = hits.value_counts()
        size = data[name].value_counts()
        parents = {str(hierarchy.codes[hierarchy.parents[hierarchy.position[code]]]) for code in units.index}
        for parent in sorted(parents - {hierarchy.total, *units.index[units.index == hierarchy.total]}):
            below = _below(hierarchy, parent)
            used = [code for code in size.index if code in below]
            score = float(units.reindex(used).sum()) / float(size.reindex(used).sum())
            if best is None or score > best[0]:
                best = (score, name, parent, used)
    return None if best is None else best[1:]


def _below(hierarchy: Hierarchy, parent: str) -> set[str]:
    """Return all codes under a code, itself left out."""
    leaves = hierarchy.members[[hierarchy.position[parent]]]
    inside = hierarchy.members.astype(np.int64)
    sizes = np.diff(inside.indptr)
    common = (inside @ leaves.astype(np.int64).T).toarray().ravel()
    return {hierarchy.codes[i] for i in np.flatnonzero(common == sizes)} - {parent}


def _suppress(data: pd.DataFrame, found: list[tuple[tuple[str, ...], pd.DataFrame]], log: list[str]) -> int:
    """Make one key missing in every record that is a unit cell; return how many values that were."""
    shared: dict[tuple[str, object], int] = {}
    for table, cells in found:
        for name in table:
            for code, times in cells[name].value_counts().items():
                shared[name, code] = shared.get((name, code), 0) + int(times)
    categories = data.nunique()
    done = 0
    for table, cells in found:
        wanted = pd.MultiIndex.from_frame(cells[list(table)])
        current = pd.MultiIndex.from_frame(data[list(table)])
        complete = data[list(table)].notna().all(axis=1).to_numpy()
        for row in np.flatnonzero(current.isin(wanted) & complete).tolist():
            values = {name: str(data.at[row, name]) for name in table}
            name = max(table, key=lambda n: (shared[n, data.at[row, n]], int(categories[n]), n))
            log.append(f"record {row + 1}: {name} = {values[name]} suppressed ({' x '.join(table)})")
            data.at[row, name] = None
            done += 1
    return done
