"""Intersection attacks by an intruder who knows the masking method and its parameters (Torra, section 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, did_you_mean
from tabprotect.kinds import of_kinds
from tabprotect.microdata.masked import Masked
from tabprotect.microdata.records import Records, read_records
from tabprotect.microdata.risk.base import as_numbers
from tabprotect.microdata.risk.intersection import Classes, intersect
from tabprotect.microdata.risk.knowledge import FuzzyDraw, Knowledge
from tabprotect.microdata.risk.limits import all_limits, joint_strata, matrices, standardised
from tabprotect.microdata.risk.pictures import bars
from tabprotect.microdata.risk.steps import KnownSteps, known_steps
from tabprotect.microdata.scales import Scale
from tabprotect.microdata.schema import Schema, require

__all__ = ["TransparencyRisk", "transparency", "why_not_measured", "with_the_method"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


MOST = 200_000
"""Records up to which other measures and reports answer for an intruder with the method, too."""


@dataclass(frozen=True, eq=False)
class TransparencyRisk:
    """What an intruder with the method and its parameters re-identifies; confidential.

    Attributes
    ----------
    columns : tuple of str
    candidates : ndarray of int, shape (records,)
        Masked records that may be that of each original record.
    contained : ndarray of bool, shape (records,)
        Whether the true one is among them.
    records : ndarray of float, shape (records,)
        Probability that the best guess among the candidates is right; ties shared out.
    plain : ndarray of float, shape (records,)
        The same for the nearest of all masked records, without any knowledge of the method.
    known : mapping of str to str
        What limits the masked values of a column.
    unknown : tuple of str
        Steps of the `Masked` whose method and parameters limit nothing here; they are attacked by distance alone, and
        an intruder may know of a better attack.
    """

    columns: tuple[str, ...]
    candidates: Ints
    contained: Flags
    records: Floats
    plain: Floats
    known: Mapping[str, str] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What is measured."""
        return "linkage with knowledge of the method"

    @property
    def value(self) -> float:
        """Expected share of records that are linked correctly with the knowledge."""
        return float(self.records.mean())

    @property
    def plain_value(self) -> float:
        """Expected share of records that plain distance linkage links correctly."""
        return float(self.plain.mean())

    @property
    def pinned(self) -> float:
        """Share of records with one candidate left, the true one: these links are certain."""
        return float(((self.candidates == 1) & self.contained).mean())

    @property
    def details(self) -> dict[str, Any]:
        """What the value is made of; JSON."""
        return {
            "columns": list(self.columns), "plain": self.plain_value, "pinned": self.pinned,
            "contained": float(self.contained.mean()), "median candidates": float(np.median(self.candidates)),
            "known": dict(self.known), "unknown": list(self.unknown),
        }  # fmt: skip

    def summary(self) -> str:
        """Return what was found, one line each."""
        return "\n".join(
            [
                f"attack on {', '.join(self.columns)} with knowledge of the method",
                f"linked correctly: {self.value:.2%} (plain distance linkage: {self.plain_value:.2%})",
                f"pinned to one candidate: {self.pinned:.2%}",
                f"candidates left: median {np.median(self.candidates):g}, average {self.candidates.mean():.1f}",
                f"true record among the candidates: {self.contained.mean():.2%}",
                *(f"known of {name}: {what}" for name, what in self.known.items()),
                *self.unknown,
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON; values of records are internal."""
        return {"name": self.name, "value": self.value, "records": self.records.tolist(), "details": self.details}

    def plot(self) -> str:
        """Return an SVG picture: how many records have so many candidates left."""
        edges = [1, 2, 3, 6, 11, 101, 1001, np.inf]
        counts = np.histogram(self.candidates, bins=[0, *edges])[0]
        words = ["none", "1", "2", "3 to 5", "6 to 10", "11 to 100", "101 to 1,000", "over 1,000"]
        return bars(
            f"{self.name}: candidates left", [(w, float(c)) for w, c in zip(words, counts.tolist(), strict=True)]
        )


@of_kinds()
def transparency(
    original: Any,
    masked: Any,
    schema: Schema | None = None,
    *,
    knowledge: Knowledge | Mapping[str, Knowledge] | None = None,
    columns: Sequence[str] | str | None = None,
) -> TransparencyRisk:
    """Attack a masked file as an intruder who knows the method and its parameters.

    The intruder has the original values of some columns. By what he knows of the method, every column j leaves a set
    B_j(x) of masked records that can be that of x; the true one is in the intersection of these sets. Of the candidates
    he takes the nearest one (Euclidean distance, standardised columns; of noise from the centre that its knowledge
    says), or under fuzzy microaggregation the one with the highest probability.

    Read from the steps of a `Masked`, knowledge covers univariate microaggregation, rank swapping, noise (all kinds but
    'romm'; limits of normal errors hold with probability 0.999 for all columns of a step) and fuzzy microaggregation,
    within the strata of the schema, which the intruder is taken to know. Steps without a known attack are named in the
    result.

    A value that is missing, in the original or in the masked record, excludes nothing, and stands at the mean of the
    column in distances. Ordered categories count by their position. Weights are not looked at.

    Parameters
    ----------
    original : frame or path
        As `mask` takes it.
    masked : Masked, frame or path
        A frame has the same records in the same order.
    schema : Schema, optional
    knowledge : Knowledge or mapping of column to Knowledge, optional
        Such as ``ConsecutiveGroups()``. Left out, it is read from the steps of a `Masked`.
    columns : str or sequence of str, optional
        What the intruder knows of the original; by default the columns that the knowledge is about, or the keys, or
        those that a step changed.

    Returns
    -------
    TransparencyRisk

    Raises
    ------
    InputError

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> from tabprotect.microdata.risk import transparency
    >>> people = pd.DataFrame({"a": [1.0, 2.0, 4.0, 7.0, 8.0, 9.0], "b": [5.0, 1.0, 9.0, 2.0, 8.0, 4.0]})
    >>> masked = md.mask(people, None, md.Microaggregation(["a", "b"], k=2, method="individual-optimal"))
    >>> risk = transparency(people, masked)
    >>> bool(risk.contained.all()), risk.candidates.tolist()
    (True, [1, 2, 1, 2, 3, 1])
    """
    before = read_records(original, require(schema))
    steps = KnownSteps({}, (), ()) if knowledge is not None else _steps(masked)
    known = steps.about if knowledge is None else knowledge
    if isinstance(masked, Masked):
        after, links = as_numbers(masked.original, masked.records, masked.links), masked.links
        before = Records(before.frame, masked.original.schema, before.kind) if schema is None else before
    else:
        after = read_records(masked, Schema())
        links = np.arange(len(after), dtype=np.int64)
        if len(after) != len(before):
            raise InputError(
                f"{len(before):,} original and {len(after):,} masked records: pass the Masked, which knows their links"
            )
    names = _columns(columns, known, before, masked)
    about = known if isinstance(known, Mapping) else dict.fromkeys(names, known)
    each = [about.get(name) for name in names]
    x, y = matrices(before, after, names)
    true = np.full(len(before), -1, dtype=np.int64)
    true[links[links >= 0]] = np.flatnonzero(links >= 0)
    strata = joint_strata(before, after, steps.strata)
    low, high, middle = all_limits(x, y, each, strata)
    sx, sy = standardised(x, y)
    classes = Classes(y, sy)
    plain = classes.nearest(sx, true)
    words = {name: str(one) for name, one in zip(names, each, strict=True) if one is not None}
    fuzzy = [one for one in each if isinstance(one, FuzzyDraw)]
    if len(fuzzy) == len(names) and len(set(fuzzy)) == 1 and not steps.strata:
        everyone = np.full(len(x), len(y), dtype=np.int64)
        found = classes.most_probable(sx, true, fuzzy[0].m2)
        return TransparencyRisk(names, everyone, true >= 0, found, plain, words, steps.unknown)
    if steps.strata:
        y = np.column_stack([y, strata[1]])
        low, high = (np.column_stack([side, strata[0]]) for side in (low, high))
    guess = standardised(middle, y[:, : len(names)])[0]
    candidates, contained, found = intersect(low, high, y, guess, sy, true, each)
    return TransparencyRisk(names, candidates, contained, found, plain, words, steps.unknown)


def with_the_method(original: Any, masked: Any, schema: Schema | None, columns: Sequence[str]) -> dict[str, Any]:
    """Return, for the details of a measure of linkage, what an intruder with the method re-identifies.

    Empty without a `Masked`, whose steps say what he knows, or without columns that have an order.
    """
    if not isinstance(masked, Masked):
        return {}
    scales = {name: masked.original.scale(name) for name in columns if name in masked.original.columns}
    names = [name for name, scale in scales.items() if scale in (Scale.CONTINUOUS, Scale.ORDERED)]
    if not names:
        return {}
    why = why_not_measured(masked)
    if why:
        return {"with the method": {"unknown": [why]}}
    found = transparency(original, masked, schema, columns=names)
    return {"with the method": {"value": found.value, **found.details}}


def why_not_measured(masked: Masked) -> str:
    """Return why the attack is left to the caller; empty if it is made along with other measures."""
    most = max(len(masked.original), len(masked.records))
    return f"not measured along with linkage beyond {MOST:,} records; call transparency" if most > MOST else ""


def _steps(masked: Any) -> KnownSteps:
    if not isinstance(masked, Masked):
        raise InputError("give knowledge=..., such as ConsecutiveGroups(), or the Masked, whose steps say it")
    return known_steps(masked)


def _columns(
    given: Sequence[str] | str | None, known: Knowledge | Mapping[str, Knowledge], before: Records, masked: Any
) -> tuple[str, ...]:
    wrong = [one for one in (known.values() if isinstance(known, Mapping) else [known]) if not hasattr(one, "limits")]
    if wrong:
        raise InputError(f"knowledge must be such as ConsecutiveGroups(), not {wrong[0]!r}")
    names = (given,) if isinstance(given, str) else tuple(given or ())
    if not names:
        names = tuple(known) if isinstance(known, Mapping) and known else _default(before, masked)
    if not names:
        raise InputError("name the columns that the intruder knows: columns=[...], or keys in the schema")
    unknown = [name for name in names if name not in before.columns]
    if unknown:
        raise InputError(*(f"no column '{name}'{did_you_mean(name, before.columns)}" for name in unknown))
    return names


def _default(before: Records, masked: Any) -> tuple[str, ...]:
    """Return the keys with an order, or the columns with one that a step changed."""
    touched = [name for step in masked.steps for name in step.columns] if isinstance(masked, Masked) else []
    released = masked.records.columns if isinstance(masked, Masked) else before.columns
    for names in (before.schema.keys, touched):
        found = [
            n for n in dict.fromkeys(names)
            if n in before.columns and n in released and before.scale(n) in (Scale.CONTINUOUS, Scale.ORDERED)
        ]  # fmt: skip
        if found:
            return tuple(found)
    return ()
