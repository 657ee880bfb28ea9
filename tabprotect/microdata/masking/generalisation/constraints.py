"""What classes of records with equal keys must satisfy beside their size: l-diversity and t-closeness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, Problems, collect, did_you_mean
from tabprotect.kinds import check_fields
from tabprotect.microdata.anonymity import (
    Distance,
    closeness,
    distinct_diversity,
    entropy_diversity,
    recursive_diversity,
    tree_distances,
)
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.records import Records

__all__ = ["Closeness", "Constraint", "Diversity", "Judge", "as_constraints"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Constraint:
    """What the values of a confidential column must satisfy in every class; missing ones are left out."""

    column: str

    @property
    def kept_by_merging(self) -> bool:
        """Whether a good class stays good when any other, even a bad one, is added."""
        return False

    def violated(self, counts: Floats, whole: Floats, tree: Any) -> Flags:
        """Return the classes that do not satisfy it, from counts of shape (classes, values)."""
        raise NotImplementedError

    def check(self, records: Records, problems: Problems) -> None:
        """Note what the records do not allow."""
        if self.column not in records.columns:
            problems.add(f"no column '{self.column}'{did_you_mean(self.column, records.columns)}")

    def to_dict(self) -> dict[str, Any]:
        """Return its parameters; JSON."""
        return dict(vars(self))

    def claim(self, keys: Sequence[str], records: Records, silent: Sequence[str]) -> Claim:
        """Return the claim that it holds; records that state none of the keys `silent` are in no class."""
        raise NotImplementedError


@dataclass(frozen=True)
class Diversity(Constraint):
    """l-diversity of a confidential column (Machanavajjhala et al. 2007).

    Parameters
    ----------
    column : str
    l : float
        'distinct': at least l different values; 'entropy': the exponential of the entropy is at least l; 'recursive': l
        is whole.
    kind : {'distinct', 'entropy', 'recursive'}
    c : float, optional
        'recursive': the commonest value is rarer than c times all from the l-th on.

    Examples
    --------
    >>> Diversity("disease", 2).violated(np.array([[2.0, 1.0], [3.0, 0.0]]), np.array([5.0, 1.0]), None)
    array([False,  True])
    """

    l: float
    kind: Literal["distinct", "entropy", "recursive"] = "distinct"
    c: float | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        with collect() as problems:
            if self.kind not in ("distinct", "entropy", "recursive"):
                problems.add(
                    f"diversity cannot be {self.kind!r}{did_you_mean(self.kind, ('distinct', 'entropy', 'recursive'))}"
                )
            whole = self.kind != "entropy"
            number = isinstance(self.l, int | float) and not isinstance(self.l, bool)
            if not number or self.l < 1 or (whole and not float(self.l).is_integer()):
                problems.add(
                    f"l of l-diversity must be a {'whole ' if whole else ''}number of at least 1, not {self.l!r}"
                )
            if (self.kind == "recursive") != (self.c is not None):
                problems.add("c belongs to recursive diversity, and recursive diversity needs it")
            elif self.c is not None and not (isinstance(self.c, int | float) and self.c > 0):
                problems.add(f"c of recursive diversity must be above 0, not {self.c!r}")

    def check(self, records: Records, problems: Problems) -> None:
        """Note a column with fewer values than every class must have."""
        super().check(records, problems)
        if self.column in records.columns:
            there = len(records.categories(self.column).values)
            if there < self.l:
                problems.add(f"column '{self.column}' has {there} values; no class can reach l = {self.l:g}")

    @property
    def kept_by_merging(self) -> bool:
        """Distinct values are not lost by merging."""
        return self.kind == "distinct"

    def violated(self, counts: Floats, whole: Floats, tree: Any) -> Flags:
        """Return the classes that are not diverse enough."""
        if self.kind == "recursive":
            assert self.c is not None
            return np.asarray(recursive_diversity(counts, int(self.l)) >= self.c)
        if self.kind == "entropy":
            return np.asarray(entropy_diversity(counts) < self.l * (1 - 1e-12))
        return np.asarray(distinct_diversity(counts) < self.l)

    def claim(self, keys: Sequence[str], records: Records, silent: Sequence[str]) -> Claim:
        """Return the claim of l-diversity."""
        given = {
            "keys": list(keys),
            "column": self.column,
            "kind": self.kind,
            "l": self.l,
            "c": self.c,
            "silent": list(silent),
        }
        if self.kind == "recursive":
            given["l"] = int(self.l)
        bound = f"({self.c:g}, {self.l:g})" if self.c is not None else f"{self.l:g}"
        text = f"'{self.column}' is {self.kind} {bound}-diverse in every class of {', '.join(keys)}"
        return Claim("diversity", (*keys, self.column), text, given)


@dataclass(frozen=True)
class Closeness(Constraint):
    """t-closeness of a confidential column (Li et al. 2007).

    Parameters
    ----------
    column : str
    t : float
        From 0 to 1: how far the values of a class may be from those of the whole file.
    distance : {'equal', 'ordered', 'hierarchical'}
        See `anonymity.closeness`; hierarchical distances take the tree of the schema.
    """

    t: float
    distance: Distance = "equal"

    def __post_init__(self) -> None:
        check_fields(self)
        with collect() as problems:
            if isinstance(self.t, bool) or not isinstance(self.t, int | float) or not 0 < self.t <= 1:
                problems.add(f"t of t-closeness must be above 0 and at most 1, not {self.t!r}")
            words = ("equal", "ordered", "hierarchical")
            if self.distance not in words:
                problems.add(
                    f"the distance of t-closeness cannot be {self.distance!r}{did_you_mean(self.distance, words)}"
                )

    def violated(self, counts: Floats, whole: Floats, tree: Any) -> Flags:
        """Return the classes that are too far from the whole."""
        return np.asarray(closeness(counts, whole, self.distance, tree) > self.t * (1 + 1e-12))

    def check(self, records: Records, problems: Problems) -> None:
        """Note what the records do not allow."""
        super().check(records, problems)
        if self.distance == "hierarchical" and self.column not in records.schema.hierarchies:
            problems.add(f"the hierarchical distance needs a hierarchy of '{self.column}' in the schema")

    def claim(self, keys: Sequence[str], records: Records, silent: Sequence[str]) -> Claim:
        """Return the claim of t-closeness."""
        given: dict[str, Any] = {
            "keys": list(keys), "column": self.column, "t": self.t, "distance": self.distance, "silent": list(silent)
        }  # fmt: skip
        if self.distance == "hierarchical":
            given["tree"] = [[parent, list(parts)] for parent, parts in records.schema.hierarchies[self.column].splits]
        text = f"'{self.column}' is {self.t:g}-close ({self.distance}) to the file in every class of {', '.join(keys)}"
        return Claim("closeness", (*keys, self.column), text, given)


class Judge:
    """Classes judged by size and constraints.

    Parameters
    ----------
    records : Records
    k : int
    constraints : sequence of Constraint
    """

    def __init__(self, records: Records, k: int, constraints: Sequence[Constraint]) -> None:
        self.k, self.constraints = k, tuple(constraints)
        self.values, self.trees, self.sizes = [], [], []
        for one in self.constraints:
            found = records.categories(one.column)
            self.values.append(found.index)
            self.sizes.append(len(found.values))
            tree = None
            if isinstance(one, Closeness) and one.distance == "hierarchical":
                tree = tree_distances(found.values, records.schema.hierarchies[one.column])
            self.trees.append(tree)
        self.whole = [
            np.bincount(v[v >= 0], minlength=size).astype(np.float64)
            for v, size in zip(self.values, self.sizes, strict=True)
        ]

    def surely_bad(self, sizes: Floats, counts: Sequence[Floats]) -> Flags:
        """Return the classes that fail what stays true when classes are merged: records in them only get fewer."""
        found = np.asarray(sizes < self.k)
        for one, table, whole, tree in zip(self.constraints, counts, self.whole, self.trees, strict=True):
            if one.kept_by_merging:
                found = found | one.violated(table, whole, tree)
        return found

    def bad(self, sizes: Floats, counts: Sequence[Floats], *, leave_out: bool) -> Flags:
        """Return the classes that are too small or violate a constraint.

        Parameters
        ----------
        sizes : ndarray, shape (classes,)
        counts : sequence of ndarray, shape (classes, values)
            One for each constraint.
        leave_out : bool
            Bad classes are not released: the whole file that classes are compared with is without them.
        """
        found = np.asarray(sizes < self.k)
        while True:
            now = found.copy()
            for one, table, whole, tree in zip(self.constraints, counts, self.whole, self.trees, strict=True):
                base = table[~found].sum(axis=0) if leave_out else whole
                now |= one.violated(table, base, tree)
            if not leave_out or (now == found).all():
                return now
            found = now


def as_constraints(given: Any) -> tuple[Constraint, ...]:
    """Return constraints: one or several, or tables of a specification.

    Examples
    --------
    >>> as_constraints([{"column": "disease", "l": 3}, {"column": "income", "t": 0.2, "distance": "ordered"}])
    (Diversity(column='disease', l=3, kind='distinct', c=None), Closeness(column='income', t=0.2, distance='ordered'))
    """
    if given is not None and (isinstance(given, str) or not isinstance(given, Constraint | Mapping | Sequence)):
        raise InputError(f"constraints must be a list of md.Diversity and md.Closeness, not {type(given).__name__}")
    several = [given] if isinstance(given, Constraint | Mapping) else list(given or ())
    found: list[Constraint] = []
    for one in several:
        if isinstance(one, Constraint):
            found.append(one)
        elif isinstance(one, Mapping) and ("l" in one) != ("t" in one):
            try:
                found.append(Diversity(**one) if "l" in one else Closeness(**one))
            except TypeError as error:
                raise InputError(f"a constraint does not take this: {error}") from None
        else:
            raise InputError(
                f"a constraint is md.Diversity or md.Closeness, or a table with column and l or t, not {one!r}"
            )
    return tuple(found)
