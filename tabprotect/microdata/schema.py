"""What the columns of a microdata file are: roles, scales, orders and value trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tabprotect.errors import InputError, Problems, collect, did_you_mean
from tabprotect.microdata.scales import Scale
from tabprotect.table.hierarchy.given import hierarchy_of

__all__ = ["Schema"]


@dataclass(frozen=True)
class Schema:
    """Roles and scales of the columns of a microdata file.

    A column without a role is released as it is ("other"). A column may be a key and a stratum, or a key and
    confidential; an identifier, the weight and the household have no other role.

    Parameters
    ----------
    keys : sequence of str
        Quasi-identifiers: what an intruder may know of a respondent.
    confidential : sequence of str
        What an intruder wants to learn.
    identifiers : sequence of str
        Names, numbers and the like; they never leave the house.
    weight : str, optional
        Sampling weight, above 0.
    household : str, optional
        Number of the household (or another cluster of records).
    strata : sequence of str
        Methods work within each combination of these.
    hierarchies : mapping of str to Hierarchy, path, mapping or sequence of str
        Value trees of columns; these are partially ordered then. Given as for tables: the path of an indented code
        list (.hrc), a mapping of every code to the one above it, or a list of codes, too.
    orders : mapping of str to sequence
        Categories of ordered columns, the lowest first.
    scales : mapping of str to Scale or str
        Where the type of a column says something else than its meaning, such as numbers that are codes.

    Raises
    ------
    InputError
        Names everything that contradicts itself.

    Examples
    --------
    >>> schema = Schema(keys=["region", "age"], confidential=["income"], identifiers=["id"], weight="w")
    >>> schema.role("age"), schema.role("comment")
    ('key', 'other')
    >>> Schema(keys=["age", "id"], identifiers=["id"])
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: column 'id' is an identifier and cannot be among the keys, too
    """

    keys: Sequence[str] = ()
    confidential: Sequence[str] = ()
    identifiers: Sequence[str] = ()
    weight: str | None = None
    household: str | None = None
    strata: Sequence[str] = ()
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    orders: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    scales: Mapping[str, Scale | str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        with collect() as problems:
            for name in ("keys", "confidential", "identifiers", "strata"):
                object.__setattr__(self, name, _names(name, getattr(self, name), problems))
            for name in ("weight", "household"):
                if not isinstance(getattr(self, name), str | None):
                    problems.add(f"schema: {name} must be the name of one column, not {getattr(self, name)!r}")
            for name in ("hierarchies", "orders", "scales"):
                if not isinstance(getattr(self, name), Mapping):
                    problems.add(f"schema: {name} must map columns to what belongs to them")
        with collect() as problems:
            self._check_roles(problems)
            self._check_scales(problems)
        object.__setattr__(self, "orders", {name: tuple(values) for name, values in self.orders.items()})

    def _check_roles(self, problems: Problems) -> None:
        several = {"keys": self.keys, "confidential columns": self.confidential, "strata": self.strata}
        alone = dict.fromkeys(self.identifiers, "an identifier")
        for column, what in ((self.weight, "the weight"), (self.household, "the household")):
            if column is None:
                continue
            if column in alone:
                problems.add(f"column '{column}' is {alone[column]} and cannot be {what}, too")
            alone[column] = what
        for column, what in alone.items():
            for role, names in several.items():
                if column in names:
                    problems.add(f"column '{column}' is {what} and cannot be among the {role}, too")

    def _check_scales(self, problems: Problems) -> None:
        words = [scale.value for scale in Scale]
        found = {}
        for column, given in self.scales.items():
            if given not in words:
                problems.add(f"schema: the scale of '{column}' cannot be {given!r}{did_you_mean(given, words)}")
            else:
                found[column] = Scale(given)
        trees = {}
        for column, tree in self.hierarchies.items():
            try:
                trees[column] = hierarchy_of(column, tree)
            except InputError as error:
                problems.found += [f"schema: {problem}" for problem in error.problems]
            if column in self.orders:
                problems.add(f"schema: column '{column}' has an order and a hierarchy; give one of them")
        object.__setattr__(self, "hierarchies", trees)
        for column, values in self.orders.items():
            if isinstance(values, str) or not isinstance(values, Sequence) or not _different(values):
                problems.add(f"schema: the order of '{column}' must list every category once, the lowest first")
        for column in self.orders:
            if found.get(column, Scale.ORDERED) != Scale.ORDERED:
                problems.add(
                    f"schema: column '{column}' has an order, and the scale '{found[column]}'; give one of them"
                )
        object.__setattr__(self, "scales", found)

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that the schema names, once."""
        single = [name for name in (self.weight, self.household) if name is not None]
        named = (*self.keys, *self.confidential, *self.identifiers, *single, *self.strata)
        return tuple(dict.fromkeys((*named, *self.hierarchies, *self.orders, *self.scales)))

    def role(self, column: str) -> str:
        """Return 'identifier', 'weight', 'household', 'key', 'confidential', 'stratum' or 'other'."""
        for role, names in (
            ("identifier", self.identifiers),
            ("weight", (self.weight,)),
            ("household", (self.household,)),
            ("key", self.keys),
            ("confidential", self.confidential),
            ("stratum", self.strata),
        ):
            if column in names:
                return role
        return "other"

    def only(self, columns: Sequence[str]) -> Schema:
        """Return what the schema says of some columns."""
        return Schema(
            [n for n in self.keys if n in columns],
            [n for n in self.confidential if n in columns],
            [n for n in self.identifiers if n in columns],
            self.weight if self.weight in columns else None,
            self.household if self.household in columns else None,
            [n for n in self.strata if n in columns],
            {n: tree for n, tree in self.hierarchies.items() if n in columns},
            {n: order for n, order in self.orders.items() if n in columns},
            {n: scale for n, scale in self.scales.items() if n in columns},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what the internal files say of the schema; JSON."""
        return {
            "keys": list(self.keys),
            "confidential": list(self.confidential),
            "identifiers": list(self.identifiers),
            "weight": self.weight,
            "household": self.household,
            "strata": list(self.strata),
            "hierarchies": {name: [list(split) for split in tree.splits] for name, tree in self.hierarchies.items()},
            "orders": {name: [str(value) for value in values] for name, values in self.orders.items()},
            "scales": {name: str(scale) for name, scale in self.scales.items()},
        }


def _different(values: Sequence[Any]) -> bool:
    """Return whether all values differ; lists and the like are no values."""
    try:
        return len(set(values)) == len(values)
    except TypeError:
        return False


def _names(what: str, given: Any, problems: Problems) -> tuple[str, ...]:
    """Return a list of columns; note what is none."""
    if isinstance(given, str) or not isinstance(given, Sequence) or not all(isinstance(n, str) for n in given):
        problems.add(f"schema: {what} must be a list of columns, such as {what}=['{given}']")
        return ()
    twice = sorted({name for name in given if list(given).count(name) > 1})
    if twice:
        problems.add(f"schema: {what} name {', '.join(twice)} twice")
    return tuple(dict.fromkeys(given))


def require(schema: Schema | None) -> Schema:
    """Return a schema, an empty one by default."""
    if schema is None:
        return Schema()
    if not isinstance(schema, Schema):
        raise InputError(f"schema must be a Schema, not {type(schema).__name__}")
    return schema
