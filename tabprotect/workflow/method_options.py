"""Which method a specification asks for, with its options."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tabprotect.errors import InputError, Problems, did_you_mean
from tabprotect.methods.base.method import Method
from tabprotect.methods.base.options import read_options
from tabprotect.methods.recoding.method import Recode
from tabprotect.methods.registry import GRANULARITY, OPEN_CLASSES, VALUE_METHODS, entry, names, unknown_method
from tabprotect.methods.suppression import methods
from tabprotect.methods.suppression.method import Suppress
from tabprotect.sensitivity.costs import parse_transform
from tabprotect.workflow.specification import Spec

__all__ = ["cost_of", "hiding", "method_of"]

_COSTS = ("value", "unit", "count")


def cost_of(spec: Spec) -> str | None:
    """Return the cost of hiding that a specification asks for by name; None where it is a column of the data."""
    return spec.cost if spec.cost in _COSTS else None


def method_of(spec: Spec, base: Path) -> Suppress | Recode | Method:
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
            raise InputError(unknown_method(spec.method, known))
        if spec.options:
            given = ", ".join(spec.options)
            raise InputError(f"options ({given}) are for methods that change values; '{spec.method}' hides cells")
        return hiding(spec, spec.method)
    shaped = [name for name in ("transform", "preferences") if getattr(spec, name)]
    if shaped:
        raise InputError(f"only for hiding cells, and {spec.method} hides none: {', '.join(shaped)}")
    strange = [
        name
        for name, default in (("engine", "scip"), ("cost", "value"), ("random_costs", 0.0))
        if getattr(spec, name) != default
    ]
    if strange and spec.options.get("weights") != "problem":
        raise InputError(f"only for hiding cells, and {spec.method} hides none: {', '.join(strange)}")
    chosen: Method = read_options(VALUE_METHODS[spec.method], spec.options)
    return chosen


def _recode(spec: Spec, base: Path) -> Recode:
    """Read the options of recoding; recodings by hand are applied when the data are read."""
    one = entry(spec.method)
    given = {name: _number_or_switch(value) for name, value in spec.options.items()}
    found = Problems()
    known = [option.name for option in one.options]
    for name in given:
        if name not in known:
            found.add(f"'{name}' is no option of {one.name}{did_you_mean(name, known)}")
    made = {
        **_rolled_up(given, found),
        **_from_files(given, base, found),
        **_opened(given, one.name, found),
        **_granularity(given, one.name, found),
    }
    if spec.data is None:
        for name, what in _OF_RECORDS.items():
            if made.get(name):
                found.add(f"{what} microdata (data = ...)")
    then = given.get("then", "auto")
    if then not in methods():
        found.add(f"then must be a method that hides cells, not {then!r}{did_you_mean(then, methods())}")
    if found.found:
        raise InputError(*(f"{one.name}: {problem}" for problem in found.found))
    recode: Recode = one.factory(then=hiding(spec, then), **made)
    return recode


_OF_RECORDS = {
    "rules": "recodings by hand need",
    "open": "open classes need",
    "groupings": "groupings need",
}


def _rolled_up(given: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
    least, keep = given.get("least", True), given.get("keep", {})
    if not isinstance(least, bool):
        problems.add(f"least must be true or false, not {least!r}")
    if not isinstance(keep, dict) or not all(type(level) is int and level >= 0 for level in keep.values()):
        problems.add("keep must be a table of levels, such as options={'keep': {'region': 1}}")
    return {name: given[name] for name in ("least", "keep") if name in given}


def _from_files(given: Mapping[str, Any], base: Path, problems: Problems) -> dict[str, Any]:
    rules, groupings = given.get("rules", {}), given.get("groupings", {})
    if not _files(rules):
        problems.add("rules must be a table of files, such as options={'rules': {'age': 'age.grc'}}")
        rules = {}
    if not isinstance(groupings, dict) or not all(files and _files(files) for files in groupings.values()):
        shape = "options={'groupings': {'age': {'five': 'five.grc', 'ten': 'ten.grc'}}}"
        problems.add(f"groupings must be tables of files by dimension, such as {shape}")
        groupings = {}
    return {
        "rules": {name: base / file for name, file in rules.items()},
        "groupings": {name: {which: base / file for which, file in files.items()} for name, files in groupings.items()},
    }


def _files(given: Any) -> bool:
    return isinstance(given, dict) and all(isinstance(file, str) for file in given.values())


def _opened(given: Mapping[str, Any], method: str, problems: Problems) -> dict[str, Any]:
    opened = given.get("open", [])
    if isinstance(opened, str):
        opened = [name.strip() for name in opened.split(",")]
    if not isinstance(opened, dict) and not (
        isinstance(opened, list) and all(isinstance(name, str) for name in opened)
    ):
        problems.add(f"open must be dimensions, such as options={{'open': ['age']}}, not {opened!r}")
    elif method == OPEN_CLASSES and not opened:
        problems.add("needs the dimensions that get open classes, such as options={'open': ['age']}")
    return {"open": opened} if opened else {}


def _granularity(given: Mapping[str, Any], method: str, problems: Problems) -> dict[str, Any]:
    value = given.get("granularity", 50.0)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= 100:
        problems.add(f"granularity must be per cent, above 0 and at most 100, not {value!r}")
        return {}
    return {"granularity": float(value)} if "granularity" in given or method == GRANULARITY else {}


def _number_or_switch(given: Any) -> Any:
    """Return what a text of the command line says, where it is a number or a switch."""
    if not isinstance(given, str):
        return given
    try:
        return float(given)
    except ValueError:
        return {"true": True, "false": False}.get(given.lower(), given)


def hiding(spec: Spec, method: str) -> Suppress:
    """Return how cells are hidden by a method, and what a specification says that costs."""
    return Suppress(
        cost_of(spec),
        method,
        transform=None if spec.transform is None else parse_transform(spec.transform),
        preferences=spec.preferences or None,
        engine=spec.engine,
        random_costs=spec.random_costs,
    )
