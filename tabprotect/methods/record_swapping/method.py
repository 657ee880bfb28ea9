"""Targeted record swapping as a method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tabprotect.counted import counted
from tabprotect.errors import InputError
from tabprotect.methods.base.method import Acts, Call, Changed, Method
from tabprotect.methods.base.options import COLUMNS, INNER

__all__ = ["Swap", "Swapped"]


@dataclass(frozen=True, eq=False)
class Swapped:
    """A table of swapped records; confidential.

    Attributes
    ----------
    values : ndarray, shape (cells,)
        In the order of the cells of the true table.
    fixed : ndarray of int
        Cells that no swap changes, whichever households take part.
    records, moved : int
        All records, and those that are counted in other cells.
    households, swapped, risky, unmatched : int
        All households, those that changed places, those at risk, and those of them for which there was no partner.
    shown, true : int
        Records that the published table has in finest cells that look sensitive, and those of them really there.
    """

    values: npt.NDArray[np.float64] = field(repr=False)
    fixed: npt.NDArray[np.int64] = field(repr=False)
    records: int
    moved: int
    households: int
    swapped: int
    risky: int
    unmatched: int
    shown: int
    true: int


@dataclass(frozen=True)
class Swap(Method):
    """Households at risk change places before the table is made; see `tabprotect.methods.record_swapping`.

    As text, columns are joined by ``+`` and lists of them by ``/``: ``similar="age+sex/sex"``.

    Parameters
    ----------
    geography : sequence of str
        Columns of nested areas, the largest first. These are exchanged.
    risk : sequence of str
        Columns whose combination makes somebody rare.
    similar : sequence of sequences of str
        In what two households must be alike; the first list is tried first.
    household : str, optional
        Column of the household; without it every record is one.
    k : int
        A household is at risk where fewer than so many are like it.
    rate : float
        At least this share of the households of every smallest area takes part.
    swapped : Swapped, optional
        The table of the swapped records, where it is made already.
    """

    name: ClassVar[str] = "swap"
    claims: ClassVar[tuple[str, ...]] = ("swap",)
    acts_on: ClassVar[Acts] = "records"
    page: ClassVar[str] = "other-methods.md#record-swapping"
    drawn: ClassVar[bool] = True

    geography: Sequence[str] | str = field(default=(), metadata=COLUMNS)
    risk: Sequence[str] | str = field(default=(), metadata=COLUMNS)
    similar: Sequence[Sequence[str]] | str = field(default=(), metadata=COLUMNS)
    household: str | None = None
    k: int = 3
    rate: float = 0.0
    swapped: Swapped | None = field(default=None, repr=False, compare=False, metadata=INNER)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("geography", "risk", "similar"):
            object.__setattr__(self, name, _lists(getattr(self, name), "/+" if name == "similar" else "+"))
        missing = [name for name in ("geography", "risk", "similar") if not getattr(self, name)]
        if missing:
            raise InputError(
                f"swap: {', '.join(missing)} must name columns of the microdata, such as "
                "Swap(geography='region+town', risk='age+origin', similar='age+sex/sex')"
            )

    def change(self, call: Call) -> Changed:
        """Publish the table of the swapped records."""
        s = self.swapped
        if s is None or len(s.values) != call.problem.n_cells:
            raise InputError("record swapping changes records, so it needs a table made from microdata")
        primaries = call.problem.primaries
        kept = int(np.sum(s.values[primaries] == call.problem.values[primaries]))
        there = f", {100 * s.true / s.shown:.0f} % of them really there" if s.shown else ""
        told = [
            f"{s.moved:,} of {s.records:,} records counted elsewhere ({s.swapped:,} of {s.households:,} households)",
            f"{counted(s.risky, 'household')} at risk, {s.unmatched:,} of them without a partner",
            f"{kept:,} of {len(primaries):,} sensitive cells keep their true value",
            f"{counted(s.shown, 'record')} in finest published cells that look sensitive{there}",
        ]
        claim = {"method": "swap", "fixed": s.fixed.tolist()}
        return Changed(
            s.values, claim, "which cells no swap changes; of others swapping leaves doubt, no interval", "feasible",
            message="; ".join(told), result=s,
        )  # fmt: skip


def _lists(given: object, signs: str) -> tuple[object, ...]:
    """Split text at the first sign, its parts at the next."""
    if not isinstance(given, str | list | tuple):
        raise InputError(f"swap: columns are given by their names, not as {given!r}")
    parts: Sequence[object] = (given.split(signs[0]) if given else ()) if isinstance(given, str) else tuple(given)
    if len(signs) == 1:
        return tuple(parts)
    return tuple(_lists(part, signs[1:]) for part in parts)
