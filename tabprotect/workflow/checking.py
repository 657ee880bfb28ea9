"""Reading and checking specifications as a whole: everything that is wrong is said at once."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from tabprotect.errors import InputError, did_you_mean
from tabprotect.formats.files import read_text
from tabprotect.workflow.specification import (
    BY_DIMENSION,
    INPUTS,
    SOURCES,
    STATED,
    CarriedSpec,
    HierarchySpec,
    LimitsSpec,
    OutputSpec,
    Spec,
    TableSpec,
)

__all__ = ["check_spec", "load_toml"]

_MICRODATA = ("contributor", "holding", "weight", "request", "waiver")
_FINISHED = (
    "count", "weighted_count", "maxima", "holders", "status", "lpl", "upl", "spl", "margins", "tolerance",
)  # fmt: skip
_MODELS: dict[str, type[BaseModel]] = {
    "limits": LimitsSpec, "output": OutputSpec, "hierarchy": HierarchySpec, "previous": CarriedSpec,
}  # fmt: skip


def load_toml(path: str | Path) -> dict[str, Any]:
    """Read a TOML file, unchecked.

    Raises
    ------
    InputError
        If it cannot be read, or where it is not TOML.
    """
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {error}") from error


def check_spec(content: Mapping[str, Any], name: str) -> Spec:
    """Return the specification, or raise one error with everything that is wrong in it."""
    lines = _together(content)
    ruleless = _ruleless(content)
    spec = None
    try:
        spec = Spec.model_validate(dict(content))
    except ValidationError as error:
        lines = [line for one in error.errors() for line in _explain(one)] + lines
    if spec is None or lines or ruleless:
        raise InputError(*(f"{name}: {line}" for line in dict.fromkeys([*ruleless, *lines])))
    return spec


def _together(content: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the keys taken together, however wrong their values are."""
    tables = content.get("tables", {})
    if not isinstance(tables, dict) or not all(isinstance(one, dict) for one in tables.values()):
        return []
    if not tables:
        alone = ["'unpublished' goes with linked tables (tables.NAME)"] if content.get("unpublished") else []
        return alone + _of_one(content)
    unused = [key for key in TableSpec.model_fields if key in content and _is_unused(key, tables)]
    idle = [f"'{key}' says nothing: every table has its own; take one or the other out" for key in unused]
    wrong = {name: _of_one(_filled_in(content, one)) for name, one in tables.items()}
    shared = [line for line in next(iter(wrong.values())) if all(line in lines for lines in wrong.values())]
    own = [f"tables.{name}: {line}" for name, lines in wrong.items() for line in lines if line not in shared]
    return idle + shared + own


