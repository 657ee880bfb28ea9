"""What the steps of a masked file tell an intruder who knows their methods and parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tabprotect.microdata.masked import Masked, Step
from tabprotect.microdata.risk.knowledge import (
    ConsecutiveGroups,
    FuzzyDraw,
    Knowledge,
    RankDraw,
    RankWindow,
    ValueWindow,
)
from tabprotect.microdata.risk.known_noise import AddedNoise, MultipliedNoise
from tabprotect.microdata.scales import Scale

__all__ = ["KnownSteps", "known_steps"]

NONE = "no attack is known here that uses its parameters; it is attacked by distance alone"


@dataclass(frozen=True)
class KnownSteps:
    """What is known of each column, and what of no step.

    Attributes
    ----------
    about : mapping of column to Knowledge
    unknown : tuple of str
        A sentence for every step and columns without a known attack.
    strata : tuple of str
        Columns within which all of it holds.
    """

    about: Mapping[str, Knowledge]
    unknown: tuple[str, ...]
    strata: tuple[str, ...]


def known_steps(masked: Masked) -> KnownSteps:
    """Return what the steps of a masked file limit.

    A column counts if one step alone changed it, a step of univariate microaggregation, rank swapping, noise or fuzzy
    microaggregation. All of them work within the strata of the schema, so that strata must be released as they were.
    Ranks are those of the released file, so that rank swapping counts where no later step changed the records.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> people = pd.DataFrame({"age": [20, 30, 40, 50, 60, 70], "sex": list("fmfmfm")})
    >>> found = known_steps(md.mask(people, None, [md.RankSwapping("age", p=40), md.PRAM("sex")], seed=1))
    >>> dict(found.about)
    {'age': RankWindow(percent=40)}
    >>> print(found.unknown[0])
    step 2 (pram) on sex: no attack is known here that uses its parameters; it is attacked by distance alone
    """
    touched = [name for step in masked.steps for name in step.columns]
    schema = masked.original.schema
    lost = [name for name in schema.strata if name in touched or name not in masked.records.columns]
    about: dict[str, Knowledge] = {}
    unknown = []
    for i, step in enumerate(masked.steps):
        reasons: dict[str, list[str]] = {}
        for name in step.columns:
            if name not in masked.records.columns or name not in masked.original.columns:
                continue
            if touched.count(name) > 1:
                one, why = None, "other steps change the same columns, and no attack on both is known here"
            elif lost:
                one, why = None, f"it worked within strata, and {', '.join(lost)} is not released as it was"
            else:
                one, why = _known(step, name, masked, i)
            if one is None:
                reasons.setdefault(why, []).append(name)
            else:
                about[name] = one
        unknown += [f"step {i + 1} ({step.method}) on {', '.join(names)}: {why}" for why, names in reasons.items()]
    return KnownSteps(about, tuple(unknown), () if lost else tuple(schema.strata))


def _known(step: Step, name: str, masked: Masked, i: int) -> tuple[Knowledge | None, str]:
    """Return what a step limits in a column, or why it limits nothing."""
    if masked.original.scale(name) not in (Scale.CONTINUOUS, Scale.ORDERED) or step.method not in _METHODS:
        return None, NONE
    if step.method == "rank-swapping" and step.parameters["by"] != "range":
        counts = [one.records for one in masked.steps[i:]]
        linked = masked.links[masked.links >= 0]
        if len(set(counts)) > 1 or len(linked) != len(masked.records) or len(set(linked.tolist())) != len(linked):
            return None, "later steps changed which records there are, and with them the ranks"
    one = _METHODS[step.method](step.parameters, step.columns)
    return one, "" if one is not None else NONE


def _microaggregation(given: Mapping[str, Any], columns: tuple[str, ...]) -> Knowledge | None:
    return ConsecutiveGroups() if str(given["method"]).startswith("individual") else None


def _fuzzy(given: Mapping[str, Any], columns: tuple[str, ...]) -> Knowledge | None:
    return FuzzyDraw(float(given["m2"]), columns)


def _rank_swapping(given: Mapping[str, Any], columns: tuple[str, ...]) -> Knowledge | None:
    kinds: dict[str, Callable[[float], Knowledge]] = {
        "rank": RankWindow,
        "range": ValueWindow,
        "p-distribution": lambda p: RankDraw(p, _coverage(columns)),
    }
    return kinds[given["by"]](given["p"])


def _noise(given: Mapping[str, Any], columns: tuple[str, ...]) -> Knowledge | None:
    if given["kind"] == "romm":
        return None
    if given["kind"] == "multiplicative":
        return MultipliedNoise(given["alpha"], given["most"], _coverage(columns))
    # by column, correlated errors have the same variance as independent ones
    shrunk = given["kind"] == "linear"
    return AddedNoise(math.sqrt(given["alpha"]), coverage=_coverage(columns), shrunk=shrunk)


def _coverage(columns: Sequence[str]) -> float:
    """Return the probability of the limits of a column with which those of all columns of a step have 0.999."""
    return 1 - 0.001 / len(columns)


_METHODS: dict[str, Callable[[Mapping[str, Any], tuple[str, ...]], Knowledge | None]] = {
    "fuzzy-microaggregation": _fuzzy,
    "microaggregation": _microaggregation,
    "noise": _noise,
    "rank-swapping": _rank_swapping,
}
