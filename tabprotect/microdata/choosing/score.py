"""The score of a masked file: the average of information loss and disclosure risk; lower is better.

Section 6.3 of the survey of Ciriani et al. (2007) prints that the best method has the highest average; both parts of
it are bad, so the lowest is meant (Domingo-Ferrer and Torra 2001).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tabprotect.errors import InputError
from tabprotect.kinds import of_kinds
from tabprotect.microdata import risk, utility
from tabprotect.microdata.masked import Masked
from tabprotect.microdata.risk.base import Measure, Pair, pair
from tabprotect.microdata.scales import NOMINAL, Scale
from tabprotect.microdata.schema import Schema

__all__ = ["Score", "score"]


@dataclass(frozen=True, eq=False)
class Score:
    """Information loss and risk of a masked file; confidential.

    Attributes
    ----------
    loss, risk : float
        From 0 to 1: the mean of the measures of each kind.
    losses, risks : tuple of Measure
    notes : tuple of str
        What the measures do not count.
    """

    loss: float
    risk: float
    losses: tuple[Measure, ...]
    risks: tuple[Measure, ...]
    notes: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        """The average of loss and risk; lower is better."""
        return (self.loss + self.risk) / 2

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON, without values of records."""
        return {
            "score": self.value, "loss": self.loss, "risk": self.risk,
            "losses": {m.name: m.value for m in self.losses}, "risks": {m.name: m.value for m in self.risks},
            "notes": list(self.notes),
        }  # fmt: skip


@of_kinds()
def score(
    original: Any, masked: Any, schema: Schema | None = None, *, links: Any = None, linkage: bool = False
) -> Score:
    """Return the score of a masked file.

    Loss is the mean of `numeric_loss` (continuous columns) and `categorical_loss` and `contingency_loss` (others).
    Risk is the mean of the largest global disclosure risk DR_max (if keys are released) and of rank and
    standard-deviation `interval_disclosure` (continuous keys and confidential columns). Measures for which a file has
    no columns are left out; so are those of records where no masked record comes from an original one (synthetic data).
    The global risk of such a file is 0: no record can be linked back.

    Parameters
    ----------
    original, masked : frame of any kind, or Masked
    schema : Schema
    links : array_like of int, optional
    linkage : bool
        Whether record linkage by the released keys is among the risks: the larger of what distance linkage finds
        (Gower distances, unless all of them are continuous) and, of a `Masked`, what an intruder finds who knows the
        methods and parameters. Where the latter is not known, `notes` say so. Without keys that are released, or
        without links, it is left out.

    Raises
    ------
    InputError
        If no measure of risk, or none of loss, fits the schema.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> people = pd.DataFrame({"age": [20, 30, 40, 50], "income": [10.0, 20.0, 30.0, 90.0]})
    >>> found = md.choosing.score(people, people, md.Schema(keys=["age"], confidential=["income"]))
    >>> found.loss, found.risk, found.value
    (0.0, 1.0, 0.5)
    """
    both = pair(original, masked, schema, links)
    links, schema = both.links, both.original.schema
    given = (both.original, both.masked, schema)
    shared = [n for n in both.original.columns if n in both.masked.columns]
    outside = {*schema.identifiers, schema.weight, schema.household}
    scales = {n: both.original.scale(n) for n in shared if n not in outside}
    losses: list[Measure] = []
    if Scale.CONTINUOUS in scales.values():
        losses.append(utility.numeric_loss(*given, links=links))
    if any(scale in NOMINAL for scale in scales.values()):
        losses.append(utility.contingency_loss(*given))
        if (both.links >= 0).any():
            losses.append(utility.categorical_loss(*given, links=links))
    risks = _risks(both, scales)
    keys = [name for name in schema.keys if name in scales]
    notes: tuple[str, ...] = ()
    if linkage and keys and (links >= 0).any():
        linked, notes = _linkage(both, masked, keys)
        risks.append(linked)
    if not losses or not risks:
        what = "risk: name keys or confidential columns" if losses else "information loss: the files share no columns"
        raise InputError(f"nothing to measure of {what}")
    return Score(
        float(np.mean([m.value for m in losses])), float(np.mean([m.value for m in risks])), tuple(losses),
        tuple(risks), notes,
    )  # fmt: skip


def _risks(both: Pair, scales: dict[str, Scale]) -> list[Measure]:
    schema = both.original.schema
    given = (both.original, both.masked, schema)
    found: list[Measure] = []
    if any(name in scales for name in schema.keys):
        found.append(risk.global_risk(*given, links=both.links))
    linked = bool((both.links >= 0).any())
    if linked and any(scales.get(n) is Scale.CONTINUOUS for n in (*schema.keys, *schema.confidential)):
        found += [
            risk.interval_disclosure(*given, links=both.links, kind="rank"),
            risk.interval_disclosure(*given, links=both.links, kind="sd"),
        ]
    return found


def _linkage(both: Pair, masked: Any, keys: list[str]) -> tuple[Measure, tuple[str, ...]]:
    """Return the larger of plain linkage by the keys and that of an intruder who knows the methods, and notes."""
    original, schema = both.original, both.original.schema
    straight = len(both.links) == len(original) and bool((both.links == np.arange(len(original))).all())
    if not isinstance(masked, Masked):
        if not straight:
            raise InputError("linkage needs the Masked itself where released records are others or in another order")
        masked = both.masked
    continuous = all(original.scale(name) is Scale.CONTINUOUS for name in keys)
    metric: Literal["euclidean", "gower"] = "euclidean" if continuous else "gower"
    found = risk.distance_linkage(original, masked, schema, columns=keys, metric=metric)
    attack = found.details.get("with the method", {"unknown": [_unknown(masked)]})
    known = attack.get("value")
    details = {"plain": found.value, "with the method": known, "columns": keys, "metric": metric}
    if known is not None:
        return Measure("record linkage", max(found.value, known), None, details), ()
    why = "; ".join(attack["unknown"])
    note = f"record linkage counts distance alone, and not an intruder who knows the method: {why}"
    return Measure("record linkage", found.value, None, details | {"not measured": why}), (note,)


def _unknown(masked: Any) -> str:
    if isinstance(masked, Masked):
        return "no key that is released is continuous or ordered"
    return "of a file alone the method is not known; pass the Masked"
