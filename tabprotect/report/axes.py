"""The tree of codes along one dimension of a table, as a page folds it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tabprotect.errors import InputError

__all__ = ["Axis"]


@dataclass(frozen=True)
class Axis:
    """Codes of one dimension, and the order and depth in which a page shows them.

    Attributes
    ----------
    name : str
    codes : tuple of str
        Every code once.
    nodes : tuple of (int, int)
        Depth-first: position in `codes`, and depth. A code under several parents is there several times.
    labels : tuple of str
        What each code stands for, '' where that is not known; empty where no code has a label.

    Examples
    --------
    >>> Axis.of("region", ["T", "A", "B"], {"T": ["A", "B"]}).nodes
    ((0, 0), (1, 1), (2, 1))
    """

    name: str
    codes: tuple[str, ...]
    nodes: tuple[tuple[int, int], ...]
    labels: tuple[str, ...] = ()

    def label(self, position: int) -> str:
        """Return the label of the code at a position, '' without one."""
        return self.labels[position] if self.labels else ""

    def shown(self, position: int) -> str:
        """Return the code at a position with its label, where it has one."""
        code, label = self.codes[position], self.label(position)
        return f"{code} {label}" if label else code

    def labelled(self, labels: Mapping[str, str]) -> Axis:
        """Return the axis with the labels of its codes; one that repeats its code says nothing.

        Examples
        --------
        >>> axis = Axis.flat("region", ["N", "S"]).labelled({"N": "North", "S": "S", "W": "West"})
        >>> axis.labels, axis.shown(0), axis.shown(1)
        (('North', ''), 'N North', 'S')
        """
        found = tuple("" if (label := labels.get(code, "")) == code else label for code in self.codes)
        return replace(self, labels=found if any(found) else ())

    @classmethod
    def of(
        cls, name: str, codes: Sequence[Hashable], children: Mapping[Any, Sequence[Any]], *, most: int = 200_000
    ) -> Axis:
        """Walk down from the codes that are nobody's child; `codes` gives the order of brothers.

        Raises
        ------
        InputError
            If non-nested groupings unfold to more than `most` lines.
        """
        position = {code: i for i, code in enumerate(codes)}
        below = {
            parent: sorted({c for c in parts if c in position}, key=position.__getitem__)
            for parent, parts in children.items()
        }
        inner = {child for parts in below.values() for child in parts}
        stack = [(code, 0) for code in reversed(codes) if code not in inner]
        nodes: list[tuple[int, int]] = []
        while stack:
            code, depth = stack.pop()
            nodes.append((position[code], depth))
            if len(nodes) > most:
                raise InputError(f"the groupings of dimension '{name}' unfold to more than {most:,} lines")
            stack += [(child, depth + 1) for child in reversed(below.get(code, ()))]
        return cls(name, tuple(map(str, codes)), tuple(nodes))

    @classmethod
    def flat(cls, name: str, codes: Sequence[Hashable]) -> Axis:
        """Codes without a hierarchy."""
        return cls.of(name, codes, {})
