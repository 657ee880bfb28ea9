"""What an auditor says to a query, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

__all__ = ["Decision", "Denial", "Step", "combined"]


class Denial(StrEnum):
    """Why a query is not answered; the text may be shown to the user."""

    SENSITIVE = "the answer itself is sensitive: too few units stand behind it, or few of them dominate it"
    INFERABLE = "together with earlier answers it would determine a sensitive sum"
    NARROW = "together with earlier answers it would confine a sensitive sum too closely"
    UNDECIDED = "it could not be shown to be safe within the permitted work"
    OUTSIDE = "it does not follow from the prepared sums, and only what follows from them is answered"


@dataclass(frozen=True)
class Step:
    """One step of the answerability test. Internal: the text holds confidential numbers.

    Attributes
    ----------
    name : str
    passed : bool
    text : str
    """

    name: str
    passed: bool
    text: str

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


@dataclass(frozen=True)
class Decision:
    """The outcome of the answerability test for one query, or for several that are asked together.

    Attributes
    ----------
    answered : bool
    values : tuple of Fraction
        The sums, in the order of the query sets; empty unless answered.
    denial : Denial, optional
        Why not.
    steps : tuple of Step
        Every step of the test (internal).
    inferable : bool
        The answer followed from earlier ones, so that it says nothing new.
    basis : int
        Number of queries in the basis afterwards.
    work : int
        Work that the safety test took (internal).
    rank : int
        Sums that the safety test looked at, without those that follow from the basis and others of them.
    """

    answered: bool
    values: tuple[Fraction, ...] = ()
    denial: Denial | None = None
    steps: tuple[Step, ...] = field(default=(), repr=False)
    inferable: bool = False
    basis: int = 0
    work: int = field(default=0, repr=False)
    rank: int = field(default=0, repr=False)

    @property
    def value(self) -> float:
        """The answer to a single query."""
        if len(self.values) != 1:
            raise ValueError("no single answer" if self.answered else "the query was denied")
        return float(self.values[0])

    def explain(self) -> str:
        """Return all steps as text (internal: it holds confidential numbers)."""
        end = "answered" if self.answered else f"denied: {self.denial}"
        return "\n".join([*map(str, self.steps), f"Result: {end}"])


def combined(terms: Sequence[tuple[int, Fraction]]) -> str:
    """Write a combination of answers out.

    Examples
    --------
    >>> combined([(2, Fraction(1)), (0, Fraction(-1)), (1, Fraction(-1, 2))])
    '+ q3 - q1 - 1/2 q2'
    """
    return " ".join(f"{'+' if c > 0 else '-'} {'' if abs(c) == 1 else f'{abs(c)} '}q{i + 1}" for i, c in terms)
