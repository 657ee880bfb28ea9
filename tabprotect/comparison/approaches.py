"""The methods that can be compared, each with the intruder who knows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tabprotect.attack.audit import audit
from tabprotect.attack.sums import LevelsForOthers
from tabprotect.attack.values import seeing
from tabprotect.certificate.claims import DOUBTS
from tabprotect.counted import counted
from tabprotect.errors import InputError, Problems, did_you_mean
from tabprotect.methods.adjustment import sense_risk
from tabprotect.methods.base.method import Call, Changed
from tabprotect.methods.base.options import check_options, option_names, read_options
from tabprotect.methods.recoding import least_recoding
from tabprotect.methods.recoding.method import Recode
from tabprotect.methods.registry import GRANULARITY, OPEN_CLASSES, RECODE, VALUE_METHODS, entry
from tabprotect.methods.suppression import methods, suppress
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.problem import Problem
from tabprotect.proven import hidden_warnings, optimality
from tabprotect.sensitivity.assess import assess
from tabprotect.sensitivity.rules.granularity import Granularity
from tabprotect.sensitivity.sums_as_cells import values_with_sums
from tabprotect.solver.limits import Budget, Limits
from tabprotect.workflow.hide import Sums, hide
from tabprotect.workflow.prepare import Prepared

__all__ = ["APPROACHES", "Approach", "Hide", "Published", "parse_approach", "publish"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Hide:
    """Cell suppression.

    Parameters
    ----------
    method : str
        One of `tabprotect.methods.suppression.methods`.
    """

    name: ClassVar[str] = "suppress"

    method: str = "auto"

    def __post_init__(self) -> None:
        check_options(self)
        if self.method not in methods():
            raise InputError(f"suppress: unknown method '{self.method}'{did_you_mean(self.method, methods())}")


@dataclass(frozen=True)
class RollUp:
    """The least roll-up of categories that leaves no sensitive cell.

    Parameters
    ----------
    granularity : float, optional
        As of `tabprotect.Recode`: cells of one contributor are rolled up, too, where so many per cent of a hyper-row
        are such cells.
    """

    name: ClassVar[str] = "recode"

    granularity: float | None = None

    def __post_init__(self) -> None:
        if self.granularity is not None:
            Recode(granularity=self.granularity)


#: name -> what has the options
APPROACHES: Mapping[str, type[Any]] = {Hide.name: Hide, RollUp.name: RollUp, **VALUE_METHODS}


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
    doubtful: bool = False
    """No interval is claimed."""
    optimality: str = ""
    """How far the status is proven."""
    stopped: bool = False
    """Whether a limit ended the method."""


def publish(approach: Approach, call: Call, asked: LevelsForOthers, prepared: Prepared | None = None) -> Published:
    """Carry a method out, on a problem alone or as a request asks for it.

    Parameters
    ----------
    approach : Approach
    call : Call
    asked : LevelsForOthers
        The problem as methods that change values aim at it, and as they are judged.
    prepared : Prepared, optional
        The request.
    """
    choice = approach.choice
    if isinstance(choice, Hide):
        return _hide(choice, call) if prepared is None else _hide_with_sums(choice, prepared)
    if isinstance(choice, RollUp):
        return _roll_up(choice, call)
    if call.prepare is not None:
        choice = call.prepare(choice)
    changed: Changed = choice.change(replace(call, problem=asked.aimed))
    if changed.values is None:
        return _published(changed, call.problem, "")
    seen = _seeing(asked.judged, changed, changed.claim)
    if changed.claim["method"] == "near" and changed.claim["within"] is None:
        return _adjusted(changed, asked.judged, seen, call.limits)
    return _published(changed, seen, changed.knows)


def _seeing(problem: Problem, changed: Changed, claim: Mapping[str, Any]) -> Problem:
    assert changed.values is not None
    return seeing(problem, values_with_sums(problem, changed.values), claim)


def _published(changed: Changed, seen: Problem, knows: str, note: str = "") -> Published:
    message = "; ".join(part for part in (changed.message, note) if part)
    return Published(
        changed.values, seen, seen.may_hide, knows, changed.status, changed.cost, changed.bound, message,
        changed.claim["method"] in DOUBTS, optimality(changed), changed.stopped,
    )  # fmt: skip


def _hide(choice: Hide, call: Call) -> Published:
    return _hidden(
        call.problem,
        suppress(call.problem, method=choice.method, limits=call.limits, seed=call.seed, progress=call.progress),
    )


def _hide_with_sums(choice: Hide, prepared: Prepared) -> Published:
    budget = prepared.budget()
    how = replace(prepared.request.hiding, method=choice.method)
    answer = hide(prepared, how, budget, Sums(prepared))
    sums = f"{len(answer.sums)} sensitive sums of hidden cells are given away" if answer.sums else ""
    return _hidden(answer.problem, answer.result, prepared.problem.n_cells, sums)


def _hidden(p: Problem, result: SuppressionResult, n: int | None = None, sums: str = "") -> Published:
    """Say what a pattern publishes; the problem may have sums of hidden cells behind its first `n` cells."""
    values = np.where(result.pattern[:n], np.nan, p.values[:n]) if result.safe else None
    said = [result.message, *hidden_warnings(result), sums]
    return Published(
        values, p, result.pattern, "published cells, sums, external bounds", result.status, result.cost, result.bound,
        "; ".join(filter(None, said)), optimality=optimality(result), stopped=bool(result.stopped),
    )  # fmt: skip


def _roll_up(choice: RollUp, call: Call) -> Published:
    """What is given up is not published: the intruder sees what is left."""
    if call.table is None or call.table.n_cells != call.problem.n_cells:
        raise InputError("recoding needs a table with hierarchies, so a specification or a table; not an instance")
    p = call.problem
    sensitive = p.primaries
    if choice.granularity is not None:
        sensitive = np.union1d(sensitive, assess(call.table, [Granularity(choice.granularity)]).primaries)
    found = least_recoding(call.table, sensitive, limits=call.limits, progress=call.progress)
    values = None if found.status == "infeasible" else np.where(found.removed, np.nan, p.values)
    given_up = "; ".join(f"{name}: parts of {', '.join(codes)}" for name, codes in found.collapsed.items())
    message = "; ".join(part for part in (given_up, found.message) if part)
    knows = "the cells left, sums, external bounds"
    stopped = found.status in ("feasible", "unknown")
    return Published(
        values, p, found.removed, knows, found.status, found.cost, found.bound, message,
        optimality=optimality(found), stopped=stopped,
    )  # fmt: skip


def _adjusted(changed: Changed, problem: Problem, seen: Problem, limits: Limits) -> Published:
    """Judge as `tabprotect.protect` does; beside that, say what whoever knows more of the method would learn."""
    assert changed.values is not None
    far = float(np.abs(changed.values - problem.values[: len(changed.values)]).max(initial=0.0))
    if limits.stop is not None and limits.stop():
        return _published(changed, seen, changed.knows, "stopped before intruders who know more were looked at")
    closer = _seeing(problem, changed, {**changed.claim, "within": repr(far)})
    known = audit(closer, closer.may_hide, intervals=False, budget=Budget(limits), of=problem.primaries)
    back = sense_risk(changed.result, limits=limits)
    beyond = (
        f"an intruder who knew the largest change, too, would come within the levels of "
        f"{counted(len(known.exposed), 'cell')}, one who knew the senses within those of "
        f"{counted(len(back.disclosed), 'cell')}"
    )
    return _published(changed, seen, changed.knows, beyond)


def parse_approach(text: str) -> Approach:
    """Read ``name`` or ``name:option=value,option=value``; a method that hides cells is one of 'suppress'.

    Raises
    ------
    InputError
        Unknown name or options, values that an option cannot have.

    Examples
    --------
    >>> parse_approach("round:base=5,steps=1")
    Approach(name='round', options={'base': 5.0, 'steps': 1})
    >>> parse_approach("greedy")
    Approach(name='suppress', options={'method': 'greedy'})
    >>> parse_approach("round:steps=lots")
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: round: steps must be a whole number or 'least', not 'lots'
    """
    name, _, rest = text.partition(":")
    if name in methods():
        name, rest = Hide.name, ",".join(filter(None, (f"method={name}", rest)))
    if name == GRANULARITY:
        name, default = RECODE, entry(GRANULARITY).factory().granularity
        rest = rest if "granularity=" in rest else ",".join(filter(None, (f"granularity={default:g}", rest)))
    if name == OPEN_CLASSES:
        raise InputError(
            f"{name} makes other codes, so another table, which cannot be compared with this one cell by cell: "
            f"state it as the method of a specification, and methods are compared on the table that it makes: "
            f'method = "{name}" and options = {{open = ["DIM"]}} there, or --set method={name} --set options.open=DIM '
            "beside the methods that are compared, DIM the dimension with open classes"
        )
    if name not in APPROACHES:
        raise InputError(f"unknown method '{name}'{did_you_mean(name, (*APPROACHES, *methods()))}")
    problems, options = Problems(), {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            known = option_names(APPROACHES[name])
            problems.add(f"'{part}' is no option of {name}{did_you_mean(key, known)} (write name=value)")
        options[key] = value
    problems.raise_if_any()
    return Approach(name, options)
