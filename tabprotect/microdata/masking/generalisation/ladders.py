"""Ladders: what the values of a column become, step by step, from themselves to one value for all."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tabprotect.errors import InputError, did_you_mean
from tabprotect.kinds import check_fields
from tabprotect.microdata.masking.generalisation.rungs import Ladder
from tabprotect.microdata.masking.relabel import range_label
from tabprotect.table.hierarchy import Hierarchy

__all__ = ["Intervals", "Prefixes", "Steps", "Tree", "as_ladder", "located_ladder"]


@dataclass(frozen=True)
class Tree(Ladder):
    r"""Codes become their parents in a value tree.

    A leaf nearer to the root than others stays itself until they have come up to its level.

    Examples
    --------
    >>> tree = Tree(Hierarchy.from_hrc("N\n@1\n@2\nS\n@3\n@4"))
    >>> tree.rungs(["1", "2", "3"], "region").labels
    (('1', '2', '3', None), ('N', 'S', None), ('Total',))
    """

    hierarchy: Hierarchy

    def __post_init__(self) -> None:
        check_fields(self)

    def steps(self, values: Sequence[Any]) -> list[list[Any]]:
        """Return the ancestors of the values."""
        tree = self.hierarchy
        unknown = [value for value in values if str(value) not in tree.position]
        if unknown:
            raise InputError(f"value {unknown[0]!r} is not in the hierarchy{did_you_mean(unknown[0], tree.codes)}")
        codes = np.array([tree.position[str(value)] for value in values], dtype=np.int64)
        found = []
        for level in range(int(tree.levels[codes].max(initial=0)) - 1, -1, -1):
            deep = tree.levels[codes] > level
            codes = np.where(deep, tree.parents[codes], codes)
            found.append([tree.codes[code] if d or str(v) != tree.codes[code] else v
                          for code, d, v in zip(codes, deep, values, strict=True)])  # fmt: skip
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the splits of the tree."""
        return {"kind": "tree", "splits": [[parent, list(parts)] for parent, parts in self.hierarchy.splits]}


@dataclass(frozen=True)
class Prefixes(Ladder):
    """Characters are masked from the right: 94139, 9413*, 941**.

    Parameters
    ----------
    steps_of : sequence of int
        How many characters are masked at level 1, 2 and so on.
    length : int, optional
        Codes are filled up with zeros on the left to this length first (numbers that were codes).
    mark : str

    Examples
    --------
    The ZIP codes of Ciriani et al., Fig. 6.

    >>> Prefixes((1, 2)).rungs(["94138", "94139", "94141", "94142"], "zip").labels[1:]
    (('9413*', '9414*', None), ('941**',))
    """

    steps_of: Sequence[int] | int = (1,)
    length: int | None = None
    mark: str = "*"

    def __post_init__(self) -> None:
        check_fields(self)
        given = (self.steps_of,) if isinstance(self.steps_of, int) else tuple(self.steps_of)
        if not given or any(isinstance(n, bool) or not isinstance(n, int) or n < 1 for n in given):
            raise InputError(f"prefixes: say how many characters go, such as (1, 2, 3), not {self.steps_of!r}")
        if list(given) != sorted(set(given)):
            raise InputError(f"prefixes: the numbers of characters must grow, unlike {list(given)}")
        object.__setattr__(self, "steps_of", given)

    def steps(self, values: Sequence[Any]) -> list[list[Any]]:
        """Return the masked codes."""
        assert not isinstance(self.steps_of, int)
        words = [str(value).zfill(self.length) if self.length else str(value) for value in values]
        return [
            [word[: max(0, len(word) - n)] + self.mark * min(n, len(word)) for word in words] for n in self.steps_of
        ]


@dataclass(frozen=True)
class Intervals(Ladder):
    """Numbers fall into intervals of growing width, with open classes at the ends.

    Parameters
    ----------
    widths : sequence of float
        At level 1, 2 and so on; each a multiple of the one before.
    origin : float
        Where an interval begins.
    bottom, top : float, optional
        Values below `bottom`, and from `top` on, are open classes from level 1 on; boundaries on all levels.

    Examples
    --------
    >>> Intervals((5, 10), top=80).rungs([31, 36, 47, 83], "age").labels[1:]
    (('30-34', '35-39', '45-49', '>=80', None), ('30-39', '40-49', '>=80', None), ('*',))
    """

    widths: Sequence[float] | float = (10,)
    origin: float = 0
    bottom: float | None = None
    top: float | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        given = (self.widths,) if isinstance(self.widths, int | float) else tuple(self.widths)
        if not given or any(isinstance(w, bool) or not isinstance(w, int | float) or not w > 0 for w in given):
            raise InputError(f"intervals: widths must be numbers above 0, not {self.widths!r}")
        object.__setattr__(self, "widths", given)

    def steps(self, values: Sequence[Any]) -> list[list[Any]]:
        """Return the intervals."""
        try:
            numbers = np.array([float(value) for value in values])
        except (TypeError, ValueError):
            raise InputError("intervals need numbers") from None
        whole = bool((numbers == np.floor(numbers)).all())
        found = []
        assert not isinstance(self.widths, int | float)
        for width in self.widths:
            low = np.floor((numbers - self.origin) / width) * width + self.origin
            high = low + width
            if self.bottom is not None:
                low, high = (
                    np.where(numbers < self.bottom, -np.inf, low),
                    np.where(numbers < self.bottom, self.bottom, high),
                )
            if self.top is not None:
                low, high = np.where(numbers >= self.top, self.top, low), np.where(numbers >= self.top, np.inf, high)
            found.append([range_label(a, b, whole) for a, b in zip(low.tolist(), high.tolist(), strict=True)])
        return found


