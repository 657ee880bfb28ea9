"""What a ladder is: labels of the values of a column at every level."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError

__all__ = ["ANYTHING", "Ladder", "Rungs"]

Ints = npt.NDArray[np.int64]

ANYTHING = "*"
"""The label that every value gets at the top of a ladder."""


@dataclass(frozen=True, eq=False)
class Rungs:
    """A ladder over the values that occur.

    Attributes
    ----------
    labels : tuple of tuple
        At every level.
    index : ndarray of int, shape (levels, values + 1)
        Position of the label of every value; the last column is that of a missing value, which is a value of its own
        until all values have the same label (there ``labels`` holds a None for it).
    """

    labels: tuple[tuple[Any, ...], ...]
    index: Ints

    @property
    def height(self) -> int:
        """The number of the highest level."""
        return len(self.labels) - 1


class Ladder(ABC):
    """Generalisations of a column; level 0 is the value itself, and the last level is the same for all."""

    @abstractmethod
    def steps(self, values: Sequence[Any]) -> list[list[Any]]:
        """Return the labels of the values at level 1, 2 and so on; a last level of one label is added if need be."""

    def to_dict(self) -> dict[str, Any]:
        """Return what it is made of; JSON."""
        return {"kind": type(self).__name__.lower(), **{k: _json(v) for k, v in vars(self).items()}}

    def rungs(self, values: Sequence[Any], name: str) -> Rungs:
        """Return the ladder over the values of a column.

        Raises
        ------
        InputError
            If a value has no place on it, or values that share a label part again on a higher level.
        """
        try:
            levels = [list(values), *self.steps(values)]
        except InputError as error:
            raise InputError(*(f"column '{name}': {problem}" for problem in error.problems)) from None
        if len(set(map(str, levels[-1]))) > 1:
            levels.append([ANYTHING] * len(values))
        labels, rows = [], []
        for level, given in enumerate(levels):
            place: dict[Any, int] = {}
            index = [place.setdefault(label, len(place)) for label in given]
            top = level and len(place) <= 1
            rows.append([*index, 0 if top else len(place)])
            labels.append(tuple(place) if top else (*place, None))
        found = Rungs(tuple(labels), np.array(rows, dtype=np.int64).reshape(len(levels), len(values) + 1))
        for level in range(1, len(levels)):
            below, here = found.index[level - 1], found.index[level]
            first = np.zeros(len(labels[level - 1]), dtype=np.int64)
            first[below] = here
            apart = np.flatnonzero(first[below] != here)
            if len(apart) and apart[0] < len(values):
                label = labels[level - 1][below[apart[0]]]
                raise InputError(f"column '{name}': values that are all {label!r} part again on level {level}")
        return found


def _json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _json(one) for key, one in value.items()}
    return list(value) if isinstance(value, tuple | list) else value
