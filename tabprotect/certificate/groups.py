"""Cells that never move, and cells that move together, as combinations of equations show; the standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tabprotect.certificate.document import (
    PRIMARY,
    PROTECTED,
    ZERO,
    integers,
    list_of,
    positions,
    require,
)
from tabprotect.certificate.numbers import Numbers

__all__ = ["Groups", "Number", "bits", "multipliers_of"]

Number = int | Fraction


def bits(number: Number) -> int:
    """Length of a number as it is written down."""
    return number.numerator.bit_length() + number.denominator.bit_length()


class Groups:
    """Cells that are multiples of each other in all deviations, and cells that never move.

    Facts are combinations of equations. What is left of one after dropping cells that never move and collecting cells
    of one group tells: one group never moves; of two groups each is a multiple of the other; and if all terms can only
    rise, or only fall, then none of them moves.
    """

    def __init__(self, numbers: Numbers) -> None:
        self.numbers = numbers
        n = numbers.n
        self.up: list[Number | None] = [*numbers.up]
        self.down: list[Number | None] = [*numbers.down]
        self.of: list[tuple[int, Number]] = [(i, 1) for i in range(n)]  # z_i = ratio z_group
        self.members: list[list[int]] = [[i] for i in range(n)]
        self.still = [status in (PROTECTED, ZERO) for status in numbers.status]
        for i in range(n):
            self.still[i] |= numbers.up[i] == 0 == numbers.down[i]

    def collected(self, terms: Mapping[int, Number]) -> dict[int, Number]:
        """Write sum terms * z over the groups that move."""
        found: dict[int, Number] = {}
        for j, v in terms.items():
            group, ratio = self.of[j]
            if not self.still[group]:
                found[group] = found.get(group, 0) + v * ratio
        return {group: v for group, v in found.items() if v}

    def learn(self, fact: Any, where: str) -> None:
        """Draw the conclusion from one combination of equations: [row numbers, integer multipliers]."""
        require(len(list_of(fact, where)) == 2, f"{where} is not a pair of equations and multipliers")
        terms: dict[int, Number] = {}
        for r, m in multipliers_of(self.numbers, fact[0], fact[1], where):
            for cell, c in self.numbers.rows[r]:
                terms[cell] = terms.get(cell, 0) + c * m
        left = self.collected(terms)
        if len(left) == 2:
            (first, a), (second, b) = left.items()
            self.tie(first, second, Fraction(-a, 1) / b)
            return
        rises = any(self.up[g] != 0 if v > 0 else self.down[g] != 0 for g, v in left.items())
        falls = any(self.down[g] != 0 if v > 0 else self.up[g] != 0 for g, v in left.items())
        require(len(left) == 1 or not (rises and falls), f"{where} tells nothing")
        for group in left:
            self.still[group] = True

    def tie(self, first: int, second: int, ratio: Fraction) -> None:
        """z_second = ratio z_first: the second group joins the first."""
        factor: Number = int(ratio) if ratio.denominator == 1 else ratio
        self.numbers.meter.spend(1 + len(self.members[second]))
        longest = 1
        for j in self.members[second]:
            self.of[j] = (first, self.of[j][1] * factor)
            longest = max(longest, bits(self.of[j][1]))
        self.numbers.meter.long(longest, len(self.members[second]))
        self.members[first] += self.members[second]
        up, down = (self.up[second], self.down[second])[:: 1 if factor > 0 else -1]
        for mine, other in ((self.up, up), (self.down, down)):
            if other is not None:
                reach: Number = other if factor in (1, -1) else Fraction(other) / abs(ratio)
                mine[first] = reach if mine[first] is None else min(mine[first] or 0, reach)
        self.still[first] |= self.up[first] == 0 == self.down[first]

    def hidden(self, group: int) -> bool:
        """Whether the whole group is hidden anyway: no cell is a choice, or one is to be protected."""
        self.numbers.meter.spend(len(self.members[group]))
        return not any(self.numbers.is_open(j) for j in self.members[group]) or any(
            self.numbers.status[j] == PRIMARY and any(self.numbers.need[side][j] for side in (1, -1, 0))
            for j in self.members[group]
        )

    def speaker(self, group: int) -> int:
        """Return a member that is a choice: a group moves only if that is hidden."""
        return next(j for j in self.members[group] if self.numbers.is_open(j))


def multipliers_of(numbers: Numbers, equations: Any, multipliers: Any, where: str) -> list[tuple[int, int]]:
    """Check row numbers and multipliers of equations, and count what using them costs."""
    rows, factors = positions(equations, len(numbers.rows), where), integers(multipliers, where)
    require(len(rows) == len(factors), f"{where} has not one multiplier an equation")
    longest = max(map(int.bit_length, factors), default=1)
    numbers.meter.long(longest, 5 + sum(1 + len(numbers.rows[r]) for r in rows))
    return list(zip(rows, factors, strict=True))
