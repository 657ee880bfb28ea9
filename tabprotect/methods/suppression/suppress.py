"""The entry to the suppression methods."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.counted import counted
from tabprotect.errors import InputError, among, collect, did_you_mean
from tabprotect.masks import pattern_mask
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.problem import Problem, need_problem
from tabprotect.seeds import Seed, as_seed
from tabprotect.solver.interrupts import cancel_on_interrupt
from tabprotect.solver.limits import Budget, Limits, Progress
from tabprotect.solver.monotone import one_progress
from tabprotect.solver.tasks.pieces import Means
from tabprotect.solver.tasks.store import Store, digest

__all__ = ["CLASSIC", "UNBOUNDED", "methods", "store_for", "suppress"]

ENGINES = ("scip", "highs", "pyomo")

CLASSIC = ("modular", "hypercube", "network", "joint")
"""Methods with a module and a function of their own name, without integer programmes of the whole."""

UNBOUNDED = ("greedy", *CLASSIC)
"""Methods that know nothing of what other patterns cost."""

SEEDED = ("modular", "network", "joint")
"""Those of them that use chance."""


def methods() -> tuple[str, ...]:
    """Return the names that `suppress` takes as `method`."""
    return ("auto", "exact", "greedy", "local", *CLASSIC)


def check_method(method: object, engine: object, solver: object = None, also: tuple[str, ...] = ()) -> None:
    """Refuse methods (but those of another function) and engines that there are not, and a solver that no engine takes.

    Examples
    --------
    >>> check_method("greddy", "scip")
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: no method 'greddy'; did you mean 'greedy'?
    """
    with collect() as problems:
        if not among(method, methods() + also):
            problems.add(f"no method '{method}'{did_you_mean(method, methods())}")
        if not among(engine, ENGINES):
            problems.add(f"no engine '{engine}'{did_you_mean(engine, ENGINES)}")
        elif solver is not None and engine != "pyomo":
            problems.add("solver= goes with engine='pyomo'")
        elif engine != "scip" and (method in UNBOUNDED or (method == "local" and engine == "pyomo")):
            problems.add(f"engine='{engine}' does not go with method='{method}'")


def suppress(
    problem: Problem,
    *,
    method: str = "auto",
    limits: Limits | Budget | float | None = None,
    seed: Seed = 0,
    progress: Callable[[Progress], None] | None = None,
    engine: str = "scip",
    solver: str | None = None,
    start: npt.ArrayLike | SuppressionResult | None = None,
    executor: Executor | None = None,
    resume: str | PathLike[str] | Store | None = None,
    options: Options = DEFAULTS,
) -> SuppressionResult:
    """Choose the cells to suppress besides the primary ones.

    Parameters
    ----------
    problem : Problem
    method : {'auto', 'exact', 'greedy', 'local', 'modular', 'hypercube', 'network', 'joint'}
        'exact' gives the cheapest pattern, or the best within the limits, with a lower bound; 'greedy' a good one
        quickly; 'local' works with small programmes around each primary, so that tables of a
        million cells have a safe pattern within minutes, and better ones and a lower bound after that; 'auto' chooses
        by size, dimensions and how far equations reach, and says so in the `method` of the result. The others are the
        classic methods: subtable by subtable, by hypercubes, by shortest paths (two-way tables), by one linear
        programme for many cells. Where a method has no bound of its own, a linear programme gives one in the last 15 %
        of the limits (`tabprotect.methods.suppression.lower_bound`).
    limits : Limits, float or Budget, optional
        In seconds (a number alone), work units, or as a gap. Without any, the search goes on until the optimum is
        proven. The `Budget` of a larger run that this search is a part of has its own progress.
    seed : int or numpy.random.Generator
        The same seed, problem and limits (in work) give the same answer.
    progress : callable, optional
        Is handed a `tabprotect.solver.limits.Progress` now and then.
    engine : {'scip', 'highs', 'pyomo'}
        What solves the integer programmes. 'pyomo' states the whole compact programme and hands it to any solver that
        Pyomo knows (small tables).
    solver : str, optional
        The solver behind engine='pyomo'.
    start : array_like of bool, shape (cells,), or SuppressionResult, optional
        A pattern to start from, such as that of another method; completed where it is not safe. Of an earlier result
        'local' takes up what that search knew, too, and 'exact' the inequalities found for this very problem. Not for
        engine='pyomo'.
    executor : concurrent.futures.Executor, optional
        Works on independent parts of the problem side by side: `tabprotect.processes`, a pool of the standard library,
        or ``client.get_executor()`` of dask.distributed. The answer does not depend on how many workers it has, nor on
        workers that die, unless the limit is one of time. Not for engine='pyomo' and the classic methods. 'local',
        which `auto` takes for more than 30,000 cells, has it solve attacks, and looks for deviations in threads of
        this process, which share the table.
    resume : path, optional
        A folder (confidential) where finished pieces of work are kept. The same call with the same folder goes on after
        it was killed; under limits of work, or none, its answer is the same. Not for engine='pyomo' and the classic
        methods.
    options : Options
        The numbers that the methods were tuned with, for research: see `tabprotect.methods.suppression.options`.

    Returns
    -------
    SuppressionResult
        However short the limits are, and after Ctrl-C, safe wherever the table in proportion shows that hiding
        everything is; not so with engine='pyomo' and the classic methods, and with attackers only where there is time
        to ask them.

    Raises
    ------
    InputError
        If there is no such method or engine, `seed` is no seed, `options` are no `Options`, `start` does not fit, or
        the method cannot take this system.
    SolverError
        If the solver is not installed or fails.
    """
    need_problem(problem, "suppress")
    check_method(method, engine, solver)
    if not isinstance(options, Options):
        raise InputError(f"options= takes tabprotect.methods.suppression.options.Options, not {options!r}")
    seed = as_seed(seed)
    budget = Budget.of(limits, progress)
    shared: dict[str, Any] = {"limits": budget, "seed": seed, "options": options}
    if isinstance(start, SuppressionResult):
        if start.problem is problem:  # they hold for no other one
            shared["rows"] = start.rows
        shared["deviations"], start = start.deviations, start.pattern
    if start is not None:
        shared["start"] = _start(problem, start, engine)
    if executor is not None or resume is not None:
        if engine == "pyomo" and method == "exact":
            raise InputError("executor= and resume= do not go with engine='pyomo', which solves one programme at once")
        if method in CLASSIC:
            raise InputError(f"executor= and resume= do not go with method='{method}', which has no pieces")
        shared["means"] = Means(executor, store_for(problem, resume, options))
    if isinstance(limits, Budget):
        return _search(problem, method, engine, solver, shared)
    from tabprotect.methods.suppression.lower_bound import with_lower_bound
    from tabprotect.methods.suppression.merge import joined
    from tabprotect.methods.suppression.postsolve.finish import with_stop_reason

    with one_progress(budget, looks=False):
        first = (
            _first(problem, budget, options) if method not in CLASSIC and engine != "pyomo" and start is None else None
        )
        with (
            budget.part(1 - options.schedule.bound_limit_share) if method in UNBOUNDED else nullcontext(budget) as part
        ):
            result = _search(problem, method, engine, solver, {**shared, "limits": part})
        # what a search ends with by itself says more than a pattern that a tolerance may have let pass
        early = bool(result.stopped or problem.attackers)
        if first is not None and (early if result.cost is None else result.cost > problem.cost(first.pattern)):
            result = joined(first, result)
        result = with_stop_reason(with_lower_bound(result, budget, executor, options), budget)
    return replace(result, seconds=max(result.seconds, budget.seconds))


def _first(problem: Problem, budget: Budget, options: Options) -> SuppressionResult | None:
    """Return a safe pattern to fall back on where a limit or Ctrl-C ends the search early: everything hidden.

    Where attackers have to be asked within limits a cheaper one, too: the search may not get to a second pattern.
    """
    if problem.attackers and math.isinf(budget.seconds_left) and math.isinf(budget.work_left):
        return None
    from tabprotect.methods.suppression.search.first import first_results

    held = None
    with budget.part(options.schedule.first_limit_share) as part, cancel_on_interrupt(budget):
        for result in first_results(problem, part, options=options):
            if result.safe:
                held = result
                part.report("first pattern", result.cost)
            if not problem.attackers:
                break
    return held


def _search(
    problem: Problem, method: str, engine: str, solver: str | None, shared: dict[str, Any]
) -> SuppressionResult:
    """Search by a method that was named, or by one that suits the problem."""
    if method != "auto" or engine == "pyomo":
        return _run(problem, method, engine, solver, shared)
    from tabprotect.methods.suppression.strategy import automatic

    return automatic(problem, engine=engine, **_known(shared))


def _run(problem: Problem, method: str, engine: str, solver: str | None, shared: dict[str, Any]) -> SuppressionResult:
    """Hand a problem to a method."""
    if method != "local":
        shared.pop("deviations", None)
    if method != "exact":
        shared.pop("rows", None)
    if method == "local" and "means" in shared:
        from tabprotect.methods.suppression.large.stages import local_in_stages

        return local_in_stages(problem, engine=engine, **shared)
    if method == "local":
        from tabprotect.methods.suppression.large import local

        return local(problem, engine=engine, **shared)
    if method == "greedy":
        from tabprotect.methods.suppression.search.greedy import greedy

        return greedy(problem, **shared)
    if method in CLASSIC:
        from importlib import import_module

        if method not in SEEDED:
            del shared["seed"]
        run = getattr(import_module(f"tabprotect.methods.suppression.classic.{method}"), method)
        found: SuppressionResult = run(problem, **shared)
        return found
    if engine == "pyomo":
        from tabprotect.methods.suppression.search.compact import compact

        return compact(problem, limits=shared["limits"], solver=solver, options=shared["options"])
    from tabprotect.methods.suppression.search.exact import exact

    return exact(problem, engine=engine, **_known(shared))


def _known(shared: dict[str, Any]) -> dict[str, Any]:
    """Return what searches share with what is known of the problem as one of them."""
    from tabprotect.methods.suppression.search.known import Known

    names = ("start", "deviations", "rows")
    known = Known(**{name: shared[name] for name in names if name in shared})
    return {"known": known} | {name: value for name, value in shared.items() if name not in names}


def store_for(
    problem: Problem, folder: str | PathLike[str] | Store | None, options: Options = DEFAULTS
) -> Store | None:
    """Open the folder of finished pieces for a problem; one that is open serves for problems made on the way, too."""
    if folder is None or isinstance(folder, Store):
        return folder
    from tabprotect.methods.suppression.large.stages import parts_of

    return Store(folder, digest(*parts_of(problem), options))


def _start(problem: Problem, start: npt.ArrayLike, engine: str) -> npt.NDArray[np.bool_]:
    if engine == "pyomo":
        raise InputError("start= does not go with engine='pyomo'")
    own = problem.n_cells - problem.sums
    if np.asarray(start).dtype != np.bool_ or np.shape(start) not in ((problem.n_cells,), (own,)):
        raise InputError(f"start must be {counted(own, 'boolean')}, one a cell")
    pattern = pattern_mask(problem, start)
    if shown := [problem.system.label(int(i)) for i in np.flatnonzero(pattern & ~problem.may_hide)[:3]]:
        raise InputError(f"start hides cells that may not be hidden: {', '.join(shown)}")
    return pattern
