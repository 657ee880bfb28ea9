"""Attack a public folder: intervals and sums, for the public and for every respondent."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from benchmarks.intruder.region import Region
from benchmarks.intruder.rules import Register, levels, together
from benchmarks.intruder.shown import Key, Shown, read
from benchmarks.intruder.sums import ENUMERATED, determined

__all__ = ["Finding", "Known", "Report", "attack"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

NEAR = 1e-5
"""Share of a level that may be missing: witnesses in decimals reach it within rounding."""


UNREACHABLE = 1e-3
"""The same where the level ends at what the whole table hidden would leave: it may be kept below that by a little."""


_DOMINATED = 8
"""Cells of one contributor, at most, whose sums are asked for their intervals."""


@dataclass(frozen=True)
class Known:
    """What intruders are taken to know of the method.

    Attributes
    ----------
    method : str
        'hidden', or what changed the values; see `_range`.
    parameters : mapping
    empty_shown : tuple of frozenset of str
        The tables, by their dimensions, that show which cells are empty: these are left out or marked.
    bounds : float, optional
        Everybody knows every value to within this share of its amount; by default that none is below zero.
    respondents : bool
        Whether respondents attack, too.
    sums : bool
        Whether sums of hidden cells are attacked.
    """

    method: str = "hidden"
    parameters: Mapping[str, Any] | None = None
    empty_shown: tuple[frozenset[str], ...] = ()
    bounds: float | None = None
    respondents: bool = True
    sums: bool = True


@dataclass(frozen=True)
class Finding:
    """A disclosure: to whom, of what, how much is left and how much is needed."""

    kind: str
    who: str
    what: str
    left: float
    needed: float

    def __str__(self) -> str:
        return f"{self.kind}: {self.who} learns {self.what}; {self.left:.6g} is left of {self.needed:.6g}"


@dataclass(frozen=True)
class Report:
    """What an attack found, how many questions it asked, and how many it could not decide."""

    findings: tuple[Finding, ...]
    questions: int
    undecided: int


def attack(
    folder: Path, register: Register, known: Known, seconds: float = 8.0, enumerated: int = ENUMERATED
) -> Report:
    """Attack what is published, knowing the microdata only as the measure of what must not come out.

    Parameters
    ----------
    folder : path
        The public one.
    register : Register
    known : Known
    seconds : float
        For the sums and the respondents together; what is left then counts as undecided.
    enumerated : int
        See `benchmarks.intruder.sums.determined`.
    """
    played = _Play(read(folder), register, known, time.monotonic() + seconds, enumerated)
    findings = (*played.public(), *played.respondents(), *played.sums(), *played.narrow_sums())
    return Report(findings, played.questions, played.undecided + played.region.undecided)


class _Play:
    def __init__(self, shown: Shown, register: Register, known: Known, until: float, enumerated: int) -> None:
        self.shown, self.register, self.known, self.until = shown, register, known, until
        self.enumerated = enumerated
        self.cells = [register.cell(key) for key in shown.cells]
        self.true = np.array([cell.value for cell in self.cells])
        self.empty = np.array([cell.records == 0 for cell in self.cells])
        self.hidden = np.isnan(shown.values) if known.method == "hidden" else np.ones(len(self.true), bool)
        shows = [any({n for n, _ in key} <= table for table in known.empty_shown) for key in shown.cells]
        self.obvious = self.empty & np.array(shows, bool)
        self.least = np.array(shows, float) if register.counts else np.zeros(len(self.true))
        down, up = self._ranges(self.hidden & ~self.obvious)
        self.region = Region(shown.equations, down, up, register.counts)
        self.sensitive = {
            i: level for i, cell in enumerate(self.cells) if (level := levels(register, cell)) is not None
        }
        self.questions = self.undecided = 0
        self._all: Region | None = None

    def _ranges(self, free: Bools) -> tuple[Floats, Floats]:
        """How far every cell may be from its true value as far as it alone tells."""
        low, high = self._possible()
        if self.known.method != "hidden":
            leaves = self.shown.leaves
            for i, v in enumerate(self.shown.values):
                least, most = _range(
                    self.known.method, self.known.parameters or {}, float(v), bool(leaves[i]), self.register.counts
                )
                low[i], high[i] = max(low[i], least), min(high[i], most)
        slack = 1e-9 * np.maximum(np.abs(self.true), self.register.unit)
        assert np.all((low <= self.true + slack) & (self.true - slack <= high) | ~free), "the truth is not possible"
        return np.where(free, np.minimum(low - self.true, 0), 0.0), np.where(free, np.maximum(high - self.true, 0), 0.0)

    def _possible(self) -> tuple[Floats, Floats]:
        if self.known.bounds is not None:
            far = self.known.bounds * np.abs(self.true)
            return self.true - far, self.true + far
        return np.where(self.empty, 0.0, self.least), np.full(len(self.true), np.inf)

    def _whole(self) -> Region:
        """The region when everything is hidden that can be."""
        free = ~self.obvious
        low, high = self._possible()
        down, up = np.where(free, low - self.true, 0.0), np.where(free, high - self.true, 0.0)
        return Region(self.shown.equations, np.minimum(down, 0), np.maximum(up, 0), self.register.counts)

    def public(self) -> Iterator[Finding]:
        """Yield what everybody learns."""
        yield from self._intervals("the public", ())
        if self.known.method == "hidden":
            size = np.maximum(np.abs(self.true), self.register.unit)
            wrong = ~np.isnan(self.shown.values) & ~(np.abs(self.shown.values - self.true) <= 1e-6 * size)
            for i in np.flatnonzero(wrong)[:3]:
                yield Finding("wrong value", "the public", self._name(i), float(self.shown.values[i]), self.true[i])

    def respondents(self) -> Iterator[Finding]:
        """Yield what respondents learn who are alone in cells."""
        if not self.known.respondents:
            return
        for who, mine in self._alone().items():
            yield from self._intervals(f"respondent {who}", mine)

    def _alone(self) -> dict[int, list[int]]:
        """Return the cells that each respondent knows, being alone in them, of whom that are not all published."""
        alone: dict[int, list[int]] = {}
        for i, cell in enumerate(self.cells):
            if abs(cell.number - 1) < 1e-9 and len(cell.people) == 1 and not self.obvious[i]:
                alone.setdefault(next(iter(cell.people)), []).append(i)
        return {who: mine for who, mine in alone.items() if self.hidden[mine].any()}

    def _intervals(self, who: str, known: Any) -> Iterator[Finding]:
        for cell, (lpl, upl, spl) in self.sensitive.items():
            if cell in known or self.obvious[cell]:
                continue
            if known and time.monotonic() > self.until:
                self.undecided += 1
                continue
            lpl, upl = self._bounded(cell, lpl), upl
            for side, level in ((-1, lpl), (1, upl), (0, spl)):
                if level <= 0:
                    continue
                self.questions += 1
                left = self._left(self.region, cell, side, level, known)
                if left >= level * (1 - NEAR):
                    continue
                self._all = self._all or self._whole()
                level = min(level, self._left(self._all, cell, side, level, known))
                if left >= level * (1 - UNREACHABLE):
                    continue
                yield Finding("interval", who, f"{self._name(cell)} {_SIDES[side]}", left, level)

    def _bounded(self, cell: int, lpl: float) -> float:
        """Nobody takes a value to lie below zero, or a count that is there below one: lower levels end there."""
        return lpl if self.known.bounds is not None else min(lpl, float(self.true[cell] - self.least[cell]))

    def _left(self, region: Region, cell: int, side: int, level: float, known: Any) -> float:
        if side:
            return region.reach(cell, side, level, known)
        return region.reach(cell, 1, level, known) + region.reach(cell, -1, level, known)

    def sums(self) -> Iterator[Finding]:
        """Yield the sums that the public can compute, and respondents who know their own cells."""
        if not self.known.sums or self.known.method != "hidden":
            return
        hidden = self.hidden & ~self.obvious
        intruders: dict[int | None, list[int]] = {None: [], **(self._alone() if self.known.respondents else {})}
        reported: set[tuple[int, ...]] = set()
        for who, mine in intruders.items():
            left = np.setdiff1d(np.flatnonzero(hidden), mine)
            seconds = self.until - time.monotonic()
            if seconds <= 0:
                self.undecided += 1
                continue
            part = sparse.csr_array(self.shown.equations[:, left])
            cells = [self.cells[i] for i in left]
            found, complete = determined(part, cells, self.register, seconds, who, self.enumerated)
            self.questions, self.undecided = self.questions + 1, self.undecided + (not complete)
            for chosen, rule in found:
                added = tuple(int(left[k]) for k in chosen)
                # what everybody can compute is judged as a cell, by what a rule lets its contributors learn;
                # cells that hold nothing but his own teach him no more
                others = tuple(i for i in added if set(self.cells[i].people) != {who})
                public = who is not None and (self._determined(added) or self._determined(others))
                # where a record may count twice, no rule says what the sum of cells is
                if added not in reported and not public and self._apart(added):
                    reported.add(added)
                    name = "the public" if who is None else f"respondent {who}"
                    yield Finding("sum", name, f"{' + '.join(map(self._name, added))}, sensitive by {rule}", 0.0, 1.0)

    def narrow_sums(self) -> Iterator[Finding]:
        """Yield sums that one contributor dominates and whose interval is too narrow, though it may be no point."""
        if not self.known.sums or self.known.method != "hidden":
            return
        hidden = np.flatnonzero(self.hidden & ~self.obvious).tolist()
        intruders: dict[int | None, list[int]] = {None: [], **(self._alone() if self.known.respondents else {})}
        by_largest: dict[int, list[int]] = {}
        for i in hidden:
            people = self.cells[i].people
            if people:
                by_largest.setdefault(max(people, key=lambda who: people[who].size), []).append(i)
        for mine in by_largest.values():
            sizes = (2, 3, 4) if len(mine) <= _DOMINATED else (2, len(mine))
            for chosen in (c for n in sizes for c in combinations(mine, n)):
                if self._apart(chosen) and (level := levels(self.register, together(self.cells[i] for i in chosen))):
                    yield from self._narrow(chosen, level, intruders)

    def _determined(self, chosen: tuple[int, ...]) -> bool:
        """Whether the public can compute a sum of hidden cells."""
        hidden = np.flatnonzero(self.hidden & ~self.obvious)
        rows, sum_ = self.shown.equations[:, hidden].toarray().T, np.isin(hidden, chosen).astype(float)
        weights = np.linalg.lstsq(rows, sum_, rcond=None)[0]
        return bool(np.abs(rows @ weights - sum_).max() < 1e-8)

    def _apart(self, chosen: tuple[int, ...]) -> bool:
        """Whether no two of some cells could ever hold the same record, by their codes."""
        return all(not self.register.meet(self.shown.cells[i], self.shown.cells[j]) for i, j in combinations(chosen, 2))

    def _narrow(
        self, chosen: tuple[int, ...], level: tuple[float, float, float], intruders: Mapping[int | None, list[int]]
    ) -> Iterator[Finding]:
        lpl, upl, spl = level
        if self.known.bounds is None:
            lpl = min(lpl, float((self.true - self.least)[list(chosen)].sum()))
        for who, known in intruders.items():
            if who is not None and set(chosen) & set(known):
                continue
            for side, needed in ((-1, lpl), (1, upl), (0, spl)):
                if needed <= 0:
                    continue
                if time.monotonic() > self.until:
                    self.undecided += 1
                    return
                self.questions += 1
                left = self._left_of_sum(self.region, chosen, side, needed, known)
                if left >= needed * (1 - NEAR):
                    continue
                self._all = self._all or self._whole()
                needed = min(needed, self._left_of_sum(self._all, chosen, side, needed, known))
                if left < needed * (1 - UNREACHABLE):
                    name = "the public" if who is None else f"respondent {who}"
                    words = f"{' + '.join(map(self._name, chosen))} {_SIDES[side]}"
                    yield Finding("narrow sum", name, words, left, needed)

    def _left_of_sum(
        self, region: Region, chosen: tuple[int, ...], side: int, level: float, known: Sequence[int]
    ) -> float:
        if side:
            return region.reach_of_sum(chosen, side, level, known)
        return sum(region.reach_of_sum(chosen, one, level, known) for one in (1, -1))

    def _name(self, cell: int) -> str:
        return _label(self.shown.cells[cell])


_SIDES = {-1: "from below", 1: "from above", 0: "in width"}


def _label(key: Key) -> str:
    return ",".join(f"{name}={code}" for name, code in key) or "Total"


def _range(method: str, given: Mapping[str, Any], v: float, leaf: bool, counts: bool) -> tuple[float, float]:
    """Return the true values that a published value leaves possible.

    'multiple': a multiple of the base, fewer than `steps` + 1 bases away; 'nearest': the nearest multiple; 'noise': a
    count moved by at most `most`, an empty cell staying empty; 'small': inner counts up to the base become 0 or the
    base; 'within': no farther away than `most`; 'nothing'.
    """
    open_ = 1.0 if counts else 0.0
    if method == "multiple":
        far = given["base"] * (given["steps"] + 1) - open_
        return v - far, v + far
    if method == "nearest":
        return v - given["base"] / 2, v + given["base"] / 2 - (0.5 if counts and given["base"] % 2 == 0 else 0.0)
    if method == "noise":
        return max(v - given["most"], 1.0 if v > 0 else 0.0), v + given["most"]
    if method == "small" and leaf:
        if v == 0:
            return 0.0, given["base"] - 1.0
        return (1.0, v) if v == given["base"] else (v, v)
    if method == "within":
        return v - given["most"], v + given["most"]
    return -np.inf, np.inf
