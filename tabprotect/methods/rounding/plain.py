"""Rounding without regard for sums: the methods that controlled rounding is compared with."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tabprotect.methods.distance import Norm, Weights, check_norm, distance, distance_weights
from tabprotect.methods.rounding.grid import in_units
from tabprotect.methods.rounding.result import RoundingResult
from tabprotect.methods.rounding.verdict import judge
from tabprotect.problem import Problem, need_problem
from tabprotect.seeds import Seed, secret_seed
from tabprotect.solver.exact import exact

__all__ = ["conventional_rounding", "random_rounding", "reported"]


def conventional_rounding(
    problem: Problem, base: float, *, norm: Norm = "l1", weights: Weights | npt.ArrayLike = "unit"
) -> RoundingResult:
    """Round every cell by itself to the nearest multiple, halves up: nearest of all, but nothing adds up.

    Parameters
    ----------
    problem : Problem
    base : float
    norm, weights :
        How the distance is measured; see `tabprotect.methods.rounding.round`.

    Returns
    -------
    RoundingResult
        Its `loss` says how far sums are off.

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1, 1]], [6, 2, 2, 2], primary=[], lpl=0, upl=0)
    >>> result = conventional_rounding(p, 5)
    >>> result.values.tolist(), result.loss
    ([5.0, 0.0, 0.0, 0.0], 5.0)
    """
    need_problem(problem, "conventional_rounding")
    started = time.monotonic()
    whole, (a, *_) = in_units(problem, base)
    multiples = (2 * a + whole) // (2 * whole)
    return reported(problem, base, multiples, "conventional", norm, weights, started)


def random_rounding(
    problem: Problem,
    base: float,
    *,
    seed: Seed | None = None,
    norm: Norm = "l1",
    weights: Weights | npt.ArrayLike = "unit",
) -> RoundingResult:
    """Round every cell by itself up or down at random so that the expected value is the true one.

    A value a goes up with probability a / base - floor(a / base); multiples stay (Fellegi 1975, Nargundkar and
    Saveland 1972).

    Parameters
    ----------
    problem : Problem
    base : float
    seed : int or numpy.random.Generator, optional
        A fresh secret one by default. Whoever knows it can undo the protection, so it is confidential.
    norm, weights :
        How the distance is measured; see `tabprotect.methods.rounding.round`.

    Returns
    -------
    RoundingResult
        Its `loss` says how far sums are off.

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1, 1]], [6, 2, 2, 2], primary=[], lpl=0, upl=0)
    >>> np.mean([random_rounding(p, 5, seed=seed).values for seed in range(2000)], axis=0).round().tolist()
    [6.0, 2.0, 2.0, 2.0]
    """
    need_problem(problem, "random_rounding")
    started = time.monotonic()
    whole, (a, *_) = in_units(problem, base)
    part = np.array([int(rest) / whole for rest in a % whole], np.float64)
    up = np.random.default_rng(drawn := secret_seed(seed)).random(problem.n_cells) < part
    return replace(reported(problem, base, a // whole + up, "random", norm, weights, started), seed=drawn)


def reported(
    problem: Problem,
    base: float,
    multiples: npt.NDArray[np.int64],
    method: str,
    norm: Norm,
    weights: Weights | npt.ArrayLike,
    started: float,
    steps: int = 0,
) -> RoundingResult:
    """Measure and judge multiples that no programme has chosen."""
    check_norm(norm)
    weight = distance_weights(problem, weights)
    unit = exact(base)
    values = np.array([int(k) * unit.numerator / unit.denominator for k in multiples], np.float64)
    verdict = judge(problem, values, base, steps)
    cost = distance(values - problem.values, weight, norm)
    message = "" if verdict.additive == 0 else f"sums are off by up to {verdict.additive:,.10g}"
    return RoundingResult(
        problem, float(base), values, steps, cost, None, "feasible", verdict.additive, norm, weight, verdict,
        method=method, seconds=time.monotonic() - started, message=message,
    )  # fmt: skip
