"""Targeted record swapping: households at risk change places with similar ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pandas as pd

from tabprotect.errors import Problems
from tabprotect.methods.record_swapping import swap_records
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.method import Masking, Method, MethodCall, shown
from tabprotect.microdata.parameters import as_columns, is_names, need_number
from tabprotect.microdata.records import Records

__all__ = ["RecordSwapping"]


@dataclass(frozen=True)
class RecordSwapping(Method):
    """Households at risk change places with similar ones elsewhere, and more of them until a rate is reached.

    A household is at risk in an area where fewer than `k` households have a member like one of its own in the columns
    `risk`. It changes places with a household of another area, within the same area of the level above, that has as
    many members with the same values of `similar`; see `tabprotect.methods.record_swapping.swap_records`, which
    tables are protected with, too. The household is that of the schema; without one every record is one.

    Missing values are values of their own. Partners are alike in the strata of the schema. Weights are not looked at,
    and stay with the record.

    Parameters
    ----------
    geography : str or sequence of str
        Columns of nested areas, the largest first. These are exchanged.
    risk : str or sequence of str
        Columns whose combination makes somebody rare; by default the keys of the schema that are not swapped.
    similar : sequence of sequences of str
        In what two households must be alike; the first list is tried first, later (coarser) ones where it finds nobody.
    k : int
        1 takes nobody for risky.
    rate : float
        At least this share of the households of every smallest area takes part, as far as there are partners.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> people = pd.DataFrame({"town": list("aaaabbbb"), "age": [1, 1, 1, 9, 1, 1, 1, 1], "sex": list("mmmmmmmm")})
    >>> step = md.RecordSwapping("town", risk="age", similar=[["sex"]], k=2)
    >>> masked = md.mask(people, None, step, seed=1)
    >>> masked.steps[0].facts["households at risk"], masked.frame["town"].tolist()[3], bool(masked.verify())
    (1, 'b', True)
    """

    name: ClassVar[str] = "record-swapping"
    family: ClassVar[str] = "perturbative"
    random: ClassVar[bool] = True
    claim_kinds: ClassVar[tuple[str, ...]] = ("same-tuples",)
    source: ClassVar[str] = "Ciriani et al. 2007, section 4.2 (swapping); Shlomo, Tudor and Groom 2010"

    geography: Sequence[str] | str
    risk: Sequence[str] | str | None = None
    similar: Sequence[Sequence[str]] = ((),)
    k: int = 3
    rate: float = 0.0

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        as_columns(self, "geography", problems)
        if self.risk is not None:
            as_columns(self, "risk", problems)
        need_number(self, "k", problems, least=1, whole=True)
        need_number(self, "rate", problems, least=0, most=1)
        lists = self.similar if isinstance(self.similar, list | tuple) else [self.similar]
        if not lists or not all(is_names(names) for names in lists):
            problems.add(
                f"{self.name}: similar is a list of lists of columns, such as [['age', 'sex'], ['sex']], not "
                f"{shown(self.similar)}"
            )
            lists = [()]
        object.__setattr__(self, "similar", tuple(tuple(names) for names in lists))
        both = sorted(set(self.geography) & {*(self.risk or ()), *(n for names in self.similar for n in names)})
        if both:
            problems.add(f"{self.name}: '{both[0]}' is swapped and cannot be a column of risk or likeness, too")

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the columns of the areas."""
        return tuple(self.geography)

    def uses(self, records: Records) -> tuple[str, ...]:
        """Return the columns of risk and likeness, the strata and the household."""
        alike = (name for names in self._similar(records) for name in names)
        household = () if records.schema.household is None else (records.schema.household,)
        return (*self._risk(records), *alike, *household)

    def _risk(self, records: Records) -> tuple[str, ...]:
        keys = tuple(name for name in records.schema.keys if name not in self.geography)
        return keys if self.risk is None else tuple(self.risk)

    def _similar(self, records: Records) -> list[tuple[str, ...]]:
        strata = tuple(name for name in records.schema.strata if name not in self.geography)
        return [tuple(dict.fromkeys((*names, *strata))) for names in self.similar]

    def check(self, records: Records, problems: Problems) -> None:
        """Note areas that are not nested, and households in several of them."""
        if not self._risk(records):
            problems.add("no columns of risk are given, here or as keys of the schema")
        areas = {name: records.groups([name])[0] for name in self.geography}
        for above, below in pairwise(self.geography):
            row = _torn(areas[below], areas[above])
            if row is not None:
                value = records.frame[below].to_list()[row]
                problems.add(f"areas are not nested: '{below}' {value!r} is in several '{above}'")
        if records.schema.household is not None:
            home = records.schema.household
            index = records.groups([home])[0]
            if records.missing(home).any():
                problems.add(f"column '{home}' has records without a household")
            elif any(_torn(index, area) is not None for area in areas.values()):
                problems.add(f"a household of '{home}' is in several areas; it can only move as a whole")

    def apply(self, call: MethodCall) -> Masking:
        """Swap."""
        records = call.records
        home, names = records.schema.household, list(self.geography)
        similar, risk = self._similar(records), self._risk(records)
        used = dict.fromkeys((*names, *risk, *(n for one in similar for n in one), *([home] if home else [])))
        coded = pd.DataFrame({name: records.groups([name])[0] for name in used})
        done = swap_records(
            coded, geography=names, risk=risk, similar=similar, household=home, k=int(self.k), rate=float(self.rate),
            seed=call.rng,
        )  # fmt: skip
        # areas are nested, so the smallest one says where a record is
        first = np.zeros(int(coded[names[-1]].max()) + 1, dtype=np.int64)
        first[coded[names[-1]].to_numpy()[::-1]] = np.arange(len(coded))[::-1]
        source = first[done.frame[names[-1]].to_numpy()]
        alike = [name for name in similar[0] if all(name in one for one in similar)]
        where = f" within {', '.join(alike)}" if alike else ""
        claim = Claim(
            "same-tuples", (*names, *alike), f"{', '.join(names)}: the same values as before{where}",
            {"columns": names, "match": alike}, (*names, *alike),
        )  # fmt: skip
        facts = {
            "households": done.households, "households at risk": done.risky, "swapped": 2 * len(done.pairs),
            "without a partner": len(done.unmatched),
            "records moved": int((coded[names[-1]].to_numpy() != done.frame[names[-1]].to_numpy()).sum()),
        }  # fmt: skip
        notes = (
            (f"{len(done.unmatched)} of {done.risky} households at risk found no partner and stay where they are",)
            if len(done.unmatched)
            else ()
        )
        return Masking(records.with_rows(names, source), facts, (claim,), notes=notes)


def _torn(inner: np.ndarray, outer: np.ndarray) -> int | None:
    """Return a row whose inner group is in several outer groups."""
    first = np.zeros(int(inner.max(initial=0)) + 1, dtype=np.int64)
    first[inner[::-1]] = np.arange(len(inner))[::-1]
    wrong = np.flatnonzero(outer != outer[first[inner]])
    return int(wrong[0]) if len(wrong) else None
