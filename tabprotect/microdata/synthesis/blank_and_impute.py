"""Blank and impute (survey of Ciriani et al., section 5.2, Fig. 14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from tabprotect.errors import Problems
from tabprotect.microdata.categories import Categories
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.method import Masking, Method, MethodCall
from tabprotect.microdata.parameters import as_columns, is_names, need_choice, need_number
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import ANY, Scale

__all__ = ["BlankAndImpute"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class BlankAndImpute(Method):
    """The values of some records are blanked and replaced by what their group has.

    As in the survey, the group counts the blanked record itself. Means and shares are weighted where there are weights.
    A missing value of a chosen record is replaced, too (unless its group has no value at all); a missing group code is
    a group of its own. Groups lie within the strata of the schema.

    Parameters
    ----------
    columns : str or sequence of str
    by : mapping of str to (sequence of) str, optional
        Columns that make the groups, for each column; without them the whole file (stratum) is one.
    rate : float, optional
        Share of the records that are drawn at random.
    rows : (sequence of) int, optional
        Or these records, counted from 1.
    how : {'mean', 'mode', 'draw'}
        Mean of the group (continuous columns), its most frequent value, or a value drawn from it.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"disease": list("aab"), "days": [10.0, 20.0, 7.0]})
    >>> md.mask(frame, None, md.BlankAndImpute("days", by={"days": "disease"}, rows=[1])).frame["days"].tolist()
    [15.0, 20.0, 7.0]
    """

    name: ClassVar[str] = "blank-and-impute"
    family: ClassVar[str] = "partially synthetic"
    scales: ClassVar[tuple[Scale, ...]] = ANY
    random: ClassVar[bool] = True
    claim_kinds: ClassVar[tuple[str, ...]] = ("unchanged-where",)
    source: ClassVar[str] = "Ciriani et al. 2007, section 5.2 (blank and impute)"

    columns: Sequence[str] | str
    by: Mapping[str, Sequence[str] | str] | None = None
    rate: float | None = None
    rows: Sequence[int] | int | None = None
    how: Literal["mean", "mode", "draw"] = "mean"

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        as_columns(self, "columns", problems)
        need_number(self, "rate", problems, above=0, most=1, optional=True)
        need_choice(self, "how", problems, ("mean", "mode", "draw"))
        if (self.rate is None) == (self.rows is None):
            problems.add("blank-and-impute: give either rate or rows")
        rows = self.rows if isinstance(self.rows, list | tuple | range) else [self.rows]
        if self.rows is not None and any(isinstance(r, bool) or not isinstance(r, int) or r < 1 for r in rows):
            problems.add("blank-and-impute: rows are whole numbers, counted from 1")
        given = {} if self.by is None else self.by
        if not all(isinstance(g, str) or is_names(g) for g in given.values()):
            problems.add("blank-and-impute: by must map a column to the columns that make its groups")
            given = {}
        unknown = [name for name in given if name not in self.columns]
        if unknown:
            problems.add(f"blank-and-impute: by names '{unknown[0]}', which is not among the columns")
        object.__setattr__(self, "by", {n: (g,) if isinstance(g, str) else tuple(g) for n, g in given.items()})

    @property
    def _rows(self) -> tuple[int, ...] | None:
        return None if self.rows is None else (self.rows,) if isinstance(self.rows, int) else tuple(self.rows)

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the columns."""
        return tuple(self.columns)

    def uses(self, records: Records) -> tuple[str, ...]:
        """Return the columns that make the groups."""
        assert self.by is not None
        return tuple(dict.fromkeys(name for names in self.by.values() for name in names))

    def check(self, records: Records, problems: Problems) -> None:
        """Note rows that are not there, and means of categories."""
        rows = self._rows
        if rows is not None and max(rows, default=0) > len(records):
            problems.add(f"there is no row {max(rows)}; the file has {len(records)}")
        if self.how == "mean":
            for name in self.columns:
                if records.scale(name) is not Scale.CONTINUOUS:
                    problems.add(f"column '{name}' is {records.scale(name)} and has no mean; take how='mode' or 'draw'")

    def apply(self, call: MethodCall) -> Masking:
        """Choose records, blank and impute."""
        records = call.records
        n = len(records)
        if self._rows is not None:
            chosen = np.unique(np.asarray(self._rows, dtype=np.int64)) - 1
        else:
            assert self.rate is not None
            chosen = np.sort(call.rng.choice(n, round(self.rate * n), replace=False))
        assert self.by is not None
        empty = 0
        for name in self.columns:
            group, count = call.records.groups([*call.records.schema.strata, *self.by.get(name, ())])
            if self.how == "mean":
                values = call.records.numbers(name)
                there = ~np.isnan(values)
                weights = np.where(there, call.records.weights(), 0.0)
                total = np.bincount(group, weights=weights * np.where(there, values, 0), minlength=count)
                size = np.bincount(group, weights=weights, minlength=count)
                mean = np.where(size > 0, total / np.where(size > 0, size, 1), np.nan)
                new = values.copy()
                new[chosen] = mean[group[chosen]]
                empty += int(np.isnan(new[chosen]).sum())
                records = records.with_numbers(name, new)
                continue
            one = call.records.categories(name)
            index = one.index.copy()
            index[chosen] = self._pick(one, group, count, chosen, call)
            empty += int((index[chosen] < 0).sum())
            records = records.with_categories(name, Categories(one.values, index))
        names = ", ".join(self.columns)
        given = {"columns": list(self.columns), "most": len(chosen)}
        text = f"at most {len(chosen)} records have other values of {names} than before"
        claim = Claim("unchanged-where", tuple(self.columns), text, given, tuple(self.columns))
        notes = (f"{empty} values stay missing, as nobody of their group has one",) if empty else ()
        return Masking(records, {"records": (chosen + 1).tolist()}, (claim,), notes=notes)

    def _pick(self, one: Categories, group: Ints, count: int, chosen: Ints, call: MethodCall) -> Ints:
        """Return the most frequent value of each chosen record's group, or one drawn from it."""
        there = one.index >= 0
        m = len(one.values)
        weights = call.records.weights()
        places = group[there] * m + one.index[there]
        found = np.bincount(places, weights=weights[there], minlength=count * m).astype(np.float64)
        table = found.reshape(count, m) if m else np.zeros((count, 1))
        reached = np.cumsum(table, axis=1)
        total = reached[:, -1]
        if self.how == "mode":
            picked = table.argmax(axis=1)[group[chosen]]
        else:
            drawn = call.rng.random(len(chosen)) * total[group[chosen]]
            picked = np.array(
                [np.searchsorted(reached[g], x, side="right") for g, x in zip(group[chosen], drawn, strict=True)]
            )
        return np.where(total[group[chosen]] > 0, picked, -1).astype(np.int64)
