"""Synthetic files column by column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tabprotect.errors import Problems
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.method import Masking, Method, MethodCall
from tabprotect.microdata.parameters import as_columns, is_names, need_number
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import ANY, Scale
from tabprotect.microdata.synthesis.margins import hold_margins, margins_claim
from tabprotect.microdata.synthesis.trees import draw_donors, predictors

__all__ = ["SequentialTrees", "target_of"]


@dataclass(frozen=True)
class SequentialTrees(Method):
    """New records, column by column: each is drawn from the leaves of a tree on the columns before it.

    The first column is drawn from its own distribution. Missing values are a value like any other: they are drawn, too.
    With weights, trees and draws are weighted and the synthetic file has none. Strata are not looked at (put them first
    among the columns). Only the columns named are released.

    Parameters
    ----------
    columns : sequence of str
        In the order in which they are drawn.
    n : int, optional
        How many records; by default as many as there are.
    leaf : int
        Least number of records in a leaf: values are shared by at least so many donors.
    smooth : bool
        Numbers get normal noise with the bandwidth of Silverman's rule for their leaf group, so that no original value
        is released as it is; whole numbers are rounded.
    margins : sequence of sequences of str, optional
        Tables of categorical columns whose shares are held: more records are drawn than needed, and those chosen that
        come nearest. What cannot be held exactly is reported.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"sex": list("mf") * 50, "pay": [10.0, 20.0] * 50})
    >>> masked = md.mask(frame, None, md.SequentialTrees(["sex", "pay"], margins=[["sex"]]), seed=1)
    >>> masked.frame["sex"].value_counts().to_dict() == {"m": 50, "f": 50}
    True
    """

    name: ClassVar[str] = "sequential-trees"
    family: ClassVar[str] = "fully synthetic"
    scales: ClassVar[tuple[Scale, ...]] = ANY
    random: ClassVar[bool] = True
    claim_kinds: ClassVar[tuple[str, ...]] = ("margins",)
    source: ClassVar[str] = "Reiter 2005 (CART); Nowok, Raab and Dibben 2016"

    columns: Sequence[str] | str
    n: int | None = None
    leaf: int = 5
    smooth: bool = False
    margins: Sequence[Sequence[str]] = ()

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        as_columns(self, "columns", problems)
        need_number(self, "n", problems, least=1, whole=True, optional=True)
        need_number(self, "leaf", problems, least=1, whole=True)
        several: Any = self.margins if isinstance(self.margins, list | tuple) else [self.margins]
        held = tuple(tuple(names) for names in several if is_names(names))
        if len(held) != len(several):
            problems.add(
                "sequential-trees: margins is a list of lists of columns, such as [['sex'], ['sex', 'region']]"
            )
        unknown = sorted({name for names in held for name in names} - set(self.columns))
        if unknown:
            problems.add(f"sequential-trees: margins name '{unknown[0]}', which is not among the columns")
        object.__setattr__(self, "margins", held)

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the columns."""
        return tuple(self.columns)

    def check(self, records: Records, problems: Problems) -> None:
        """Note margins of numbers."""
        for name in dict.fromkeys(name for names in self.margins for name in names):
            if records.scale(name) is Scale.CONTINUOUS:
                problems.add(f"column '{name}' is continuous; margins are tables of categories")

    def apply(self, call: MethodCall) -> Masking:
        """Draw column by column."""
        n = len(call.records) if self.n is None else int(self.n)
        drawn = n * 4 if self.margins else n
        made = _sequence(call.records, self.columns, drawn, self.leaf, self.smooth, call.rng)
        facts: dict[str, Any] = {"leaf": self.leaf}
        notes: list[str] = []
        claims: tuple[Claim, ...] = ()
        if self.margins:
            rows, off = hold_margins(call.records, made, self.margins, n, call.rng)
            made = made.take(rows)
            facts["largest difference of a margin"] = off
            if off > 0:
                notes.append(f"margins are held to within {off:.3g} records")
            claims = margins_claim(call.records, self.margins, n, off)
        schema = call.records.schema
        lost = [c for c in call.records.columns if c not in self.columns and c not in schema.identifiers]
        if lost:
            notes.append(f"not synthesised and so not released: {', '.join(lost)}")
        return Masking(made, facts, claims, np.full(n, -1, dtype=np.int64), tuple(notes))


def _sequence(
    records: Records, columns: Sequence[str], n: int, leaf: int, smooth: bool, rng: np.random.Generator
) -> Records:
    """Return n new records."""
    weights = records.weights()
    made = records.blank(columns, n)
    first = rng.choice(len(records), n, p=weights / weights.sum())
    for j, name in enumerate(columns):
        if j == 0:
            donors = first
        else:
            target, categorical = target_of(records, name)
            train, new = predictors(records, columns[:j]), predictors(made, columns[:j], like=records)
            donors = draw_donors(train, target, new, weights, categorical=categorical, leaf=leaf, rng=rng)
        made = made.with_values_of(name, records.select([name]).take(donors).frame[name])
        if smooth and records.scale(name) is Scale.CONTINUOUS:
            made = made.with_numbers(name, _smoothed(made.numbers(name), records, name, rng))
    return made


def target_of(records: Records, name: str) -> tuple[Any, bool]:
    """Return a column as what a tree predicts; a missing value is a category, or a number far below all others."""
    if records.scale(name) is not Scale.CONTINUOUS:
        return records.categories(name).index, True
    values = records.numbers(name)
    there = values[~np.isnan(values)]
    low = float(there.min() - 3 * (np.ptp(there) + 1)) if len(there) else 0.0
    return np.where(np.isnan(values), low, values), False


def _smoothed(values: Any, records: Records, name: str, rng: np.random.Generator) -> Any:
    known = records.numbers(name)
    known = known[~np.isnan(known)]
    if len(known) < 2:
        return values
    quarter = np.subtract(*np.percentile(known, [75, 25])) / 1.349
    spread = min(known.std(ddof=1), quarter) if quarter > 0 else known.std(ddof=1)
    new = values + 0.9 * spread * len(known) ** -0.2 * rng.standard_normal(len(values))
    # what falls beyond the range is reflected: clipping would release the extremes as they are
    low, high = known.min(), known.max()
    new = np.clip(high - np.abs(high - low - np.abs(new - low)), low, high)
    return np.rint(new) if (known == np.rint(known)).all() else new
