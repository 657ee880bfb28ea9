"""The methods that can be compared, each with the intruder who knows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.attack.nearby import seeing_near
from tabprotect.errors import InputError, collect, did_you_mean
from tabprotect.methods import rounding
from tabprotect.methods.adjustment import adjust, sense_risk
from tabprotect.methods.inner_cells import inner_cells
from tabprotect.methods.small_counts import small_counts
from tabprotect.methods.suppression import suppress
from tabprotect.problem import Problem
from tabprotect.solver.limits import Limits, Progress

__all__ = ["APPROACHES", "Approach", "Published", "default_base", "parse_approach"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Approach:
    """A method and its options.

    Attributes
    ----------
    name : str
        One of `APPROACHES`.
    options : mapping
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name + "".join(f" {key}={value}" for key, value in self.options.items())


@dataclass(frozen=True, eq=False)
class Published:
    """What a method publishes, and what its intruder starts from.

    Attributes
    ----------
    values : ndarray or None
        nan where hidden; None without an answer.
    seen : Problem
        The intruder's problem.
    hidden : ndarray of bool
        What is hidden in it.
    knows : str
        In words.
    status, cost, bound, message :
        Of the method's result.
    """

    values: Floats | None
    seen: Problem
    hidden: Bools
    knows: str
    status: str
    cost: float | None
    bound: float | None
    message: str


@dataclass(frozen=True, eq=False)
class Call:
    """What every method is called with."""

    problem: Problem
    limits: Limits
    seed: int
    progress: Callable[[Progress], None] | None
    keys: Ints | None


def _suppress(call: Call, method: str = "auto") -> Published:
    p = call.problem
    result = suppress(p, method=method, limits=call.limits, seed=call.seed, progress=call.progress)
    values = np.where(result.pattern, np.nan, p.values) if result.safe else None
    return Published(
        values, p, result.pattern, "published cells, sums, external bounds", result.status, result.cost, result.bound,
        result.message,
    )  # fmt: skip


def _near(call: Call, result: Any, far: float | Floats, knows: str) -> Published:
    """What is published lies within `far` of the truth, and everybody knows that."""
    p = call.problem
    seen = p if result.values is None else seeing_near(p, result.values, far)
    return Published(
        result.values, seen, seen.may_hide, knows, result.status, result.cost, result.bound, result.message
    )


def _adjust(call: Call, norm: str = "l1", weights: str = "reciprocal", senses: str = "free") -> Published:
    p = call.problem
    result = adjust(
        p, norm=norm, weights=weights, senses=senses,  # type: ignore[arg-type]
        limits=call.limits, seed=call.seed, progress=call.progress,
    )  # fmt: skip
    if result.values is None:
        return _near(call, result, np.inf, "")
    back = sense_risk(result, limits=call.limits)
    published = _near(call, result, float(np.abs(result.values - p.values).max(initial=0.0)), "the largest change")
    told = f"an intruder who knows the senses too comes within the levels of {len(back.disclosed)} cells"
    return _noted(published, told)


def _noted(published: Published, note: str) -> Published:
    message = "; ".join(part for part in (published.message, note) if part)
    return Published(
        published.values, published.seen, published.hidden, published.knows, published.status, published.cost,
        published.bound, message,
    )  # fmt: skip


def _round(
    call: Call,
    base: float | None = None,
    steps: Any = "least",
    norm: str = "l1",
    weights: str = "unit",
    levels: bool = False,
) -> Published:
    base = default_base(call.problem) if base is None else base
    result = rounding.round(
        call.problem, base, steps=steps, norm=norm, weights=weights, protect=levels,  # type: ignore[arg-type]
        limits=call.limits, seed=call.seed, progress=call.progress,
    )  # fmt: skip
    far = base * (result.steps + 1) - float(call.problem.integer)
    return _noted(_near(call, result, far, "base, steps"), f"base {base:g}, steps {result.steps}")


def _unbiased(call: Call, base: float | None = None) -> Published:
    base = default_base(call.problem) if base is None else base
    result = rounding.unbiased_rounding(call.problem, base, seed=call.seed)
    return _noted(_near(call, result, base - float(call.problem.integer), "base"), f"base {base:g}")


