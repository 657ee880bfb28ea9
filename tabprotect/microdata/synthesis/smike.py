"""Selective multiple imputation of keys (Little and Liu 2002; survey of Ciriani et al., section 5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from tabprotect.errors import Problems
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.method import Masking, Method, MethodCall
from tabprotect.microdata.parameters import as_columns, need_number
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import ANY, Scale
from tabprotect.microdata.synthesis.imputation import stack
from tabprotect.microdata.synthesis.trees import predictors

__all__ = ["SMIKe"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class SMIKe(Method):
    """Keys of sensitive records and of near non-sensitive ones are imputed from each other.

    A record is sensitive where fewer than `threshold` records have its combination of keys. Each is mixed with the
    non-sensitive records that are nearest in the other columns (its mixing set); of the union of all mixing sets, keys
    are drawn anew from the shares of key combinations in each mixing set. Records outside of them stay as they are. A
    missing key is a key like any other; with weights, shares are weighted; mixing sets lie within the strata.

    Parameters
    ----------
    columns : sequence of str
        The keys.
    near : sequence of str, optional
        Columns in which records are near (Y of the paper); by default all that are no keys, identifiers or weights.
    threshold : int
    mixing : int
        Size of each mixing set, besides the sensitive record.
    rate : float
        Share of the non-sensitive records of the mixing sets whose keys are drawn, too; sensitive ones always are.
    replicates : int
        With several, the records come once for each, with its number in a column ``replicate``.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"region": list("aaaab"), "age": [30, 31, 32, 60, 33]})
    >>> masked = md.mask(frame, None, md.SMIKe(["region"], near=["age"], threshold=2, mixing=3), seed=4)
    >>> masked.frame["region"][3], masked.steps[0].facts["sensitive records"]
    ('a', 1)
    """

    name: ClassVar[str] = "smike"
    family: ClassVar[str] = "partially synthetic"
    scales: ClassVar[tuple[Scale, ...]] = ANY
    random: ClassVar[bool] = True
    claim_kinds: ClassVar[tuple[str, ...]] = ("unchanged-where",)
    source: ClassVar[str] = "Ciriani et al. 2007, section 5.2 (SMIKe)"

    columns: Sequence[str] | str
    near: Sequence[str] | str = ()
    threshold: int = 3
    mixing: int = 10
    rate: float = 0.5
    replicates: int = 1

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        as_columns(self, "columns", problems)
        as_columns(self, "near", problems, least=0)
        need_number(self, "threshold", problems, least=2, whole=True)
        need_number(self, "mixing", problems, least=1, whole=True)
        need_number(self, "rate", problems, least=0, most=1)
        need_number(self, "replicates", problems, least=1, whole=True)
        both = sorted(set(self.columns) & set(self.near))
        if both:
            problems.add(f"smike: '{both[0]}' cannot be both a key and what makes records near")

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the keys."""
        return tuple(self.columns)

    def uses(self, records: Records) -> tuple[str, ...]:
        """Return the columns in which records are near."""
        return tuple(self.near)

    def _near(self, records: Records) -> list[str]:
        schema = records.schema
        not_these = {*self.columns, *schema.identifiers, schema.weight, schema.household}
        return list(self.near) or [name for name in records.columns if name not in not_these]

    def apply(self, call: MethodCall) -> Masking:
        """Mix and draw."""
        records = call.records
        index, count = records.groups(self.columns)
        sensitive = np.bincount(index, minlength=count)[index] < self.threshold
        x = predictors(records, self._near(records))
        x = x / np.where(x.std(axis=0) > 0, x.std(axis=0), 1)
        sets: list[Ints] = []
        alone = 0
        for rows in records.strata():
            risky, others = rows[sensitive[rows]], rows[~sensitive[rows]]
            if not len(others):
                alone += len(risky)
                continue
            k = min(self.mixing, len(others))
            found = (
                cKDTree(x[others]).query(x[risky], k=k)[1].reshape(len(risky), k)
                if len(risky)
                else np.zeros((0, k), int)
            )
            sets += [np.concatenate([[record], others[near]]) for record, near in zip(risky, found, strict=True)]
        copies, changed = [], []
        for _ in range(self.replicates):
            source = self._draw(sets, sensitive, records.weights(), call.rng)
            copies.append(records.with_rows(self.columns, source))
            changed.append(int((index[source] != index).sum()))
        touched = len(np.unique(np.concatenate(sets))) if sets else 0
        facts: dict[str, Any] = {
            "sensitive records": int(sensitive.sum()), "records in mixing sets": touched, "keys changed": changed,
        }  # fmt: skip
        notes = (f"{alone} sensitive records have no others in their stratum and keep their keys",) if alone else ()
        if self.replicates > 1:
            stacked, order = stack(copies)
            return Masking(stacked, facts, rows=order, notes=notes)
        given = {"columns": list(self.columns), "most": touched}
        text = f"at most {touched} records have other keys than before"
        claim = Claim("unchanged-where", tuple(self.columns), text, given, tuple(self.columns))
        return Masking(copies[0], facts, (claim,), notes=notes)

    def _draw(self, sets: Sequence[Ints], sensitive: Any, weights: Any, rng: np.random.Generator) -> Ints:
        """Return for every record the one whose keys it gets."""
        source = np.arange(len(sensitive))
        for members in sets:
            share = weights[members] / weights[members].sum()
            chosen = np.concatenate([[True], rng.random(len(members) - 1) < self.rate])
            source[members[chosen]] = rng.choice(members, int(chosen.sum()), p=share)
        return source
