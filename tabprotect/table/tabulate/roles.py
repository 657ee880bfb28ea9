"""What a tabulation is asked to do, and what it found: the form that every engine takes and gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabprotect.errors import Problems
from tabprotect.table.dimension import Dimension
from tabprotect.table.grid import Grid
from tabprotect.table.levels import Measures
from tabprotect.table.read import check_names
from tabprotect.table.tabulate.rollup import Summary

__all__ = ["Roles", "Tabulated"]


@dataclass(frozen=True)
class Roles:
    """The columns of the microdata and what they are for; see `tabulate`."""

    by: tuple[Dimension, ...]
    value: str | None = None
    shadow: str | None = None
    cost: str | None = None
    contributor: str | None = None
    holding: str | None = None
    weight: str | None = None
    request: str | None = None
    waiver: str | None = None
    top: int = 3
    decimal: str = "."
    counts: bool = False

    def __post_init__(self) -> None:
        check_names(self.named)

    @property
    def named(self) -> dict[str, str]:
        """The columns by role, but for the dimensions; what is not there is left out."""
        names = ("value", "shadow", "cost", "contributor", "holding", "weight", "request", "waiver")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    @property
    def numbers(self) -> tuple[str, ...]:
        """Columns of numbers, each once."""
        names = (self.value, self.shadow, self.cost, self.weight)
        return tuple(dict.fromkeys(name for name in names if name is not None))

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are needed, each once."""
        others = (self.contributor, self.holding, self.request, self.waiver)
        codes = [column for dimension in self.by for column in dimension.columns]
        return tuple(dict.fromkeys([*codes, *self.numbers, *(name for name in others if name is not None)]))

    def holder_name(self, holding: str | None, contributor: str | None, row: int) -> str:
        """Return the name of a holder: the holding, or the contributor outside of any, or the record itself."""
        if holding is not None:
            return holding
        if contributor is None:
            return f"row {row + 1}"
        return contributor if self.holding is None else f"{self.contributor} {contributor}"

    def check_number(self, name: str, below: bool, fraction: bool, where: str, problems: Problems) -> None:
        """Note numbers that their role does not allow; `below` and `fraction` say what was found."""
        if below and name in (self.weight, self.cost):
            what = "sampling weights" if name == self.weight else "costs"
            problems.add(f"column '{name}' holds {what} below zero ({where})")
        if name == self.value and self.counts and (below or fraction):
            problems.add(
                f"column '{name}' must hold counts (whole numbers, not below zero) in a frequency table; "
                f"it does not in {where}"
            )


@dataclass(frozen=True, eq=False)
class Tabulated:
    """What an engine found: the cells that hold records, and who the largest contributors are."""

    dimensions: tuple[Dimension, ...]
    grid: Grid
    summary: Summary
    measures: Measures
    name_holders: Callable[[npt.NDArray[np.int64]], Sequence[str]]
