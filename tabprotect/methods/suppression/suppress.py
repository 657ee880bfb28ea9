"""The door to the suppression methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, did_you_mean
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.problem import Problem
from tabprotect.solver.limits import Limits, Progress

__all__ = ["methods", "suppress"]

ENGINES = ("scip", "highs", "pyomo")


def methods() -> tuple[str, ...]:
    """Return the names that `suppress` takes as `method`."""
    return ("auto", "exact", "greedy", "local")


def suppress(
    problem: Problem,
    *,
    method: str = "auto",
    limits: Limits | None = None,
    seed: int = 0,
    progress: Callable[[Progress], None] | None = None,
    engine: str = "scip",
    solver: str | None = None,
    start: npt.ArrayLike | None = None,
) -> SuppressionResult:
    """Choose the cells to suppress besides the primary ones.

    Parameters
    ----------
    problem : Problem
    method : {'auto', 'exact', 'greedy', 'local'}
        'exact' gives the cheapest pattern, or the best within the limits, with a lower bound; 'greedy' a good one
        quickly, without a bound; 'local' works with small programmes around each primary, so that tables of a
        million cells have a safe pattern within minutes, and better ones and a lower bound after that; 'auto' chooses
        by size and by how far equations reach, and says so in the `method` of the result.
    limits : Limits, optional
        In seconds, work units, or as a gap. Without any, the search goes on until the optimum is proven.
    seed : int
        The same seed, problem and limits (in work) give the same answer.
    progress : callable, optional
        Is handed a `tabprotect.solver.limits.Progress` now and then.
    engine : {'scip', 'highs', 'pyomo'}
        What solves the integer programmes. 'pyomo' states the whole compact programme and hands it to any solver that
        Pyomo knows (small tables).
    solver : str, optional
        The solver behind engine='pyomo'.
    start : array_like of bool, shape (cells,), optional
        A pattern to start from, such as that of another method; completed where it is not safe. Not for
        engine='pyomo'.

    Returns
    -------
    SuppressionResult

    Raises
    ------
    InputError
        If there is no such method or engine, or `start` does not fit.
    SolverError
        If the solver is not installed or fails.
    """
    limits = limits or Limits()
    if method not in methods():
        raise InputError(f"no method '{method}'{did_you_mean(method, methods())}")
    if engine not in ENGINES:
        raise InputError(f"no engine '{engine}'{did_you_mean(engine, ENGINES)}")
    if solver is not None and engine != "pyomo":
        raise InputError("solver= goes with engine='pyomo'")
    shared: dict[str, Any] = {"limits": limits, "seed": seed, "progress": progress}
    if start is not None:
        shared["start"] = _start(problem, start, engine)
    if method == "auto" and engine != "pyomo":
        from tabprotect.methods.suppression.choice import automatic

        return automatic(problem, engine=engine, **{"start": None, **shared})
    if method == "local":
        from tabprotect.methods.suppression.local import local

        return local(problem, **shared)
    if method == "greedy":
        from tabprotect.methods.suppression.greedy import greedy

        return greedy(problem, **shared)
    if engine == "pyomo":
        from tabprotect.methods.suppression.compact import compact

        return compact(problem, limits=limits, solver=solver, progress=progress)
    from tabprotect.methods.suppression.exact import exact

    return exact(problem, engine=engine, **shared)


def _start(problem: Problem, start: npt.ArrayLike, engine: str) -> npt.NDArray[np.bool_]:
    if engine == "pyomo":
        raise InputError("start= does not go with engine='pyomo'")
    pattern = np.asarray(start)
    if pattern.dtype != np.bool_ or pattern.shape != (problem.n_cells,):
        raise InputError(f"start must be {problem.n_cells} booleans, one a cell")
    if shown := [problem.system.label(int(i)) for i in np.flatnonzero(pattern & ~problem.may_hide)[:3]]:
        raise InputError(f"start hides cells that may not be hidden: {', '.join(shown)}")
    return pattern
