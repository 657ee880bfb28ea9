"""What a method that changes values promises, and what an intruder who knows the method concludes from one value.

The standard library only: the verifier of such certificates reads this file, too. A claim is a mapping with the entry
``method`` and numbers written as text:

========== ===================== ====================================================================================
method     further entries       true value a of a published value v
========== ===================== ====================================================================================
multiple   base, steps           v is a multiple of base, ``|v - a| < base (steps + 1)``
rising     base, steps           v is a multiple of base, ``-base (steps + 1) < v - a <= base (steps + 1)``
nearest    base                  v is a multiple of base, ``v - base / 2 <= a < v + base / 2``
near       within (or null)      ``|v - a| <= within``; null: nothing is told
noise      support               v - a is among the noise that the row of a (the last for larger counts) has
share      reach, slope          ``|v - a|`` is at most what `tabprotect.certificate.reach` has for a; no sign changes
swap                             unchanged by what method: nothing is told
small      base, inner           inner cells: 0 for a < base, base for 1 <= a <= base, else v = a
========== ===================== ====================================================================================

Every claim has an entry ``fixed`` too: cells published as they are, known as such to the intruder. Where values are
known to be whole numbers, so are the ends of his ranges. Open ends count as closed for other values: levels are
reached in the limit.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from tabprotect.certificate.document import fraction, integers, list_of, positions, require
from tabprotect.certificate.reach import Reach

__all__ = ["DOUBTS", "METHODS", "STEPPED", "Claim", "Range", "note"]

Range = tuple[Fraction | None, Fraction | None]

METHODS: Mapping[str, tuple[str, ...]] = {
    "multiple": ("base", "steps"),
    "rising": ("base", "steps"),
    "nearest": ("base",),
    "near": ("within",),
    "noise": ("support",),
    "share": ("reach", "slope"),
    "small": ("base", "inner"),
    "swap": (),
}

STEPPED = ("multiple", "rising")
"""Methods that round to multiples within a number of bases."""

DOUBTS = frozenset({"swap"})
"""Methods that make figures doubtful but keep no distance from the truth: nothing of them is proven safe."""

_NOISE = 1_000_000
"""No method moves a count further."""

_DIGITS = 400


@dataclass(frozen=True)
class Claim:
    """A claim, read.

    Attributes
    ----------
    method : str
    base, steps, within, support, reach, inner, fixed :
        As in the table above; what a method does not have is 0, None or empty.
    integer : bool
        All true values are known to be whole numbers.
    """

    method: str
    base: Fraction
    steps: int
    within: Fraction | None
    support: tuple[frozenset[int], ...]
    reach: Reach | None
    inner: Collection[int]
    fixed: Collection[int]
    integer: bool

    @classmethod
    def read(cls, claim: Any, n: int, integer: bool) -> Claim:
        """Read a claim about `n` cells; `Malformed` says what is wrong with it.

        Examples
        --------
        >>> claim = Claim.read({"method": "multiple", "base": "5", "steps": 0, "fixed": []}, 3, False)
        >>> [str(end) for end in claim.known(1, Fraction(10))], claim.kept(1, Fraction(10), Fraction(4))
        (['5', '15'], False)
        """
        require(
            isinstance(claim, Mapping) and isinstance(claim.get("method"), str), "no such method of changing values"
        )
        method = claim["method"]
        require(method in METHODS, "no such method of changing values")
        entries = {"method", "fixed", *METHODS[method]}
        require(set(claim) == entries, f"a claim of '{method}' has exactly the entries {', '.join(sorted(entries))}")
        base = fraction(claim["base"], "base", _DIGITS) if "base" in entries else Fraction(0)
        require(base > 0 or "base" not in entries, "the base must be above 0")
        (steps,) = integers([claim.get("steps", 0)], "steps")
        require(0 <= steps <= _NOISE, f"steps must be at least 0 and at most {_NOISE:,}")
        within = None if claim.get("within") is None else fraction(claim["within"], "within", _DIGITS)
        require(within is None or within >= 0, "'within' must be at least 0")
        rows = list_of(claim.get("support", []), "support")
        require(all(abs(x) <= _NOISE for row in rows for x in integers(row, "support")), f"noise beyond {_NOISE:,}")
        support = tuple(frozenset(integers(row, "support")) for row in rows)
        require(bool(support) == ("support" in entries), "the noise of a count of 0 is missing")
        require(all(0 in row or row for row in support), "a count has no noise, not even 0")
        reach = Reach.read(claim["reach"], claim["slope"]) if "reach" in entries else None
        inner = frozenset(positions(claim.get("inner", []), n, "inner cells"))
        fixed = frozenset(positions(claim["fixed"], n, "fixed cells"))
        require(method not in ("noise", "small") or integer, f"'{method}' is for whole numbers")
        return cls(method, base, steps, within, support, reach, inner, fixed, integer)

    @property
    def work(self) -> int:
        """Steps that one cell takes to check, about."""
        return 50 + 4 * self._far

    def known(self, cell: int, v: Fraction) -> Range:
        """Return the smallest and largest true value that a published value leaves possible; None: no limit."""
        if cell in self.fixed:
            return v, v
        if self.method in STEPPED:
            far = self.base * (self.steps + 1)
            return self._whole(v - far, v + far, open_low=self.method == "multiple", open_high=True)
        if self.method == "nearest":
            return self._whole(v - self.base / 2, v + self.base / 2, open_low=False, open_high=True)
        if self.method in DOUBTS:
            return None, None
        if self.method == "near":
            if self.within is None:
                return None, None
            return self._whole(v - self.within, v + self.within, open_low=False, open_high=False)
        if self.reach is not None:
            return self.reach.known(v)
        if self.method == "noise":
            possible = self._counts(int(v))
            return (Fraction(possible[0]), Fraction(possible[-1])) if possible else (v, v)
        if cell not in self.inner:
            return Fraction(0), None
        if v == 0:
            return v, self.base - 1
        return (Fraction(1), v) if v == self.base else (v, v)

    def kept(self, cell: int, v: Fraction, a: Fraction) -> bool:
        """Whether a published value is one that the method may give to a true value."""
        if cell in self.fixed:
            return v == a
        if self.method in (*STEPPED, "nearest"):
            if (v / self.base).denominator != 1:
                return False
            if self.method == "nearest":
                return -self.base <= 2 * (a - v) < self.base
            far = self.base * (self.steps + 1)
            return abs(v - a) < far or (self.method == "rising" and v - a == far)
        if self.method == "noise":
            whole = v.denominator == a.denominator == 1 and a >= 0
            return whole and int(v - a) in self.support[min(int(a), len(self.support) - 1)]
        if self.reach is not None:
            return a >= 0 and v >= 0 and (v == 0 or a > 0) and abs(v - a) <= self.reach(a)
        low, high = self.known(cell, v)
        return (low is None or low <= a) and (high is None or a <= high)

    @cached_property
    def _far(self) -> int:
        return max((abs(x) for row in self.support for x in row), default=0)

    def _whole(self, low: Fraction, high: Fraction, *, open_low: bool, open_high: bool) -> Range:
        if not self.integer:
            return low, high
        least = math.floor(low) + 1 if open_low else math.ceil(low)
        most = math.ceil(high) - 1 if open_high else math.floor(high)
        return Fraction(least), Fraction(most)

    def _counts(self, v: int) -> list[int]:
        """Counts that the noise can make into v, ascending."""
        last = len(self.support) - 1
        far = self._far
        return [i for i in range(max(0, v - far), v + far + 1) if v - i in self.support[min(i, last)]]


def note(claim: Mapping[str, Any], additive: bool) -> str:
    """Say to the public what was done to the values: nothing but what every intruder is taken to know.

    Examples
    --------
    >>> note({"method": "multiple", "base": "5", "steps": 0, "fixed": []}, True)
    'All values are rounded to multiples of 5 to keep the information of respondents confidential; they add up.'
    """
    base = claim.get("base")
    what = {
        "multiple": f"All values are rounded to multiples of {base}",
        "rising": f"All values are rounded to multiples of {base}",
        "nearest": f"All values are rounded to multiples of {base}",
        "near": "Values are changed slightly",
        "noise": "Values carry noise",
        "share": "Values carry noise",
        "small": f"Small values are 0 or {base}",
        "swap": "Some respondents are counted in other areas",
    }[str(claim["method"])]
    sums = "they add up" if additive else "sums may differ from their parts"
    return f"{what} to keep the information of respondents confidential; {sums}."
