"""The disclosure report of a masked file: what was done, what can be learned, what is left of its use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from tabprotect.errors import InputError
from tabprotect.kinds import of_kinds
from tabprotect.microdata import risk, utility
from tabprotect.microdata.choosing.map import render
from tabprotect.microdata.choosing.score import score
from tabprotect.microdata.masked import Masked
from tabprotect.microdata.risk.base import Measure
from tabprotect.microdata.risk.transparency import TransparencyRisk, why_not_measured

__all__ = ["disclosure_report"]

Floats = npt.NDArray[np.float64]
Found = Measure | TransparencyRisk


@dataclass(frozen=True, eq=False)
class _Exposure:
    """Risks of released records by one measure, nan where it says nothing of a record."""

    name: str
    records: Floats


@of_kinds()
def disclosure_report(masked: Masked, *, risks: Sequence[Found] = (), most: int = 20) -> str:
    """Return a page on a masked file, with everything in it; confidential.

    It has the schema, the methods with their parameters, the claims, checked again, the measures of risk with pictures
    (global, interval and individual risk, uniqueness, linkage), what an intruder who knows methods and parameters
    learns, the most exposed records and the utility. Measures that do not fit the file are named with the reason; so is
    the attack of an intruder with the method where it takes long, beyond 200,000 records: call `transparency` and pass
    it among `risks`. The page loads nothing; names and values are escaped, and control characters shown as signs.

    Parameters
    ----------
    masked : Masked
    risks : sequence of Measure or TransparencyRisk
        Further measures of this file; those whose `records` are probabilities, aligned with the released or with the
        original records, enter the list of exposed records.
    most : int
        How many of the most exposed records are listed, by their mean over measures.

    Raises
    ------
    InputError
        If no measure of risk, or none of loss, fits the schema.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import tabprotect.microdata as md
    >>> people = pd.DataFrame({"age": np.arange(20, 60), "income": np.arange(40.0) ** 2})
    >>> schema = md.Schema(keys=["age"], confidential=["income"])
    >>> masked = md.mask(people, schema, md.Noise(["income"], alpha=0.1), seed=1)
    >>> page = md.choosing.disclosure_report(masked)
    >>> "Most exposed records" in page, "What an intruder with the parameters learns" in page
    (True, True)
    """
    if not isinstance(masked, Masked):
        raise InputError("a disclosure report is about a Masked, which knows its original and its methods")
    found = score(masked.original, masked, masked.original.schema)
    measured, failed = _measured(masked, attacked=any(isinstance(m, TransparencyRisk) for m in risks))
    losses = list(found.losses)
    try:
        losses.append(utility.propensity(masked.original, masked, masked.original.schema))
    except InputError as error:
        failed.append(f"propensity score: {error}")
    named = {m.name for m in risks}
    everything = (*found.risks, *(m for m in measured if m.name not in named), *risks)
    known = next((m for m in everything if isinstance(m, TransparencyRisk)), None)
    exposures = [one for m in everything if (one := _exposure(m, masked)) is not None]
    return render(
        "disclosure",
        records={"original": len(masked.original), "released": len(masked.records)},
        score=found,
        columns=_columns(masked),
        steps=masked.steps,
        checks=masked.verify().checks,
        notes=masked.notes,
        risks=[_words(m) for m in everything if not isinstance(m, TransparencyRisk)],
        failed=failed,
        known=known,
        picture=None if known is None else Markup(known.plot()),
        with_records=[one.name for one in exposures],
        keys=[name for name in masked.original.schema.keys if name in masked.records.columns],
        exposed=_exposed(exposures, masked, most),
        losses=[_words(m) for m in losses],
    )


def _measured(masked: Masked, *, attacked: bool) -> tuple[list[Found], list[str]]:
    """Return the measures of risk that fit the file, and why others do not; an attack that is given is not repeated."""
    original = masked.original
    wanted: dict[str, Callable[[], Found]] = {
        "sample uniqueness": lambda: risk.sample_uniqueness(original, masked, original.schema),
        "individual risk": lambda: risk.individual_risk(original, masked, original.schema),
        "distance linkage": lambda: risk.distance_linkage(original, masked, original.schema),
        "linkage with knowledge of the method": lambda: risk.transparency(original, masked, original.schema),
    }
    if not (masked.links >= 0).any():
        unlinked = [name for name in wanted if "linkage" in name]
        wanted = {name: make for name, make in wanted.items() if name not in unlinked}
        failed = [f"{name}: no released record comes from an original one" for name in unlinked]
    else:
        failed = []
    attack = "linkage with knowledge of the method"
    why = why_not_measured(masked)
    if attack in wanted and (attacked or why):
        del wanted[attack]
        failed += [] if attacked else [f"{attack}: {why}, and pass what it gives among risks"]
    done: list[Found] = []
    for name, make in wanted.items():
        try:
            done.append(make())
        except InputError as error:
            failed.append(f"{name}: {error}")
    return done, failed


def _words(measure: Found) -> dict[str, Any]:
    picture = Markup(measure.plot())
    return {"name": measure.name, "value": measure.value, "text": measure.summary(), "picture": picture}


def _columns(masked: Masked) -> list[dict[str, Any]]:
    original, schema = masked.original, masked.original.schema
    touched = {name for step in masked.steps for name in step.columns}
    names = dict.fromkeys((*original.columns, *masked.records.columns))
    return [
        {
            "name": name,
            "role": schema.role(name),
            "scale": str((original if name in original.columns else masked.records).scale(name)),
            "released": name in masked.records.columns,
            "changed": name in touched,
        }
        for name in names
    ]


def _exposure(measure: Found, masked: Masked) -> _Exposure | None:
    """Return the risks of released records, where a measure has probabilities of records that are aligned."""
    if measure.records is None:
        return None
    values = np.asarray(measure.records, dtype=np.float64)
    there = values[~np.isnan(values)]
    if not len(there) or there.min() < 0 or there.max() > 1:
        return None
    linked = masked.links >= 0
    straight = np.array_equal(masked.links, np.arange(len(masked.original)))
    about_originals = isinstance(measure, TransparencyRisk) or measure.name in ORIGINALS
    if len(values) == len(masked.original) and not straight and about_originals:
        return _Exposure(measure.name, np.where(linked, values[np.maximum(masked.links, 0)], np.nan))
    return _Exposure(measure.name, values) if len(values) == len(masked.records) else None


ORIGINALS = ("distance linkage", "rank linkage", "assignment linkage", "probabilistic linkage")
"""Measures whose records are those of the original file."""


def _exposed(exposures: Sequence[_Exposure], masked: Masked, most: int) -> list[dict[str, Any]]:
    if not exposures:
        return []
    each = np.column_stack([one.records for one in exposures])
    count = (~np.isnan(each)).sum(axis=1)
    mean = np.where(count > 0, np.nansum(each, axis=1) / np.maximum(count, 1), -np.inf)
    rows = [i for i in np.argsort(-mean, kind="stable")[:most].tolist() if np.isfinite(mean[i])]
    keys = [name for name in masked.original.schema.keys if name in masked.records.columns]
    values = masked.records.select(keys).take(np.array(rows, dtype=np.int64)).pandas() if keys else None
    return [
        {
            "record": i + 1,
            "original": int(masked.links[i]) + 1 or None,
            "keys": [] if values is None else [str(value) for value in values.iloc[k]],
            "mean": float(mean[i]),
            "each": [None if np.isnan(x) else float(x) for x in each[i]],
        }
        for k, i in enumerate(rows)
    ]
