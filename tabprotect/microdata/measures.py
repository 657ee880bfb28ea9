"""Measures of risk by name, as a specification asks for them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabprotect.errors import InputError, Problems, did_you_mean
from tabprotect.microdata import risk
from tabprotect.microdata.risk.base import Measure
from tabprotect.microdata.specification import MaskSpec, read_mask_spec

__all__ = ["Wanted", "measure_file", "read_measures", "risk_measures"]


@dataclass(frozen=True)
class Wanted:
    """What a specification asks for.

    Attributes
    ----------
    spec : MaskSpec
        Data and schema.
    masked : Path or None
    measures : tuple of (str, mapping)
        Names and options.
    """

    spec: MaskSpec
    masked: Path | None
    measures: tuple[tuple[str, Mapping[str, Any]], ...]


def risk_measures() -> dict[str, Callable[..., Measure]]:
    """Return every measure of risk by its name in specifications.

    Examples
    --------
    >>> "individual-risk" in risk_measures()
    True
    """
    found: dict[str, Callable[..., Measure]] = {}
    for name in risk.__all__:
        function = getattr(risk, name)
        if inspect.isfunction(function) and list(inspect.signature(function).parameters)[:1] == ["original"]:
            found[name.replace("_", "-")] = function
    return found


def read_measures(content: Mapping[str, Any], base: Path) -> Wanted:
    """Check a specification; paths in it are relative to `base`.

    Raises
    ------
    InputError
        Everything that is wrong with it.

    Examples
    --------
    >>> read_measures({"data": "p.csv", "measures": [{"measure": "suda"}]}, Path()).measures
    (('suda', {}),)
    """
    problems = Problems()
    known = risk_measures()
    given = content.get("measures")
    measures: list[tuple[str, Mapping[str, Any]]] = []
    if not isinstance(given, list) or not given:
        problems.add("'measures' are missing: one [[measures]] table for every measure, such as measure = 'suda'")
        given = []
    for i, one in enumerate(given):
        name = one.get("measure") if isinstance(one, Mapping) else None
        if name not in known:
            problems.add(f"measure {i + 1}: there is no measure {name!r}{did_you_mean(name, known)}")
            continue
        options = {key: value for key, value in one.items() if key != "measure"}
        allowed = [p for p in inspect.signature(known[name]).parameters if p not in ("original", "masked", "schema")]
        for key in options:
            if key not in allowed:
                problems.add(f"measure {i + 1} ({name}): '{key}' is no option of it{did_you_mean(key, allowed)}")
        measures.append((name, options))
    masked = content.get("masked")
    if masked is not None and not isinstance(masked, str):
        problems.add(f"masked must be the path of a file, not {masked!r}")
    rest = {key: value for key, value in content.items() if key not in ("measures", "masked")}
    try:
        spec = read_mask_spec(rest, base, steps=False)
    except InputError as error:
        raise InputError(*problems.found, *error.problems) from error
    problems.raise_if_any()
    return Wanted(spec, None if masked is None else base / masked, tuple(measures))


def measure_file(wanted: Wanted) -> tuple[Measure, ...]:
    """Carry out the measures in their order."""
    known = risk_measures()
    found = []
    for name, options in wanted.measures:
        masked = None if wanted.masked is None else str(wanted.masked)
        needs = inspect.signature(known[name]).parameters["masked"].default is inspect.Parameter.empty
        if needs and masked is None:
            raise InputError(f"{name} compares with a masked file; give masked = 'FILE'")
        found.append(known[name](str(wanted.spec.data), masked, wanted.spec.schema, **options))
    return tuple(found)
