"""What a data owner declares once: the privacy unit, public and confidential columns, keys, rules."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from tabprotect.errors import InputError, Problems, did_you_mean
from tabprotect.kinds import check_fields, of_kinds
from tabprotect.query.audit.auditor import WORK
from tabprotect.query.audit.measures import measures
from tabprotect.query.guard.views import keyed_view

__all__ = ["Field", "Policy", "TablePolicy"]


@dataclass(frozen=True)
class Field:
    """A confidential column.

    Parameters
    ----------
    lower, upper : float
        Bounds that everybody knows.
    """

    lower: float = 0.0
    upper: float = math.inf

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class TablePolicy:
    """One table of the database.

    Parameters
    ----------
    key : str
        Column that identifies a row.
    public : tuple of str
        Columns that may stand in conditions and groups: the intruder is taken to know them for every row.
    confidential : mapping of str to Field
        Columns that may be summed and averaged. All other columns are out of reach.
    joins : mapping of str to str
        Foreign keys: column of this table -> "table.column", the key of the other one.
    """

    key: str
    public: tuple[str, ...] = ()
    confidential: Mapping[str, Field] = field(default_factory=dict)
    joins: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class Policy:
    """What may be asked, and what is protected.

    Parameters
    ----------
    unit : str
        "table.column" that names the person, enterprise or holding. Every table with confidential columns must reach
        that table by its joins.
    tables : mapping of str to TablePolicy
    rules : str
        As `tabprotect.sensitivity.parse_rules` reads them: threshold, nk, p%, pq.
    minimum_units : int
        Every answer stands for at least so many units, and no count of fewer can be inferred.
    pooled : bool
        All users are taken to share their answers (the safe default); otherwise every group has an account.
    groups : mapping of str to str
        User -> group that shares its answers; who is not named is a group of one. Only without `pooled`.
    prepared : tuple of str
        Simulatable mode: grouped queries whose published sums are the only basis of answers about confidential columns.
    intruders : mapping of str to mapping of str to sequence
        Who knows rows already: name -> table -> keys.
    work : int
        Simplex iterations for one decision.
    pace : float
        Answers and denials leave at multiples of so many seconds, so that their time says little; 0 for at once.

    Raises
    ------
    InputError
        Names everything that does not fit together.

    Examples
    --------
    >>> p = Policy("emp.id", {"emp": TablePolicy("id", ("dep",), {"salary": Field()})}, "nk=2,85", 3)
    >>> p.path_to_unit("emp")
    ()
    >>> Policy("emp.id", {"emp": TablePolicy("id", ("dep",), {"dep": Field()})}, "nk=2,85", 3)
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: policy: column 'dep' of table 'emp' is both public and confidential
    """

    unit: str
    tables: Mapping[str, TablePolicy]
    rules: str
    minimum_units: int
    pooled: bool = True
    groups: Mapping[str, str] = field(default_factory=dict)
    prepared: tuple[str, ...] = ()
    intruders: Mapping[str, Mapping[str, Sequence[Any]]] = field(default_factory=dict)
    work: int = WORK
    pace: float = 0.0

    def __post_init__(self) -> None:
        check_fields(self)
        problems = Problems()
        for name, value in (("minimum_units", self.minimum_units), ("work", self.work)):
            if value < 1:
                problems.add(f"policy: {name} must be a whole number of at least 1, not {value!r}")
        if not 0 <= self.pace < math.inf:
            problems.add(f"policy: pace must be a number of seconds, not {self.pace!r}")
        if self.pooled and self.groups:
            problems.add("policy: groups need pooled = false; with pooled = true all users share one account")
        try:
            measures(self.rules)
        except InputError as error:
            problems.found.extend(f"policy: {problem}" for problem in error.problems)
        for name, table in self.tables.items():
            self._check_table(problems, name, table)
        for name, known in self.intruders.items():
            for other in known:
                if other not in self.tables:
                    problems.add(f"policy: intruder '{name}' knows rows of '{other}'{did_you_mean(other, self.tables)}")
        home, _, column = self.unit.partition(".")
        if home not in self.tables or not column:
            problems.add(f"policy: unit must be 'table.column', not '{self.unit}'{did_you_mean(home, self.tables)}")
        problems.raise_if_any()
        for name in self.tables:
            if self.tables[name].confidential and self.path_to_unit(name) is None:
                problems.add(f"policy: table '{name}' has confidential columns but no joins that lead to {self.unit}")
        problems.raise_if_any()

    def _check_table(self, problems: Problems, name: str, table: TablePolicy) -> None:
        for column in table.confidential:
            if column in table.public:
                problems.add(f"policy: column '{column}' of table '{name}' is both public and confidential")
        if table.key in table.confidential:
            problems.add(f"policy: the key '{table.key}' of table '{name}' cannot be confidential")
        for column, bounds in table.confidential.items():
            if not bounds.lower <= bounds.upper:
                problems.add(f"policy: column '{column}' of table '{name}': lower is above upper")
        for column, other in table.joins.items():
            target, _, key = other.partition(".")
            if target not in self.tables:
                problems.add(f"policy: {name}.{column} joins '{other}'{did_you_mean(target, self.tables)}")
            elif self.tables[target].key != key:
                problems.add(
                    f"policy: {name}.{column} must join the key {target}.{self.tables[target].key}, not {other}"
                )
            elif column in table.confidential:
                problems.add(f"policy: {name}.{column} is confidential and so no key to join along")

    def path_to_unit(self, table: str) -> tuple[tuple[str, str, str, str], ...] | None:
        """Return the joins (table, column, other table, its key) from a table to that of the unit, or None."""
        goal = self.unit.partition(".")[0]
        paths: list[tuple[str, tuple[tuple[str, str, str, str], ...]]] = [(table, ())]
        seen = {table}
        while paths:
            here, path = paths.pop(0)
            if here == goal:
                return path
            for column, other in self.tables[here].joins.items():
                target, _, key = other.partition(".")
                if target not in seen:
                    seen.add(target)
                    paths.append((target, (*path, (here, column, target, key))))
        return None

    def account(self, user: str) -> str:
        """Return whose answers count together with those of a user."""
        if self.pooled:
            return "everybody"
        return f"group {self.groups[user]}" if user in self.groups else f"user {user}"

    @classmethod
    @of_kinds()
    def read(cls, path: str | Path) -> Policy:
        """Read a policy from a TOML file.

        Raises
        ------
        InputError
            The file is missing or no TOML, has unknown entries, or `Policy` refuses it.
        """
        try:
            content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"policy {path}: {error.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(f"policy {path}: {error}") from None
        return cls.of(content, str(path))

    @classmethod
    @of_kinds()
    def of(cls, content: Mapping[str, Any], where: str = "policy") -> Policy:
        """Make a policy of plain mappings, as TOML holds them."""
        problems = Problems()
        known = {f.name for f in fields(cls)}
        for name in content:
            if name not in known:
                problems.add(f"{where}: unknown entry '{name}'{did_you_mean(name, known)}")
        problems.found.extend(
            f"{where}: {n} is missing" for n in ("unit", "tables", "rules", "minimum_units") if n not in content
        )
        given = content.get("tables", {})
        tables = {}
        if not isinstance(given, Mapping):
            problems.add(f"{where}: tables must be a table of tables")
        else:
            tables = {name: _table(problems, where, name, entry) for name, entry in given.items()}
        for name, kind in (
            ("unit", str),
            ("rules", str),
            ("pooled", bool),
            ("groups", Mapping),
            ("prepared", list),
            ("intruders", Mapping),
        ):
            if name in content and not isinstance(content[name], kind):
                problems.add(f"{where}: {name} has a value of the wrong type, {content[name]!r}")
        problems.raise_if_any()
        rest = {name: value for name, value in content.items() if name != "tables"}
        rest["prepared"] = tuple(content.get("prepared", ()))
        return cls(tables=tables, **rest)


def _table(problems: Problems, where: str, name: str, entry: Any) -> TablePolicy:
    known = {f.name for f in fields(TablePolicy)}
    if not isinstance(entry, Mapping):
        problems.add(f"{where}: table '{name}' must have entries such as key = \"id\"")
        return TablePolicy("")
    for key in entry:
        if key not in known:
            problems.add(f"{where}: table '{name}': unknown entry '{key}'{did_you_mean(key, known)}")
    given = entry.get("key")
    if isinstance(given, list | tuple) and given and all(isinstance(c, str) for c in given):
        problems.add(
            f"{where}: table '{name}': a key is one column; open a view that makes these one, and name its column row "
            f"as the key: {keyed_view(name, given)}"
        )
    elif not isinstance(given, str):
        problems.add(f"{where}: table '{name}': key is missing; name the column that identifies a row")
    fields_ = {}
    for column, bounds in dict(entry.get("confidential", {})).items():
        if not isinstance(bounds, Mapping) or not set(bounds) <= {"lower", "upper"}:
            problems.add(
                f"{where}: {name}.{column} needs {{ lower = ..., upper = ... }}, each of which may be left out"
            )
        elif not all(isinstance(b, int | float) and not isinstance(b, bool) for b in bounds.values()):
            problems.add(f"{where}: {name}.{column}: bounds must be numbers")
        else:
            fields_[column] = Field(**bounds)
    return TablePolicy(str(entry.get("key", "")), tuple(entry.get("public", ())), fields_, dict(entry.get("joins", {})))
