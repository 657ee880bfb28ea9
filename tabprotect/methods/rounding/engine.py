"""Rounding with so many steps or as few as possible, and what it says where neighbouring multiples are not enough."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from tabprotect.attack.witness import Exposure
from tabprotect.counted import counted
from tabprotect.errors import SolverError
from tabprotect.methods.distance import Norm
from tabprotect.methods.rounding.grid import Grid, on_grid
from tabprotect.methods.rounding.levels import cut, exposures, within_levels
from tabprotect.methods.rounding.programme import Programme
from tabprotect.methods.rounding.result import Diagnosis, RoundingResult
from tabprotect.methods.rounding.search import Search
from tabprotect.methods.rounding.verdict import judge
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget
from tabprotect.solver.tolerances import INTEGRALITY, PROVEN

__all__ = ["METHODS", "Engine", "Method"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

Method = Literal["auto", "exact", "heuristic"]
METHODS: tuple[Method, ...] = ("auto", "exact", "heuristic")

#: further bases that are tried at most
_MOST_STEPS = 8

#: columns above which a search comes before the programme
_LARGE = 2500

#: randomised tries, and vain pieces in a row that end the search
_TRIES, _PATIENCE = 3, 20

#: share of the clock for the search, for one number of steps, and for the diagnosis
_SEARCH_SHARE, _STEP_SHARE, _DIAGNOSIS_SHARE = 0.5, 0.3, 0.5

#: nodes of the tree in which the fewest further steps are sought
_DIAGNOSIS_NODES = 300

#: rounds of inequalities for protection levels
_ROUNDS = 200


@dataclass(frozen=True, eq=False)
class _Found:
    """What one number of steps gave."""

    steps: int
    grid: Grid
    multiples: Ints | None
    cost: float | None
    bound: float | None
    infeasible: bool
    exposed: tuple[Exposure, ...] | None
    method: str


@dataclass(frozen=True, eq=False)
class Engine:
    """One call of `tabprotect.round`."""

    problem: Problem
    base: float
    norm: Norm
    weight: Floats
    protect: bool
    rise: bool
    method: Method
    budget: Budget
    seed: int

    def given(self, steps: int) -> tuple[_Found, Diagnosis | None]:
        """Solve for a number of steps; say what would be enough where it is not."""
        found = self._solve(steps, 1.0)
        if not found.infeasible or self.budget.exhausted:
            return found, None
        return found, self._diagnose(steps)

    def least(self) -> tuple[_Found, Diagnosis | None]:
        """Go up from 0 steps until there is a rounding."""
        proven = True
        found = self._solve(0, _STEP_SHARE)
        for steps in range(1, _MOST_STEPS + 1):
            if found.multiples is not None or self.budget.exhausted:
                break
            proven &= found.infeasible
            found = self._solve(steps, 1.0 if found.infeasible else _STEP_SHARE)
        if found.steps == 0:
            return found, None
        if found.multiples is None:
            return found, Diagnosis(None, proven, np.zeros(0, np.int64))
        fewest = None if self.budget.exhausted else self._fewest(found.steps)[0]
        return found, replace(fewest or self._taken(found), proven=proven)

    def _diagnose(self, steps: int) -> Diagnosis:
        """Find the fewest further steps that are enough, and who takes them."""
        proven = True
        for more in range(steps + 1, _MOST_STEPS + 1):
            if self.budget.exhausted:
                break
            if self.protect:
                found = self._solve(more, _STEP_SHARE)
                diagnosis = None if found.multiples is None else self._taken(found)
                infeasible = found.infeasible
            else:
                diagnosis, infeasible = self._fewest(more)
            if diagnosis is not None:
                return replace(diagnosis, proven=proven)
            proven &= infeasible
        return Diagnosis(None, proven, np.zeros(0, np.int64))

    def _fewest(self, steps: int) -> tuple[Diagnosis | None, bool]:
        """Minimise the steps beyond neighbouring multiples; the second answer says that there is no rounding.

        Protection levels are left out: what they need depends on the number of steps itself.
        """
        if self.protect:
            return None, False
        grid = on_grid(self.problem, self.base, steps, self.rise)
        programme = Programme(self.problem, grid, self.weight, "excess")
        if not programme.possible:
            return None, True
        with self.budget.part(_DIAGNOSIS_SHARE) as budget:
            found = self._minimise(programme, steps, budget, _DIAGNOSIS_NODES)
        if found.multiples is None or found.cost is None:
            return None, found.infeasible
        least = 0 if found.bound is None else max(0, int(np.ceil(found.bound - INTEGRALITY)))
        return replace(self._taken(found), least=least), False

    def _taken(self, found: _Found) -> Diagnosis:
        assert found.multiples is not None
        values = self._checked(found.grid, found.multiples, found.steps)
        further = _beyond(found.grid, found.multiples)
        return Diagnosis(found.steps, True, np.flatnonzero(further), int(further.sum()), 0, values)

    def _checked(self, grid: Grid, multiples: Ints, steps: int) -> Floats | None:
        """Values, if the judge finds nothing wrong with them."""
        values = grid.values(multiples)
        return values if judge(self.problem, values, self.base, steps, self.rise).ok else None

    def _solve(self, steps: int, share: float) -> _Found:
        """Find the nearest rounding with so many steps, within a share of the seconds left."""
        grid = on_grid(self.problem, self.base, steps, self.rise)
        if self.protect:
            grid = within_levels(self.problem, grid, steps, self.rise)
        nothing = _Found(steps, grid, None, None, None, True, None, "bounds")
        if np.any(grid.low > grid.high):
            return nothing
        programme = Programme(self.problem, grid, self.weight, self.norm)
        if not programme.possible:
            return nothing
        with self.budget.part(share) as budget:
            return self._within(programme, replace(nothing, infeasible=False, method="none"), budget)

    def _within(self, programme: Programme, found: _Found, budget: Budget) -> _Found:
        """Minimise; add what protection levels demand and were not met, and again."""
        steps, grid = found.steps, found.grid
        for _ in range(_ROUNDS if self.protect else 1):
            found = self._minimise(programme, steps, budget)
            if found.multiples is None or not self.protect or budget.exhausted:
                break
            values = grid.values(found.multiples)
            exposed = exposures(self.problem, values, self.base, steps, budget, self.rise)
            found = replace(found, exposed=exposed)
            made = (cut(self.problem, values, self.base, steps, e, self.rise) for e in exposed)
            cuts = [c for c in made if c is not None]
            cuts = [(row, least) for row, least in cuts if row @ values < least]
            if not cuts:
                break
            for row, least in cuts:
                programme.add_cut(row, least)
        if found.exposed:
            # no rounding that meets the levels was found: nothing is released
            return replace(found, multiples=None, cost=None)
        return found

    def _minimise(self, programme: Programme, steps: int, budget: Budget, nodes: int | None = None) -> _Found:
        search = Search(programme, budget, np.random.default_rng(self.seed))
        search.relax()
        name = "relaxation"
        if not search.infeasible and not self._proven(search, budget):
            large = len(programme.group) > _LARGE or self.method == "heuristic"
            if large and self.method != "exact":
                name = "search"
                if search.linked or not search.neighbours():
                    search.lattice()
                for _ in range(_TRIES if search.multiples is None and not search.linked else 0):
                    search.neighbours(noise=True)
                share = _SEARCH_SHARE if np.isfinite(budget.seconds_left) and self.method == "auto" else np.inf
                search.pieces(_PATIENCE, budget.seconds + share * budget.seconds_left if share < 1 else np.inf)
            if self.method != "heuristic" and not self._proven(search, budget) and not budget.exhausted:
                name = "exact"
                answer, multiples = programme.solve(
                    budget, start=search.multiples, nodes=nodes, gap=budget.limits.gap, seed=self.seed
                )
                search.offer(multiples)
                search.infeasible = answer.status == "infeasible"
                if answer.bound is not None:
                    search.bound = max(search.bound, answer.bound + programme.constant)
        every = None if search.multiples is None else search.multiples[programme.own]
        return _Found(
            steps,
            programme.grid,
            every,
            None if every is None else search.cost,
            search.bound if np.isfinite(search.bound) and not search.infeasible else None,
            search.infeasible,
            None,
            name,
        )

    def _proven(self, search: Search, budget: Budget) -> bool:
        return search.multiples is not None and search.bound >= search.cost * (1 - max(budget.limits.gap, PROVEN))

    def result(self, found: _Found, diagnosis: Diagnosis | None) -> RoundingResult:
        """Judge what was found and put it into words."""
        budget, notes = self.budget, []
        stopped: Literal["", "time", "work", "user"] = ""
        if budget.exhausted:
            stopped = "user" if budget.cancelled else "time" if budget.seconds_left <= 0 else "work"
            notes.append({"user": "cancelled", "time": "time limit reached", "work": "work limit reached"}[stopped])
        infeasible, values, verdict = found.infeasible, None, None
        if found.multiples is not None:
            values = found.grid.values(found.multiples)
            verdict = judge(self.problem, values, self.base, found.steps, self.rise)
            if not verdict.ok and verdict.additive > 0 and replace(verdict, additive=0.0).ok:
                # equations left out because others imply them: they do not, so the constants contradict each other
                infeasible, values, verdict = True, None, None
                notes.append("the constants of the equations contradict each other: nothing adds up")
            elif not verdict.ok:
                raise SolverError(f"the solver's rounding was refused by the check ({verdict}); please report this")
        if diagnosis is not None and diagnosis.steps is not None:
            how = "" if diagnosis.proven else " (fewer were not ruled out)"
            bases = "1 further base" if diagnosis.steps == 1 else f"{diagnosis.steps} further bases"
            cells = counted(len(diagnosis.cells), "cell")
            open_ = "" if diagnosis.smallest else f" (bound: {diagnosis.least}, gap {100 * diagnosis.gap:.0f} %)"
            where = f"in {cells}" if len(diagnosis.cells) else "for the protection levels"
            notes.append(f"neighbouring multiples are not enough: {bases}{how}, {where}{open_}")
        if found.exposed:
            notes.append(
                f"{counted(len(found.exposed), 'protection level was', 'protection levels were')} not met by "
                "any rounding found"
            )
        elif values is None and infeasible and self.protect:
            notes.append(
                "no rounding with this base and so many steps meets all protection levels: give a larger base, "
                "about as large as the largest level"
            )
        cost = found.cost if values is not None else None
        bound = found.bound if cost is None or found.bound is None else min(found.bound, cost)
        if values is None:
            status: Literal["optimal", "feasible", "infeasible", "unknown"] = "infeasible" if infeasible else "unknown"
            bound = None if infeasible else bound
        else:
            closed = bound is not None and cost is not None and cost - bound <= PROVEN * cost
            status = "optimal" if closed else "feasible"
        return RoundingResult(
            self.problem, found.grid.base, values, found.steps, cost, bound, status, 0.0,
            self.norm, self.weight, verdict, found.exposed, diagnosis, found.method, budget.seconds, budget.work,
            "; ".join(notes), stopped, rise=self.rise,
        )  # fmt: skip


def _beyond(grid: Grid, multiples: Ints) -> Ints:
    """Bases by which every cell is beyond its neighbouring multiples."""
    beyond = np.maximum(grid.below - multiples, 0) + np.maximum(multiples - grid.above, 0)
    return np.asarray(beyond, np.int64)
