"""What a specification asks for: its table, read from files, and its request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from tabprotect.errors import InputError, collect, did_you_mean
from tabprotect.methods.base.method import Method
from tabprotect.methods.base.options import read_options
from tabprotect.methods.recoding.method import Recode
from tabprotect.methods.registry import GRANULARITY, OPEN_CLASSES, VALUE_METHODS, entry, names
from tabprotect.methods.suppression import methods
from tabprotect.methods.suppression.method import Suppress
from tabprotect.release.earlier import Previous
from tabprotect.sensitivity.bounds import Bounds
from tabprotect.sensitivity.costs import parse_transform
from tabprotect.sensitivity.level import both_levels
from tabprotect.sensitivity.parse import rules_in
from tabprotect.solver.limits import Limits
from tabprotect.table.reading import File
from tabprotect.table.table import Table
from tabprotect.workflow.inputs import GIGABYTE, file_of, is_column, read_tables
from tabprotect.workflow.recode import recode_microdata
from tabprotect.workflow.records import microdata, numbers_of
from tabprotect.workflow.request import Request
from tabprotect.workflow.source import Source
from tabprotect.workflow.specification import Spec, each_table
from tabprotect.workflow.swap import ROLES

__all__ = ["DEFAULT_SECONDS", "Specified", "request_of"]

DEFAULT_SECONDS = 40.0
"""A search for values ends then unless the caller sets a limit of his own: proofs may take for ever."""

_COSTS = ("value", "unit", "count")


@dataclass(frozen=True, eq=False)
class Specified:
    """The table of a specification, or its linked tables.

    Attributes
    ----------
    spec : Spec
    base : Path
        What its paths are relative to.
    recoding : mapping
        Rules by column of the microdata.
    """

    spec: Spec
    base: Path
    recoding: Mapping[str, Any] = field(default_factory=dict)

    @property
    def data(self) -> File | None:
        """The file of the records of one table, and how it is written as far as the specification says."""
        return None if self.spec.data is None or self.spec.tables else file_of(self.spec, self.base)

    @property
    def roles(self) -> Mapping[str, Any] | None:
        """How records are tabulated; None without records of one table."""
        if self.data is None:
            return None
        roles = {name: getattr(self.spec, name) for name in (*ROLES, "empty") if name != "cost"}
        return {**roles, "both_levels": both_levels(self.spec.all_rules)}

    def table(self, top: int, memory: str | None) -> Table:
        """Read the table; every problem names the file."""
        return read_tables(self.spec, self.base, top, self.recoding)

    def records(self) -> pd.DataFrame:
        """Return the records as a frame."""
        frame = microdata(self.data, numbers_of(self.roles or {}))[0]
        return recode_microdata(frame, self.recoding) if self.recoding else frame

    def recoded(self, rules: Mapping[str, Any]) -> Source:
        """Return this with columns recoded by hand."""
        return replace(self, recoding=rules)

    def filled(self) -> Source:
        """Return this with empty cells that are zero, unless the specification says what they are."""
        if self.spec.empty is not None:
            return self
        return replace(self, spec=self.spec.model_copy(update={"empty": "zero"}))


def request_of(spec: Spec, base: Path, **other: Any) -> Request:
    """Return what a specification asks for; paths in it are relative to `base`.

    Parameters
    ----------
    spec : Spec
    base : Path
    **other
        Of `Request`, in the place of what the specification says.

    Raises
    ------
    InputError
        Unknown methods and options, values that they cannot have, settings that do not go with them.
    """
    method = _method_of(spec, base)
    memory = None if spec.limits.memory is None else int(GIGABYTE * spec.limits.memory)
    seconds = spec.limits.seconds
    if isinstance(method, Method) and seconds is None and spec.limits.work is None:
        seconds = DEFAULT_SECONDS
    same = ("levels", "singletons", "attackers", "unions", "protect_hidden", "seed", "intervals")
    given: dict[str, Any] = {
        **{name: getattr(spec, name) for name in same},
        "rules": rules_in(spec.all_rules, base),
        "source": Specified(spec, base),
        "method": method,
        "cost": spec.cost if spec.cost in _COSTS else None,
        "bounds": _bounds(spec),
        "previous": _previous(spec, base),
        "limits": Limits(seconds, spec.limits.work, spec.limits.gap, None, memory),
        "title": spec.output.title,
        "unit": _unit(spec),
        "source_line": spec.output.source,
        "separate_statuses": spec.output.separate_statuses,
        "decimals": spec.output.decimals,
        "allow_unsafe": spec.output.allow_unsafe,
    }
    return Request.of(**{**given, **other})


def _unit(spec: Spec) -> str:
    """Return the unit of the values; of linked tables with different ones, that of each."""
    units = {name: one.unit or "" for name, one in each_table(spec).items()} if spec.tables else {"": spec.unit or ""}
    if len(set(units.values())) == 1:
        return next(iter(units.values()))
    return "; ".join(f"{name}: {unit}" for name, unit in units.items() if unit)


def _previous(spec: Spec, base: Path) -> Previous | None:
    given = spec.previous
    return None if given is None else Previous(base / given.release, given.factor, given.keep, given.revision)


def _method_of(spec: Spec, base: Path) -> Suppress | Recode | Method:
    """Return how a specification protects, its options checked.

    Raises
    ------
    InputError
        Unknown methods and options, values that they cannot have, settings that do not go with them.
    """
    recodes = spec.method in names("recode")
    if spec.tables and (recodes or spec.method == "cell-key"):
        raise InputError(f"{spec.method} works on one table, and these are linked: {', '.join(spec.tables)}")
    if recodes:
        return _recode(spec, base)
    if spec.method not in VALUE_METHODS:
        known = names()
        if spec.method not in known:
            raise InputError(f"unknown method '{spec.method}'{did_you_mean(spec.method, known)}")
        if spec.options:
            given = ", ".join(spec.options)
            raise InputError(f"options ({given}) are for methods that change values; '{spec.method}' hides cells")
        return _hiding(spec, spec.method)
    shaped = [name for name in ("transform", "preferences") if getattr(spec, name)]
    if shaped:
        raise InputError(f"{', '.join(shaped)} belong to hiding cells; {spec.method} hides none")
    strange = [
        name
        for name, default in (("engine", "scip"), ("cost", "value"), ("random_costs", 0.0))
        if getattr(spec, name) != default
    ]
    if strange and spec.options.get("weights") != "problem":
        raise InputError(f"{', '.join(strange)} belong to hiding cells; {spec.method} hides none")
    chosen: Method = read_options(VALUE_METHODS[spec.method], spec.options)
    return chosen


def _recode(spec: Spec, base: Path) -> Recode:
    """Read the options of recoding; recodings by hand are applied when the data are read."""
    one = entry(spec.method)
    given = {name: _number_or_switch(value) for name, value in spec.options.items()}
    known = [option.name for option in one.options]
    with collect() as problems:
        for name in given:
            if name not in known:
                problems.add(f"'{name}' is no option of {one.name}{did_you_mean(name, known)}")
        least, keep = given.get("least", True), given.get("keep", {})
        rules, then = given.get("rules", {}), given.get("then", "auto")
        opened, granularity = given.get("open", []), given.get("granularity", 50.0)
        if not isinstance(least, bool):
            problems.add(f"{one.name}: least must be true or false, not {least!r}")
        if not isinstance(keep, dict) or not all(type(level) is int and level >= 0 for level in keep.values()):
            problems.add(f"{one.name}: keep must be a table of levels, such as keep = {{region = 1}}")
        if not isinstance(rules, dict) or not all(isinstance(file, str) for file in rules.values()):
            problems.add(f'{one.name}: rules must be a table of files, such as rules = {{age = "age.grc"}}')
        elif rules and spec.data is None:
            problems.add(f"{one.name}: recodings by hand need microdata (data = ...)")
        if then not in methods():
            guess = did_you_mean(then, methods())
            problems.add(f"{one.name}: then must be a method that hides cells, not {then!r}{guess}")
        if not isinstance(opened, str | dict) and not (
            isinstance(opened, list) and all(isinstance(name, str) for name in opened)
        ):
            problems.add(f'{one.name}: open must be dimensions, such as open = ["age"], not {opened!r}')
        elif opened and spec.data is None:
            problems.add(f"{one.name}: open classes need microdata (data = ...)")
        elif one.name == OPEN_CLASSES and not opened:
            problems.add(f'{one.name} needs the dimensions that get open classes: options.open, such as ["age"]')
        if not isinstance(granularity, int | float) or isinstance(granularity, bool) or not 0 < granularity <= 100:
            problems.add(f"{one.name}: granularity must be per cent, above 0 and at most 100, not {granularity!r}")
    made: dict[str, Any] = {name: given[name] for name in ("least", "keep") if name in given}
    if opened:
        made["open"] = [name.strip() for name in opened.split(",")] if isinstance(opened, str) else opened
    if "granularity" in given or one.name == GRANULARITY:
        made["granularity"] = float(granularity)
    found: Recode = one.factory(
        rules={name: base / file for name, file in rules.items()}, then=_hiding(spec, then), **made
    )
    return found


def _number_or_switch(given: Any) -> Any:
    """Return what a text of the command line says, where it is a number or a switch."""
    if not isinstance(given, str):
        return given
    try:
        return float(given)
    except ValueError:
        return {"true": True, "false": False}.get(given.lower(), given)


def _hiding(spec: Spec, method: str) -> Suppress:
    """Return how cells are hidden, and what that costs."""
    return Suppress(
        spec.cost if spec.cost in _COSTS else None,
        method,
        transform=None if spec.transform is None else parse_transform(spec.transform),
        preferences=spec.preferences or None,
        engine=spec.engine,
        random_costs=spec.random_costs,
    )


def _bounds(spec: Spec) -> Bounds | None:
    """Bounds that are no columns of a finished table (those are in the table already)."""
    sides = [None if is_column(side) else side for side in (spec.lower, spec.upper)]
    return None if sides == [None, None] else (sides[0], sides[1])
