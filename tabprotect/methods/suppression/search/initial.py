"""How the search of a core begins: a first pool, a first safe pattern, and what cannot be protected."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tabprotect.attack.witness import Exposure
from tabprotect.methods.suppression.search.state import State
from tabprotect.methods.suppression.start.bulk import remove_in_bulk
from tabprotect.methods.suppression.start.cleanup import Cleaner
from tabprotect.solver.credit import meter, meter_left
from tabprotect.solver.limits import Budget
from tabprotect.solver.tolerances import CONTRADICTION

__all__ = ["begin"]

Bools = npt.NDArray[np.bool_]
Patterns = tuple[Bools, ...]
Exposures = tuple[Exposure, ...]


def begin(search: State, budget: Budget, hint: Bools | None) -> None:
    """Find a first safe pattern if there is none yet, and what cannot be protected.

    A pattern that is looked for contains `hint`, but for what that hides without need.

    Where nobody knows cells, solutions of a first pool are completed before anything else: what no pattern answers
    turns up on the way. Only where that takes long it is asked before whether hiding everything is safe.
    """
    bare = search.exposed(search.core.hidden, budget) if search.core.attackers else None
    if bare == ():
        search.best = search.core.hidden.copy()
        return
    endless = _endless(search, budget)
    if hint is None and not search.core.attackers and not endless:
        _first(search, bare, budget)
        _give_up(search)
    if search.best is None or (search.best.all() and not _cancelled(budget)):
        _build(search, budget, hint, endless)
    if search.best is not None and not _cancelled(budget) and search.relaxation is None:
        _first(search, bare, budget)


def _first(search: State, bare: tuple[Exposure, ...] | None, budget: Budget) -> None:
    """Complete the solutions of a first pool to safe patterns.

    Where they leave most exposed of what is exposed without any secondary, pools without many more rows are of no use.
    """
    core, credit, before, left = search.core, search.credit, meter(budget), meter_left(budget)
    options = search.options.start
    search.relax(bare, budget)
    relaxation = search.relaxation
    assert relaxation is not None
    if relaxation.pool.slack(np.ones(core.n)).min(initial=0.0) < -CONTRADICTION:
        search.relaxation = None
        return
    share = options.pool_spent_multiple * before / max(left, 1e-9)
    share = 1.0 if math.isinf(left) else float(np.clip(share, *options.pool_limit_shares))
    with budget.part(share) as part:
        relaxation.use(part)
        relaxation.run(core.hidden.astype(np.float64), known=True)
        search.raise_to(relaxation.bound)
        root, begun = search.bound, meter(part)
        with part.part(search.options.master.step_share) as solving:
            patterns = search.pool(solving)
            whole = not solving.exhausted
        exposed = search.exposed(patterns[0], part) if patterns else ()
        # equations of their own tell of some targets that nothing protects, and of the others it is rarely asked
        least, n = relaxation.certain, len(exposed)
        most = options.useless_exposed_share
        credit.useful = bool(patterns) and (n <= most * least or n <= most * search.bare(budget))
        spent = meter(part) - begun
        if not credit.useful:
            credit.wait(spent, useless=bool(patterns))
    late = meter(budget) > options.late_limit_share * (meter(budget) + meter_left(budget))
    if late and search.best is None and (exposed or not patterns):
        _hide_everything(search, budget)
    if credit.useful:
        with budget.part(options.learn_limit_share) as part:
            relaxation.use(part)
            if not all(e.decided for e in exposed):
                exposed = search.exposed(patterns[0], part)
            patient = options.patient_limit_share * (before + left)
            patterns, whole, exposed = _solve_masters(search, patterns, whole, exposed, part, patient)
            until = meter(part) + spent
            if exposed:  # nothing else gives a good pattern so early
                search.repair(patterns[0], part)
            if search.constructor.unattainable - search.unattainable:
                return
            search.learn(patterns, whole, part, until, exposed)
    credit.first((search.bound - root) / max(1.0, search.bound), meter(budget) - before)


def _solve_masters(
    search: State, patterns: Patterns, whole: bool, exposed: Exposures, budget: Budget, until: float
) -> tuple[Patterns, bool, Exposures]:
    """Solve pool after pool, each with the rows found at the pattern of the one before, until one is safe.

    It ends where a pattern is wanted without more ado, or where a question seems to have no answer.
    """
    relaxation = search.relaxation
    assert relaxation is not None
    few = search.options.start.few_exposures
    while 0 < len(exposed) <= few and whole and meter(budget) < until < math.inf:
        rows = search.rows(patterns[0], exposed)
        if budget.exhausted or any(found.row.slack(np.ones(search.core.n)) < -CONTRADICTION for found in rows):
            break
        relaxation.add(rows)
        if not relaxation.solve():
            break
        search.raise_to(relaxation.bound)
        better = search.pool(budget)
        if budget.exhausted or not better:
            break
        patterns, exposed = better, search.exposed(better[0], budget)
    return patterns, whole, exposed


def _build(search: State, budget: Budget, hint: Bools | None, endless: bool) -> None:
    """Make a pattern of cheapest witnesses; if that takes too long, of everything, taking out in bulk.

    In bulk first where there is no limit: who stops such a search shall not be left with everything.
    """
    if search.best is None:
        _hide_everything(search, budget)
    if search.best is not None and _cancelled(budget):
        return
    if endless:
        _bulk(search, budget)
    options = search.options.start
    limited = search.best is not None
    share, patience = (options.build_limit_share, options.build_patience) if limited else (1.0, math.inf)
    with budget.part(share) as part:
        pattern = search.constructor.build(search.core.weight, part, start=hint, patience=patience)
    _give_up(search)
    if pattern is not None:
        search.offer(pattern, budget)
    elif not endless:
        _bulk(search, budget)


def _hide_everything(search: State, budget: Budget) -> None:
    everything = np.ones(search.core.n, dtype=bool)
    if not search.core.attackers and not search.judge.check(everything, budget):
        search.best = everything


def _give_up(search: State) -> None:
    """Forget what was found before it was known that some questions have no answer."""
    if search.constructor.unattainable - search.unattainable:
        search.unattainable = frozenset(search.constructor.unattainable)
        search.forget()


def _endless(search: State, budget: Budget) -> bool:
    """Whether a large core is searched without a limit, so that nothing may take long before there is a pattern."""
    return math.isinf(meter_left(budget)) and search.core.n > search.options.schedule.small_cells


def _bulk(search: State, budget: Budget) -> None:
    """Take out of the best pattern in bulk."""
    if search.best is not None:
        cleaner = Cleaner(search.judge, search.best, options=search.options.construction, cuts=search.cuts)
        with budget.part(search.options.start.bulk_limit_share) as part:
            for pattern in remove_in_bulk(cleaner, part, search.options.construction):
                search.take(pattern)


def _cancelled(budget: Budget) -> bool:
    return budget.exhausted and budget.cancelled
