"""An independent judge of suppression patterns, and the optimum by enumeration.

Written from the definition of the problem alone, with numpy, `scipy.optimize.linprog` and Fractions: it shares no line
with the engine. Floating point decides only what is clear; anything near a protection level is decided by a simplex
method in exact fractions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy.optimize import linprog

from tabprotect.problem import Problem, Status

#: Within this of a protection level (relative) the answer of a floating-point solver is not believed.
DOUBT = 1e-6

#: Bounds this many times the level are too much for floating point: such questions go to fractions at once.
ILL_SCALED = 1e6


def exact(value: float) -> Fraction:
    """Return the decimal number as it is written."""
    return Fraction(repr(float(value)))


@dataclass(frozen=True)
class Exposed:
    """A question that the pattern does not answer: this attacker brings this cell's movement below its level."""

    attacker: int
    cell: int
    side: int
    reach: float
    need: float


@dataclass(frozen=True)
class Optimum:
    """The cheapest safe pattern; cost is None when even hiding everything allowed is not safe."""

    cost: float | None
    pattern: np.ndarray | None
    tried: int


@dataclass
class Judge:
    """Everything the checker knows of one problem; witnesses found once are used again."""

    problem: Problem
    supports: dict[tuple[int, int], list[int]] = field(default_factory=dict)

    @cached_property
    def dense(self) -> np.ndarray:
        return self.problem.system.A.toarray()

    @cached_property
    def rows(self) -> list[dict[int, Fraction]]:
        return [{j: exact(v) for j, v in enumerate(row) if v} for row in self.dense]

    @cached_property
    def down(self) -> list[Fraction | None]:
        return [_difference(a, low) for a, low in zip(self.problem.values, self.problem.lower, strict=True)]

    @cached_property
    def up(self) -> list[Fraction | None]:
        return [_difference(high, a) for a, high in zip(self.problem.values, self.problem.upper, strict=True)]

    def questions(self) -> Iterator[tuple[int, int, int, float]]:
        """Yield (attacker, cell, side, level) for everything that must be reached."""
        p = self.problem
        known = {-1: set()} | {k: {*a.known, *a.spared} for k, a in enumerate(p.attackers)}
        for cell in range(p.n_cells):
            if p.status[cell] != Status.PRIMARY:
                continue
            for attacker, cells in known.items():
                if cell not in cells:
                    for side, level in ((1, p.upl[cell]), (-1, p.lpl[cell]), (0, p.spl[cell])):
                        if level > 0:
                            yield attacker, cell, side, float(level)

    def exposed(self, pattern: np.ndarray) -> list[Exposed]:
        """List what is wrong with a pattern; an empty list means safe."""
        found = []
        for attacker, cell, side, need in self.questions():
            reach = self.reach(pattern, attacker, cell, side, need)
            if reach < need:
                found.append(Exposed(attacker, cell, side, float(reach), need))
        return found

    def well_formed(self, pattern: np.ndarray) -> bool:
        """Tell whether a pattern hides what must be hidden and shows what must be shown."""
        s = self.problem.status
        return bool(
            np.all(pattern[(s == Status.PRIMARY) | (s == Status.FORCED)])
            and not np.any(pattern[(s == Status.PROTECTED) | (s == Status.ZERO)])
        )

    def safe(self, pattern: np.ndarray) -> bool:
        """Tell whether a pattern is allowed and protects every primary against every attacker."""
        return self.well_formed(pattern) and not self.exposed(pattern)

    def reach(self, pattern: np.ndarray, attacker: int, cell: int, side: int, need: float = math.inf) -> float:
        """Return how far the cell moves; stops early with a number >= need when a stored witness says so."""
        known = set(self.problem.attackers[attacker].known) if attacker >= 0 else set()
        free = [int(i) for i in np.flatnonzero(pattern) if i not in known]
        if cell not in free:
            return 0.0
        movable = sum(1 << i for i in free)
        stored = self.supports.setdefault((cell, side), [])
        if math.isfinite(need) and any(s & ~movable == 0 for s in stored):
            return need
        if math.isfinite(need) and self._ill_scaled(free, need):
            return self._settle(free, cell, side, need)
        reach, z = self._float_reach(free, cell, side, need)
        if math.isfinite(need) and not abs(reach - need) > DOUBT * need:
            return self._settle(free, cell, side, need)
        if reach > need and z is not None:
            stored.append(sum(1 << free[i] for i in set(np.flatnonzero(z) % len(free))))
        return reach

    def interval(self, pattern: np.ndarray, cell: int, attacker: int = -1) -> tuple[float, float]:
        """Return the values between which the attacker must think that the cell lies."""
        a = float(self.problem.values[cell])
        return a - self.reach(pattern, attacker, cell, -1), a + self.reach(pattern, attacker, cell, +1)

    def _ill_scaled(self, free: list[int], need: float) -> bool:
        sizes = [float(b) for i in free for b in (self.down[i], self.up[i]) if b]
        return any(b > ILL_SCALED * need or b * ILL_SCALED < need for b in sizes)

    def _float_reach(self, free: list[int], cell: int, side: int, need: float) -> tuple[float, np.ndarray | None]:
        """Ask the floating-point solver in units of the level; NaN when it fails.

        The cell itself need not move further than twice the level.
        """
        A = self.dense[:, free]
        A = A[np.any(A != 0, axis=1)]
        unit = need if math.isfinite(need) else 1.0
        box = [(_minus(self.down[i], unit), _plus(self.up[i], unit)) for i in free]
        k, at = len(free), free.index(cell)
        if math.isfinite(need):
            low, high = box[at]
            box[at] = (-2.0 if low is None else max(low, -2.0), 2.0 if high is None else min(high, 2.0))
        c = np.zeros(2 * k if side == 0 else k)
        c[at] = 1 if side == 0 else side
        if side == 0:
            c[k + at] = -1
            A, box = np.block([[A, np.zeros_like(A)], [np.zeros_like(A), A]]), box + box
        answer = linprog(-c, A_eq=A if len(A) else None, b_eq=np.zeros(len(A)) if len(A) else None, bounds=box)
        if answer.status == 3:
            return math.inf, None
        if answer.status != 0:
            assert math.isfinite(need), answer.message
            return math.nan, None
        return -float(answer.fun) * unit, answer.x

    def _settle(self, free: list[int], cell: int, side: int, need: float) -> float:
        """Compare with the level in exact arithmetic; returns a float on the right side of it."""
        k, at = len(free), free.index(cell)
        place = {i: j for j, i in enumerate(free)}
        rows = [{place[i]: v for i, v in row.items() if i in place} for row in self.rows]
        down, up = [self.down[i] for i in free], [self.up[i] for i in free]
        cost = {at: Fraction(1 if side >= 0 else -1)}
        if side == 0:
            rows += [{j + k: v for j, v in row.items()} for row in rows]
            down, up, cost = down + down, up + up, cost | {at + k: Fraction(-1)}
        best = maximise(rows, down, up, cost, stop_at=exact(need))
        return need if best is None or best >= exact(need) else math.nextafter(min(float(best), need), -math.inf)

    def optimum(self, largest: int = 18) -> Optimum:
        """Find the cheapest safe pattern by going through all patterns from the cheapest up.

        A failing pattern is blown up to a largest failing one, and everything inside that is struck off the list.

        Raises
        ------
        ValueError
            More than `largest` cells with a positive weight could be hidden.
        """
        p = self.problem
        start = np.asarray((p.status == Status.PRIMARY) | (p.status == Status.FORCED))
        allowed = (p.status == Status.SAFE) | start
        start = start | (allowed & (p.weights == 0))
        free = np.flatnonzero(allowed & ~start)
        if len(free) > largest:
            raise ValueError(f"{len(free)} cells to choose from")
        if not self.safe(allowed):
            return Optimum(None, None, 1)
        masks = np.arange(2 ** len(free), dtype=np.int64)
        cost = np.zeros(len(masks))
        for bit, cell in enumerate(free):
            cost += np.where(masks >> bit & 1, p.weights[cell], 0.0)
        order = np.argsort(cost, kind="stable")
        masks, alive, tried = masks[order], np.ones(len(masks), bool), 0
        while True:
            mask = int(masks[int(np.argmax(alive))])
            tried += 1
            wrong = self._first_exposed(start, free, mask)
            if wrong is None:
                pattern = self._pattern(start, free, mask)
                return Optimum(
                    float(sum((exact(p.weights[i]) for i in free if pattern[i]), Fraction(0))), pattern, tried
                )
            for bit in range(len(free)):
                larger = mask | 1 << bit
                if larger != mask and self._fails(start, free, larger, wrong):
                    mask = larger
            alive &= (masks & ~mask) != 0

    def _pattern(self, start: np.ndarray, free: np.ndarray, mask: int) -> np.ndarray:
        pattern = start.copy()
        pattern[[int(cell) for bit, cell in enumerate(free) if mask >> bit & 1]] = True
        return pattern

    def _first_exposed(self, start: np.ndarray, free: np.ndarray, mask: int) -> tuple[int, int, int, float] | None:
        return next((q for q in self.questions() if self._fails(start, free, mask, q)), None)

    def _fails(self, start: np.ndarray, free: np.ndarray, mask: int, question: tuple[int, int, int, float]) -> bool:
        return self.reach(self._pattern(start, free, mask), *question) < question[3]


