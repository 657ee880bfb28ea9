"""Sensitivity rules as the safety test reads them: how many may guess together, and how near they may come."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, Problems
from tabprotect.sensitivity import PQ, Dominance, Override, PPercent, Rule, Threshold, as_rules

__all__ = ["Measure", "measures"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Measure:
    """A rule, stated for sets T of at most `members` units.

    The total x(T) must be able to move by a level in both directions, as far as its own known bounds let it:

    - concentration rules: ratio * (largest value in T), for every T;
    - with `whole`: ratio * x(T), for sets T that are all units behind a sum (the threshold rule).

    For p% and pq the ratio is p/100 and p/q and T is the largest unit with the coalition; the requirement for a sum X
    is then UPL = ratio x_1 - (X - x_1 - ... - x_m), as in `tabprotect.sensitivity.PPercent`. For (n, k) it is
    `share` = 100/k - 1 times x(T), with T the n largest.

    Attributes
    ----------
    text : str
        The rule as text.
    members : int
    ratio : Fraction
        Of the largest value; for (n, k) n times the share, which is at least what is needed.
    share : Fraction, optional
        For (n, k) only.
    whole : bool
    """

    text: str
    members: int
    ratio: Fraction
    share: Fraction | None = None
    whole: bool = False

    def level(self, sizes: Ints) -> Ints:
        """Return the ratio of some sizes, rounded up to the next integer."""
        return ceiling(self.ratio, sizes)


def ceiling(ratio: Fraction, sizes: Ints) -> Ints:
    """Return ratio * size, rounded up, for integers of any sign (their absolute sizes count).

    Examples
    --------
    >>> ceiling(Fraction(15, 100), np.array([100, -101, 0])).tolist()
    [15, 16, 0]
    """
    return np.asarray(-((-ratio.numerator * np.abs(sizes)) // ratio.denominator))


def measures(rules: Rule | Override | str | Iterable[Rule | Override | str]) -> tuple[tuple[Rule, ...], list[Measure]]:
    """Read rules for the auditor.

    Raises
    ------
    InputError
        No rule at all, or rules that speak of finished tables (a-priori files, requests and the like).

    Examples
    --------
    >>> [(m.text, m.members, str(m.ratio)) for m in measures("p%=15|nk=2,80|threshold=4,20")[1]]
    [('p%=15', 2, '3/20'), ('nk=2,80', 2, '1/2'), ('threshold=4,20', 3, '1/5')]
    """
    given = as_rules(rules)
    problems = Problems()
    kept: list[Rule] = []
    found: list[Measure] = []
    for rule in given:
        measure = _measure(rule)
        if measure is None or not isinstance(rule, Rule):
            problems.add(f"rule '{rule}' is for finished tables; queries take threshold, nk, p% and pq")
        elif measure.ratio.numerator > 10**6 or measure.ratio.denominator > 10**6:
            problems.add(f"rule '{rule}': give percentages with fewer decimals")
        else:
            kept.append(rule)
            found.append(measure)
    if not given:
        problems.add("no rule is given; queries need at least one of threshold, nk, p% and pq")
    problems.raise_if_any()
    return tuple(kept), [measure for measure in found if measure.members]


def _measure(rule: Rule | Override) -> Measure | None:
    match rule:
        case PPercent(p=p, n=n):
            return Measure(str(rule), n + 1, _exact(p) / 100)
        case PQ(p=p, q=q, n=n):
            return Measure(str(rule), n + 1, _exact(p) / _exact(q))
        case Dominance(n=n, k=k):
            share = 100 / _exact(k) - 1
            return Measure(str(rule), n, n * share, share)
        case Threshold(n=n, range=width):
            return Measure(str(rule), n - 1, _exact(width) / 100, whole=True)
        case _:
            return None


def _exact(number: float) -> Fraction:
    return Fraction(repr(float(number)))


def check_size(found: Iterable[Measure], largest: int) -> None:
    """Refuse values whose product with a ratio would not fit into 64 bits."""
    for measure in found:
        if largest * max(measure.ratio.numerator, 1) >= 2**62:
            raise InputError(f"rule '{measure.text}': the values are too large for exact arithmetic; use a larger unit")
