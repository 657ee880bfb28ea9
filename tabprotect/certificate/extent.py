"""How far a claim of optimality is proven, in words: one source for results, releases and the verifier."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

__all__ = ["CLOSED", "NEGLIGIBLE", "beyond", "extent", "is_optimal", "within"]

NEGLIGIBLE: Final = Fraction(1, 10**9)
"""A bound that goes beyond its proof by a smaller part of it says no more, in the digits that are shown."""


CLOSED: Final = Fraction(1, 10**5)
"""The same of distances, whose bounds come from interior point methods and are known to fewer digits."""


def within(cost: Fraction, bound: Fraction) -> str:
    """Return (cost - bound) / cost as a percentage.

    Examples
    --------
    >>> within(Fraction(200), Fraction(197)), within(Fraction(1), -Fraction(10) ** 400)
    ('1.50 %', 'more than 10^300 %')
    """
    try:
        return f"{float(100 * (cost - bound) / cost):.2f} %"
    except OverflowError:
        return "more than 10^300 %"


def extent(cost: Fraction, claimed: Fraction, proven: Fraction | None) -> str:
    """Return how far exact arithmetic confirms a claimed bound; nothing where it confirms all of it.

    Examples
    --------
    >>> extent(Fraction(200), Fraction(200), Fraction(197))
    'proven in exact arithmetic to within 1.50 %'
    >>> extent(Fraction(200), Fraction(190), None), extent(Fraction(200), Fraction(190), Fraction(195))
    ('no bound is proven in exact arithmetic', '')
    """
    if not cost or claimed <= 0:
        return ""
    if proven is None:
        return "no bound is proven in exact arithmetic"
    least = cost if is_optimal(cost, claimed) else claimed * (1 - NEGLIGIBLE)
    return "" if proven >= least else f"proven in exact arithmetic to within {within(cost, proven)}"


def is_optimal(cost: Fraction, claimed: Fraction, negligible: Fraction = NEGLIGIBLE) -> bool:
    """Whether a bound leaves nothing to gain, if it holds."""
    return claimed >= cost * (1 - negligible)


def beyond(cost: Fraction, claimed: Fraction, proven: Fraction | None) -> str:
    """Return what a bound claims and how far that is proven; nothing where exact arithmetic confirms all of it.

    Examples
    --------
    >>> beyond(Fraction(200), Fraction(200), Fraction(197))
    'optimal by the solver; proven in exact arithmetic to within 1.50 %'
    >>> beyond(Fraction(200), Fraction(198), None)
    'by the solver within 1.00 %; no bound is proven in exact arithmetic'
    """
    proven_words = extent(cost, claimed, proven)
    if not proven_words:
        return ""
    claim = "optimal by the solver" if is_optimal(cost, claimed) else f"by the solver within {within(cost, claimed)}"
    return f"{claim}; {proven_words}"
