"""The methods that can be compared, each with the intruder who knows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from tabprotect.attack.values import seeing
from tabprotect.errors import InputError, Problems, did_you_mean
from tabprotect.methods.adjustment import sense_risk
from tabprotect.methods.choices import CHOICES, Call, Changed, option_names, read_options
from tabprotect.methods.choices.options import check_options
from tabprotect.methods.suppression import suppress
from tabprotect.problem import Problem

__all__ = ["APPROACHES", "Approach", "Hide", "Published", "parse_approach", "publish"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Hide:
    """Cell suppression.

    Parameters
    ----------
    method : {'auto', 'exact', 'greedy'}
    """

    name: ClassVar[str] = "suppress"

    method: Literal["auto", "exact", "greedy"] = "auto"

    def __post_init__(self) -> None:
        check_options(self)


#: name -> what has the options
APPROACHES: Mapping[str, type[Any]] = {Hide.name: Hide, **CHOICES}


@dataclass(frozen=True)
class Approach:
    """A method and its options, checked.

    Attributes
    ----------
    name : str
        One of `APPROACHES`.
    options : mapping
        Those that were given.

    Raises
    ------
    InputError
        Unknown name, unknown options, values that an option cannot have.
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.name not in APPROACHES:
            raise InputError(f"unknown method '{self.name}'{did_you_mean(self.name, APPROACHES)}")
        choice = self.choice
        object.__setattr__(self, "options", {name: getattr(choice, name) for name in self.options})

    @property
    def choice(self) -> Any:
        """The method with these options."""
        return read_options(APPROACHES[self.name], self.options)

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


def publish(approach: Approach, call: Call) -> Published:
    """Carry a method out."""
    choice = approach.choice
    if isinstance(choice, Hide):
        return _hide(choice, call)
    changed: Changed = choice.change(call)
    if changed.values is None:
        return _published(changed, call.problem, "")
    if changed.claim["method"] == "near" and changed.claim["within"] is None:
        return _adjusted(changed, call)
    return _published(changed, seeing(call.problem, changed.values, changed.claim), changed.knows)


def _published(changed: Changed, seen: Problem, knows: str, note: str = "") -> Published:
    message = "; ".join(part for part in (changed.message, note) if part)
    return Published(
        changed.values, seen, seen.may_hide, knows, changed.status, changed.cost, changed.bound, message
    )  # fmt: skip


def _hide(choice: Hide, call: Call) -> Published:
    p = call.problem
    result = suppress(p, method=choice.method, limits=call.limits, seed=call.seed, progress=call.progress)
    values = np.where(result.pattern, np.nan, p.values) if result.safe else None
    return Published(
        values, p, result.pattern, "published cells, sums, external bounds", result.status, result.cost, result.bound,
        result.message,
    )  # fmt: skip


def _adjusted(changed: Changed, call: Call) -> Published:
    """Who is told no distance is taken to know the largest change; beside him, whoever knows the senses."""
    assert changed.values is not None
    far = float(np.abs(changed.values - call.problem.values).max(initial=0.0))
    claim = {**changed.claim, "within": repr(far)}
    back = sense_risk(changed.result, limits=call.limits)
    told = f"an intruder who knows the senses too comes within the levels of {len(back.disclosed)} cells"
    return _published(changed, seeing(call.problem, changed.values, claim), "the largest change", told)


def parse_approach(text: str) -> Approach:
    """Read ``name`` or ``name:option=value,option=value``.

    Raises
    ------
    InputError
        Unknown name or options, values that an option cannot have.

    Examples
    --------
    >>> parse_approach("round:base=5,steps=1")
    Approach(name='round', options={'base': 5.0, 'steps': 1})
    >>> parse_approach("round:steps=lots")
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: round: steps must be a whole number or 'least', not 'lots'
    """
    name, _, rest = text.partition(":")
    if name not in APPROACHES:
        raise InputError(f"unknown method '{name}'{did_you_mean(name, APPROACHES)}")
    problems, options = Problems(), {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            known = option_names(APPROACHES[name])
            problems.add(f"'{part}' is no option of {name}{did_you_mean(key, known)} (write name=value)")
        options[key] = value
    problems.raise_if_any()
    return Approach(name, options)
