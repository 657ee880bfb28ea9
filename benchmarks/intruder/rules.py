"""Which cells and sums are sensitive, and by how much they must be able to move: from the microdata, by formula.

With x1 >= x2 >= ... the contributions to a cell of total X, the largest without a waiver first: the p% rule is broken
by X - x1 - x2 < p/100 x1, the pq rule by X - x1 - x2 < p/q x1, the (n, k) rule by x1 + ... + xn > k/100 X, the
threshold rule by fewer than n contributors. Levels are what is missing to the limit; 10 % of the value for the
threshold rule; one unit of the last decimal at least. A record of sampling weight w is w contributors. Of a shadow
variable the level is taken in proportion to the value. Cells whose contributors have all consented are not sensitive.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from benchmarks.intruder.shown import Key

__all__ = ["Cell", "Person", "Register", "excess", "excess_for", "levels", "together"]

Floats = npt.NDArray[np.float64]

TIE = 1e-9
"""Share of the total by which a limit has to be passed."""


@dataclass(frozen=True, eq=False)
class Register:
    """The microdata, and what the office asks for.

    Attributes
    ----------
    codes : mapping of str to sequence of arrays
        The columns of every dimension.
    value, size, weight : ndarray, shape (records,)
        What is added up, what the rules look at, sampling weights.
    holder : ndarray of int, shape (records,)
        Who each record belongs to.
    waived : ndarray of bool, shape (records,)
    rules : tuple of str
    shape : {'symmetric', 'upper', 'sliding'}
    unit : float
        One unit of the last decimal of the values; 1 for counts.
    counts, shadow : bool
        Whether the values are counts, and whether the rules look at another variable.
    """

    codes: Mapping[str, Sequence[npt.NDArray[np.object_]]]
    value: Floats
    size: Floats
    weight: Floats
    holder: npt.NDArray[np.int64]
    waived: npt.NDArray[np.bool_]
    rules: tuple[str, ...]
    shape: str
    unit: float
    counts: bool
    shadow: bool = False
    _cells: dict[Key, Cell] = field(default_factory=dict, repr=False)

    def cell(self, key: Key) -> Cell:
        """Return what is in a cell."""
        if key not in self._cells:
            inside = np.ones(len(self.value), bool)
            for name, code in key:
                inside &= np.any([column == code for column in self.codes[name]], axis=0)
            self._cells[key] = self._cell(np.flatnonzero(inside))
        return self._cells[key]

    def meet(self, one: Key, other: Key) -> bool:
        """Whether a record may be in both of two cells: in every dimension one code is below the other, or total."""
        theirs = dict(other)
        return all(name not in theirs or self._related(name, code, theirs[name]) for name, code in one)

    def _related(self, name: str, one: str, other: str) -> bool:
        inside, there = (np.any([column == code for column in self.codes[name]], axis=0) for code in (one, other))
        return one == other or bool(np.any(inside & there))

    def _cell(self, rows: npt.NDArray[np.int64]) -> Cell:
        value = float(np.sum(self.value[rows] * self.weight[rows]))
        people: dict[int, Person] = {}
        for who in np.unique(self.holder[rows]):
            mine = rows[self.holder[rows] == who]
            size, weights = self.size[mine], self.weight[mine]
            total = float(np.sum(np.abs(size)))
            weight = float(np.mean(weights)) if total == 0 else float(np.sum(np.abs(size) * weights)) / total
            free = not bool(self.waived[mine].all())
            people[int(who)] = Person(abs(float(np.sum(size))), weight, free)
        return Cell(value, len(rows), people)


@dataclass(frozen=True)
class Person:
    """One contributor to a cell: absolute contribution, sampling weight, and whether he has not consented."""

    size: float
    weight: float
    free: bool


@dataclass(frozen=True)
class Cell:
    """A cell or a sum of cells."""

    value: float
    records: int
    people: Mapping[int, Person]

    @property
    def total(self) -> float:
        """Sum of the absolute contributions."""
        return sum(p.size * p.weight for p in self.people.values())

    @property
    def number(self) -> float:
        """Number of contributors."""
        return sum(p.weight for p in self.people.values())


def together(cells: Iterable[Cell]) -> Cell:
    """Add cells up."""
    value, records = 0.0, 0
    people: dict[int, Person] = {}
    for cell in cells:
        value, records = value + cell.value, records + cell.records
        for who, person in cell.people.items():
            before = people.get(who)
            if before is None:
                people[who] = person
            else:
                size = before.size + person.size
                weight = (before.size * before.weight + person.size * person.weight) / size if size else before.weight
                people[who] = Person(size, weight, before.free or person.free)
    return Cell(value, records, people)


def excess(cell: Cell, rule: str) -> float | None:
    """Return by how much a cell breaks a rule of concentration, 0 for too few contributors, None for a safe cell."""
    name, _, numbers = rule.partition("=")
    given = [float(number) for number in numbers.split(",")]
    people = cell.people.values()
    if not people or not any(person.free for person in people):
        return None
    if name == "threshold":
        return 0.0 if cell.number < given[0] - 1e-6 else None
    target = max((p for p in people if p.free), key=lambda p: p.size)
    size = int(given[0]) if name == "nk" else 2
    sum_ = _coalition(target, [p for p in people if p is not target], size)
    if name == "nk":
        over = 100 * sum_ / given[1] - cell.total
    else:
        share = given[0] / (given[1] if name == "pq" else 100)
        over = share * target.size - (cell.total - sum_)
    return over if over > 10 * TIE * cell.total else None


def excess_for(cell: Cell, rule: str, who: int) -> float | None:
    """Return what `excess` does for a sum that a respondent can compute.

    p%, pq and threshold rules protect respondents from each other. He is put beside those in the sum, as large as the
    largest of them, in place of what he has in it, and the sum is judged as a cell: what a rule lets everybody in a
    published cell learn, he may learn. By p% and pq what is left beside the largest other contributor must be a share
    of that; by a threshold he is one of those counted. Dominance rules know no respondent: the sum is judged as it is.
    """
    name, _, numbers = rule.partition("=")
    if name == "nk":
        return excess(cell, rule)
    people = {other: p for other, p in cell.people.items() if other != who}
    if not people or not any(person.free for person in people.values()):
        return None
    given = [float(number) for number in numbers.split(",")]
    if name == "threshold":
        own = cell.people[who].weight if who in cell.people else 1.0
        return 0.0 if sum(p.weight for p in people.values()) + own < given[0] - 1e-6 else None
    target = max((p for p in people.values() if p.free), key=lambda p: p.size)
    total = sum(p.size * p.weight for p in people.values())
    over = (given[0] / (given[1] if name == "pq" else 100)) * target.size - (
        total - min(target.weight, 1) * target.size
    )
    return over if over > 10 * TIE * cell.total else None


def _coalition(target: Person, others: Sequence[Person], size: int) -> float:
    """Add up the target and the largest others, each as often as his weight says, `size` in all."""
    own = min(target.weight, 1.0)
    left, total = size - own, own * target.size
    rest = [(target.size, target.weight - own), *((p.size, p.weight) for p in others)]
    for value, weight in sorted(rest, reverse=True):
        taken = min(left, weight)
        left, total = left - taken, total + taken * value
    return total


def levels(register: Register, cell: Cell) -> tuple[float, float, float] | None:
    """Return lower, upper and sliding protection level of a cell; None if it is not sensitive."""
    found = []
    for rule in register.rules:
        over = excess(cell, rule)
        if over is None:
            continue
        if rule.startswith("threshold"):
            found.append(abs(cell.value) / 10)
        else:
            found.append(over * abs(cell.value) / cell.total if register.shadow else over)
    if not found:
        return None
    level = max(*found, register.unit)
    level = float(np.ceil(level - 1e-6)) if register.counts else level
    lower = level if cell.value != 0 else 0.0
    return {"symmetric": (lower, level, 0.0), "upper": (0.0, level, 0.0), "sliding": (0.0, 0.0, lower + level)}[
        register.shape
    ]