def _is_unused(key: str, tables: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether no table takes a key from what all of them have in common."""
    if key in BY_DIMENSION:
        return False
    return all(key in one or (key in INPUTS and not one.keys().isdisjoint(INPUTS)) for one in tables.values())


def _ruleless(content: Mapping[str, Any]) -> list[str]:
    """Return a line where nothing says which cells are sensitive."""
    if any(content.get(key, []) != [] for key in ("rules", "holding_rules")):
        return []
    tables = content.get("tables")
    parts = [content, *(tables.values() if isinstance(tables, dict) else ())]
    if any(isinstance(one, Mapping) and not STATED.isdisjoint(one) for one in parts):
        return []
    if "rules" in content:
        return ["rules: should not be empty"]
    return ["'rules' is missing: Such as p%=15, nk=2,85, pq=10,50, threshold=3."]


def _filled_in(content: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a table says, and what it leaves to all tables; not the dimensions of the others."""
    left = {"tables"} if table.keys().isdisjoint(INPUTS) else {"tables", *INPUTS}
    filled = {**{key: given for key, given in content.items() if key not in left}, **table}
    by = [one.get("by", content.get("by")) for one in content["tables"].values()]
    anywhere = {name for names in by if isinstance(names, list) for name in names if isinstance(name, str)}
    mine = filled["by"] if isinstance(filled.get("by"), list) else []
    for key in BY_DIMENSION:
        shared, own = content.get(key, {}), table.get(key, {})
        if isinstance(shared, dict) and isinstance(own, dict):
            filled[key] = {name: one for name, one in shared.items() if name in mine or name not in anywhere} | own
    return filled


def _of_one(content: Mapping[str, Any]) -> list[str]:
    wrong: list[str] = [] if "by" in content else [f"'by' is missing: {Spec.model_fields['by'].description}"]
    if ("data" in content) == ("cells" in content):
        wrong.append("give either 'data' (microdata) or 'cells' (a finished table)")
    elif "data" in content:
        wrong += [
            f"'{k}' belongs to a finished table (cells = ...), not to microdata" for k in _FINISHED if k in content
        ]
    else:
        wrong += [
            f"'{k}' belongs to microdata (data = ...), not to a finished table" for k in _MICRODATA if k in content
        ]
    if "data" in content:
        for side in ("lower", "upper"):
            bound = content.get(side)
            if isinstance(bound, str) and not bound.strip().endswith("%"):
                wrong.append(f"{side}: '{bound}' is neither a number nor a percentage such as '50%'")
    if content.get("holding_rules") and "holding" not in content:
        wrong.append("'holding_rules' needs 'holding', the column of the group of a contributor (microdata)")
    by: list[Any] = content["by"] if isinstance(content.get("by"), list) else []
    for key in ("hierarchy", "total", "missing") if by else ():
        given = content.get(key)
        strange = [name for name in given if name not in by] if isinstance(given, dict) else []
        wrong += [f"{key}.{name}: no such dimension{did_you_mean(name, by)}" for name in strange]
    hierarchies = content.get("hierarchy")
    for name, one in hierarchies.items() if isinstance(hierarchies, dict) else ():
        sources = [k for k in SOURCES if k in one] if isinstance(one, dict) else ["file"]
        if len(sources) != 1:
            wrong.append(f"hierarchy.{name}: give exactly one of {', '.join(SOURCES)}")
        given = content.get("total")
        own, other = (
            place.get(key) if isinstance(place, dict) else None for place, key in ((one, "total"), (given, name))
        )
        if None not in (own, other) and own != other:
            wrong.append(f"hierarchy.{name}: its total is '{own}' here, and '{other}' in total.{name}")
    return wrong


def _explain(error: Any) -> list[str]:
    place = [str(part) for part in error["loc"]]
    where = ".".join(place)
    kind = error["type"]
    whole: type[BaseModel] = Spec
    if place[0] == "tables" and len(place) > 2:
        place, whole = place[2:], TableSpec
    model = _MODELS.get(place[0], whole) if len(place) > 1 else whole
    if kind == "extra_forbidden":
        elsewhere = _elsewhere(place[-1])
        meant = f"; did you mean '{elsewhere}'?" if elsewhere else did_you_mean(place[-1], model.model_fields)
        return [f"unknown key '{where}'{meant}"]
    if kind == "missing":
        return [f"'{where}' is missing: {model.model_fields[place[-1]].description}"]
    if kind == "parsed":
        return str(error["msg"]).split("\n")
    given = error["input"]
    if where == "method" and isinstance(given, dict):
        return [f"method: should be a text; options of a method are options={given!r}"]
    if kind == "literal_error":
        options = [word.strip("'") for word in str(error["ctx"]["expected"]).replace(" or ", ", ").split(", ")]
        return [f"{where}: '{given}' is not possible{did_you_mean(given, options)}"]
    if place[-1] in ("float", "str"):
        # both forms of a value that may be either
        return [f"{where.rpartition('.')[0]}: should be a number or a text, not {given!r}"]
    message = _WORDS.get(kind, str(error["msg"]))
    return [f"{where}: {message[:1].lower()}{message[1:]}, not {given!r}"]


def _elsewhere(name: str) -> str | None:
    """Return the key of this name in another table of the specification, options of methods included.

    Examples
    --------
    >>> _elsewhere("source"), _elsewhere("unit"), _elsewhere("base"), _elsewhere("sorce")
    ('output.source', 'unit', 'options.base', None)
    """
    from tabprotect.methods.registry import METHODS

    places: dict[str, type[BaseModel]] = {
        "": Spec,
        "limits.": LimitsSpec,
        "output.": OutputSpec,
        "previous.": CarriedSpec,
    }
    found = next((f"{place}{name}" for place, model in places.items() if name in model.model_fields), None)
    if found is None and any(name == option.name for one in METHODS.values() for option in one.options):
        return f"options.{name}"
    return found


_WORDS = {
    "too_short": "should not be empty",
    "model_type": "should be a table of keys",
    "dict_type": "should be a table of keys",
    "list_type": "should be a list",
    "string_type": "should be a text",
    "float_type": "should be a number",
    "int_type": "should be a whole number",
    "bool_type": "should be true or false",
}
