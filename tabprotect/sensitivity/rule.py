"""What a primary rule is: a small class that says which cells are sensitive, with what levels, and why."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from numbers import Real
from pathlib import Path
from typing import ClassVar, Final, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError
from tabprotect.table.table import Contributions, Table

__all__ = [
    "NOTHING",
    "TIE",
    "Decisions",
    "Needs",
    "Override",
    "Rule",
    "Spoken",
    "Verdict",
    "bound_cell",
    "measure",
    "percentage",
    "plain",
    "ranged",
    "whole",
]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

TIE: Final = 1e-11
"""A rule is strict (rest < p % of the largest). Sums of floats that differ by less than this fraction of the cell
total count as equal, and equal is not sensitive, as in the published formulas."""

NOTHING: Final = -1
"""In `Decisions`: nothing is decided for this cell."""


@dataclass(frozen=True)
class Needs:
    """What a rule must find in a table.

    Parameters
    ----------
    top : int
        How many of the largest contributions to every cell; 0 for none.
    counts, requests : bool
        The number of contributors; the request codes of the contributors.
    """

    top: int = 0
    counts: bool = False
    requests: bool = False


@dataclass(frozen=True, eq=False)
class Verdict:
    """The cells that a rule finds sensitive, with the protection levels that it asks for.

    Parameters
    ----------
    cells : ndarray of int, shape (sensitive,)
        Positions, ascending.
    lpl, upl : ndarray, shape (sensitive,)
        Lower and upper protection level in the unit of the cell values (>= 0).
    """

    cells: Ints
    lpl: Floats
    upl: Floats


@dataclass(frozen=True, eq=False)
class Decisions:
    """What an `Override` decides, cell by cell, whatever the rules say.

    Parameters
    ----------
    status : ndarray of int8, shape (cells,)
        A `tabprotect.problem.Status`, or -1 where nothing is decided.
    lpl, upl, spl : ndarray, shape (cells,)
        Levels that replace those of the rules; nan where they stay.
    cost : ndarray, shape (cells,), optional
        Cost of suppression that replaces the cost variable; nan where it stays.
    default_range : float
        Level, in per cent of the value, of cells made primary here without a level of their own.
    lower, upper : ndarray, shape (cells,), optional
        What every intruder knows of single cells, which replaces the external bounds; nan where they stay.
    """

    status: npt.NDArray[np.int8]
    lpl: Floats
    upl: Floats
    spl: Floats
    cost: Floats | None = None
    default_range: float = 0.0
    lower: Floats | None = None
    upper: Floats | None = None

    @classmethod
    def none(cls, n: int, default_range: float = 0.0) -> Decisions:
        """Decide nothing about `n` cells (the arrays may then be filled in)."""
        nothing = np.full(n, NOTHING, np.int8)
        lpl, upl, spl, cost, lower, upper = np.full((6, n), np.nan)
        return cls(nothing, lpl, upl, spl, cost, default_range, lower, upper)


def bound_cell(decisions: Decisions, table: Table, cell: int, numbers: Sequence[float]) -> str:
    """Put the external bounds of one cell into decisions; return what is wrong with them, if anything."""
    lower, upper = numbers
    value = float(table.values[cell])
    if not lower <= value <= upper:
        name = table.system.label(cell)
        return (
            f"the value {value:.15g} of {name} does not lie between the external bounds {lower:.15g} and {upper:.15g}; "
            "they are values that intruders know it to lie between, not distances from it"
        )
    assert decisions.lower is not None
    assert decisions.upper is not None
    decisions.lower[cell], decisions.upper[cell] = lower, upper
    return ""


class Spoken:
    """Base of every rule and override: it prints as the text that `parse_rule` reads.

    That is ``keyword=parameter,parameter``; trailing parameters at their default are left out.
    """

    keywords: ClassVar[tuple[str, ...]]
    doubt: ClassVar[tuple[str, str] | tuple[()]] = ()
    """Its text, and the rule that it would be with a decimal comma; empty where that is none."""

    def __str__(self) -> str:
        given = [(f, getattr(self, f.name)) for f in fields(self)]  # type: ignore[arg-type]
        while given and given[-1][1] == given[-1][0].default:
            given.pop()
        words = [f"{value:g}" if isinstance(value, int | float) else str(value) for _, value in given]
        return self.keywords[0] + ("=" + ",".join(words) if words else "")

    @property
    def reading(self) -> str:
        """Its parameters by name, such as 'p = 12.5, n = 1'."""
        given = ((f.name, getattr(self, f.name)) for f in fields(self))  # type: ignore[arg-type]
        return ", ".join(f"{name} = {value:g}" for name, value in given if isinstance(value, int | float))

    @property
    def named(self) -> str:
        """Its text with the names of all parameters but the first, which no decimal comma makes another rule."""
        first, *others = ((f.name, getattr(self, f.name)) for f in fields(self))  # type: ignore[arg-type]
        return ",".join([f"{self.keywords[0]}={first[1]:g}", *(f"{name}={value:g}" for name, value in others)])

    def in_doubt(self, text: str, other: str) -> Self:
        """Return the rule, knowing its text and which other one that may mean; it stays equal to itself."""
        found = copy(self)
        object.__setattr__(found, "doubt", (text, other))
        return found

    def located(self, base: Path) -> Self:
        """Return the rule with its files, if it has any, relative to a folder."""
        return self


@runtime_checkable
class Rule(Protocol):
    """A sensitivity rule: a frozen dataclass whose fields are its parameters.

    Put a new one into a file of its own in ``tabprotect/sensitivity/rules/``; it is found there, and `parse_rule`
    reads it from text by the first of its `keywords`, with the fields as parameters in their order.

    Attributes
    ----------
    keywords : tuple of str
        How the rule is called in text; the first is used for printing.

    Notes
    -----
    Two things are optional. ``among_respondents = True`` says that the rule protects respondents from each other. A
    method ``measure(table)`` lets the search for sums of cells leave out most of them; see `measure`.
    """

    keywords: ClassVar[tuple[str, ...]]

    @abstractmethod
    def needs(self) -> Needs:
        """Return what the table must carry."""
        ...

    @abstractmethod
    def judge(self, table: Table) -> Verdict:
        """Return the sensitive cells and their levels."""
        ...

    @abstractmethod
    def explain(self, table: Table, cell: int) -> str:
        """Say in words, with the numbers, how the rule reads one cell (internal: it holds confidential values)."""
        ...


@runtime_checkable
class Override(Protocol):
    """Something that decides statuses itself: missing codes, a status column, an a-priori file.

    Attributes
    ----------
    rank : int
        Where two overrides decide about one cell, the one of higher rank wins.
    """

    keywords: ClassVar[tuple[str, ...]]
    rank: ClassVar[int]

    @abstractmethod
    def decide(self, table: Table) -> Decisions:
        """Return what is decided, with a status of -1 for cells that are left to the rules."""
        ...


def measure(rule: Rule, table: Table) -> Floats:
    """Return a sensitivity measure of every cell: no sum of cells is sensitive whose measures add up to 0 or less.

    Rules that measure how far a cell exceeds their limit have a method ``measure`` for it. The measures of the p%, pq
    and dominance rules are subadditive: that of a sum of cells is at most the sum of theirs (Cox 1981). Waivers are
    left out, which can only make it larger. Rules without the method get 1 for sensitive cells and 0 for others.

    With sampling weights a holder of several cells has their mean, and the measures are not subadditive any more. The
    largest contribution, as often as the rule counts contributors, takes the place of theirs then: it is no smaller
    than what they add up to, and subadditive.

    References
    ----------
    Cox (1981), Linear sensitivity measures in statistical disclosure control.
    """
    own = getattr(rule, "measure", None)
    if own is None:
        found = np.zeros(table.n_cells)
        found[rule.judge(table).cells] = 1.0
        return found
    c = table.contributions
    if c is None:
        return np.asarray(own(table), np.float64)
    free = replace(c, waived=np.zeros_like(c.waived))
    top = rule.needs().top
    if not top or plain(c):
        return np.asarray(own(replace(table, contributions=free)), np.float64)
    # the measures are affine in the total with slope -1
    largest = np.repeat(c.values.max(axis=1, initial=0.0)[:, None], top, axis=1)
    added = largest.sum(axis=1)
    alike = replace(
        free, total=c.total + added, values=largest, weights=(largest > 0).astype(np.float64),
        holders=np.full(largest.shape, -1), waived=np.zeros(largest.shape, bool),
        requested=np.zeros(largest.shape, np.int8),
    )  # fmt: skip
    return np.asarray(own(replace(table, contributions=alike)) + added, np.float64)


def plain(contributions: Contributions) -> bool:
    """Return whether every contributor counts once: there are no sampling weights, or all are 1."""
    return bool(np.all((contributions.weights == 0) | (contributions.weights == 1)))


def percentage(rule: object, name: str, value: float, *, most: float = np.inf, zero: bool = False) -> None:
    """Refuse a parameter that is not a percentage in (0, most], or [0, most] with `zero`."""
    known = isinstance(value, Real) and not isinstance(value, bool)
    if not (known and np.isfinite(value) and (value >= 0 if zero else value > 0) and value <= most):
        bounds = f"{'at least 0' if zero else 'above 0'}" + (f" and at most {most:g}" if np.isfinite(most) else "")
        raise InputError(f"{type(rule).__name__}: {name} must be a number {bounds}, not {value!r}")


def whole(rule: object, name: str, value: float, least: int = 1) -> None:
    """Refuse a parameter that is not a whole number of at least `least`."""
    known = isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(value)
    if not known or value != int(value) or value < least:
        raise InputError(f"{type(rule).__name__}: {name} must be a whole number of at least {least}, not {value!r}")


def ranged(table: Table, cells: Ints, percent: float) -> Verdict:
    """Return a verdict whose levels are a percentage of the absolute cell value, both sides alike."""
    level = np.abs(table.values[cells]) * percent / 100
    return Verdict(cells, level, level.copy())
