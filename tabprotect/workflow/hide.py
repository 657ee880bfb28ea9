"""The search for cells to hide: the sums that they give away, and what everybody could compute, included."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tabprotect.attack.asked_sums import LARGEST, AskedSums, asked_sums, known_too_closely
from tabprotect.attack.audit import audit
from tabprotect.attack.left_open import NEARLY, without_level
from tabprotect.attack.sums import not_cells
from tabprotect.methods.suppression.method import Suppress
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.methods.suppression.suppress import store_for
from tabprotect.problem import Problem
from tabprotect.sensitivity.assess import smallest_level
from tabprotect.sensitivity.hidden import published_instead, widths_for_hidden
from tabprotect.sensitivity.union_exposure import UnionExposure
from tabprotect.sensitivity.unions import dominated_sums, union_exposures
from tabprotect.solver.limits import Budget
from tabprotect.solver.tasks.pieces import Means
from tabprotect.solver.tasks.store import digest
from tabprotect.workflow.prepare import Prepared
from tabprotect.workflow.sums import Answer, suppress_with_sums

__all__ = ["Sums", "hide"]

HIDDEN_ROUNDS = 5
"""Searches, at most, each with levels for the secondary cells that everybody could compute after the one before."""

Known = tuple[tuple[UnionExposure, ...], tuple[str, ...]]
"""Sums that can be computed, and what was not looked at."""

TOO_MANY = f"sums that one contributor dominates were not put to the audit: more than {LARGEST:,} cells are hidden"


@dataclass(eq=False)
class Sums:
    """Which sensitive sums a pattern gives away.

    Attributes
    ----------
    prepared : Prepared
    """

    prepared: Prepared
    _asked: list[AskedSums] = field(default_factory=list, init=False, repr=False)
    _seen: dict[str, Known] = field(default_factory=dict, init=False, repr=False)
    _largest: dict[str, tuple[UnionExposure, ...]] = field(default_factory=dict, init=False, repr=False)

    def __call__(self, result: SuppressionResult, budget: Budget | None = None) -> tuple[UnionExposure, ...]:
        """Return the sums that a result gives away, and cells whose level was lowered for the sake of a respondent.

        Without a budget a look has no limit: what nobody looked at is not safe. With one, what is not decided when it
        is exhausted counts as given away. Without a wish for sums only such cells are returned.
        """
        if not result.safe:
            return self._known(result)[0] if self.prepared.request.unions != "off" else ()
        found: tuple[UnionExposure, ...] = ()
        asked: tuple[UnionExposure, ...] = self.prepared.lowered
        if self.prepared.request.unions != "off":
            # who computes a sum that the pattern protects knows it whatever is hidden, and is not asked about it
            found = tuple(not_cells(result.problem, self._known(result)[0]))
            if found and budget is not None and budget.exhausted:
                return found
            known = {sum_.cells for sum_ in found}
            asked = (*(sum_ for sum_ in self._dominated(result) if sum_.cells not in known), *asked)
        return (*found, *self._too_closely(result, asked, budget))

    def notes(self, result: SuppressionResult) -> tuple[str, ...]:
        """Return what was not looked at in the pattern of a result; nothing where that was not looked at, at all."""
        key = digest(result.pattern)
        many = bool(self._largest.get(key)) and int(result.pattern.sum()) > LARGEST
        return (*self._seen.get(key, ((), ()))[1], *([TOO_MANY] if many else []))

    def _known(self, result: SuppressionResult) -> Known:
        """Return the sums that can be computed from a pattern.

        They depend on the pattern alone, and some patterns are looked at once more when time has run out.
        """
        request, table = self.prepared.request, self.prepared.table
        key = digest(result.pattern)
        if key not in self._seen:
            notes: list[str] = []
            found = union_exposures(
                table,
                request.rules,
                result.pattern,
                levels=request.levels,
                attackers=self.prepared.problem.attackers,
                notes=notes,
            )
            self._seen[key] = found, tuple(notes)
        return self._seen[key]

    def _dominated(self, result: SuppressionResult) -> tuple[UnionExposure, ...]:
        """Return the sums that one contributor dominates, which depend on the pattern alone, too."""
        request, key = self.prepared.request, digest(result.pattern)
        if key not in self._largest:
            found = dominated_sums(self.prepared.table, request.rules, result.pattern, levels=request.levels)
            self._largest[key] = tuple(found)
        return self._largest[key]

    def _too_closely(
        self, result: SuppressionResult, asked: Sequence[UnionExposure], budget: Budget | None
    ) -> tuple[UnionExposure, ...]:
        """Return sums whose levels are not reached; what intruders can be asked about each is found out once.

        Cells whose levels were lowered for the sake of a respondent are sums of one cell.
        """
        before, n = self.prepared.problem, self.prepared.problem.n_cells
        fresh = not_cells(result.problem, asked)
        if not fresh or int(result.pattern.sum()) > LARGEST:
            return ()
        if not np.array_equal(result.problem.may_hide[:n], before.may_hide):
            return known_too_closely(result.problem, result.pattern, fresh, budget, result.deviations)
        wanted = {_level(sum_) for sum_ in fresh}
        groups = [known for known in self._asked if not wanted.isdisjoint(map(_level, known.sums))]
        there = {_level(sum_) for known in groups for sum_ in known.sums}
        if new := [sum_ for sum_ in fresh if _level(sum_) not in there]:
            groups.append(asked_sums(before, new, budget))
            if groups[-1].complete:
                self._asked.append(groups[-1])
        close = (sum_ for known in groups for sum_ in known.exposed(result.pattern[:n], budget, result.deviations))
        return tuple(sum_ for sum_ in close if _level(sum_) in wanted)


def _level(sum_: UnionExposure) -> tuple[tuple[int, ...], float, float, float]:
    return sum_.cells, sum_.lpl, sum_.upl, sum_.spl


def hide(prepared: Prepared, how: Suppress, budget: Budget, exposed: Sums) -> Answer:
    """Search, and search again with levels for hidden cells that everybody could compute, where that is asked for."""
    request, problem = prepared.request, prepared.problem
    search = _search(prepared, how, budget, exposed)
    widened = np.zeros(0, np.int64)
    for last in (*[False] * (HIDDEN_ROUNDS if request.protect_hidden else 0), True):
        answer = search(problem)
        problem = answer.problem
        out_of_reach = np.intersect1d([u.cell for u in answer.result.unprotectable], widened).astype(np.int64)
        if last or not (answer.result.safe or len(out_of_reach)):
            break
        if len(out_of_reach):
            problem = published_instead(problem, out_of_reach)
            continue
        bare = without_level(problem, answer.result.pattern)
        looked = audit(problem, answer.result.pattern, of=bare, budget=budget, executor=request.executor)
        if not len(looked.left_open):
            break
        widened = np.union1d(widened, looked.left_open)
        problem = widths_for_hidden(problem, looked.left_open, NEARLY, smallest_level(prepared.table))
    return answer


def _search(prepared: Prepared, how: Suppress, budget: Budget, exposed: Sums) -> Callable[[Problem], Answer]:
    request = prepared.request

    def search(problem: Problem) -> Answer:
        return suppress_with_sums(
            problem,
            exposed,
            budget,
            repair=request.unions == "repair" or (request.unions == "off" and bool(prepared.lowered)),
            method=how.method,
            seed=prepared.seed,
            engine=how.engine,
            solver=how.solver,
            means=Means(request.executor, store_for(problem, request.resume, how.options)),
            tables=prepared.tables,
            options=how.options,
        )

    return search
