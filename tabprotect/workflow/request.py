"""What is asked for: one object that every face makes, and the way to a release takes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from os import PathLike
from typing import Any, Literal

from numpy.random import Generator
from pydantic import BaseModel, ConfigDict, ValidationError, ValidatorFunctionWrapHandler, field_validator
from pydantic_core import PydanticCustomError

from tabprotect.errors import InputError, Problems, did_you_mean
from tabprotect.methods.base.method import Method
from tabprotect.methods.recoding.method import Recode
from tabprotect.methods.suppression.method import Suppress
from tabprotect.problem import Attacker
from tabprotect.release.earlier import Previous
from tabprotect.seeds import as_seed
from tabprotect.sensitivity.assess import check_levels
from tabprotect.sensitivity.parse import as_rules
from tabprotect.sensitivity.rules.granularity import Granularity
from tabprotect.solver.limits import Limits, as_limits, check_progress
from tabprotect.solver.tasks.pieces import check_executor
from tabprotect.visible import visible
from tabprotect.workflow.source import Source

__all__ = ["FACES", "Request"]


class Request(BaseModel):
    """A table, what is sensitive in it, how it is protected, and what is published.

    Parameters are those of `tabprotect.protect`, but for data and what goes with them: that is `source`.

    Parameters
    ----------
    source : Source
        See `tabprotect.workflow.source` and `tabprotect.workflow.specified`.
    source_line : str
        The `source` of `tabprotect.protect`.
    cost : str or sequence of float, optional
        What hiding a cell would cost, for methods that change values and measure distances by the costs of the
        problem; methods that hide cells name their own.

    command : str, optional
        The command line that asks for it; kept in the provenance of the release.
    when_read : callable, optional
        Called once the data are read, with a `tabprotect.Recognised` for every file.

    Raises
    ------
    InputError
        By `Request.of`, with everything that is wrong.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    source: Source
    rules: Any = ()
    method: Any = None
    cost: Any = None
    levels: Any = "symmetric"
    bounds: Any = None
    singletons: bool = True
    attackers: Any = {}
    unions: Literal["repair", "audit", "off"] = "repair"
    protect_hidden: bool = False
    limits: Limits = Limits()
    seed: Any = None
    intervals: bool = True
    title: str = "Protected table"
    unit: str = ""
    source_line: str = ""
    separate_statuses: bool = False
    decimals: int | None = None
    allow_unsafe: bool = False
    progress: Any = None
    executor: Any = None
    resume: Any = None
    command: str | None = None
    when_read: Any = None
    previous: Any = None

    @field_validator("method")
    @classmethod
    def _method(cls, given: Any) -> Any:
        method = Suppress() if given is None else given
        if isinstance(method, str):
            from tabprotect.methods.registry import entry

            known = entry(method)
            try:
                method = Suppress(method=known.name) if known.family == "suppress" else known.factory()
            except TypeError as error:
                raise InputError(f"method '{method}' needs options; make it with its class: {error}") from error
        if not isinstance(method, Suppress | Recode | Method):
            raise InputError(f"method must be such as Suppress(method='exact') or Round(base=5), not {method!r}")
        return method

    @field_validator("unit", "source_line")
    @classmethod
    def _line(cls, given: str) -> str:
        line = re.sub(r"[ \t\r\n\f\v]+", " ", given).strip()
        if visible(line) != line:
            raise PydanticCustomError("line", "Input should be a line without control characters")
        return line

    @field_validator("previous")
    @classmethod
    def _previous(cls, given: Any) -> Any:
        return Previous.of(given)

    @field_validator("attackers")
    @classmethod
    def _attackers(cls, given: Any) -> Any:
        given = {} if given is None else given
        if isinstance(given, Sequence) and not isinstance(given, str) and all(isinstance(a, Attacker) for a in given):
            names = [attacker.name for attacker in given]
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise InputError(f"attackers need names of their own; twice: {', '.join(twice)}")
            given = {attacker.name: attacker.known for attacker in given}
        cells_of = given.values() if isinstance(given, Mapping) else [None]
        if any(isinstance(cells, str) or not isinstance(cells, Iterable) for cells in cells_of):
            raise InputError(
                "attackers must map a name to the cells that this intruder knows, such as "
                f"{{'tax office': ['N x small']}}, not {given!r}"
            )
        return {str(name): tuple(cells) for name, cells in given.items()}

    @field_validator("levels")
    @classmethod
    def _levels(cls, given: Any) -> Any:
        check_levels(given)
        return given

    @field_validator("seed")
    @classmethod
    def _seed(cls, given: Any) -> Any:
        # a generator is asked for its next number when that is used
        return given if given is None or isinstance(given, Generator) else as_seed(given)

    @field_validator("progress")
    @classmethod
    def _progress(cls, given: Any) -> Any:
        check_progress(given)
        return given

    @field_validator("executor")
    @classmethod
    def _executor(cls, given: Any) -> Any:
        check_executor(given)
        return given

    @field_validator("resume")
    @classmethod
    def _resume(cls, given: Any) -> Any:
        if not isinstance(given, str | PathLike | None):
            raise InputError(f"resume must be a folder, not {given!r}")
        return given

    @field_validator("decimals", mode="before")
    @classmethod
    def _decimals(cls, given: Any) -> Any:
        if given is None:
            return None
        if not isinstance(given, Integral) or isinstance(given, bool) or not -15 <= int(given) <= 15:
            raise InputError(f"decimals must be a whole number from -15 to 15, not {given!r}")
        return int(given)

    @field_validator("limits", mode="before")
    @classmethod
    def _limits(cls, given: Any) -> Any:
        return given if isinstance(given, Mapping) else as_limits(given)

    @field_validator("rules")
    @classmethod
    def _rules(cls, given: Any) -> Any:
        return as_rules(given)

    @field_validator("*", mode="wrap")
    @classmethod
    def _together(cls, given: Any, check: ValidatorFunctionWrapHandler) -> Any:
        """Let what is wrong with one parameter be said beside what is wrong with the others."""
        try:
            return check(given)
        except InputError as error:
            raise PydanticCustomError("parsed", "{why}", {"why": "\n".join(error.problems)}) from error

    def _apart(self) -> list[str]:
        """Return what does not go together."""
        if isinstance(self.method, Recode) and self.previous is not None:
            return ["previous: recoding changes the cells, so the last pattern is none of theirs"]
        asked = {
            "unions": self.unions != "repair",
            "separate_statuses": self.separate_statuses,
            "decimals": self.decimals is not None,
            "resume": self.resume is not None,
            "previous": self.previous is not None,
        }
        names = [name for name, given in asked.items() if given and isinstance(self.method, Method)]
        return [f"only for hiding cells, and {self.method.name} hides none: {', '.join(names)}"] if names else []

    @classmethod
    def of(cls, **given: Any) -> Request:
        """Return the request, checked; `InputError` with everything that is wrong.

        Examples
        --------
        >>> Request.of(source=None, rules="p%=15", unions="repare")
        Traceback (most recent call last):
        ...
        tabprotect.errors.InputError: 2 problems:
          - source must be an instance of Source, not None
          - unions must be 'repair', 'audit' or 'off', not 'repare'; did you mean 'repair'?
        """
        problems = Problems()
        asked = cls.right_part(problems, **given)
        problems.raise_if_any()
        assert asked is not None
        return asked

    @classmethod
    def right_part(cls, problems: Problems, **given: Any) -> Request | None:
        """Note what is wrong, and return the request without that; None where it lacks its source."""
        try:
            asked = cls(**{"method": None, **given})
        except ValidationError as error:
            problems.found += [line for one in error.errors() for line in _explain(one)]
            wrong = {str(one["loc"][0]) for one in error.errors()}
            right = {name: one for name, one in given.items() if name not in wrong}
            return None if "source" in wrong else cls.right_part(Problems(), **right)
        problems.found += asked._apart()
        method = asked.method
        if not isinstance(method, Recode) or method.granularity is None:
            return asked
        return asked.model_copy(update={"rules": as_rules((*asked.rules, Granularity(method.granularity)))})

    @property
    def hiding(self) -> Suppress:
        """How cells are hidden, and what that costs."""
        if isinstance(self.method, Recode):
            return self.method.then
        return self.method if isinstance(self.method, Suppress) else Suppress(self.cost)

    def asking(self, **other: Any) -> Request:
        """Return the request with some parts of it changed, checked anew."""
        return Request.of(**{**dict(self), **other})


FACES = {"source_line": "source"}
"""How faces call what has another name here."""


def _explain(error: Any) -> list[str]:
    if error["type"] == "parsed":
        return str(error["msg"]).split("\n")
    name, given = ".".join(map(str, error["loc"])), error["input"]
    name = FACES.get(name, name)
    if error["type"] == "literal_error":
        options = [word.strip("'") for word in error["ctx"]["expected"].replace(" or ", ", ").split(", ")]
        guess = did_you_mean(given, options)
        return [f"{name} must be {error['ctx']['expected']}, not {given!r}{guess if 'mean' in guess else ''}"]
    words = str(error["msg"])
    asked = words.replace("Input should", " must", 1) if words.startswith("Input should") else f": {words}"
    return [f"{name}{asked}, not {given!r}"]
