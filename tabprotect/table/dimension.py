"""One dimension of a table: a column, or nested columns, with the hierarchy of its codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, Problems, did_you_mean
from tabprotect.table.codes import Codes, explain_unknown, finest, some, sort_codes
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.hierarchy.codelists import splits_of_coded
from tabprotect.table.hierarchy.given import HierarchyLike, hierarchy_of

__all__ = ["By", "Dimension", "dimensions_of"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Dimension:
    """A dimension of a table.

    Parameters
    ----------
    column : str or sequence of str
        Column of the codes, or nested columns, outermost first (section, division, group).
    hierarchy : Hierarchy, optional
        By default a total over the codes found in the data (with nested columns: their nesting).
    total : str, optional
        Code of the total, 'Total' by default; only without a hierarchy.
    missing : sequence of str
        Codes that stand for "unknown"; their cells are marked as missing. Records without a code are counted under
        the first of them (and refused when there is none). They are put below the total if the hierarchy has them not.
    name : str, optional
        How the dimension is called in results: by default as the (finest) column.

    Examples
    --------
    >>> Dimension("region").name, Dimension(["section", "division"]).name
    ('region', 'division')
    """

    column: str | Sequence[str]
    hierarchy: Hierarchy | None = None
    total: str | None = None
    missing: Sequence[str] = ()
    name: str = ""

    def __post_init__(self) -> None:
        several = isinstance(self.column, Sequence) and not isinstance(self.column, str)
        columns = tuple(self.column) if several else (self.column,)
        if not columns or any(not isinstance(column, str) for column in columns):
            raise InputError(f"a dimension needs the name of a column, or of nested columns, not {self.column!r}")
        if self.hierarchy is not None and not isinstance(self.hierarchy, Hierarchy):
            raise InputError(
                f"the hierarchy of dimension '{columns[-1]}' must be a Hierarchy (Hierarchy.read(path), .flat(codes), "
                f"...), not {type(self.hierarchy).__name__}"
            )
        if self.hierarchy is not None and self.total not in (None, self.hierarchy.total):
            raise InputError(
                f"dimension '{columns[-1]}' gives the total '{self.total}', but that of its hierarchy is "
                f"'{self.hierarchy.total}'"
            )
        if isinstance(self.missing, str):
            raise InputError(f"missing must be a list of codes: missing=['{self.missing}']")
        if not isinstance(self.missing, Iterable):
            raise InputError(f"missing must be a list of codes, not {self.missing!r}")
        if self.total is not None and not isinstance(self.total, str):
            raise InputError(f"the code of the total must be a text, not {self.total!r}")
        if not isinstance(self.name, str):
            raise InputError(f"the name of dimension '{columns[-1]}' must be a text, not {self.name!r}")
        object.__setattr__(self, "column", columns[0] if len(columns) == 1 else columns)
        object.__setattr__(self, "missing", tuple(map(str, self.missing)))
        object.__setattr__(self, "name", self.name or columns[-1])

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the data, outermost first."""
        return (self.column,) if isinstance(self.column, str) else tuple(self.column)

    @property
    def codes(self) -> tuple[str, ...]:
        """Codes of the hierarchy, the total first."""
        return self.known.codes

    @property
    def known(self) -> Hierarchy:
        """The hierarchy, once it is known from the data."""
        if self.hierarchy is None:
            raise InputError(f"dimension '{self.name}' has no hierarchy yet: it comes from the data")
        return self.hierarchy

    def missing_codes(self) -> npt.NDArray[np.bool_]:
        """Return for every code whether its cell is that of a missing code."""
        hierarchy = self.known
        marked = [hierarchy.position[code] for code in self.missing if code in hierarchy.position]
        return np.isin(hierarchy.canonical, hierarchy.canonical[marked])

    def resolve(
        self, coded: Sequence[Codes], problems: Problems, times: Ints | None = None, first: Ints | None = None
    ) -> tuple[Dimension, Ints]:
        """Find the hierarchy, and the leaf of every record.

        Parameters
        ----------
        coded : sequence of Codes
            The columns, factorised.
        problems : Problems
            Notes codes that are unknown, groups, or missing.
        times, first : ndarray of int, optional
            How many records every row stands for, and the first of them (counted from 0), when the rows are the
            different codes of a larger data set.

        Returns
        -------
        dimension : Dimension
            With its hierarchy.
        leaf : ndarray of int
            Position in ``hierarchy.leaves`` of every row; -1 where that is unknown.
        """
        for problem in (problem for column in coded for problem in column.problems):
            problems.add(problem)
        codes = finest(coded)
        count = np.ones(len(codes.index), dtype=np.int64) if times is None else times
        rows = np.arange(len(codes.index)) if first is None else first

        where = partial(_where, count, rows)
        none = codes.index < 0
        use = [code for code in self.missing if code in codes.values]
        if none.any() and not any(column.problems for column in coded):
            if self.missing:
                use = list(dict.fromkeys([*use, self.missing[0]]))
            else:
                problems.add(
                    f"column '{self.columns[-1]}' has no code in {where(none)}; take them out, or count them under a "
                    f"code of their own: Dimension('{self.columns[-1]}', missing=['unknown'])"
                )
        found = self.with_data(coded, codes, problems, rows, use)
        if found.hierarchy is None:
            return found, np.full(len(codes.index), -1, dtype=np.int64)
        hierarchy = found.hierarchy
        leaf = np.full(len(codes.values) + 1, -1, dtype=np.int64)
        if none.any() and self.missing:
            leaf[-1] = hierarchy.leaf_of[hierarchy.position[self.missing[0]]]
        unknown, groups = [], []
        for i, code in enumerate(codes.values):
            if code not in hierarchy.position:
                unknown.append(i)
            else:
                leaf[i] = hierarchy.leaf_of[hierarchy.position[code]]
                if leaf[i] < 0:
                    groups.append(i)
        column = self.columns[-1]
        if unknown:
            words = [
                f"'{codes.values[i]}' ({where(codes.index == i)}"
                f"{explain_unknown(codes.values[i], hierarchy.codes, codes.numeric)})"
                for i in unknown[:5]
            ]
            more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
            number = f"{len(unknown)} codes" if len(unknown) > 1 else "a code"
            problems.add(f"column '{column}' holds {number} that its hierarchy has not: {', '.join(words)}{more}")
        for i in groups[:5]:
            problems.add(_no_leaf(column, codes.values[i], where(codes.index == i), hierarchy))
        return found, leaf[codes.index]

    def with_data(
        self, coded: Sequence[Codes], codes: Codes, problems: Problems, rows: Ints, missing: Sequence[str] | None = None
    ) -> Dimension:
        """Return the dimension with its hierarchy: its own, or that of the codes found.

        Parameters
        ----------
        coded, codes
            The columns, and the finest code of every row (`finest`).
        rows : ndarray of int
            Numbers of the rows, for messages.
        missing : sequence of str, optional
            Missing codes that are in use and need a place in the hierarchy; by default those among the codes.
        """
        missing = [code for code in self.missing if code in codes.values] if missing is None else missing
        hierarchy = self.hierarchy
        if hierarchy is None:
            total = "Total" if self.total is None else self.total
            try:
                if len(coded) > 1:
                    hierarchy = Hierarchy(*splits_of_coded(coded, self.columns, total, rows.tolist()))
                else:
                    found = [code for code in codes.values if code not in (total, *self.missing)]
                    hierarchy = Hierarchy(((total, tuple(sort_codes(found))),), (total,))
            except InputError as error:
                for problem in error.problems:
                    problems.add(problem)
                return self
        return replace(self, hierarchy=hierarchy.with_leaves(missing), total=None)