def maximise(
    rows: list[dict[int, Fraction]],
    down: list[Fraction | None],
    up: list[Fraction | None],
    cost: dict[int, Fraction],
    stop_at: Fraction,
) -> Fraction | None:
    """Maximise cost z subject to rows z = 0, -down <= z <= up (None: no bound), exactly; None when unbounded.

    Bland's rule on z = plus - minus, 0 <= plus <= up, 0 <= minus <= down, from the feasible point 0.
    Ends as soon as the value reaches `stop_at`.
    """
    n = len(down)
    upper = [*up, *down]
    basis: list[int] = []
    table: list[dict[int, Fraction]] = []
    for row in rows:
        left = _eliminate(row, basis, table)
        if left:
            pivot = min(left)
            left = {j: v / left[pivot] for j, v in left.items()}
            table = [_combine(other, left, -other.get(pivot, Fraction(0))) for other in table] + [left]
            basis.append(pivot)
    table = [row | {j + n: -v for j, v in row.items()} for row in table]
    gain = cost | {j + n: -v for j, v in cost.items()}
    for j, row in zip(basis, table, strict=True):
        gain = _combine(gain, row, -gain.get(j, Fraction(0)))
    value, at_upper = Fraction(0), set[int]()
    level = {j: Fraction(0) for j in basis}
    while value < stop_at:
        entering = next(
            (
                j
                for j in range(2 * n)
                if j not in level and (gain.get(j, 0) < 0 if j in at_upper else gain.get(j, 0) > 0)
            ),
            None,
        )
        if entering is None:
            return value
        sense = -1 if entering in at_upper else 1
        step, leaving, to_upper = upper[entering], -1, False
        for r, j in sorted(enumerate(basis), key=lambda pair: pair[1]):
            slope = -sense * table[r].get(entering, Fraction(0))
            if slope < 0:
                limit: Fraction | None = level[j] / -slope
            else:
                limit = None if slope == 0 or upper[j] is None else (upper[j] - level[j]) / slope
            if limit is not None and (step is None or limit < step):
                step, leaving, to_upper = limit, r, slope > 0
        if step is None:
            return None
        for r, j in enumerate(basis):
            level[j] -= sense * step * table[r].get(entering, Fraction(0))
        value += sense * step * gain[entering]
        if leaving < 0:
            at_upper ^= {entering}
            continue
        gone = basis[leaving]
        del level[gone]
        if to_upper:
            at_upper.add(gone)
        level[entering] = (upper[entering] if entering in at_upper else Fraction(0)) + sense * step
        at_upper.discard(entering)
        basis[leaving] = entering
        pivot_row = {j: v / table[leaving][entering] for j, v in table[leaving].items()}
        table = [
            pivot_row if r == leaving else _combine(row, pivot_row, -row.get(entering, Fraction(0)))
            for r, row in enumerate(table)
        ]
        gain = _combine(gain, pivot_row, -gain.get(entering, Fraction(0)))
    return value


def _eliminate(row: dict[int, Fraction], basis: list[int], table: list[dict[int, Fraction]]) -> dict[int, Fraction]:
    for pivot, other in zip(basis, table, strict=True):
        row = _combine(row, other, -row.get(pivot, Fraction(0)))
    return row


def _combine(row: dict[int, Fraction], other: dict[int, Fraction], factor: Fraction) -> dict[int, Fraction]:
    if not factor:
        return row
    new = dict(row)
    for j, v in other.items():
        total = new.get(j, Fraction(0)) + factor * v
        if total:
            new[j] = total
        else:
            new.pop(j, None)
    return new


def _difference(high: float, low: float) -> Fraction | None:
    return exact(high) - exact(low) if math.isfinite(high) and math.isfinite(low) else None


def _minus(down: Fraction | None, unit: float) -> float | None:
    return None if down is None else -float(down) / unit


def _plus(up: Fraction | None, unit: float) -> float | None:
    return None if up is None else float(up) / unit
