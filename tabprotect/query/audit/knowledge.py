"""What one intruder is up against: how far classes can move within what he knows, and what rules ask of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tabprotect.query.audit.measures import Measure, ceiling
from tabprotect.query.audit.needs import Needs, Side, needs
from tabprotect.query.audit.partition import Partition
from tabprotect.query.audit.parts import Parts
from tabprotect.query.audit.pieces import Pieces, pieces
from tabprotect.query.audit.records import FREE, Records
from tabprotect.query.audit.witnesses import Worlds
from tabprotect.query.audit.worlds import Box

__all__ = ["NONE", "Knowledge", "coarser", "judged", "judged_again"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

NONE = Worlds.of([])

SIDES: tuple[Side, Side] = (1, -1)


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What one intruder is up against.

    Attributes
    ----------
    name : str
    hidden : ndarray of bool, shape (records,), optional
        Records that he does not know; None where he knows none.
    box : Box
        How far every class can move within known bounds.
    needs : tuple of Needs
        For every rule and side.
    worlds : Worlds
        Other data sets that give the same answers and that he cannot exclude.
    """

    name: str
    hidden: Bools | None
    box: Box
    needs: tuple[Needs, ...]
    worlds: Worlds = NONE


def judged(
    records: Records,
    class_of: npt.NDArray[np.int32],
    classes: Ints,
    measures: list[Measure],
    hidden: Bools | None,
    parts: Parts | None = None,
) -> tuple[Box, tuple[Needs, ...]]:
    """Judge some classes; unit by unit only those that may be sensitive at all."""
    totals, large = _screened(records, class_of, classes, measures, hidden, parts)
    small = np.flatnonzero(~large)
    p = pieces(records, class_of, classes[small], hidden, parts)
    lower, upper = -totals, np.full(len(classes), FREE)
    lower[small], upper[small] = -_total(p, p.below), _total(p, p.above)
    found = []
    for m in measures:
        for side in SIDES:
            part = needs(records, p, m, side)
            room = np.full(len(classes), FREE)
            if side > 0:
                # the largest units of all are at least as large as those of a class
                most = records.sizes[::-1][: 0 if m.whole else m.members - 1]
                room = totals - int(most.sum()) - (0 if m.share is None else int(ceiling(m.share, most).sum()))
            beside = np.zeros(len(classes), np.int64)
            room[small], beside[small] = part.room, part.beside
            found.append(replace(part, room=room, beside=beside, owner=small[part.owner]))
    return Box(lower, upper), tuple(found)


def _screened(
    records: Records,
    class_of: npt.NDArray[np.int32],
    classes: Ints,
    measures: list[Measure],
    hidden: Bools | None,
    parts: Parts | None = None,
) -> tuple[Ints, Bools]:
    """Return class totals, and which of them are so large that no unit can stand out, whoever is in the class.

    Only where values are at least 0 and nothing else is known. With U_1 >= U_2 >= ... the totals of all units over all
    records, a class of at least U_1 + ... + U_m + ratio U_1 has a rest of at least ratio U_1 without any m units, and
    one of at least (m + 1) U_1 has more than m units.
    """
    if not (records.nonnegative and records.unbounded and len(records)):
        return np.zeros(len(classes), np.int64), np.zeros(len(classes), bool)
    if parts is not None:
        known, values = class_of, parts.totals(hidden)
    else:
        known = class_of if hidden is None else class_of[hidden]
        values = records.values if hidden is None else records.values[hidden]
    n = int(class_of.max(initial=0)) + 1
    totals = np.bincount(known, weights=values, minlength=max(n, int(classes.max(initial=0)) + 1)).astype(np.int64)
    sizes = records.sizes[::-1]
    least = 1
    for m in measures:
        top = int(sizes[: m.members].sum())
        least = max(least, top + int(m.level(sizes[:1])[0]), (m.members + 1) * int(sizes[0]))
    return totals[classes], totals[classes] >= least


def _total(p: Pieces, slack: Ints) -> Ints:
    infinite = slack >= FREE
    return np.where(p.sums(infinite.astype(np.int64)) > 0, FREE, p.sums(np.where(infinite, 0, slack)))


def judged_again(
    k: Knowledge, records: Records, partition: Partition, order: Ints, parts: Parts | None = None
) -> Knowledge:
    """Judge some classes (ascending) again; the worlds are those of before."""
    n = partition.n_classes
    box, new = judged(records, partition.class_of, order, [m.measure for m in k.needs[::2]], k.hidden, parts)
    lower, upper = np.zeros(n, np.int64), np.zeros(n, np.int64)
    lower[: len(k.box.lower)], upper[: len(k.box.upper)] = k.box.lower, k.box.upper
    lower[order], upper[order] = box.lower, box.upper
    needs = tuple(old.replaced(order, part, n) for old, part in zip(k.needs, new, strict=True))
    return replace(k, box=Box(lower, upper), needs=needs)


def coarser(box: Box, fine: npt.NDArray[np.int32], coarse: Ints, n: int) -> Box:
    """Return the bounds of n classes from those of finer ones; both are given for the same parts."""
    ends = []
    for bound, sign in ((-box.lower, -1), (box.upper, 1)):
        part = bound[fine]
        infinite = part >= FREE
        # floats are exact below 2^53
        finite = np.bincount(coarse, np.where(infinite, 0, part), n).astype(np.int64)
        ends.append(sign * np.where(np.bincount(coarse, infinite, n) > 0, FREE, finite))
    return Box(ends[0], ends[1])
