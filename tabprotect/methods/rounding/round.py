"""Controlled rounding: multiples of a base that still add up, as near to the true values as possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy.typing as npt

from tabprotect.errors import InputError, among, as_bool, did_you_mean
from tabprotect.methods.distance import Norm, Weights, check_norm, distance_weights
from tabprotect.methods.rounding.engine import METHODS, Engine, Method
from tabprotect.methods.rounding.result import RoundingResult
from tabprotect.problem import Problem, need_problem
from tabprotect.seeds import Seed, as_seed
from tabprotect.solver.interrupts import cancel_on_interrupt
from tabprotect.solver.limits import Budget, Limits, Progress, as_limits

__all__ = ["round"]


def round(
    problem: Problem,
    base: float,
    *,
    steps: int | Literal["least"] = 0,
    norm: Norm = "l1",
    weights: Weights | npt.ArrayLike = "unit",
    protect: bool = False,
    rise: bool = False,
    method: Method = "auto",
    limits: Limits | float | None = None,
    seed: Seed = 0,
    progress: Callable[[Progress], None] | None = None,
) -> RoundingResult:
    """Round all cells to multiples of a base so that the rounded table adds up.

    Cox and Ernst (1982), "Controlled rounding", INFOR 20; Salazar-Gonzalez (2005), "A unified mathematical programming
    framework for different statistical disclosure limitation methods", Operations Research 53. The equations are in
    `tabprotect.models.rounding`.

    Parameters
    ----------
    problem : Problem
        Statuses play no part but for structural zeros, which stay 0; weights and levels are used where asked for.
        A table with rounding residuals is rounded to one that adds up exactly.
    base : float
        Positive, whole or decimal (0.1 is meant as written).
    steps : int or 'least'
        0: every cell goes to one of its two neighbouring multiples, multiples stay (zero-restricted). s: up to s
        bases further. 'least': as few as a rounding needs. Two dimensions, one of them with a hierarchy, need 0.
    norm : {'l1', 'l2', 'linf'}
        Minimise sum w|v - a|, sum w (v - a)^2 or max w|v - a|.
    weights : {'unit', 'value', 'reciprocal', 'problem'} or array
        See `tabprotect.methods.distance.distance_weights`.
    protect : bool
        Respect the protection levels: an intruder who knows the base, `steps` and the external bounds must think that
        each primary may lie as far from its value as its levels say (see `tabprotect.methods.rounding.levels`).
    rise : bool
        A value that is a multiple already may go to the following multiple, too, as in definition 1 of rounding in
        Eustat's notebook on data protection; `steps` count beyond that. There are roundings of this kind where
        zero-restricted ones do not exist; zeros that are not structural may become a base. The intruder knows.
    method : {'auto', 'exact', 'heuristic'}
        'heuristic' gives no proof but the relaxation's bound; 'exact' ends with a proof if the limits allow; 'auto'
        searches first where the table is large.
    limits : Limits or float, optional
    seed : int or numpy.random.Generator
    progress : callable, optional

    Returns
    -------
    RoundingResult
        With a `diagnosis` when neighbouring multiples are not enough.

    Raises
    ------
    InputError
        Unknown options, a base that is not positive.
    InfeasibleError
        If a constant in an equation is no multiple of the base.

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1, 1]], [9, 1, 1, 7], primary=[], lpl=0, upl=0)
    >>> result = round(p, 5)
    >>> result.values.tolist(), result.cost, result.status
    ([10.0, 0.0, 0.0, 10.0], 6.0, 'optimal')
    """
    need_problem(problem, "round")
    check_norm(norm)
    if not among(method, METHODS):
        raise InputError(f"unknown method '{method}'{did_you_mean(method, METHODS)}")
    if not (among(steps, ("least",)) or isinstance(steps, int)):
        raise InputError(f"steps are a whole number or 'least', not {steps!r}")
    protect, rise = as_bool(protect, "protect"), as_bool(rise, "rise")
    weight = distance_weights(problem, weights)
    budget = Budget(as_limits(limits), progress)
    engine = Engine(problem, base, norm, weight, protect, rise, method, budget, as_seed(seed))
    with cancel_on_interrupt(budget):
        found, diagnosis = engine.least() if steps == "least" else engine.given(steps)
    return engine.result(found, diagnosis)
