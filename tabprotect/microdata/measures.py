"""Measures of risk by name, as a specification asks for them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from tabprotect.errors import InputError, Problems, did_you_mean
from tabprotect.formats.folder import read_manifest
from tabprotect.microdata import risk
from tabprotect.microdata.mask import mask
from tabprotect.microdata.masked import Masked
from tabprotect.microdata.records import Records, read_records
from tabprotect.microdata.risk.base import Measure
from tabprotect.microdata.risk.transparency import TransparencyRisk
from tabprotect.microdata.schema import Schema
from tabprotect.microdata.specification import MaskSpec, read_mask_spec
from tabprotect.table.reading import File

__all__ = ["Wanted", "mask_again", "measure_file", "read_measures", "risk_measures"]


@dataclass(frozen=True)
class Wanted:
    """What a specification asks for.

    Attributes
    ----------
    spec : MaskSpec
        Data, schema, and perhaps the methods.
    masked : Path or None
    measures : tuple of (str, mapping)
        Names and options.
    """

    spec: MaskSpec
    masked: Path | None
    measures: tuple[tuple[str, Mapping[str, Any]], ...]


def risk_measures() -> dict[str, Callable[..., Measure | TransparencyRisk]]:
    """Return every measure of risk by its name in specifications.

    Examples
    --------
    >>> "individual-risk" in risk_measures()
    True
    """
    found: dict[str, Callable[..., Measure | TransparencyRisk]] = {}
    for name in risk.__all__:
        function = getattr(risk, name)
        if inspect.isfunction(function) and list(inspect.signature(function).parameters)[:1] == ["original"]:
            found[name.replace("_", "-")] = function
    return found


def read_measures(content: Mapping[str, Any], base: Path, *, report: bool = False) -> Wanted:
    """Check a specification; paths in it are relative to `base`.

    It has ``measures``, and may have the masked file (``masked``) or the methods that make it (``steps``, ``seed``).

    Parameters
    ----------
    report : bool
        Whether a disclosure report is wanted: then there must be steps, and need not be measures.

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
    measures = _measures(content.get("measures"), problems, needed=not report)
    masked, steps = content.get("masked"), content.get("steps")
    if masked is not None and not isinstance(masked, str):
        problems.add(f"masked must be the path of a file, not {masked!r}")
    if masked is not None and steps is not None:
        problems.add("give 'masked', a file, or 'steps', which make it, not both")
    if report and steps is None:
        problems.add("a disclosure report is about methods: give [[steps]] as for mask, and the seed of the release")
    rest = {key: value for key, value in content.items() if key not in ("measures", "masked")}
    try:
        spec = read_mask_spec(rest, base, steps=steps is not None)
    except InputError as error:
        raise InputError(*problems.found, *error.problems) from error
    if spec.large:
        problems.add(
            "large: measures need all records in memory, and steps in batches draw other numbers; name the file that "
            "was released, masked = 'FILE', without steps and large"
        )
    problems.raise_if_any()
    return Wanted(spec, None if masked is None else base / masked, measures)


def _measures(given: Any, problems: Problems, *, needed: bool) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    known = risk_measures()
    if not isinstance(given, list) or not given:
        if needed or given is not None:
            problems.add("'measures' are missing: one [[measures]] table for every measure, such as measure = 'suda'")
        return ()
    found: list[tuple[str, Mapping[str, Any]]] = []
    for i, one in enumerate(given):
        name = one.get("measure") if isinstance(one, Mapping) else None
        if name not in known:
            problems.add(f"measure {i + 1}: there is no measure {name!r}{did_you_mean(name, known)}")
            continue
        options = {key: value for key, value in one.items() if key != "measure"}
        outside = ("original", "masked", "schema", "knowledge")
        allowed = [p for p in inspect.signature(known[name]).parameters if p not in outside]
        for key in options:
            if key not in allowed:
                problems.add(f"measure {i + 1} ({name}): '{key}' is no option of it{did_you_mean(key, allowed)}")
        found.append((name, options))
    return tuple(found)


def mask_again(wanted: Wanted, release: str | Path | None = None) -> Masked:
    """Carry out the steps of a specification; what is measured then is the file that they made.

    Parameters
    ----------
    release : path, optional
        The folder that `mask` wrote: its seed is taken, and its records must be those that the steps make.

    Raises
    ------
    InputError
        If a step draws at random and no seed is known, so that this would be another file than the released one; or
        if a release holds other records.
    """
    spec = wanted.spec
    seed = spec.seed if release is None else int(read_manifest(release).get("seed", -1))
    random = [step.name for step in spec.steps if type(step).random]
    if random and seed is None:
        raise InputError(
            f"{', '.join(dict.fromkeys(random))} may draw at random: give the seed of the release (seed = N, from its "
            "internal/steps.json), or the release itself"
        )
    if seed is not None and seed < 0:
        raise InputError(f"{release} is no release of masked microdata")
    masked = mask(spec.data, spec.schema, spec.steps, seed=seed, title=spec.title)
    if release is not None:
        path = Path(release) / "internal" / "released.parquet"
        kept = read_records(str(path), Schema()).pandas()
        if not same_values(kept, masked.records.pandas()):
            raise InputError(f"{release} holds other records than the data and steps of the specification make")
    return masked


def same_values(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    """Return whether two frames have the same columns, and values that are written the same in every row.

    Examples
    --------
    >>> same_values(pd.DataFrame({"a": [1, None]}), pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}))
    True
    """
    if list(one.columns) != list(other.columns) or len(one) != len(other):
        return False
    for name in one.columns:
        first, second = one[name].reset_index(drop=True), other[name].reset_index(drop=True)
        if not first.isna().equals(second.isna()):
            return False
        pairs = zip(first[first.notna()], second[second.notna()], strict=True)
        if any(a != b and str(a) != str(b) for a, b in pairs):
            return False
    return True


def measure_file(
    wanted: Wanted, masked: Masked | None = None, *, original: Records | None = None
) -> tuple[Measure | TransparencyRisk, ...]:
    """Carry out the measures in their order, of a `Masked` if one is given.

    Parameters
    ----------
    wanted : Wanted
    masked : Masked, optional
    original : Records, optional
        The data, where they are read already.

    Raises
    ------
    InputError
        If a file cannot be read, or a measure needs a masked file or the methods that made it.
    """
    known = risk_measures()
    spec = wanted.spec
    original = read_records(spec.data if original is None else original, spec.schema)
    released: Any = masked
    if masked is None and wanted.masked is not None:
        released = read_records(File.of(wanted.masked, spec.data.decimal), Schema())
    found = []
    for name, options in wanted.measures:
        needs = inspect.signature(known[name]).parameters["masked"].default is inspect.Parameter.empty
        if needs and released is None:
            raise InputError(f"{name} compares with a masked file; give masked = 'FILE', or [[steps]] as for mask")
        if name == "transparency" and masked is None:
            raise InputError("transparency is about methods: give [[steps]] as for mask, and the seed of the release")
        found.append(known[name](original, released, spec.schema, **options))
    return tuple(found)