@dataclass(frozen=True)
class Steps(Ladder):
    """A table: for every value its label at level 1, 2 and so on (the files of ARX).

    Examples
    --------
    >>> Steps({"nurse": ("health", "*"), "doctor": ("health", "*"), "clerk": ("office", "*")}).rungs(
    ...     ["clerk", "nurse"], "job").labels
    (('clerk', 'nurse', None), ('office', 'health', None), ('*',))
    """

    rows: Mapping[Any, Sequence[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_fields(self)
        rows = {str(value): tuple(map(str, labels)) for value, labels in self.rows.items()}
        lengths = {len(labels) for labels in rows.values()}
        if len(lengths) != 1 or lengths == {0}:
            raise InputError("a ladder must have the same number of labels, at least one, for every value")
        object.__setattr__(self, "rows", rows)

    @classmethod
    def read(cls, path: str | Path, separator: str = ";") -> Steps:
        """Read a file with a line for every value: the value, then its labels from the finest to the coarsest.

        Raises
        ------
        InputError
            If it cannot be read, or lines differ in length.
        """
        try:
            with Path(path).open(encoding="utf-8-sig", newline="") as file:
                lines = [line for line in csv.reader(file, delimiter=separator) if line]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise InputError(f"ladder {path} cannot be read: {error}") from error
        twice = [line[0] for i, line in enumerate(lines) if line[0] in {other[0] for other in lines[:i]}]
        if twice:
            raise InputError(f"{path}: '{twice[0]}' has several lines")
        try:
            return cls({line[0]: tuple(line[1:]) for line in lines})
        except InputError as error:
            raise InputError(f"{path}: {error}; is {separator!r} the separator?") from None

    def steps(self, values: Sequence[Any]) -> list[list[Any]]:
        """Return the labels of the table."""
        unknown = [value for value in values if str(value) not in self.rows]
        if unknown:
            raise InputError(f"the ladder has no line for {unknown[0]!r}{did_you_mean(unknown[0], self.rows)}")
        found = [list(level) for level in zip(*(self.rows[str(value)] for value in values), strict=True)]
        return found if found else [[] for _ in next(iter(self.rows.values()))]


def as_ladder(given: Any) -> Ladder:
    """Make a ladder from what stands for one: a hierarchy, a file of steps, or a table of a specification.

    Examples
    --------
    >>> as_ladder({"widths": [5, 10]}), as_ladder({"prefixes": [1, 2]})
    (Intervals(widths=(5, 10), origin=0, bottom=None, top=None), Prefixes(steps_of=(1, 2), length=None, mark='*'))
    """
    if isinstance(given, Ladder):
        return given
    if isinstance(given, Hierarchy):
        return Tree(given)
    if isinstance(given, str | Path):
        return Tree(Hierarchy.read(given)) if str(given).endswith(".hrc") else Steps.read(given)
    if isinstance(given, Mapping):
        kinds: dict[str, Any] = {
            "widths": lambda widths, **more: Intervals(widths, **more),
            "prefixes": lambda prefixes, **more: Prefixes(prefixes, **more),
            "steps": lambda steps: Steps(steps),
            "file": lambda file, separator=";": Steps.read(file, separator),
        }
        for word, make in kinds.items():
            if word in given:
                try:
                    found: Ladder = make(**given)
                except TypeError as error:
                    raise InputError(f"a ladder of {word} does not take this: {error}") from None
                return found
    raise InputError(
        f"a ladder is md.Tree, md.Prefixes, md.Intervals or md.Steps, a hierarchy, a file, or a table with widths, "
        f"prefixes, steps or file, not {given!r}"
    )


def located_ladder(given: Any, base: Path) -> Any:
    """Return what stands for a ladder in a specification, with its path relative to a folder.

    Examples
    --------
    >>> located_ladder({"file": "zip.csv"}, Path("specs"))["file"] == str(Path("specs/zip.csv"))
    True
    """
    if isinstance(given, str):
        return str(base / given)
    if isinstance(given, Mapping) and isinstance(given.get("file"), str):
        return {**given, "file": str(base / given["file"])}
    return given
