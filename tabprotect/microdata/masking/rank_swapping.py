"""Rank swapping (Moore 1996; survey of Ciriani et al., section 4.2, Fig. 11; Nin, Herranz, Torra 2008)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from tabprotect.errors import Problems
from tabprotect.microdata.checks import ROUNDING
from tabprotect.microdata.claims import Claim, claim_kind
from tabprotect.microdata.compiled import compiled
from tabprotect.microdata.method import Masking, Method, MethodCall
from tabprotect.microdata.parameters import as_columns, need_choice, need_number
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import ORDINAL, Scale

__all__ = ["RankSwapping"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

TRIES = 8
"""Draws for a partner that is still free, before the nearest free one is taken."""


@dataclass(frozen=True)
class RankSwapping(Method):
    """Each value is exchanged with one whose rank (or value) is near; every column on its own.

    Ties are ranked at random. Missing values stay missing and are not ranked. Weights are not looked at. Values are
    exchanged within each stratum.

    Parameters
    ----------
    columns : str or sequence of str
        Continuous or ordered columns.
    p : float
        Percent of the records ('rank', 'p-distribution') or of the range of the column ('range').
    by : {'rank', 'range', 'p-distribution'}
        'rank': ranks of exchanged values differ by at most p percent of the number of records (Moore). 'range': the
        values themselves differ by at most p percent of their range (as the survey has it; continuous columns). 'p-
        distribution': the difference of ranks is drawn from a normal distribution of mean and standard deviation p/2
        percent, so no interval of ranks is certain (Nin, Herranz, Torra).

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"temp": [35.2, 37.7, 35.3, 37.4, 38.1, 38.2]})
    >>> masked = md.mask(frame, None, md.RankSwapping("temp", p=20), seed=1)
    >>> sorted(masked.frame["temp"]) == sorted(frame["temp"]), bool(masked.verify())
    (True, True)
    """

    name: ClassVar[str] = "rank-swapping"
    family: ClassVar[str] = "perturbative"
    scales: ClassVar[tuple[Scale, ...]] = ORDINAL
    random: ClassVar[bool] = True
    claim_kinds: ClassVar[tuple[str, ...]] = ("same-values", "rank-distance", "value-distance")
    source: ClassVar[str] = "Ciriani et al. 2007, section 4.2 (rank swapping)"

    columns: Sequence[str] | str
    p: float = 10.0
    by: Literal["rank", "range", "p-distribution"] = "rank"

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        as_columns(self, "columns", problems)
        need_number(self, "p", problems, above=0, most=100)
        need_choice(self, "by", problems, ("rank", "range", "p-distribution"))

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the columns."""
        return tuple(self.columns)

    def check(self, records: Records, problems: Problems) -> None:
        """Note ordered columns without numbers where their range is asked for."""
        for name in self.columns:
            if self.by == "range" and records.scale(name) is not Scale.CONTINUOUS:
                problems.add(f"column '{name}' is {records.scale(name)}; by='range' takes continuous columns")

    def apply(self, call: MethodCall) -> Masking:
        """Exchange values."""
        records, facts, claims = call.records, {}, []
        strata = call.records.strata()
        for name in self.columns:
            continuous = call.records.scale(name) is Scale.CONTINUOUS
            one = None if continuous else call.records.categories(name)
            values = call.records.numbers(name) if one is None else np.where(one.index < 0, np.nan, one.index)
            new = values.copy()
            alone = 0
            for rows in strata:
                there = rows[~np.isnan(values[rows])]
                new[there], left = self._swap(values[there], call.rng)
                alone += left
            if one is None:
                records = records.with_numbers(name, new)
            else:
                index = np.where(np.isnan(new), -1, new).astype(np.int64)
                records = records.with_categories(name, type(one)(one.values, index))
            facts[name] = {"without partner": alone, "changed": int(((new != values) & ~np.isnan(values)).sum())}
            claims += self._claims(name, call.records)
        return Masking(records, facts, tuple(claims))

    def _swap(self, x: Floats, rng: np.random.Generator) -> tuple[Floats, int]:
        """Return the exchanged values and how many found nobody."""
        n = len(x)
        order = np.lexsort((rng.random(n), x))
        ranked = x[order]
        if self.by == "range":
            width = self.p / 100 * (ranked[-1] - ranked[0]) if n else 0.0
            last = np.searchsorted(ranked, ranked + width * (1 + 1e-12), side="right") - 1
        else:
            last = np.minimum(np.arange(n) + int(self.p / 100 * n), n - 1)
        if self.by == "p-distribution":
            steps = np.abs(rng.normal(self.p / 200 * n, self.p / 200 * n, (n, TRIES)))
            tries = np.arange(n)[:, None] + np.maximum(np.rint(steps), 1).astype(np.int64)
            last = np.full(n, n - 1)
        else:
            span = last - np.arange(n)
            tries = np.arange(n)[:, None] + 1 + (rng.random((n, TRIES)) * span[:, None]).astype(np.int64)
        partner = match_up(tries.astype(np.int64), last.astype(np.int64))
        new = np.empty_like(x)
        new[order] = ranked[partner]
        return new, int((partner == np.arange(n)).sum())

    def _claims(self, name: str, records: Records) -> list[Claim]:
        strata = list(records.schema.strata)
        within = {"strata": strata}
        columns = (name, *strata)
        same = Claim(
            "same-values", columns, f"'{name}' has the same values as before", {"columns": [name], **within}, columns
        )
        if self.by == "p-distribution":
            return [same]
        if self.by == "range":
            text = f"no value of '{name}' moves by more than {self.p:g} % of its range"
            return [same, Claim("value-distance", columns, text, {"column": name, "p": self.p, **within}, columns)]
        text = f"no rank of '{name}' changes by more than {self.p:g} % of the records"
        return [same, Claim("rank-distance", columns, text, {"column": name, "p": self.p, **within}, columns)]


