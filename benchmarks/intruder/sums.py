"""Sums of hidden cells that the published values determine, and that give a contributor away.

A sum of hidden cells (each taken once) is determined exactly if it is a combination of equations. With the equations in
echelon form such a sum is known by which of the leading cells are in it, so that where there are few of these all sums
are enumerated. Else they are looked for by integer programmes: for every contributor the sum in which the others hide
him least. For rules of concentration the objective is never smaller than what the rule says, so that a programme
without a positive optimum proves that there is none; otherwise the sum found is judged by the rule itself, and
excluded. For a threshold sums with few contributors come first.

Parts of the hidden cells that no equation connects are searched one by one: no rule finds a sum of two sums sensitive
that it finds safe.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from math import comb

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse.csgraph import connected_components

from benchmarks.intruder.rules import Cell, Register, excess, excess_for, together

__all__ = ["LARGEST", "determined"]

LARGEST = 8
"""Cells in a sum, at most."""

ROUNDS = 25
"""Sums looked at for one contributor, at most."""

Floats = npt.NDArray[np.float64]


ENUMERATED = 400_000
"""Choices of leading cells."""


class Search:
    """The sums of some hidden cells that equations determine."""

    def __init__(self, equations: sparse.csr_array, cells: Sequence[Cell], until: float) -> None:
        part = equations[np.diff(equations.indptr) > 0]
        m, n = part.shape
        self.n, self.m, self.until, self.complete = n, m, until, True
        self._tie = sparse.hstack([sparse.eye_array(n), -part.T], format="csr")
        self.cuts: list[Floats] = []
        self.cells = cells

    def sums(self, gain: Floats, floor: float) -> Iterator[list[int]]:
        """Yield sums of two cells or more by falling gain, while that is above the floor."""
        for _ in range(ROUNDS):
            if time.monotonic() > self.until:
                break
            found = self._best(gain)
            if found is None or float(gain[found].sum()) <= floor:
                return
            yield found
            cut = np.ones(self.n)
            cut[found] = -1.0
            self.cuts.append(np.append(cut, 1.0 - len(found)))
        self.complete = False

    def _best(self, gain: Floats) -> list[int] | None:
        n, m = self.n, self.m
        scale = float(np.max(np.abs(gain), initial=0.0)) or 1.0
        size = np.append(np.ones(n), np.zeros(m))
        limits = [LinearConstraint(self._tie, 0, 0), LinearConstraint(size[None], 2, LARGEST)]
        if self.cuts:
            cuts = np.array(self.cuts)
            limits.append(LinearConstraint(np.hstack([cuts[:, :n], np.zeros((len(cuts), m))]), cuts[:, n], np.inf))
        answer = milp(
            np.append(-gain / scale, np.zeros(m)),
            constraints=limits,
            bounds=Bounds(np.append(np.zeros(n), np.full(m, -4.0)), np.append(np.ones(n), np.full(m, 4.0))),
            integrality=np.append(np.ones(n), np.zeros(m)),
            options={"time_limit": 3.0},
        )
        if answer.x is None:
            self.complete &= answer.status == 2
            return None
        return np.flatnonzero(answer.x[:n] > 0.5).tolist()


def determined(
    equations: sparse.csr_array,
    cells: Sequence[Cell],
    register: Register,
    seconds: float,
    who: int | None = None,
    enumerated: int = ENUMERATED,
) -> tuple[list[tuple[list[int], str]], bool]:
    """Find sensitive sums.

    Parameters
    ----------
    equations : sparse array, shape (equations, hidden cells)
    cells : sequence of Cell
        What is in the hidden cells.
    register : Register
    seconds : float
    who : int, optional
        The respondent who looks; by default the public.
    enumerated : int
        Up to so many choices of leading cells are gone through; with more, integer programmes look for sums.

    Returns
    -------
    found : list of (cells, rule)
    complete : bool
        Whether everything was looked at.
    """
    found: list[tuple[list[int], str]] = []
    until, complete = time.monotonic() + seconds, True
    links, group = connected_components(equations.T @ equations, directed=False)
    for mine in (np.flatnonzero(group == k) for k in range(links)):
        inner = [cells[i] for i in mine]
        part = sparse.csr_array(equations[:, mine])
        part = part[np.diff(part.indptr) > 0]
        if len(mine) < 2 or part.shape[0] == 0:
            continue
        form = echelon(part.toarray())
        few = sum(comb(len(form), k) for k in range(1, LARGEST + 1)) <= enumerated
        if few:
            tried = ((chosen, rule) for chosen in _every(form) for rule in register.rules)
            sums = [(c, r) for c, r in tried if _sensitive([inner[i] for i in c], r, who)]
        else:
            search = Search(part, inner, until)
            sums = list(_searched(search, inner, register, who))
            complete &= search.complete
        found += [(mine[chosen].tolist(), rule) for chosen, rule in sums]
    return found, complete


def _sensitive(cells: Sequence[Cell], rule: str, who: int | None) -> bool:
    sum_ = together(cells)
    return (excess(sum_, rule) if who is None else excess_for(sum_, rule, who)) is not None


def _searched(
    search: Search, cells: Sequence[Cell], register: Register, who: int | None
) -> Iterator[tuple[list[int], str]]:
    for rule in register.rules:
        for gain, floor in _gains(rule, cells) if who is None else _gains_of(rule, cells, who):
            search.cuts.clear()
            for chosen in search.sums(gain, floor):
                if _sensitive([cells[i] for i in chosen], rule, who):
                    yield chosen, rule
                    break


def echelon(rows: Floats) -> Floats:
    """Return independent rows of the same span, each with a leading cell that is in no other."""
    left = np.unique(rows[np.any(rows != 0, axis=1)], axis=0)
    done: list[int] = []
    for column in range(left.shape[1]):
        size = np.abs(left[len(done) :, column])
        if not len(size) or size.max() < 1e-9:
            continue
        k = len(done)
        best = k + int(size.argmax())
        left[[k, best]] = left[[best, k]]
        left[k] /= left[k, column]
        others = np.arange(len(left)) != k
        left[others] -= np.outer(left[others, column], left[k])
        done.append(column)
    return np.asarray(left[: len(done)])


def _every(form: Floats) -> Iterator[list[int]]:
    """Yield every sum of two to `LARGEST` cells that rows in echelon form span."""
    whole = bool(np.all(form == np.rint(form)) and np.abs(form).max(initial=0) * LARGEST < 128)
    rows = form.astype(np.int8 if whole else np.float32)
    sums, last = rows, np.arange(len(rows))
    for _ in range(min(LARGEST, len(rows))):
        ones = np.abs(sums - 1) < 1e-4
        size = ones.sum(axis=1)
        plain = np.all(ones | (np.abs(sums) < 1e-4), axis=1) & (size > 1) & (size <= LARGEST)
        yield from (np.flatnonzero(row).tolist() for row in ones[plain])
        more = len(rows) - 1 - last
        before = np.repeat(np.arange(len(sums)), more)
        last = last[before] + 1 + np.arange(len(before)) - np.repeat(np.cumsum(more) - more, more)
        sums = sums[before] + rows[last]


def _gains(rule: str, cells: Sequence[Cell]) -> Iterator[tuple[Floats, float]]:
    """Yield objectives that are at least what a rule says of a sum, and what they have to exceed."""
    name, _, numbers = rule.partition("=")
    given = [float(number) for number in numbers.split(",")]
    totals = np.array([cell.total for cell in cells])
    if name == "threshold":
        # whoever is in several cells is counted as often here: sums with fewest contributors come first
        few = np.array([cell.number for cell in cells])
        yield np.where(few < given[0], -few, -2 * LARGEST * given[0]), -LARGEST * given[0]
        return
    if name == "nk":
        top = [sum(sorted((p.size * max(p.weight, 1) for p in c.people.values()), reverse=True)[: int(given[0])])
               for c in cells]  # fmt: skip
        yield 100 / given[1] * np.array(top) - totals, 0.0
        return
    share = given[0] / (given[1] if name == "pq" else 100)
    everybody = sorted({who for cell in cells for who, person in cell.people.items() if person.free})
    for who in everybody:
        own = np.array([c.people[who].size if who in c.people else 0.0 for c in cells])
        near = np.array([_largest_other(c, who) for c in cells])
        gain = (share + 1) * own + near - totals
        if np.sort(gain)[-LARGEST:].clip(0).sum() > 0:
            yield gain, 1e-9 * float(totals.max())


def _gains_of(rule: str, cells: Sequence[Cell], who: int) -> Iterator[tuple[Floats, float]]:
    """As `_gains`, for a respondent: see `benchmarks.intruder.rules.excess_for`."""
    name, _, numbers = rule.partition("=")
    given = [float(number) for number in numbers.split(",")]
    if name in ("nk", "threshold"):
        yield from _gains(rule, cells)
        return
    share = given[0] / (given[1] if name == "pq" else 100)
    others = np.array([cell.total - (cell.people[who].size if who in cell.people else 0.0) for cell in cells])
    for target in sorted({other for cell in cells for other in cell.people if other != who}):
        own = np.array([c.people[target].size if target in c.people else 0.0 for c in cells])
        gain = (share + 1) * own - others
        if gain.max() > 0:
            yield gain, 1e-9 * float(others.max())


def _largest_other(cell: Cell, who: int) -> float:
    return max((p.size * max(p.weight, 1) for other, p in cell.people.items() if other != who), default=0.0)
