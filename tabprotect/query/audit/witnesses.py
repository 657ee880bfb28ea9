"""All data sets that an auditor remembers as proofs, kept sparse, and which targets they protect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from tabprotect.query.audit.needs import Needs, Targets
from tabprotect.query.audit.partition import Split
from tabprotect.query.audit.records import FREE, Records
from tabprotect.query.audit.worlds import LIMIT, Box, World, times
from tabprotect.solver.ranges import ranges

__all__ = ["Worlds", "met"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int32]

TOGETHER: Final = 1_000_000
"""Moves of classes that were cut that are shared at once."""

TRIES: Final = 200
"""Data sets that are looked at for one target, the newest first."""


@dataclass(frozen=True, eq=False)
class Worlds:
    """Worlds, each with the classes that move in it.

    Attributes
    ----------
    starts : ndarray of int, shape (worlds + 1,)
    index, moves : ndarray of int
        Classes that move, ascending in every world, and how far, in units of 1/denominator.
    denominators : ndarray of int, shape (worlds,)

    Examples
    --------
    >>> w = Worlds.of([World(np.array([0, 2, -2])), World(np.array([1, 0, -1]), 2)])
    >>> w.index.tolist(), w.move(np.array([0, 1]), np.array([1, 1])).tolist()
    ([1, 2, 0, 2], [2, 0])
    """

    starts: Ints
    index: Ints
    moves: Ints
    denominators: Ints

    @classmethod
    def of(cls, worlds: Sequence[World]) -> Worlds:
        """Collect worlds."""
        where = [np.flatnonzero(w.moves) for w in worlds]
        return _joined([(k, w.moves[k], w.denominator) for w, k in zip(worlds, where, strict=True)])

    def __len__(self) -> int:
        return len(self.denominators)

    @cached_property
    def owner(self) -> Ints:
        """The world of every entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @cached_property
    def _keys(self) -> Ints:
        return (self.owner << 32) + self.index

    def move(self, worlds: Ints, classes: Ints) -> Ints:
        """Return how far some classes move in some worlds, in units of 1/denominator."""
        if not len(self.index):
            return np.zeros(len(worlds), np.int64)
        wanted = (worlds << 32) + classes
        place = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        return np.where(self._keys[place] == wanted, self.moves[place], 0)

    def sums(self, amounts: npt.NDArray[np.generic]) -> Ints:
        """Return the sum of one amount an entry over every world."""
        return np.asarray(np.diff(np.r_[0, np.cumsum(np.asarray(amounts, np.int64))][self.starts]), np.int64)

    def taken(self, some: Bools) -> Worlds:
        """Return some of the worlds."""
        if some.all():
            return self
        here = some[self.owner]
        starts = np.r_[0, np.cumsum(np.diff(self.starts)[some])]
        return Worlds(starts, self.index[here], self.moves[here], self.denominators[some])

    def newest(self, most: int) -> Worlds:
        """Return the last worlds."""
        return self.taken(np.arange(len(self)) >= len(self) - most)

    def plus(self, other: Worlds) -> Worlds:
        """Return these worlds and others."""
        if not len(other):
            return self
        return Worlds(
            np.r_[self.starts, self.starts[-1] + other.starts[1:]],
            np.r_[self.index, other.index],
            np.r_[self.moves, other.moves],
            np.r_[self.denominators, other.denominators],
        )

    def carried(self, split: Split, bounds: Callable[[], Box], most: int) -> Worlds:
        """Return the worlds so that they give the same answer to one more query, too, without those that cannot.

        A world in which no class moves that was cut stays as it is, if its moves within the query set add up to 0. In
        others, the newest, the moves of classes that were cut are shared between the parts, within the bounds on these:
        at most so many moves.
        """
        n = len(split.inside)
        cut = np.zeros(n, bool)
        cut[split.parents] = True
        # a class that was cut keeps its number outside the query set
        inside = split.inside & ~cut
        touched = self.sums(cut[self.index]) > 0
        balance = self.sums(np.where(inside[self.index], self.moves, 0))
        change = np.flatnonzero(touched | (balance != 0))
        if not len(change):
            return self
        kept = self.taken(~touched & (balance == 0))
        if not len(split.parents):
            return kept
        box = bounds()
        ends = [np.concatenate([bound[split.parents], bound[split.children]]) for bound in (box.lower, box.upper)]
        r = len(split.parents)
        change, many = change[-max(1, most // r) :], max(1, TOGETHER // r)
        for k in range(0, len(change), many):
            some = change[k : k + many]
            kept = kept.plus(self.taken(np.isin(np.arange(len(self)), some))._shared(balance[some], split, cut, ends))
        return kept

    def _shared(self, fixed: Ints, split: Split, cut: Bools, ends: list[Ints]) -> Worlds:
        """Share the moves of classes that were cut so that the sums over the query set stay; drop worlds that cannot.

        `fixed` is what the classes in the query set that were not cut move by, world by world.
        """
        here = cut[self.index]
        r = len(split.parents)
        whole = np.zeros((len(self), r), np.int64)
        whole[self.owner[here], np.searchsorted(split.parents, self.index[here])] = self.moves[here]
        far = LIMIT // (2 * len(cut) + 2)
        factor = self.denominators[:, None]
        low = np.where(ends[0] > -FREE, times(ends[0], factor), -far)
        high = np.where(ends[1] < FREE, times(ends[1], factor), far)
        least = np.maximum(low[:, r:], whole - high[:, :r])
        most = np.minimum(high[:, r:], whole - low[:, :r])
        within = ~(least > most).any(axis=1)
        most = np.maximum(least, most)
        start = np.clip(whole // 2, least, most)
        missing = -fixed - start.sum(axis=1)
        spare = np.where(missing[:, None] > 0, most - start, start - least)
        taken = np.minimum(np.cumsum(spare, axis=1), np.abs(missing)[:, None])
        within &= taken[:, -1] == np.abs(missing)
        share = start + np.sign(missing)[:, None] * np.diff(taken, axis=1, prepend=0)
        return self._parted(within, split, here, np.hstack([whole - share, share]))

    def _parted(self, some: Bools, split: Split, here: Bools, shares: Ints) -> Worlds:
        """Return some worlds in which the parts of classes that were cut move by their shares."""
        stay = ~here & some[self.owner]
        row, column = np.nonzero(shares * some[:, None])
        owner = np.r_[self.owner[stay], row]
        index = np.r_[self.index[stay], np.r_[split.parents, split.children][column]]
        moves = np.r_[self.moves[stay], shares[row, column]]
        order = np.lexsort((index, owner))
        starts = np.r_[0, np.cumsum(np.bincount(owner, minlength=len(self))[some])]
        return Worlds(starts, index[order], moves[order], self.denominators[some])


_Sparse = tuple[Ints, Ints, int]


def _joined(worlds: list[_Sparse]) -> Worlds:
    nothing = np.zeros(0, np.int64)
    return Worlds(
        np.cumsum([0, *(len(index) for index, _, _ in worlds)]).astype(np.int64),
        np.concatenate([nothing, *(index for index, _, _ in worlds)]),
        np.concatenate([nothing, *(moves for _, moves, _ in worlds)]),
        np.array([factor for _, _, factor in worlds], np.int64),
    )


def met(
    worlds: Worlds, need: Needs, targets: Targets, records: Records, class_of: Numbers, box: Box, asked: Bools
) -> Bools:
    """Which targets are protected by one of some worlds (see `worlds.demands`), in integers.

    Parameters
    ----------
    worlds : Worlds
    need : Needs
    targets : Targets
    records : Records
    class_of : ndarray of int, shape (records,)
    box : Box
        Of the intruder.
    asked : ndarray of bool, shape (classes,)
        Classes that lie in a query set.
    """
    done = np.zeros(len(targets), bool)
    usable = _usable(worlds, need, box, asked)
    side, first = need.side, targets.starts[:-1]
    if not usable.any() or not len(targets):
        return done
    # worlds by the first class of a target, the newest last
    here = np.flatnonzero(usable[worlds.owner] & (side * worlds.moves > 0))
    here = here[np.argsort(worlds.index[here], kind="stable")]
    low = np.searchsorted(worlds.index[here], targets.classes[first], side="left")
    high = np.searchsorted(worlds.index[here], targets.classes[first], side="right")
    for turn in range(1, TRIES + 1):
        left = np.flatnonzero(~done & (high - turn >= low))
        if not len(left):
            break
        owner = worlds.owner[here[high[left] - turn]]
        done[left] = _pairs(left, owner, worlds, need, targets, records, class_of, asked)
    return done


def _usable(worlds: Worlds, need: Needs, box: Box, asked: Bools) -> Bools:
    """Which worlds keep known bounds and break nobody's protection."""
    moves, b = worlds.moves, worlds.index
    pushed = asked & (need.room < 0)
    factor = worlds.denominators[worlds.owner]
    bad = np.zeros(len(b), bool)
    for limit, sign in ((box.upper[b], 1), (-box.lower[b], -1), (need.room[b], -need.side)):
        finite = limit < FREE
        bad |= finite & (sign * moves > np.where(finite, limit, 0) * factor)
    # classes that have to move are among those that do
    return np.asarray((worlds.sums(bad) == 0) & (worlds.sums(pushed[b]) == np.count_nonzero(pushed)))


def _pairs(
    which: Ints,
    world: Ints,
    worlds: Worlds,
    need: Needs,
    targets: Targets,
    records: Records,
    class_of: Numbers,
    asked: Bools,
) -> Bools:
    """Whether targets are protected by the worlds paired with them."""
    side = need.side
    lengths = np.diff(targets.starts)[which]
    pair = np.repeat(np.arange(len(which)), lengths)
    piece = ranges(targets.starts[which], lengths)
    enough = side * worlds.move(world[pair], targets.classes[piece]) >= (
        targets.needs[piece] * worlds.denominators[world[pair]]
    )
    good = np.bincount(pair[~enough], minlength=len(which)) == 0
    if not records.spread or need.measure.whole:
        return np.asarray(good)
    # the other records of the unit may not move against its side
    unit = targets.unit[which]
    lengths = np.diff(records.unit_starts)[unit]
    pair = np.repeat(np.arange(len(which)), lengths)
    classes = class_of[records.by_unit[ranges(records.unit_starts[unit], lengths)]]
    least = np.where(asked, need.beside, 0)[classes] * worlds.denominators[world[pair]]
    against = side * worlds.move(world[pair], classes.astype(np.int64)) < least
    return np.asarray(good & (np.bincount(pair[against], minlength=len(which)) == 0))
