"""What each family of cuts adds to the root bound: one table an instance.

Run from the checkout: ``python -m benchmarks.cut_families [--work 400000] [--seconds 20] [--search 60] [NAME ...]``;
a name is ``8x8x8/SEED``, ``demo``, or the path of a .jj file.

The linear relaxation with capacity cuts and bridges is brought to a standstill, its pool is frozen, and each family is
separated on top of it, alone. Gap closed is a share of what lies between that bound and the incumbent. SCIP has the
same pool as an integer programme and stops at its root.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse

from benchmarks.cuts import FAMILIES, Family, halves
from tabprotect.errors import SolverError
from tabprotect.formats.jj import read_jj
from tabprotect.instances.families import family
from tabprotect.methods.suppression import suppress
from tabprotect.methods.suppression.bound.relaxation import Relaxation
from tabprotect.methods.suppression.presolve.core import Core
from tabprotect.methods.suppression.presolve.reduce import reduce_problem
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget, Limits
from tabprotect.solver.lp import LinearProgram

__all__ = ["Line", "Pool", "fixed_by_cost", "measure", "probed", "scip_root", "separated"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

PROGRESS, STALLS = 1e-4, 3
"""A family ends after so many rounds that lift the bound by less than this share."""

PROBED = 40
"""Variables that are probed."""

SEPARATORS = ("zerohalf", "aggregation", "gomory", "knapsack covers", "clique", "mcf")
"""Of SCIP, one at a time."""


@dataclass(frozen=True, eq=False)
class Pool:
    """Rows ``matrix @ x >= rhs`` of one core, for binary x."""

    cost: Floats
    hidden: Bools
    matrix: sparse.csr_array
    rhs: Floats


@dataclass(frozen=True)
class Line:
    """One row of the table; `seconds` are of the processor."""

    family: str
    cuts: int
    bound: float
    seconds: float
    note: str = ""


class _Base(Relaxation):
    """The relaxation without cuts over single rows or sums of rows."""

    def covers(self) -> list[int]:
        """No such cuts."""
        return []

    def halves(self) -> list[int]:
        """No such cuts."""
        return []


class _Programme:
    """The linear relaxation of a pool, to which rows come."""

    def __init__(self, pool: Pool) -> None:
        self.lp = LinearProgram(
            pool.matrix, pool.rhs, np.full(len(pool.rhs), np.inf), pool.hidden.astype(np.float64),
            np.ones(len(pool.cost)), pool.cost, method="dual",
        )  # fmt: skip

    def solve(self) -> tuple[float, Floats, Floats]:
        """Return bound, point and reduced costs; an infinite bound where nothing satisfies the rows."""
        answer = self.lp.solve()
        if answer.status == "infeasible":
            return math.inf, np.asarray(answer.x), np.asarray(answer.reduced)
        return answer.objective, np.clip(answer.x, 0, 1), answer.reduced


def separated(pool: Pool, families: Sequence[Family], seconds: float) -> tuple[float, Floats, Floats, list[int]]:
    """Add the cuts of some families until the bound stands still or so much processor time is spent."""
    start, stalls, programme = time.process_time(), 0, _Programme(pool)
    matrix, rhs, cuts = pool.matrix, pool.rhs, [0] * len(families)
    bound, x, reduced = programme.solve()
    while stalls < STALLS and time.process_time() - start < seconds and math.isfinite(bound):
        new = []
        for k, one in enumerate(families):
            rows = one(matrix, rhs, x)
            cuts[k] += len(rows)
            new += rows
        if not new:
            break
        more = sparse.csr_array(sparse.vstack([_as_matrix(row.index, row.values, len(x)) for row in new]))
        right = np.array([row.rhs for row in new])
        programme.lp.add_rows(more, right, np.full(len(right), np.inf))
        matrix, rhs = sparse.csr_array(sparse.vstack([matrix, more])), np.concatenate([rhs, right])
        before = bound
        bound, x, reduced = programme.solve()
        stalls = stalls + 1 if bound - before < PROGRESS * abs(before) else 0
    return bound, x, reduced, cuts


def _as_matrix(index: npt.NDArray[np.int64], values: Floats, n: int) -> sparse.csr_array:
    return sparse.csr_array((values, index, [0, len(index)]), shape=(1, n))


def scip_root(pool: Pool, seconds: float, only: str | None = "") -> tuple[float, int]:
    """Return the dual bound of SCIP at its root and the number of cuts it applied.

    Parameters
    ----------
    only : str or None
        This separator alone; '' for all, None for none (SCIP's presolve and propagation alone).
    """
    from pyscipopt import SCIP_PARAMSETTING, Model, quicksum

    model = Model()
    model.hideOutput()
    model.setHeuristics(SCIP_PARAMSETTING.OFF)
    for name, value in {"limits/nodes": 1, "timing/clocktype": 1, "limits/time": seconds, "limits/restarts": 0,
                        "separating/maxroundsroot": -1, "separating/maxstallroundsroot": 20,
                        "presolving/maxrestarts": 0, "misc/catchctrlc": False}.items():  # fmt: skip
        model.setParam(name, value)
    if only != "":
        model.setSeparating(SCIP_PARAMSETTING.OFF)
        if only == "knapsack covers":
            model.setParam("constraints/knapsack/sepafreq", 0)
            model.setParam("constraints/linear/sepafreq", 0)
        elif only:
            model.setParam(f"separating/{only}/freq", 0)
    x = [
        model.addVar(vtype="B", obj=c, lb=float(h))
        for c, h in zip(pool.cost.tolist(), pool.hidden.tolist(), strict=True)
    ]
    indptr = pool.matrix.indptr.tolist()
    for k, right in enumerate(pool.rhs.tolist()):
        lo, hi = indptr[k], indptr[k + 1]
        terms = zip(pool.matrix.indices[lo:hi].tolist(), pool.matrix.data[lo:hi].tolist(), strict=True)
        model.addCons(quicksum(v * x[j] for j, v in terms) >= right)
    model.optimize()
    found = float(model.getDualbound()), int(model.getNCutsApplied())
    model.freeProb()
    return found


def _of_scip(pool: Pool, seconds: float, only: str | None) -> tuple[float, int, str]:
    return *scip_root(pool, seconds, only), ""


def fixed_by_cost(bound: float, x: Floats, reduced: Floats, best: float, hidden: Bools) -> tuple[Bools, Bools]:
    """Cells that no pattern cheaper than `best` hides, and cells that all of them hide, known by reduced costs.

    Examples
    --------
    >>> never, always = fixed_by_cost(10.0, np.array([0, 0, 1.0]), np.array([3.0, 1, -4]), 12.0, np.zeros(3, bool))
    >>> never.tolist(), always.tolist()
    ([True, False, False], [False, False, True])
    """
    room = best - bound + 1e-6 * max(1.0, abs(best))
    return (x < 1e-9) & (reduced > room) & ~hidden, (x > 1 - 1e-9) & (-reduced > room) & ~hidden


def without(pool: Pool, never: Bools, always: Bools) -> Pool:
    """Return the pool where some cells are fixed: capacity rows become stronger by what the others are asked for."""
    matrix = pool.matrix.copy()
    rhs = pool.rhs - matrix @ always.astype(np.float64)
    row = np.repeat(np.arange(len(rhs)), np.diff(matrix.indptr))
    matrix.data[(never | always)[matrix.indices]] = 0.0
    positive = np.bincount(row[matrix.data < 0], minlength=len(rhs)) == 0
    asked = positive & (rhs > 1e-7)
    scale = np.where(asked, rhs, 1.0)
    matrix.data /= scale[row]
    matrix.data[asked[row]] = np.minimum(matrix.data[asked[row]], 1.0)
    keep = np.flatnonzero(asked | ~positive)
    rest = sparse.csr_array(matrix[keep])
    rest.eliminate_zeros()
    cost = np.where(never | always, 0.0, pool.cost)
    return Pool(cost, pool.hidden | always, rest, (rhs / scale)[keep])


def probed(pool: Pool, best: float, seconds: float) -> tuple[float, int, int]:
    """Fix fractional cells at 0 and at 1, one after the other.

    Returns
    -------
    bound, fixed, tried : float, int, int
        The largest of the smaller of both bounds; cells that one side fixes because it costs more than `best`, and
        others that both sides fix by reduced costs.
    """
    start, programme = time.process_time(), _Programme(pool)
    bound, x, _ = programme.solve()
    order = np.argsort(-(np.minimum(x, 1 - x) * pool.cost), kind="stable")
    cells = [int(i) for i in order[:PROBED] if 1e-3 < x[i] < 1 - 1e-3]
    fixed, tried, lifted = np.zeros(len(x), bool), 0, bound
    for cell in cells:
        if time.process_time() - start > seconds:
            break
        both, sides = [], []
        for value in (0.0, 1.0):
            programme.lp.set_bounds(np.array([cell], np.int32), np.array([value]), np.array([value]))
            z, point, reduced = programme.solve()
            both.append(min(z, best))
            if z >= best:
                fixed[cell] = True
                sides.append((np.ones(len(x), bool), np.ones(len(x), bool)))
            else:
                sides.append(fixed_by_cost(z, point, reduced, best, pool.hidden))
        programme.lp.set_bounds(np.array([cell], np.int32), np.zeros(1), np.ones(1))
        others = (sides[0][0] & sides[1][0]) | (sides[0][1] & sides[1][1])
        others[cell] = False
        fixed |= others & ~pool.hidden
        lifted, tried = max(lifted, min(both)), tried + 1
    return lifted, int(fixed.sum()), tried


def frozen(core: Core, incumbent: Bools, work: int) -> tuple[Pool, str]:
    """Bring the relaxation of a core without joint cuts to a standstill; return its pool and how it ended.

    Raises
    ------
    SolverError
        If the incumbent, which is safe, violates a capacity cut.
    """
    relaxation = _Base(core, np.arange(len(core.targets)), Budget(Limits(work=work)))
    relaxation.run(incumbent.astype(np.float64))
    note = "stands still" if relaxation.finished else f"stopped after {work:,} units of work"
    relaxation.use(Budget(Limits()))
    relaxation.settle()
    broken = relaxation.pool.slack(incumbent.astype(np.float64)) < -1e-6
    if np.any(broken & (relaxation.pool.rhs > 0)):
        raise SolverError("a safe pattern violates a capacity cut")
    slack = relaxation.pool.slack(relaxation.x)
    near = np.flatnonzero(slack < 0.6)
    matrix = sparse.csr_array(relaxation.pool.matrix[near])
    return Pool(core.weight, core.hidden, matrix, relaxation.pool.rhs[near].copy()), note


def measure(core: Core, incumbent: Bools, work: int, seconds: float) -> Iterator[Line]:
    """Yield one line a family; `work` limits the base, `seconds` of the processor every family."""
    best = core.cost(incumbent)

    def timed(name: str, run: Callable[[], tuple[float, int, str]]) -> Line:
        start = time.process_time()
        bound, cuts, note = run()
        return Line(name, cuts, min(bound, best), time.process_time() - start, note)

    start = time.process_time()
    pool, ended = frozen(core, incumbent, work)
    bound, x, reduced = _Programme(pool).solve()
    yield Line("base: capacity cuts and bridges", len(pool.rhs), bound, time.process_time() - start, ended)
    for name, one in FAMILIES.items():

        def alone(families: tuple[Family, ...] = (one,)) -> tuple[float, int, str]:
            found, _, _, cuts = separated(pool, families, seconds)
            return found, sum(cuts), ""

        yield timed(name, alone)
    everything = tuple(FAMILIES.values())
    yield timed("all of these", lambda: (lambda a: (a[0], sum(a[3]), ""))(separated(pool, everything, 2 * seconds)))
    yield timed("SCIP: presolve alone", partial(_of_scip, pool, seconds, None))
    for name in SEPARATORS:
        yield timed(f"SCIP: {name}", partial(_of_scip, pool, seconds, name))
    yield timed("SCIP: all separators", partial(_of_scip, pool, 2 * seconds, ""))

    def fixing() -> tuple[float, int, str]:
        never, always = fixed_by_cost(bound, x, reduced, best, pool.hidden)
        paid = float(pool.cost[always].sum())
        found, _, _, cuts = separated(without(pool, never, always), (halves,), seconds)
        return found + paid, sum(cuts), f"{int((never | always).sum())} of {len(x)} fixed"

    yield timed("reduced-cost fixing, then zero-half", fixing)

    def probing() -> tuple[float, int, str]:
        found, fixed, tried = probed(pool, best, seconds)
        return found, 0, f"{tried} probed, {fixed} fixed"

    yield timed("probing", probing)


def problem_of(name: str) -> Problem:
    """Return the problem of a name."""
    if name == "demo":
        return _demo()
    if name.startswith("8x8x8/"):
        return family("thin", seed=int(name.split("/")[1]), sizes=(8, 8, 8))
    return read_jj(Path(name))


def _demo() -> Problem:
    """The problem of ``tabprotect demo``."""
    from tabprotect.instances import data
    from tabprotect.workflow.beforehand import check_beforehand
    from tabprotect.workflow.prepare import prepare
    from tabprotect.workflow.specified import request_of

    content = {
        "data": str(data("register.csv")), "by": ["division", "nuts2", "size"], "value": "turnover",
        "contributor": "enterprise_id", "holding": "group_id",
        "hierarchy": {"division": str(data("division.hrc")), "size": {"codes": ["0-9", "10-49", "50-249", "250+"]}},
        "rules": ["p%=15", "threshold=3"],
    }  # fmt: skip
    return prepare(request_of(check_beforehand(content, "demo", Path(), writes=False), Path())).problem


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=["8x8x8/0", "8x8x8/1", "demo"])
    parser.add_argument("--work", type=int, default=400_000, help="work units of the base relaxation")
    parser.add_argument("--seconds", type=float, default=20, help="processor seconds of every family")
    parser.add_argument("--search", type=int, default=300_000, help="work units of the search for the incumbent")
    asked = parser.parse_args(arguments)
    for name in asked.names:
        problem = problem_of(name)
        result = suppress(problem, limits=Limits(work=asked.search))
        reduction = reduce_problem(problem)
        patterns = reduction.patterns(result.pattern)
        core, incumbent = max(zip(reduction.cores, patterns, strict=True), key=lambda both: both[0].n)
        print(f"\n### {Path(name).name}: {problem.n_cells:,} cells, largest core {core.n:,}\n")
        print(f"cost {result.cost:,.10g} ({core.cost(incumbent):,.10g} in the core), bound {result.bound or 0:,.10g}\n")
        print("| family | cuts | bound | gap closed, % | processor s | |")
        print("| --- | --- | --- | --- | --- | --- |", flush=True)
        base, best = None, core.cost(incumbent)
        for line in measure(core, incumbent, asked.work, asked.seconds):
            base = line.bound if base is None else base
            closed = 100 * (line.bound - base) / (best - base) if best > base else 0.0
            figures = (f"{line.cuts:,}", f"{line.bound:,.8g}", f"{closed:.1f}", f"{line.seconds:.1f}")
            print("| " + " | ".join((line.family, *figures, line.note)) + " |", flush=True)


if __name__ == "__main__":
    main()
