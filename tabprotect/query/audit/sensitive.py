"""Step 1 of the answerability test: whether the sums asked for are sensitive themselves, by the rules for cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from tabprotect.query.audit.decision import Step
from tabprotect.query.audit.groups import Groups, largest
from tabprotect.query.audit.records import Records
from tabprotect.sensitivity import Rule
from tabprotect.table.system import LinearSystem
from tabprotect.table.table import Contributions, Table

__all__ = ["as_table", "sensitivity_step"]

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


def as_table(records: Records, sets: Sequence[Bools], top: int) -> Table:
    """State query sets as cells without equations, with counts of units and the largest contributions.

    Parameters
    ----------
    records : Records
    sets : sequence of ndarray of bool
    top : int
        Contributions to keep.
    """
    n = len(sets)
    # one set alone needs no sorting by units
    groups = Groups.of(sets) if n > 1 else None
    if groups is None:
        values, counts, absolute, kept = _one_by_one(records, sets, top)
    else:
        values, counts, absolute, kept = _in_one_pass(records, groups, top)
    present = np.arange(top)[None, :] < counts[:, None]
    nobody = np.full((n, top), -1, np.int64)
    contributions = Contributions(
        total=absolute,
        values=kept,
        weights=present.astype(np.float64),
        holders=nobody,
        waived=np.zeros((n, top), bool),
        requested=np.zeros((n, top), np.int8),
        unwaived=kept[:, 0].copy() if top else np.zeros(n),
        unwaived_holder=np.full(n, -1, np.int64),
        names=np.zeros(0, object),
    )
    system = LinearSystem(sparse.csr_array((0, n)), np.zeros(0), pd.RangeIndex(n))
    return Table(system, values, counts=counts, contributions=contributions, value_name=records.name)


def _in_one_pass(records: Records, groups: Groups, top: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Return sums, numbers of units, sums of absolute contributions and the largest of them, for disjoint sets."""
    sums, starts = groups.contributions(records)
    sizes = np.abs(sums)
    # sums are exact below 2^53, as floats, too
    running = np.r_[0, np.cumsum(sums)], np.r_[0, np.cumsum(sizes)]
    values, absolute = (np.diff(total[starts]) / records.scale for total in running)
    return values, np.diff(starts).astype(np.float64), absolute, largest(sizes, starts, top) / records.scale


def _one_by_one(records: Records, sets: Sequence[Bools], top: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the same for sets that overlap."""
    n = len(sets)
    values, counts, absolute, kept = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros((n, top))
    for k, members in enumerate(sets):
        x = records.by_units(members)
        values[k], counts[k] = x.sum() / records.scale, len(x)
        sizes = np.abs(x)
        absolute[k] = sizes.sum() / records.scale
        most = min(top, len(sizes))
        if most:
            kept[k, :most] = -np.sort(-np.partition(sizes, len(sizes) - most)[len(sizes) - most :]) / records.scale
    return values, counts, absolute, kept


def sensitivity_step(records: Records, sets: Sequence[Bools], rules: Sequence[Rule]) -> Step:
    """Apply the rules to the sums asked for."""
    table = as_table(records, sets, max((rule.needs().top for rule in rules), default=0) or 1)
    lines, passed = [], True
    for rule in rules:
        hit = rule.judge(table).cells.tolist()
        passed &= not hit
        shown = hit[:3] if len(sets) > 1 else [0]
        lines += [f"{rule}: {rule.explain(table, k)}" + (", sensitive" if k in hit else "") for k in shown]
        if len(sets) > 1 and not hit:
            lines.append(f"{rule}: none of {len(sets)} sums is sensitive")
    return Step("Step 1, sensitivity test", passed, "; ".join(lines))
