"""Random problems for the fuzz run: small ones of every shape, stretched until they hurt.

The small problems are those of the tests; here they become ill-scaled, degenerate, rich in attackers, or large. The
same seed gives the same problem on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from tabprotect.instances import family
from tabprotect.problem import Attacker, Problem, Status
from tests.random_problems import random_problem

__all__ = ["SHAPES", "widened"]

Shape = Callable[[Problem, np.random.Generator], Problem]


def plain(problem: Problem, _rng: np.random.Generator) -> Problem:
    """As it is."""
    return problem


def rescaled(problem: Problem, rng: np.random.Generator) -> Problem:
    """The whole table in another unit, 10^-2 to 10^9, weights in yet another."""
    unit = Fraction(10) ** int(rng.integers(-2, 10))
    price = Fraction(10) ** int(rng.integers(-3, 7))
    moved = {name: _times(getattr(problem, name), unit) for name in _AMOUNTS}
    return replace(problem, **moved, weights=_times(problem.weights, price))


def uneven(problem: Problem, rng: np.random.Generator) -> Problem:
    """Bounds from 10^-3 to 10^9 side by side: every cell moves in a unit of its own, levels within what it may move."""
    units = [Fraction(10) ** int(k) for k in rng.integers(-2, 9, problem.n_cells)]
    levels = [
        unit * Fraction(10) ** -int(k) for unit, k in zip(units, rng.integers(0, 4, problem.n_cells), strict=True)
    ]
    stretched = {name: _times(getattr(problem, name), units) for name in ("values", "lower", "upper")}
    return replace(problem, **stretched, **{name: _times(getattr(problem, name), levels) for name in _LEVELS})


def wide_weights(problem: Problem, rng: np.random.Generator) -> Problem:
    """Weights from 10^-3 to 10^9, some of them zero, many equal."""
    weights = np.array([float(Fraction(10) ** int(k)) for k in rng.integers(-3, 10, problem.n_cells)])
    return replace(problem, weights=np.where(rng.random(problem.n_cells) < 0.1, 0.0, weights))


def degenerate(problem: Problem, rng: np.random.Generator) -> Problem:
    """Many cells stuck at a bound or at both, levels at the very end of what their cell may move."""
    lower, upper = problem.lower.copy(), problem.upper.copy()
    kind = rng.integers(0, 6, problem.n_cells)
    lower[np.isin(kind, (0, 1))] = problem.values[np.isin(kind, (0, 1))]
    upper[np.isin(kind, (1, 2))] = problem.values[np.isin(kind, (1, 2))]
    to_end = rng.random(problem.n_cells) < 0.5
    room_down, room_up = problem.values - lower, upper - problem.values
    lpl = np.where(to_end & np.isfinite(room_down), room_down, problem.lpl)
    upl = np.where(to_end & np.isfinite(room_up), room_up, problem.upl)
    return replace(problem, lower=lower, upper=upper, lpl=lpl, upl=upl)


def watched(problem: Problem, rng: np.random.Generator) -> Problem:
    """Some primaries are known to somebody, and coalitions know several cells."""
    known = [(int(p),) for p in problem.primaries if rng.random() < 0.7][:4]
    for _ in range(int(rng.integers(0, 3))):
        known.append(tuple(int(i) for i in rng.choice(problem.n_cells, min(3, problem.n_cells), replace=False)))
    return replace(problem, attackers=tuple(Attacker(f"attacker {k}", cells) for k, cells in enumerate(known)))


def sliding(problem: Problem, rng: np.random.Generator) -> Problem:
    """Sliding levels only, or besides the others."""
    primary = problem.status == Status.PRIMARY
    width = np.minimum(problem.upper - problem.lower, 4 * np.maximum(1.0, np.abs(problem.values)))
    spl = np.where(primary, np.floor(width * rng.choice([0.1, 0.5, 1.0], problem.n_cells)), 0.0)
    keep = float(rng.integers(0, 2))
    return replace(problem, lpl=problem.lpl * keep, upl=problem.upl * keep, spl=spl)


def unlimited(problem: Problem, rng: np.random.Generator) -> Problem:
    """No external bounds on most cells."""
    free = rng.random(problem.n_cells) < 0.8
    return replace(problem, lower=np.where(free, -np.inf, problem.lower), upper=np.where(free, np.inf, problem.upper))


def crowded(problem: Problem, rng: np.random.Generator) -> Problem:
    """Most cells are primary."""
    status = problem.status.copy()
    status[(status == Status.SAFE) & (rng.random(problem.n_cells) < 0.6)] = Status.PRIMARY
    new = (status == Status.PRIMARY) & (problem.status != Status.PRIMARY)
    room = [np.where(new, np.minimum(r, np.floor(np.abs(problem.values) / 5)), 0.0) for r in (problem.down, problem.up)]
    return replace(problem, status=status, lpl=problem.lpl + room[0], upl=problem.upl + room[1])


#: Everything that can be done to a small problem.
SHAPES: tuple[Shape, ...] = (
    plain, rescaled, uneven, wide_weights, degenerate, watched, sliding, unlimited, crowded
)  # fmt: skip

_LEVELS = ("lpl", "upl", "spl")
_AMOUNTS = ("values", "lower", "upper", *_LEVELS)

#: Larger problems, as they come from microdata.
_FAMILIES = {
    "flat2d": {"rows": 6, "columns": 7},
    "flat3d": {"a": 3, "b": 3, "c": 4},
    "hier2d": {"activity": (3, 2), "region": (2, 2)},
    "hier3d": {"activity": (2, 2), "region": (2, 2), "size": 2},
    "linked": {"activity": (2, 2), "region": (2, 2), "size": 2, "legal": 2},
    "singletons": {"activity": (3, 2), "region": (2, 2)},
    "sparse": {"activity": (3, 2), "region": (2, 2), "size": 2},
    "unit": {"activity": (3, 2), "region": (2, 2)},
    "bounded": {"activity": (3, 2), "region": (2, 2)},
}


def widened(seed: int) -> tuple[str, Problem]:
    """Return the problem of a seed, and in words what it is.

    One in ten comes from a family of the instances; all others are small random problems to which one or two of
    `SHAPES` were applied.

    Examples
    --------
    >>> name, problem = widened(3)
    >>> same = widened(3)[1]
    >>> bool((same.values == problem.values).all())
    True
    """
    rng = np.random.default_rng([seed, 20])
    if rng.random() < 0.1:
        name = str(rng.choice(sorted(_FAMILIES)))
        problem = family(name, seed=int(rng.integers(1, 10**6)), **_FAMILIES[name])
        words, chosen = [name], [SHAPES[int(rng.integers(0, len(SHAPES)))]]
    else:
        words, problem = ["small"], random_problem(int(rng.integers(0, 2**31)), max_cells=int(rng.choice([24, 40, 60])))
        chosen = [SHAPES[int(k)] for k in rng.choice(len(SHAPES), int(rng.integers(1, 3)), replace=False)]
    for shape in sorted(chosen, key=SHAPES.index, reverse=True):  # other units last: what is written stays exact
        problem = shape(problem, rng)
        words.append(shape.__name__)
    return " ".join(words), problem


def _times(array: np.ndarray, units: Fraction | list[Fraction]) -> np.ndarray:
    """Multiply the decimals as they are written, so that what was equal stays equal."""
    each = units if isinstance(units, list) else [units] * len(array)
    return np.array(
        [float(Fraction(repr(float(v))) * u) if np.isfinite(v) else v for v, u in zip(array, each, strict=True)]
    )
