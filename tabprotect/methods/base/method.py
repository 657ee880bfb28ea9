"""One kind of method: what it is called with, what it hands back, and what it says of itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from tabprotect.methods.base.options import check_options
from tabprotect.problem import Problem, Status
from tabprotect.solver.gap import relative_gap
from tabprotect.solver.limits import Limits, Progress
from tabprotect.table.table import Table

__all__ = ["Acts", "Call", "Changed", "Method", "default_base", "held"]

Acts = Literal["records", "table", "problem"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Call:
    """What every method is called with.

    Attributes
    ----------
    problem : Problem
    limits : Limits
    seed : int
    progress : callable, optional
    keys : ndarray of int or None
        Cell keys, where the records have keys.
    table : Table or None
        What the problem is about, where that is known.
    prepare : callable, optional
        Gives a method what it needs of the records, where there are records.
    """

    problem: Problem
    limits: Limits = field(default_factory=Limits)
    seed: int = 0
    progress: Callable[[Progress], None] | None = None
    keys: Ints | None = None
    table: Table | None = None
    prepare: Callable[[Any], Any] | None = None


@dataclass(frozen=True, eq=False)
class Changed:
    """What a method publishes, and what its intruder knows.

    Attributes
    ----------
    values : ndarray or None
        Of all cells; None without an answer.
    claim : mapping
        See `tabprotect.certificate.claims`.
    knows : str
        What the intruder knows of the method, in words.
    status : str
    cost, bound : float or None
        Distance from the true values in the method's own measure, and a bound on it.
    seconds : float
    message : str
    stopped : bool
        A limit was reached.
    levels_moved : bool
        The method moves every sensitive cell by its level or more.
    result : object
        What the method itself returned.
    """

    values: Floats | None
    claim: Mapping[str, Any]
    knows: str
    status: str
    cost: float | None = None
    bound: float | None = None
    seconds: float = 0.0
    message: str = ""
    stopped: bool = False
    levels_moved: bool = False
    result: Any = field(default=None, repr=False)

    def __repr__(self) -> str:
        size = "no values" if self.values is None else f"values of {len(self.values):,} cells"
        return f"Changed({self.status}: {size})"

    @property
    def gap(self) -> float | None:
        """(cost - bound) / cost as a fraction; None without both numbers."""
        return relative_gap(self.cost, self.bound)


@dataclass(frozen=True)
class Method(ABC):
    """A method that changes values, with its options; options are checked when they are given."""

    name: ClassVar[str]
    drawn: ClassVar[bool] = False
    """Whether published values are drawn at random: then nobody may know the seed."""
    acts_on: ClassVar[Acts] = "problem"
    """The earliest stage that the method has to see: records, the table, or the problem."""
    claims: ClassVar[tuple[str, ...]] = ()
    """What it may claim; see `tabprotect.certificate.claims`."""
    page: ClassVar[str] = "other-methods.md"
    """Where the documentation has it."""

    def __post_init__(self) -> None:
        check_options(self)

    @property
    def secret(self) -> bool:
        """Whether the seed must be secret."""
        return self.drawn

    @property
    def contributions(self) -> int:
        """How many of the largest contributions to every cell the method looks at."""
        return 0

    @abstractmethod
    def change(self, call: Call) -> Changed:
        """Carry the method out."""

    def __str__(self) -> str:
        from tabprotect.methods.base.options import options_of

        return self.name + "".join(f" {key}={value}" for key, value in options_of(self).items())


def held(problem: Problem, *statuses: Status) -> list[int]:
    """Return the cells of some statuses."""
    return [int(i) for i in np.flatnonzero(np.isin(problem.status, statuses))]


def default_base(problem: Problem) -> float:
    """Return 5 for counts, else the first of 1, 2, 5, 10, ... that no lower and upper level together exceed.

    With less a sensitive value may have no multiple near it from which both of its levels can be reached.

    Examples
    --------
    >>> default_base(Problem.from_arrays([[-1, 1, 1]], [900, 400, 500], primary=[1], lpl=30, upl=30))
    100.0
    """
    levels = np.maximum(problem.lpl + problem.upl, problem.spl)[problem.primaries]
    largest = float(levels.max(initial=0.0))
    if problem.integer or largest <= 0:
        return 5.0
    power = 10.0 ** np.floor(np.log10(largest))
    return float(next(k * power for k in (1, 2, 5, 10) if k * power >= largest))
