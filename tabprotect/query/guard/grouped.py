"""Grouped answers are tables: the suppression engine proposes which groups to hide, the auditor judges the rest.

The problem that the engine is given has the classes of the refined partition as cells that are hidden anyway, the
groups as cells that may be hidden, and one equation for every group and every earlier answer, so that what is published
now is consistent with everything that was answered before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from tabprotect.errors import InfeasibleError, SolverError
from tabprotect.methods.suppression import suppress
from tabprotect.problem import Problem, Status
from tabprotect.query.audit.auditor import Auditor
from tabprotect.query.audit.groups import Groups, chosen, totals
from tabprotect.query.audit.records import FREE
from tabprotect.query.audit.sensitive import as_table
from tabprotect.query.audit.state import State
from tabprotect.query.audit.trials import Trials
from tabprotect.sensitivity.assess import assess
from tabprotect.solver.limits import Limits
from tabprotect.table.system import LinearSystem

__all__ = ["Grouped", "protect_groups"]

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

LARGEST: Final = 3000
"""Classes up to which the engine is asked; beyond, groups are tried one by one."""

MEMBERS: Final = 50_000_000
"""Classes and groups times records up to which the engine is asked."""

WORK: Final = 20_000
"""Work units of the engine: a limit of work, so that the pattern does not depend on how busy the machine is."""

TOGETHER: Final = 0.7
"""Share of the work of a decision for all groups together; they are tried one by one with the rest."""

EACH: Final = 100
"""What every group counts as that is tried by itself, besides the work of its safety test."""

SINGLY: Final = 500
"""Groups that are tried one by one."""


@dataclass(frozen=True, eq=False)
class Grouped:
    """Which groups of a table are published.

    Attributes
    ----------
    published : tuple of int
        Positions among the query sets.
    state : State
        Of the auditor afterwards.
    applied : tuple of int
        The sums that the auditor has counted as answered, in their order.
    steps : tuple of str
        Internal.
    """

    published: tuple[int, ...]
    state: State
    applied: tuple[int, ...]
    steps: tuple[str, ...]


def protect_groups(auditor: Auditor, sets: Sequence[Bools], open_: Sequence[int]) -> Grouped:
    """Choose which of the groups in `open_` may be published together with all earlier answers.

    Parameters
    ----------
    auditor : Auditor
        Is not changed.
    sets : sequence of ndarray of bool
        One query set a group.
    open_ : sequence of int
        Groups that may be published as far as others are concerned.
    """
    steps: list[str] = []
    if auditor.simulatable:
        kept = [k for k in open_ if auditor.decide([sets[k]])[0].answered]
        return Grouped(tuple(kept), auditor.state, (), (f"{len(kept)} of {len(sets)} groups follow from the basis",))
    table = as_table(auditor.records, chosen(sets, open_), auditor.top)
    bad = {open_[int(i)] for rule in auditor.rules for i in rule.judge(table).cells}
    kept = [k for k in open_ if k not in bad]
    steps.append(f"{len(bad)} of {len(open_)} groups are sensitive themselves")
    if not kept:
        return Grouped((), auditor.state, (), tuple(steps))
    groups = _groups(sets).only(kept)
    follow = auditor.state.follow(groups)
    some, decision, state = auditor.decide_most(groups, follow, int(TOGETHER * auditor.work))
    if len(some) < len(kept):
        steps.append(f"{len(kept) - len(some)} further groups cannot be answered together with the others")
    if decision.answered:
        published = tuple(kept[i] for i in some)
        return Grouped(published, state, published, (*steps, *map(str, decision.steps)))
    steps.append(f"all {len(some)} others together: {decision.denial}")
    left, judged = auditor.work - decision.work, decision.work > 0
    # in one dimension any of those that do not follow gives all the others
    same = judged and decision.rank == 1 and len(some) == len(kept)
    proposed = _proposal(auditor, sets, list(open_), bad)
    if proposed is not None:
        steps.append(f"the suppression engine hides {len(kept) - len(proposed)} further groups")
    if proposed:
        decision, state = auditor.decide(chosen(sets, proposed), left)
        left -= decision.work
        if decision.answered:
            return Grouped(tuple(proposed), state, tuple(proposed), (*steps, *map(str, decision.steps)))
    known = [k for k, terms in zip(kept, follow, strict=True) if terms is not None]
    if same:
        steps.append(_said_the_same(len(kept) - len(known), len(known)))
        return Grouped(tuple(known), auditor.state, tuple(known), tuple(steps))
    return _singly(auditor, sets, kept, known, steps, left, judged=judged)


def _singly(
    auditor: Auditor,
    sets: Sequence[Bools],
    kept: list[int],
    good: list[int],
    steps: list[str],
    left: int,
    *,
    judged: bool,
) -> Grouped:
    """Try one group after another, the largest first, with the work that is left for all of them.

    What follows from earlier answers (`good`) is published without being tried. Where any of the rest, once answered,
    gives all the others, each says as much as all of them together: if these were `judged`, and denied, none is tried.
    """
    trials = Trials.of(auditor.state, auditor.records, _groups(sets), good, auditor.options)
    rest = [k for k in kept if k not in trials.inferable]
    if judged and trials.say_the_same(rest):
        steps.append(_said_the_same(len(rest), len(good)))
        return Grouped(tuple(good), trials.state, tuple(good), tuple(steps))
    sizes = [abs(total) for total in totals(auditor.records, chosen(sets, rest))]
    order = [rest[i] for i in sorted(range(len(rest)), key=lambda i: -sizes[i])][:SINGLY]
    good, tried = list(good), 0
    for k in order:
        if left <= 0:
            break
        answered, work = trials.decide(k, left)
        left -= work + EACH
        tried += 1
        if answered:
            good.append(k)
    steps.append(f"tried one by one: {len(good)} of {len(kept)} groups are published, {tried} were tried")
    return Grouped(tuple(sorted(good)), trials.state, tuple(good), tuple(steps))


def _said_the_same(rest: int, good: int) -> str:
    return f"each of {rest} groups says as much as all of them; the other {good} are published"


def _groups(sets: Sequence[Bools]) -> Groups:
    groups = Groups.of(sets)
    if groups is None:
        raise ValueError("groups of a table have no records in common")
    return groups


def _proposal(auditor: Auditor, sets: Sequence[Bools], open_: list[int], bad: set[int]) -> list[int] | None:
    """Ask the suppression engine which groups to publish; None where it gives no answer."""
    state = auditor.state.forgetting()
    earlier = state.partition.n_queries
    if (state.partition.n_classes + len(open_)) * len(auditor.records) > MEMBERS:
        return None
    state = state.with_queries(auditor.records, chosen(sets, open_))
    n = state.partition.n_classes
    if n > LARGEST or (n + len(open_)) * len(auditor.records) > MEMBERS:
        return None
    problem = _problem(auditor, state, [sets[k] for k in open_], [k in bad for k in open_], earlier)
    try:
        result = suppress(problem, limits=Limits(work=WORK), seed=0)
    except (InfeasibleError, SolverError):
        return None
    hidden = np.zeros(problem.n_cells, bool)
    hidden[result.suppressed] = True
    return [k for i, k in enumerate(open_) if not hidden[n + i]] if result.safe else None


def _problem(auditor: Auditor, state: State, sets: list[Bools], bad: list[bool], earlier: int) -> Problem:
    partition, scale, public = state.partition, auditor.records.scale, state.knowledge[0]
    n, g = partition.n_classes, len(sets)
    M = partition.rows()
    past = sparse.hstack([M[:earlier], sparse.csr_array((earlier, g))])
    member = np.zeros((g, n))
    for i, members in enumerate(sets):
        member[i, np.unique(partition.class_of[members])] = 1.0
    A = sparse.csr_array(sparse.vstack([past, sparse.hstack([sparse.csr_array(member), -sparse.eye_array(g)])]))
    totals = np.bincount(partition.class_of, weights=auditor.records.values, minlength=n) / scale
    values = np.r_[totals, member @ totals]
    status = np.full(n + g, int(Status.FORCED), np.int8)
    status[n:] = np.where(bad, int(Status.PRIMARY), int(Status.SAFE))
    # unions of classes are left to the judge
    classes = [partition.class_of == c for c in range(n)]
    judged = assess(as_table(auditor.records, classes + sets, auditor.top), auditor.rules)
    sensitive = (judged.status == Status.PRIMARY) & np.r_[partition.asked, np.array(bad, bool)]
    status[sensitive] = int(Status.PRIMARY)
    lpl, upl = np.where(sensitive, judged.lpl, 0.0), np.where(sensitive, judged.upl, 0.0)
    down = np.where(public.box.lower <= -FREE, np.inf, -public.box.lower / scale)
    up = np.where(public.box.upper >= FREE, np.inf, public.box.upper / scale)
    lower = np.r_[totals - down, values[n:] - member @ np.where(np.isinf(down), 1e300, down)]
    upper = np.r_[totals + up, np.full(g, np.inf)]
    lower[n:] = np.where(lower[n:] < -1e200, -np.inf, lower[n:])
    lpl = np.minimum(lpl, np.maximum(values - lower, 0.0))
    b = np.r_[np.asarray(M[:earlier] @ totals), np.zeros(g)]
    system = LinearSystem(A, b, pd.RangeIndex(n + g))
    weights = np.maximum(np.abs(values), 1.0)
    nothing = np.zeros(n + g)
    return Problem(system, values, status, lpl, upl, nothing, weights, np.minimum(lower, values), upper)
