"""The columns of a finished table, and what is asked of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.counted import counted
from tabprotect.errors import Problems
from tabprotect.table.read import check_names

__all__ = ["Columns", "check_added", "check_options", "not_added"]


@dataclass(frozen=True)
class Columns:
    """The columns of a finished table and what they are for; see `Table.from_cells`."""

    value: str
    count: str | None
    weighted_count: str | None
    maxima: tuple[str, ...]
    holders: tuple[str, ...]
    shadow: str | None
    status: str | None
    cost: str | None
    lpl: str | None
    upl: str | None
    spl: str | None
    lower: str | None
    upper: str | None

    def __post_init__(self) -> None:
        names = ("value", "count", "weighted_count", "shadow", "status", "cost", "lpl", "upl", "spl", "lower", "upper")
        check_names({name: getattr(self, name) for name in names})

    @property
    def sums(self) -> tuple[str, ...]:
        """Columns of numbers that every row must have."""
        return _given(self.value, self.count, self.weighted_count, self.shadow, self.cost)

    @property
    def options(self) -> tuple[str, ...]:
        """Columns of numbers that may be missing in a row."""
        return _given(*self.maxima, self.lpl, self.upl, self.spl, self.lower, self.upper)

    @property
    def numbers(self) -> tuple[str, ...]:
        """Every column of numbers."""
        return (*self.sums, *self.options)

    @property
    def codes(self) -> tuple[str, ...]:
        """Columns of ids and statuses."""
        return _given(*self.holders, self.status)

    @property
    def all(self) -> tuple[str, ...]:
        """Every column."""
        return _given(*self.sums, *self.options, *self.holders, self.status)


def _given(*names: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name is not None))


def check_options(columns: Columns, tolerance: float | None, empty: str, margins: str, problems: Problems) -> None:
    """Note what the options of a finished table cannot be."""
    if empty not in ("refuse", "zero", "structural", "drop"):
        problems.add(f"empty must be 'refuse', 'zero', 'structural' or 'drop', not {empty!r}")
    if margins not in ("check", "add"):
        problems.add(f"margins must be 'check' or 'add', not {margins!r}")
    if tolerance is not None and not (np.isfinite(tolerance) and tolerance >= 0):
        problems.add(f"tolerance must be a number, 0 or more, not {tolerance!r}")
    if columns.holders and len(columns.holders) != len(columns.maxima):
        problems.add(
            f"holders names {counted(len(columns.holders), 'column')} for "
            f"{counted(len(columns.maxima), 'maximum', 'maxima')}; give one each"
        )


def check_added(columns: Columns, kind: str | None, added: int, problems: Problems) -> None:
    """Note columns that computed margins cannot have; `added` says how many margins there are to compute."""
    for role in not_added(columns, kind) if added else ():
        problems.add(
            f"margins='add' computes values only: {role} of a margin is not the sum over its parts, since one "
            f"contributor may be in several of them; tabulate the margins with the table, or leave {role} out "
            f"({counted(added, 'margin is', 'margins are')} not in the table)"
        )


def not_added(columns: Columns, kind: str | None) -> list[str]:
    """Return the roles of columns that are no sums, so that margins need them from the table."""
    roles = ("count", "weighted_count", "shadow", "cost", "maxima")
    return [role for role in roles if getattr(columns, role) and not (role == "count" and kind == "frequency")]