def _where(count: Ints, rows: Ints, bad: npt.NDArray[np.bool_]) -> str:
    """Say how many records are bad, and in which row the first one is."""
    n = int(count[bad].sum())
    return (f"{n:,} records, first in " if n != 1 else "") + f"row {rows[bad].min() + 1}"


def _no_leaf(column: str, group: str, where: str, hierarchy: Hierarchy) -> str:
    """Say that records have the code of a group, or of the total, and what they need."""
    if group == hierarchy.total:
        return (
            f"column '{column}' holds '{group}', the code of the total ({where}); take rows of totals out, or, if they "
            "are cells of a finished table, give them to Table.from_cells. If it is an ordinary code, give the total "
            f"another one: pass Dimension('{column}', total='all')"
        )
    below = some([hierarchy.leaves[i] for i in hierarchy.members[[hierarchy.position[group]]].indices])
    return f"column '{column}' holds '{group}', a group ({where}); records need a leaf of it: {below}"


By: TypeAlias = Dimension | str | Sequence[Dimension | str | Sequence[str]] | Mapping[str, HierarchyLike | None]
"""The dimensions of a table: what `dimensions_of` takes."""


def dimensions_of(by: Any, hierarchies: Any, problems: Problems) -> tuple[Dimension, ...]:
    """Read what the caller gave as dimensions.

    Parameters
    ----------
    by : str, Dimension, sequence or mapping
        Column names, sequences of nested columns, or dimensions; or names with their hierarchies.
    hierarchies : mapping, optional
        By name of the dimension: what `hierarchy_of` takes.
    problems : Problems
        Notes everything that is wrong.

    Examples
    --------
    >>> (d,) = dimensions_of({"region": ["N", "S"]}, None, Problems())
    >>> d.name, d.codes
    ('region', ('Total', 'N', 'S'))
    """
    if hierarchies is not None and not isinstance(hierarchies, Mapping):
        problems.add(f"hierarchies must be given by name, such as {{'region': 'region.hrc'}}, not {hierarchies!r}")
        hierarchies = None
    given = dict(hierarchies or {})
    dimensions: list[Dimension] = []
    for entry, own in _entries(by, problems):
        try:
            dimension = entry if isinstance(entry, Dimension) else Dimension(entry)
            known = dimension.hierarchy
            for other in (own, given.pop(dimension.name, None)):
                if other is None:
                    continue
                wanted = hierarchy_of(dimension.name, other)
                if known is not None and (known.codes, known.parents.tolist()) != (
                    wanted.codes,
                    wanted.parents.tolist(),
                ):
                    raise InputError(f"dimension '{dimension.name}' is given two different hierarchies; give one")
                known = wanted
            dimensions.append(replace(dimension, hierarchy=known))
        except InputError as error:
            problems.found += error.problems
    names = [dimension.name for dimension in dimensions]
    if not names and not problems.found:
        problems.add("a table needs at least one dimension: by=['region']")
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        problems.add(f"dimension '{name}' is given more than once")
    for name in given:
        problems.add(f"hierarchies names '{name}', which is no dimension{did_you_mean(name, names)}")
    return tuple(dimensions)


def _entries(by: Any, problems: Problems) -> list[tuple[Any, Any]]:
    """Return every dimension that was asked for, and what was given as its hierarchy."""
    if isinstance(by, Mapping):
        return list(by.items())
    if isinstance(by, str | Dimension):
        return [(by, None)]
    if isinstance(by, Sequence):
        return [(entry, None) for entry in by]
    problems.add(f"by must name the columns of the dimensions, such as by=['region', 'size'], not {by!r}")
    return []
