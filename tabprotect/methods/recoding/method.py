"""Recoding before cells are hidden: what `tabprotect.protect` takes as its method."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from os import PathLike
from typing import Any

from tabprotect.errors import collect
from tabprotect.methods.recoding.global_recode import RecodingRules
from tabprotect.methods.recoding.least import wrong_levels
from tabprotect.methods.suppression.method import Suppress
from tabprotect.views import Short

__all__ = ["Recode"]


@dataclass(frozen=True, repr=False)
class Recode(Short):
    """Roll categories up until no cell is sensitive any more; what may be left is hidden.

    Parameters
    ----------
    rules : mapping of str to RecodingRules, path or str, optional
        Recodings by hand, by column of the microdata: rules, or a .grc file.
    least : bool
        After that, give up the parts of as few codes as are needed to be rid of all sensitive cells.
    keep : mapping of str to int, optional
        Down to which level the codes of a dimension must stay; see `tabprotect.methods.recoding.least_recoding`.
    then : Suppress
        How cells that are sensitive still are hidden.
    open : sequence of str, or mapping of str to sequence of str, optional
        Dimensions without levels whose first and last categories are put together, as few as make safe classes, such
        as "80 and over"; with a mapping, also their categories in order. By default that of their hierarchy, or of the
        codes as numbers. See `tabprotect.methods.recoding.open_classes`.
    groupings : mapping of str to mapping of str to RecodingRules or path, optional
        By dimension without levels several groupings of its codes by name, nested or not, such as regions and labour
        market areas; each is rules or a .grc file. Those are taken that lose least detail of all that leave no cell
        sensitive; see `tabprotect.methods.recoding.least_grouping`.
    granularity : float, optional
        Cells of one contributor are sensitive, too, where so many per cent of a hyper-row are such cells; see
        `tabprotect.sensitivity.rules.granularity.Granularity`.
    """

    rules: Mapping[str, Any] = field(default_factory=dict)
    least: bool = True
    keep: Mapping[str, int] = field(default_factory=dict)
    then: Suppress = field(default_factory=Suppress)
    open: str | Sequence[str] | Mapping[str, Sequence[str] | None] = ()
    granularity: float | None = None
    groupings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        with collect() as problems:
            for what in self._wrong_types():
                problems.add(what)
        with collect() as problems:
            for name, given in self.rules.items():
                if not isinstance(given, RecodingRules | str | PathLike):
                    problems.add(
                        f"rules: those of '{name}' are a .grc file or RecodingRules, such as "
                        f"tabprotect.methods.recoding.RecodingRules.parse('new: old, old'), not {given!r}"
                    )
            for name, given in self.groupings.items():
                for which, one in given.items():
                    if not isinstance(one, RecodingRules | str | PathLike):
                        problems.add(
                            f"groupings: '{which}' of '{name}' is a .grc file or RecodingRules, such as "
                            f"tabprotect.methods.recoding.RecodingRules.parse('new: old, old'), not {one!r}"
                        )
            for what in wrong_levels(self.keep):
                problems.add(what)
            for name, order in self.opened.items():
                if isinstance(order, str) or not isinstance(order, Iterable | None):
                    problems.add(
                        f"open: the categories of '{name}' are a list of codes in their order, or None, not {order!r}"
                    )
            if self.open and self.groupings:
                problems.add("open and groupings both make records anew: take one of them")
            if self.granularity is not None and not 0 < self.granularity <= 100:
                problems.add(f"granularity must be per cent, above 0 and at most 100, not {self.granularity!r}")

    def _wrong_types(self) -> Iterator[str]:
        """Say which arguments are of another kind altogether."""
        if not isinstance(self.rules, Mapping):
            yield f"rules must be recodings by column, such as {{'region': 'region.grc'}}, not {self.rules!r}"
        if not isinstance(self.least, bool):
            yield f"least must be True or False, not {self.least!r}"
        if not isinstance(self.keep, Mapping):
            yield f"keep must be levels by dimension, such as {{'region': 1}}, not {self.keep!r}"
        if not isinstance(self.then, Suppress):
            yield f"then must be such as Suppress(cost='unit'), not {self.then!r}"
        if not isinstance(self.open, str | Sequence | Mapping):
            yield f"open must be dimensions, such as ['age'], not {self.open!r}"
        if isinstance(self.granularity, bool) or not isinstance(self.granularity, Real | None):
            yield f"granularity must be per cent, such as 50, not {self.granularity!r}"
        if not isinstance(self.groupings, Mapping) or not all(isinstance(g, Mapping) for g in self.groupings.values()):
            yield (
                "groupings must be files or rules by dimension and name, such as "
                f"{{'region': {{'areas': 'areas.grc'}}}}, not {self.groupings!r}"
            )

    @property
    def opened(self) -> Mapping[str, Sequence[str] | None]:
        """The dimensions that get open classes, and their categories in order where these were given."""
        if isinstance(self.open, Mapping):
            return self.open
        return dict.fromkeys([self.open] if isinstance(self.open, str) else self.open)
