"""Local suppression: single values of keys are blanked (survey of Ciriani et al., section 4.1; Eustat, mu-ARGUS)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, Problems, did_you_mean
from tabprotect.microdata.anonymity import MISSING, Missing
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.combinations import as_thresholds, look
from tabprotect.microdata.keys import KeyCodes, Patterns, key_codes
from tabprotect.microdata.masking.suppression.coupled import assign_exactly, assign_quickly, released_counts
from tabprotect.microdata.masking.suppression.covers import (
    ENUMERATED,
    cover_by_enumeration,
    cover_by_programmes,
    cover_households,
)
from tabprotect.microdata.method import Masking, Method, MethodCall
from tabprotect.microdata.parameters import as_columns, need_choice, need_number
from tabprotect.microdata.records import Records
from tabprotect.solver.gap import relative_gap
from tabprotect.solver.limits import Budget, Limits

__all__ = ["LocalSuppression"]

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class LocalSuppression(Method):
    """Fewest blanks among the keys such that no record states an unsafe combination.

    What counts as a match is a choice (`missing`), and what is claimed holds for this one. By default a blank of a
    record matches every value, and all records count by the values they had before: at least k respondents fit what is
    released of each record. Blanks of others do not help; else k - 1 records without any key would match everybody,
    and would be the fewest blanks (under 'both' they are found, and a note says so). Under 'any' the answer is proven
    minimal always.

    Values that were missing before match every value (under 'own' they are a value of their own). Combinations are
    counted within the strata of the schema that are no keys. Weights are not looked at: k counts records.

    Parameters
    ----------
    k : int
        How many records must share a combination.
    keys : str or sequence of str, optional
        By default the keys of the schema.
    up_to : int, optional
        Combinations of up to so many keys are looked at; by default of all.
    thresholds : mapping of int to int, optional
        Instead of k, by the number of keys, such as ``{1: 10, 2: 5, 3: 3}``; sizes that are not named ask for nothing.
    importance : mapping of str to float, optional
        Cost of a blank (above 0) of each key, by default 1: important keys are blanked last.
    together : str or sequence of str
        Household variables: they are blanked in all records of a household or in none. Only for 'any'.
    missing : {'any', 'both', 'stated', 'own'}
        What a missing value matches, see `anonymity.key_counts`: every value; every value on both sides, also those
        blanked in other records (the count of sdcMicro); every value, but only records count that state all keys
        stated by this one; only other missing values.
    exact : bool
        Also solve the integer programme where blanks of records depend on each other ('both', 'stated', 'own'), up to
        the size that can be stated. A gap is reported where it is not closed.
    work : int
        Limit of that programme in simplex iterations and nodes, so that the answer does not depend on the clock.

    Notes
    -----
    Key by key 'own' <= 'stated' <= 'any' <= 'both' in the count of every record: who asks for 'own' gets them all.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"zip": [1, 1, 1, 2], "sex": ["f", "f", "m", "m"]})
    >>> masked = md.mask(frame, md.Schema(keys=["zip", "sex"]), md.LocalSuppression(k=2), seed=1)
    >>> masked.frame.isna().astype(int).values.tolist()
    [[0, 0], [0, 0], [0, 1], [1, 0]]
    >>> masked.steps[0].facts["blanks"], masked.steps[0].facts["status"]
    ({'zip': 1, 'sex': 1}, 'optimal')
    """

    name: ClassVar[str] = "local-suppression"
    family: ClassVar[str] = "non-perturbative"
    claim_kinds: ClassVar[tuple[str, ...]] = ("k-anonymity", "safe-combinations", "only-blanked", "blanked-together")
    source: ClassVar[str] = "Ciriani et al. 2007, section 4.1; Eustat notebook, mu-ARGUS"

    k: int = 3
    keys: Sequence[str] | str | None = None
    up_to: int | None = None
    thresholds: Mapping[int, int] | None = None
    importance: Mapping[str, float] | None = None
    together: Sequence[str] | str = ()
    missing: Missing = "any"
    exact: bool = True
    work: int = 100_000

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        need_number(self, "k", problems, least=1, whole=True)
        need_number(self, "up_to", problems, least=1, whole=True, optional=True)
        need_number(self, "work", problems, least=0, whole=True)
        need_choice(self, "missing", problems, MISSING)
        if self.keys is not None:
            as_columns(self, "keys", problems)
        as_columns(self, "together", problems, least=0)
        whole = self.up_to is None and self.thresholds is None
        if self.missing != "any" and not whole:
            problems.add(f"{self.name}: up_to and thresholds ask for missing='any', not {self.missing!r}")
        if self.missing != "any" and self.together:
            problems.add(f"{self.name}: blanks of households together ask for missing='any', not {self.missing!r}")
        for key, cost in (self.importance or {}).items():
            if isinstance(cost, bool) or not isinstance(cost, int | float) or not 0 < cost < float("inf"):
                problems.add(f"{self.name}: the importance of '{key}' must be a number above 0, not {cost!r}")

    def _keys(self, records: Records) -> tuple[str, ...]:
        return tuple(records.schema.keys) if self.keys is None else tuple(self.keys)

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the keys."""
        return self._keys(records)

    def uses(self, records: Records) -> tuple[str, ...]:
        """Return the strata, and the household where keys are blanked together."""
        household = records.schema.household
        return (*self._strata(records), *((household,) if self.together and household is not None else ()))

    def _strata(self, records: Records) -> tuple[str, ...]:
        keys = self._keys(records)
        return tuple(name for name in records.schema.strata if name not in keys)

    def check(self, records: Records, problems: Problems) -> None:
        """Note what the records do not allow."""
        keys = self._keys(records)
        if not keys:
            problems.add("no keys are given, here or in the schema")
            return
        for key in [*(self.importance or {}), *self.together]:
            if key not in keys:
                problems.add(f"'{key}' is none of the keys{did_you_mean(key, keys)}")
        if self.together and records.schema.household is None:
            problems.add("blanks of households together need the household in the schema")
        elif self.together and records.missing(str(records.schema.household)).any():
            problems.add(f"column '{records.schema.household}' has records without a household")
        try:
            limits = as_thresholds(len(keys), self.up_to, self.k if self.thresholds is None else self.thresholds)
            limits.check(len(keys), problems)
        except InputError as error:
            problems.found += error.problems
            return
        if self.missing != "any" and len(keys) > ENUMERATED:
            problems.add(f"missing={self.missing!r} takes up to {ENUMERATED} keys, not {len(keys)}; use 'any'")
        smallest = min(len(rows) for rows in records.strata(self._strata(records)))
        if smallest < max(limits.by_size) and self.missing != "any":
            what = "stratum" if self._strata(records) else "file"
            problems.add(f"a {what} of {smallest} records cannot reach {max(limits.by_size)}")
        elif smallest < self.k and limits.up_to == len(keys) and self.thresholds is None:
            problems.add(f"{smallest} records (in a stratum, where there are any) cannot reach k = {self.k}")

    def apply(self, call: MethodCall) -> Masking:
        """Blank."""
        records = call.records
        keys = self._keys(records)
        coded = key_codes(records, keys)
        cost = np.array([float((self.importance or {}).get(key, 1.0)) for key in keys])
        if self.missing == "any":
            blanks, bound, risky = self._independent(records, coded, cost)
        else:
            blanks, bound, risky = self._coupled(records, coded, cost)
        blanks &= coded.codes >= 0
        released = records
        for j, key in enumerate(keys):
            released = released.with_missing(key, blanks[:, j])
        paid = float((blanks @ cost).sum())
        closed = paid <= bound * (1 + 1e-9) + 1e-9
        facts: dict[str, Any] = {
            "blanks": {key: int(blanks[:, j].sum()) for j, key in enumerate(keys)},
            "unsafe records": risky, "cost": paid, "bound": bound, "gap": relative_gap(paid, bound),
            "status": "optimal" if closed else "feasible",
        }  # fmt: skip
        notes = []
        if not closed:
            notes.append(f"blanks of cost {paid:g} were found; no fewer than {bound:g} will do")
        if self.missing == "both":
            notes.append(
                "blanks of other records count as matches here, so that few records without any key match everybody; "
                "missing='any' does not rest on them"
            )
        return Masking(released, facts, self._claims(records, keys), notes=tuple(notes))

    def _claims(self, records: Records, keys: tuple[str, ...]) -> tuple[Claim, ...]:
        strata = self._strata(records)
        columns = (*keys, *strata)
        within = f" within {', '.join(strata)}" if strata else ""
        claims = [Claim("only-blanked", keys, "keys are as before or blank", {"columns": list(keys)}, keys)]
        if self.together:
            household = str(records.schema.household)
            if household not in records.schema.identifiers:
                text = f"{', '.join(self.together)}: blanked in all records of a household or in none"
                home = {"columns": list(self.together), "household": household}
                claims.append(Claim("blanked-together", (*self.together, household), text, home, tuple(self.together)))
        if self.thresholds is None and (self.up_to is None or self.up_to >= len(keys)):
            text = f"at least {self.k} records match each one on {', '.join(keys)}{within} (missing: {self.missing})"
            given: dict[str, Any] = {"keys": list(keys), "strata": list(strata), "k": self.k, "missing": self.missing}
            before = columns if self.missing == "any" else ()
            return (Claim("k-anonymity", columns, text, given, before), *claims)
        limits = as_thresholds(len(keys), self.up_to, self.thresholds or self.k).by_size
        text = f"every combination of up to {len(limits)} keys{within} fits as many records as its threshold"
        given = {"keys": list(keys), "strata": list(strata), "thresholds": list(limits)}
        return (Claim("safe-combinations", columns, text, given, columns), *claims)

    def _independent(
        self, records: Records, coded: KeyCodes, cost: npt.NDArray[np.float64]
    ) -> tuple[Flags, float, int]:
        """Solve one set cover for every pattern, or household."""
        strata = self._strata(records)
        keys = list(range(len(coded.names)))
        home = None
        if self.together:
            home = records.groups([str(records.schema.household)])[0]
        patterns, within = _patterns(records, coded, strata)
        limits = as_thresholds(len(keys), self.up_to, self.thresholds or self.k)
        unsafe = {}
        risky = np.zeros(len(patterns.counts), dtype=bool)
        for found in look(patterns, limits, within):
            risky |= found.unsafe
            if found.minimal.any():
                unsafe[found.keys] = found.minimal
        count = int(patterns.counts[risky].sum())
        if home is not None:
            unsafe = {chosen: flags[patterns.index] for chosen, flags in unsafe.items()}
            together = [coded.names.index(name) for name in self.together]
            if len(keys) <= ENUMERATED:
                cover = cover_households(unsafe, home, cost, together)
            else:
                cover = cover_by_programmes(unsafe, np.ones(len(home), np.int64), cost, home, together)
            return cover.blanks, cover.bound, count
        solve = cover_by_enumeration if len(keys) <= ENUMERATED else cover_by_programmes
        cover = solve(unsafe, patterns.counts, cost)
        return cover.blanks[patterns.index], cover.bound, count

    def _coupled(self, records: Records, coded: KeyCodes, cost: npt.NDArray[np.float64]) -> tuple[Flags, float, int]:
        """Quick blanks stratum by stratum, then the integer programme where it can be stated."""
        blanks = np.zeros(coded.codes.shape, dtype=bool)
        bound, risky = 0.0, 0
        limits = as_thresholds(len(coded.names), None, self.k)
        budget = Budget(Limits(work=self.work))
        for rows in records.strata(self._strata(records)):
            patterns = KeyCodes(coded.names, coded.values, coded.codes[rows]).patterns()
            unsafe = {one.keys: one.minimal for one in look(patterns, limits) if one.minimal.any()}
            alone = cover_by_enumeration(unsafe, patterns.counts, cost)
            first = alone.blanks @ (1 << np.arange(len(cost)))
            given = (patterns.codes, patterns.counts, patterns.sizes, self.k, cost, self.missing)
            found = assign_quickly(*given, first)
            found.check(patterns, self.k, self.missing)
            least = 0.0 if self.missing == "both" else alone.bound
            matches = released_counts(patterns.codes, patterns.counts, patterns.sizes, self.missing)
            risky += int(patterns.counts[matches < self.k].sum())
            if self.exact and found.cost > least + 1e-9:
                better = assign_exactly(*given, found, budget)
                if better is not None:
                    least = max(least, better.bound)
                    if better.cost < found.cost - 1e-9:
                        better.check(patterns, self.k, self.missing)
                        found = better
            bound += least
            masks = found.masks(patterns)
            blanks[rows] = (masks[:, None] >> np.arange(len(cost))) & 1
        return blanks, bound, risky


def _patterns(records: Records, coded: KeyCodes, strata: tuple[str, ...]) -> tuple[Patterns, Ints | None]:
    """Return the patterns of keys, within strata where there are any, and the stratum of each."""
    if not strata:
        return coded.patterns(), None
    index, count = records.groups(strata)
    whole = KeyCodes(
        (*coded.names, ""), (*coded.values, tuple(range(count))), np.column_stack([coded.codes, index])
    ).patterns()
    keys = len(coded.names)
    return Patterns(whole.codes[:, :keys], whole.counts, whole.index, whole.sizes[:keys]), whole.codes[:, keys]