def _random(call: Call, base: float | None = None) -> Published:
    base = default_base(call.problem) if base is None else base
    result = rounding.random_rounding(call.problem, base, seed=call.seed)
    return _noted(_near(call, result, base - float(call.problem.integer), "base"), f"base {base:g}")


def _conventional(call: Call, base: float | None = None) -> Published:
    base = default_base(call.problem) if base is None else base
    result = rounding.conventional_rounding(call.problem, base)
    return _noted(_near(call, result, base / 2, "base"), f"base {base:g}")


def _small(call: Call, base: int = 3) -> Published:
    result = small_counts(call.problem, base, limits=call.limits, seed=call.seed, progress=call.progress)
    far = np.full(call.problem.n_cells, np.inf)
    far[inner_cells(call.problem.system)[0]] = base - 1
    return _near(call, result, far, "base, which cells are inner ones")


def _cell_key(call: Call, deviation: int = 3, variance: float = 1.5, stay: float | None = None) -> Published:
    from tabprotect.methods.cell_key import cell_key, design_perturbation

    if call.keys is None:
        raise InputError("the cell key method needs the keys of records, so a table of counts made from microdata")
    table = design_perturbation(deviation, variance, stay=stay)
    result = cell_key(call.problem, call.keys, table)
    seen = seeing_near(call.problem, result.values, table.deviation)
    return Published(result.values, seen, seen.may_hide, "largest noise", "feasible", None, None, "")


#: name -> what carries it out; its keyword arguments are the options
APPROACHES: Mapping[str, Callable[..., Published]] = {
    "suppress": _suppress,
    "adjust": _adjust,
    "round": _round,
    "unbiased-round": _unbiased,
    "random-round": _random,
    "conventional-round": _conventional,
    "small-counts": _small,
    "cell-key": _cell_key,
}


def default_base(problem: Problem) -> float:
    """Return 5 for counts, else the first of 1, 2, 5, 10, ... that no protection level exceeds.

    Examples
    --------
    >>> default_base(Problem.from_arrays([[-1, 1, 1]], [900, 400, 500], primary=[1], lpl=30, upl=30))
    50.0
    """
    levels = np.maximum(problem.lpl, problem.upl)[problem.primaries]
    largest = float(levels.max(initial=0.0))
    if problem.integer or largest <= 0:
        return 5.0
    power = 10.0 ** np.floor(np.log10(largest))
    return float(next(k * power for k in (1, 2, 5, 10) if k * power >= largest))


def parse_approach(text: str) -> Approach:
    """Read ``name`` or ``name:option=value,option=value``.

    Raises
    ------
    InputError
        Unknown name or options.

    Examples
    --------
    >>> parse_approach("round:base=5,steps=least")
    Approach(name='round', options={'base': 5, 'steps': 'least'})
    """
    name, _, rest = text.partition(":")
    if name not in APPROACHES:
        raise InputError(f"unknown method '{name}'{did_you_mean(name, APPROACHES)}")
    allowed = _options(name)
    options: dict[str, Any] = {}
    with collect() as problems:
        for part in filter(None, rest.split(",")):
            key, equals, value = part.partition("=")
            if key not in allowed or not equals:
                problems.add(f"'{part}' is no option of {name}{did_you_mean(key, allowed)} (write name=value)")
                continue
            try:
                options[key] = _value(key, value)
            except ValueError as error:
                problems.add(f"{name}: {key} should be {error}, not '{value}'")
    return Approach(name, options)


def _options(name: str) -> tuple[str, ...]:
    code = APPROACHES[name].__code__
    return code.co_varnames[1 : code.co_argcount]


#: options that are no words: what they are
_NUMBERS = {"base": float, "deviation": int, "variance": float, "stay": float}


def _value(key: str, text: str) -> Any:
    """Read the value of an option; a `ValueError` says what it should be."""
    if key == "levels":
        if text not in ("yes", "no"):
            raise ValueError("yes or no")
        return text == "yes"
    if key == "steps":
        if text != "least" and not (text.isascii() and text.isdigit()):
            raise ValueError("a whole number or 'least'")
        return text if text == "least" else int(text)
    if key not in _NUMBERS:
        return text
    try:
        number = _NUMBERS[key](text)
    except ValueError:
        raise ValueError("a whole number" if _NUMBERS[key] is int else "a number") from None
    return int(number) if np.isfinite(number) and number == int(number) else number
