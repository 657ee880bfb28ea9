"""Controlled tabular adjustment: move sensitive cells by their level, all others as little as possible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, SolverError, among, as_numbers, did_you_mean, need
from tabprotect.methods.adjustment.exactly import values_of
from tabprotect.methods.adjustment.options import DEFAULTS, Options
from tabprotect.methods.adjustment.preserve import Preserve, excess
from tabprotect.methods.adjustment.result import AdjustmentResult, judge, residual
from tabprotect.methods.adjustment.statement import Statement, state
from tabprotect.methods.adjustment.strategy import METHODS, Found, Method, for_free, for_given
from tabprotect.methods.distance import Norm, Weights, check_norm, distance, distance_weights
from tabprotect.problem import Problem, Status, need_problem
from tabprotect.seeds import Seed, as_seed
from tabprotect.solver.interrupts import cancel_on_interrupt
from tabprotect.solver.limits import Budget, Limits, Progress, as_limits
from tabprotect.solver.stops import Stop, seconds_after
from tabprotect.solver.tolerances import CONDITION, PROVEN, PROVEN_SQUARES
from tabprotect.table.additivity import noticeable

__all__ = ["PROVEN_SENSES", "adjust"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

PROVEN_SENSES = 16
"""Least squares with at most so many free senses are proven by branch and bound over senses, by default."""


def adjust(
    problem: Problem,
    *,
    norm: Norm = "l1",
    senses: Literal["up", "down", "free"] | Sequence[int] | Ints = "free",
    weights: Weights | npt.ArrayLike = "reciprocal",
    fixed: npt.ArrayLike = (),
    preserve: Sequence[Preserve | Sequence[Preserve]] = (),
    decimals: int | None = None,
    method: Method = "auto",
    proven_senses: int = PROVEN_SENSES,
    limits: Limits | float | None = None,
    seed: Seed = 0,
    progress: Callable[[Progress], None] | None = None,
    options: Options = DEFAULTS,
) -> AdjustmentResult:
    """Replace values by near ones that still add up, sensitive cells moved by their protection level or more.

    Controlled tabular adjustment (Dandekar and Cox 2002, Castro 2006); the equations: `tabprotect.models.adjustment`.
    Everything is stated in deviations (A z = 0), so a table with rounding residuals keeps exactly these residuals.

    Parameters
    ----------
    problem : Problem
        Primaries with `upl` move up by that or down by `lpl`; a side of level 0 is not used while the other side has
        one. Cells stay within the external bounds. Protected cells and structural zeros keep their value, forced
        cells are treated like safe ones.
    norm : {'l1', 'l2', 'linf'}
        Minimise sum w|z|, sum w z^2 or max w|z|.
    senses : {'up', 'down', 'free'} or sequence of {+1, -1}
        Where primaries go: given (in the order of ``problem.primaries``; one that cannot go there goes the other way)
        or free, to be chosen at least cost.
    weights : {'value', 'reciprocal', 'unit', 'problem'} or array
        ``|a|``, ``1/|a|``, 1 or ``problem.weights``; see `tabprotect.methods.distance.distance_weights`.
    fixed : array of int or bool
        Further cells (such as totals) that keep their value.
    preserve : sequence
        Means, covariances, correlations to keep; see `tabprotect.methods.adjustment.preserve`.
    decimals : int, optional
        Adjusted values have at most that many decimals (0 for counts). By default 0 when ``problem.integer``, else
        whatever the optimum is.
    method : {'auto', 'exact', 'turns', 'blocks', 'fix-and-relax', 'patterns'}
        For free senses. 'patterns' tries a few plain patterns; 'turns' turns primaries round where prices promise a
        gain; 'blocks' then frees the senses of one neighbourhood after the other; 'fix-and-relax' decides the most
        expensive first; 'exact' ends with a proof if the limits allow. 'auto' is 'exact' for small problems; for
        others 'turns', then up to 20,000 cells 'exact' in what is left of a time limit.
    proven_senses : int
        With norm 'l2', at most so many free senses (cells that always move together count once), and up to 1,500
        cells, 'exact' and 'auto' decide them by branch and bound, one quadratic programme a node, whose bound is
        computed from multipliers (`tabprotect.methods.adjustment.senses`): the result's bound then trusts no solver.
        With decimals, cells are decided in the same way (`tabprotect.methods.adjustment.whole`), with given senses,
        too. 0 leaves it out. Not with correlations to preserve.
    limits : Limits or float, optional
    seed : int or numpy.random.Generator
        For the order of blocks.
    progress : callable, optional
    options : Options
        See `tabprotect.methods.adjustment.options`.

    Returns
    -------
    AdjustmentResult

    Raises
    ------
    InputError
        Unknown options, arrays of wrong length, levels that an adjustment cannot meet by its nature.
    InfeasibleError
        Names the cells whose bounds do not let them move far enough.

    Examples
    --------
    >>> A = [[-1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, -1, 1, 1, 0, 0, 0],
    ...      [0, 0, 0, 0, 0, 0, -1, 1, 1], [-1, 0, 0, 1, 0, 0, 1, 0, 0],
    ...      [0, -1, 0, 0, 1, 0, 0, 1, 0], [0, 0, -1, 0, 0, 1, 0, 0, 1]]
    >>> p = Problem.from_arrays(A, [20, 9, 11, 8, 3, 5, 12, 6, 6], primary=[4], lpl=1, upl=1)
    >>> result = adjust(p, weights="unit", fixed=[0, 1, 2, 3, 6])
    >>> result.status, result.cost, result.bound, result.verdict.exact
    ('optimal', 4.0, 4.0, True)
    """
    need_problem(problem, "adjust")
    check_norm(norm)
    if not among(method, METHODS):
        raise InputError(f"unknown method '{method}'{did_you_mean(method, METHODS)}")
    if isinstance(proven_senses, bool) or not isinstance(proven_senses, int) or proven_senses < 0:
        raise InputError(f"proven_senses is a whole number, 0 or more, not {proven_senses!r}")
    keep, seed = _mask(problem, fixed), as_seed(seed)
    weight = distance_weights(problem, weights)
    if decimals is None and problem.integer:
        decimals = 0
    if not isinstance(preserve, Sequence) or isinstance(preserve, str):
        raise InputError(f"preserve must be what keep() returns, or several of them, not {preserve!r}")
    conditions = [c for part in preserve for c in (part if isinstance(part, Sequence) else [part])]
    if strange := [c for c in conditions if not isinstance(c, Preserve)]:
        raise InputError(f"preserve must be what keep() returns, or several of them, not {strange[0]!r}")
    need(options, Options, "adjust(options=)", "of tabprotect.methods.adjustment.options")
    budget = Budget(as_limits(limits), progress)
    st = state(problem, weight, norm, fixed=keep, preserve=conditions, decimals=decimals)
    given = _given(problem, st, senses)
    with cancel_on_interrupt(budget):
        if given is not None:
            found = for_given(st, given, proven_senses, budget, options)
        else:
            found = for_free(problem, st, weight, method, proven_senses, budget, seed, options)
        values = None if found.z is None else values_of(problem, st, found.z, found.senses, _late(budget, options))
    return _result(problem, st, found, values, budget, weight, keep, conditions)


def _late(budget: Budget, options: Options) -> Stop:
    """Return a stop that comes some time after a limit of time, or after somebody cancels; never for one of work."""
    share = (budget.limits.seconds or 0.0) * options.exact_share
    cancelled = seconds_after(lambda: budget.exhausted and budget.cancelled, options.exact_seconds)
    late = seconds_after(lambda: budget.seconds_left <= 0, max(share, options.exact_seconds))
    return lambda: cancelled() or late()


def _result(
    problem: Problem,
    st: Statement,
    found: Found,
    values: Floats | None,
    budget: Budget,
    weight: Floats,
    keep: npt.NDArray[np.bool_],
    conditions: Sequence[Preserve],
) -> AdjustmentResult:
    notes = []
    stopped: Literal["", "time", "work", "user"] = ""
    if budget.exhausted:
        stopped = "user" if budget.cancelled else "time" if budget.seconds_left <= 0 else "work"
        notes.append({"user": "cancelled", "time": "time limit reached", "work": "work limit reached"}[stopped])
    off = residual(problem)
    if off > 0:
        notes.append(f"the table before adds up to within {off:.6g} only; the adjusted one has the same residuals")
    moves = np.zeros(problem.n_cells, np.int64)
    lowest = None if not np.isfinite(found.bound) else found.bound * st.objective_unit
    if values is None:
        status: Literal["infeasible", "unknown"] = "infeasible" if found.infeasible else "unknown"
        if found.infeasible:
            what = "levels, bounds and what is to be preserved" if conditions else "levels and bounds"
            notes.insert(0, f"no adjusted table meets all {what} at once")
        elif not stopped:
            notes.insert(0, "the solver came to no answer")
        return AdjustmentResult(
            problem, None, moves[problem.primaries], None, lowest if not found.infeasible else None, status, None,
            st.norm, weight, found.method, budget.seconds, budget.work, "; ".join(notes), stopped,
        )  # fmt: skip
    moves[st.cells[st.primaries]] = found.senses
    verdict = judge(problem, values, keep | (problem.status == Status.PROTECTED) | (problem.status == Status.ZERO))
    if not verdict.ok:
        raise SolverError(
            f"the solver's adjustment was refused by the check in exact arithmetic ({verdict}); please report this"
        )
    broken = max((excess(condition, values - problem.values) for condition in conditions), default=0.0)
    if broken > CONDITION:
        raise SolverError(
            f"the solver's adjustment breaks what is to be preserved (by {broken:.2g} of its terms); please report this"
        )
    if not verdict.exact:
        off = noticeable(verdict.additive, problem.values)
        apart = f": sums differ by up to {off:.2g}" if off else ""
        notes.append(f"values are no exact decimals{apart}; state decimals to round them")
    cost = distance(values - problem.values, weight, st.norm)
    if lowest is not None:
        lowest = min(lowest, cost)
    proof = PROVEN if st.norm != "l2" and not st.cones else PROVEN_SQUARES
    closed = lowest is not None and cost - lowest <= proof * abs(cost)
    return AdjustmentResult(
        problem, values, moves[problem.primaries], cost, lowest, "optimal" if closed else "feasible", verdict,
        st.norm, weight, found.method, budget.seconds, budget.work, "; ".join(notes), stopped,
    )  # fmt: skip


def _mask(problem: Problem, fixed: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    cells = np.asarray(fixed)
    mask = np.zeros(problem.n_cells, bool)
    if cells.dtype == bool and cells.shape == mask.shape:
        return cells.copy()
    strange = cells.ndim != 1 or (len(cells) and cells.dtype.kind not in "iu")
    if strange or (len(cells) and (cells.min() < 0 or cells.max() >= problem.n_cells)):
        raise InputError(f"fixed cells are positions from 0 to {problem.n_cells - 1}, or a mask of all cells")
    mask[cells.astype(np.int64)] = True
    return mask


def _given(
    problem: Problem, st: Statement, senses: Literal["up", "down", "free"] | Sequence[int] | Ints
) -> Ints | None:
    """Senses of the statement's primaries, None when free; what can go one way only goes there."""
    if isinstance(senses, str):
        if senses not in ("up", "down", "free"):
            raise InputError(f"unknown senses '{senses}'{did_you_mean(senses, ['up', 'down', 'free'])}")
        if senses == "free":
            return None
        every = np.full(problem.n_cells, 1 if senses == "up" else -1, np.int64)
    else:
        wanted = as_numbers(senses, "senses", "'up', 'down', 'free', or +1 or -1 for every primary")
        if wanted.shape != problem.primaries.shape or not np.isin(wanted, (-1, 1)).all():
            raise InputError(f"senses are +1 or -1 for each of the {len(problem.primaries)} primaries")
        every = np.zeros(problem.n_cells, np.int64)
        every[problem.primaries] = wanted.astype(np.int64)
    return np.where(st.forced != 0, st.forced, every[st.cells[st.primaries]])