@compiled
def match_up(tries: Ints, last: Ints) -> Ints:
    """Pair ranks in ascending order: each free one with the first of its tries that is free, else the nearest free one.

    Parameters
    ----------
    tries : ndarray of int, shape (n, tries)
    last : ndarray of int, shape (n,)
        Largest rank that may be the partner.

    Returns
    -------
    ndarray of int, shape (n,)
        Partner of each rank; itself where there is none.
    """
    n = len(last)
    partner = np.arange(n)
    taken = np.zeros(n, dtype=np.bool_)
    for i in range(n):
        if taken[i]:
            continue
        found = -1
        for k in range(tries.shape[1]):
            j = tries[i, k]
            if i < j <= last[i] and not taken[j]:
                found = j
                break
        if found < 0:
            for j in range(i + 1, last[i] + 1):
                if not taken[j]:
                    found = j
                    break
        if found > 0:
            taken[i] = taken[found] = True
            partner[i], partner[found] = found, i
    return partner


def _by_stratum(after: Records, before: Records, given: Mapping[str, Any]) -> list[tuple[Floats, Floats]]:
    """Return old and new values of every stratum, without missing ones; categories as positions in their order."""
    name = given["column"]
    if before.scale(name) is Scale.CONTINUOUS:
        old, new = before.numbers(name), after.numbers(name)
    else:
        position = {value: i for i, value in enumerate(before.categories(name).values)}
        sides = [r.categories(name) for r in (before, after)]
        old, new = (
            np.array([*(position[v] for v in one.values), np.nan], dtype=np.float64)[one.index] for one in sides
        )
    index, count = after.groups(given["strata"]) if given["strata"] else (np.zeros(len(after), np.int64), 1)
    there = ~np.isnan(old)
    return [(old[there & (index == s)], new[there & (index == s)]) for s in range(count)]


@claim_kind("rank-distance")
def _rank_distance(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """No value's rank among the values of before differs from its record's by more than p percent of the records."""
    assert before is not None
    for old, new in _by_stratum(after, before, given):
        most = int(given["p"] / 100 * len(old))
        ranked = np.sort(old)
        # tied values have an interval of ranks; the smallest distance between the two intervals counts
        low, high = (np.searchsorted(ranked, old, side=side) for side in ("left", "right"))
        new_low, new_high = (np.searchsorted(ranked, new, side=side) for side in ("left", "right"))
        apart = np.maximum(np.maximum(low - (new_high - 1), new_low - (high - 1)), 0)
        if (apart > most).any():
            return f"{int((apart > most).sum())} ranks change by more than {most}"
    return ""


@claim_kind("value-distance")
def _value_distance(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """No value moves by more than p percent of the range."""
    assert before is not None
    for old, new in _by_stratum(after, before, given):
        width = np.ptp(old) * given["p"] / 100 if len(old) else 0.0
        far = np.abs(new - old) > width * (1 + ROUNDING)
        if far.any():
            return f"{int(far.sum())} values move by more than {width:g}"
    return ""
