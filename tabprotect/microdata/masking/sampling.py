"""Sampling: only some records are released (survey of Ciriani et al., section 4.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from tabprotect.errors import Problems, did_you_mean
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.masking.designs import allocate, inclusion
from tabprotect.microdata.method import Masking, Method, MethodCall
from tabprotect.microdata.parameters import need_choice, need_number
from tabprotect.microdata.records import Records

__all__ = ["Sampling"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

DESIGNS = ("simple", "systematic", "proportional-to-size")


@dataclass(frozen=True)
class Sampling(Method):
    """Release a sample; weights are divided by the probability of selection, so that estimated totals are unbiased.

    (The survey says that sampling is for categorical columns only, and lists it for continuous ones, too; columns do
    not matter.) Missing values stay missing, except that a unit without a size cannot be drawn in proportion to it.
    Weights of the schema are multiplied; without any, a column of weights is added. Strata are those of the schema: a
    sample is drawn within each. Records stay in their order.

    Parameters
    ----------
    size : int, optional
        How many units are drawn.
    share : float, optional
        Or which share of them, such as 0.1; at least one in all.
    design : {'simple', 'systematic', 'proportional-to-size'}
        Without replacement; 'systematic': every so manieth unit after a random start, in the order of the file (the
        interval may be a fraction); 'proportional-to-size': systematic in a random order, with probabilities in
        proportion to `of` (those above 1 are drawn for certain).
    of : str, optional
        Sizes of the units (above 0), for 'proportional-to-size'; for households that of their first record.
    allocation : {'proportional', 'equal', 'neyman'} or mapping
        How the sample is spread over the strata: in proportion to their units, evenly, in proportion to units times
        standard deviation of `spread`, or so many units for each stratum (by its values, with ', ' between several).
        Every stratum with units gets at least one.
    spread : str, optional
        Continuous column of the 'neyman' allocation; missing values are left out.
    unit : {'record', 'household'}
        What is drawn: whole households of the schema, with all their records.
    weight : str
        Name of the column that is added where the schema has no weight.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"region": ["n"] * 6 + ["s"] * 4, "income": range(10)})
    >>> masked = md.mask(frame, md.Schema(strata=["region"]), md.Sampling(size=5), seed=1)
    >>> masked.frame.groupby("region")["weight"].sum().to_dict()
    {'n': 6.0, 's': 4.0}
    """

    name: ClassVar[str] = "sampling"
    family: ClassVar[str] = "non-perturbative"
    random: ClassVar[bool] = True
    claim_kinds: ClassVar[tuple[str, ...]] = ("sampled", "design-weights")
    source: ClassVar[str] = "Ciriani et al. 2007, section 4.1; Eustat notebook"

    size: int | None = None
    share: float | None = None
    design: Literal["simple", "systematic", "proportional-to-size"] = "simple"
    of: str | None = None
    allocation: Literal["proportional", "equal", "neyman"] | Mapping[str, int] = "proportional"
    spread: str | None = None
    unit: Literal["record", "household"] = "record"
    weight: str = "weight"

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        need_number(self, "size", problems, least=1, whole=True, optional=True)
        need_number(self, "share", problems, above=0, most=1, optional=True)
        need_choice(self, "design", problems, DESIGNS)
        need_choice(self, "unit", problems, ("record", "household"))
        given = isinstance(self.allocation, Mapping)
        if given:
            wrong = [k for k, n in self.allocation.items() if isinstance(n, bool) or not isinstance(n, int) or n < 0]  # type: ignore[union-attr]
            if wrong:
                problems.add(f"{self.name}: the allocation of '{wrong[0]}' must be a whole number of at least 0")
        else:
            need_choice(self, "allocation", problems, ("proportional", "equal", "neyman"))
        if [self.size is not None, self.share is not None, given].count(True) != 1:
            problems.add(f"{self.name}: give either size, or share, or an allocation for every stratum")
        if (self.design == "proportional-to-size") != (self.of is not None):
            problems.add(f"{self.name}: 'of' names the sizes for design='proportional-to-size'; the two go together")
        neyman = isinstance(self.allocation, str) and self.allocation == "neyman"
        if neyman != (self.spread is not None):
            problems.add(f"{self.name}: 'spread' names the column of allocation='neyman'; the two go together")

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the column of weights."""
        return (records.schema.weight or self.weight,)

    def makes(self, records: Records) -> tuple[str, ...]:
        """Return the column of weights."""
        return self.targets(records)

    def uses(self, records: Records) -> tuple[str, ...]:
        """Return strata, household and the columns of the design."""
        household = (records.schema.household,) if self.unit == "household" else ()
        return tuple(name for name in (*records.schema.strata, *household, self.of, self.spread) if name is not None)

    def keeps(self, claim: Claim) -> bool:
        """Bounds and the like hold of every part of the file."""
        if claim.kind in ("at-most", "at-least", "categories"):
            return True
        return claim.kind in ("function-of", "only-blanked", "relative-change", "blanked-together") and (
            claim.kind != "blanked-together" or self.unit == "household"
        )

    def check(self, records: Records, problems: Problems) -> None:
        """Note what the records do not allow."""
        schema = records.schema
        if schema.weight is None and self.weight in records.columns:
            problems.add(
                f"there is a column '{self.weight}'; name it as the weight in the schema, or take another name"
            )
        if self.unit == "household":
            if schema.household is None:
                problems.add("households are to be drawn; name their column in the schema")
                return
            if records.missing(schema.household).any():
                problems.add(f"column '{schema.household}' has records without a household")
            homes, strata = records.groups([schema.household])[0], records.groups(schema.strata)[0]
            pairs = np.unique(np.column_stack([homes, strata]), axis=0)
            if len(pairs) > len(np.unique(homes)):
                problems.add("households are to be drawn within strata, and some are in several strata")
        if self.of is not None:
            sizes = records.numbers(self.of)
            if not (sizes > 0).all():
                problems.add(f"column '{self.of}' must hold sizes above 0 in every record")
        units, _, labels = self._units(records)
        total = len(units)
        if self.size is not None and self.size > total:
            problems.add(f"{self.size:,} {self.unit}s cannot be drawn from {total:,}")
        if self.size is not None and self.size < len(labels):
            problems.add(f"{self.size:,} {self.unit}s are fewer than the {len(labels):,} strata; each needs one")
        if isinstance(self.allocation, Mapping):
            counts = dict(zip(labels, np.bincount(self._units(records)[1]).tolist(), strict=True))
            for label, n in self.allocation.items():
                if label not in counts:
                    problems.add(f"there is no stratum '{label}'{did_you_mean(label, counts)}")
                elif n > counts[label]:
                    problems.add(f"stratum '{label}' has {counts[label]:,} {self.unit}s, fewer than {n:,}")
            left = [label for label in labels if label not in self.allocation]
            if left:
                problems.add(f"the allocation does not name stratum '{left[0]}'; 0 leaves it out")
            if not sum(self.allocation.values()):
                problems.add("the allocation draws nothing")

    def _units(self, records: Records) -> tuple[Ints, Ints, list[str]]:
        """Return the first record of every unit, the stratum of every unit, and the names of the strata."""
        strata, count = records.groups(records.schema.strata)
        first = np.arange(len(records))
        if self.unit == "household" and records.schema.household is not None:
            homes, n = records.groups([records.schema.household])
            first = np.full(n, len(records), dtype=np.int64)
            np.minimum.at(first, homes, np.arange(len(records)))
        at = np.full(count, len(records), dtype=np.int64)
        np.minimum.at(at, strata, np.arange(len(records)))
        columns = [records.take(at).frame[name].to_list() for name in records.schema.strata]
        labels = [", ".join(map(str, row)) for row in zip(*columns, strict=True)] if columns else ["all"]
        return first, strata[first], labels

    def _allocation(self, records: Records, first: Ints, strata: Ints, labels: Sequence[str]) -> Ints:
        counts = np.bincount(strata, minlength=len(labels))
        if isinstance(self.allocation, Mapping):
            return np.array([int(self.allocation[label]) for label in labels], dtype=np.int64)
        total = self.size if self.size is not None else max(1, round(float(self.share or 0) * len(first)))
        if self.allocation == "equal":
            importance: Floats = np.ones(len(labels))
        elif self.allocation == "neyman":
            assert self.spread is not None
            values = records.numbers(self.spread)[first]
            there = ~np.isnan(values)
            n = np.bincount(strata[there], minlength=len(labels))
            mean = np.bincount(strata[there], weights=values[there], minlength=len(labels)) / np.maximum(n, 1)
            off = (values[there] - mean[strata[there]]) ** 2
            spread = np.sqrt(np.bincount(strata[there], weights=off, minlength=len(labels)) / np.maximum(n - 1, 1))
            importance = np.asarray(counts * spread, dtype=np.float64)
        else:
            importance = counts.astype(np.float64)
        return allocate(max(total, len(labels)), importance, counts)

    def apply(self, call: MethodCall) -> Masking:
        """Draw."""
        records, rng = call.records, call.rng
        first, strata, labels = self._units(records)
        sizes = self._allocation(records, first, strata, labels)
        order = np.argsort(strata, kind="stable")
        groups = np.split(order, np.searchsorted(strata[order], np.arange(1, len(labels))))
        chosen, probability = [], np.zeros(len(first))
        for units, n in zip(groups, sizes.tolist(), strict=True):
            drawn, chance = self._draw(units, n, records, first, rng)
            chosen.append(drawn)
            probability[units] = chance
        mine = np.zeros(len(first), dtype=bool)
        mine[np.concatenate(chosen)] = True
        unit_of = np.arange(len(records))
        if self.unit == "household":
            unit_of = records.groups([str(records.schema.household)])[0]
        rows = np.flatnonzero(mine[unit_of])
        base = records.weights()
        weights = base[rows] / probability[unit_of[rows]]
        column = records.schema.weight or self.weight
        released = records.take(rows).with_numbers(column, weights)
        if records.schema.weight is None:
            released = replace(released, schema=replace(records.schema, weight=column))
        facts = {
            "units": len(first), "drawn": int(mine.sum()), "records": len(rows),
            "strata": {label: [int(n), int(c)] for label, n, c in zip(labels, sizes, np.bincount(strata), strict=True)},
        }  # fmt: skip
        claims = self._claims(records, column, rows, unit_of, strata, sizes, probability)
        return Masking(released, facts, claims, rows)

    def _draw(
        self, units: Ints, n: int, records: Records, first: Ints, rng: np.random.Generator
    ) -> tuple[Ints, Floats]:
        """Return the units drawn in one stratum, and the probability of every one."""
        if self.design == "simple":
            return rng.choice(units, n, replace=False), np.full(len(units), n / len(units))
        if self.design == "systematic":
            # floor of start + i N/n for a start in [0, N/n): each position has probability n/N
            at = np.floor((rng.random() + np.arange(n)) * len(units) / max(n, 1)).astype(np.int64)
            return units[np.minimum(at, len(units) - 1)], np.full(len(units), n / len(units))
        assert self.of is not None
        chance = inclusion(records.numbers(self.of)[first[units]], n)
        order = rng.permutation(len(units))
        sums = np.concatenate([[0.0], np.cumsum(chance[order])])
        # the sum is n but for rounding
        sums *= n / sums[-1] if sums[-1] else 1.0
        drawn = np.searchsorted(sums, rng.random() + np.arange(n), side="right") - 1
        return units[order[np.minimum(drawn, len(units) - 1)]], chance

    def _claims(
        self, records: Records, column: str, rows: Ints, unit_of: Ints, strata: Ints, sizes: Ints, probability: Floats
    ) -> tuple[Claim, ...]:
        others = tuple(name for name in records.columns if name != column and name not in records.schema.identifiers)
        base = records.schema.weight
        given: dict[str, Any] = {"weight": column, "base": base}
        if self.design == "proportional-to-size":
            given["probabilities"] = probability[unit_of[rows]].tolist()
        else:
            given["stratum"] = strata[unit_of[rows]].tolist()
            given["strata"] = [[int(n), int(c)] for n, c in zip(sizes, np.bincount(strata), strict=True)]
            if self.unit == "household":
                given["unit"] = [str(records.schema.household)]
        text = "weights are those of before over the probability of selection"
        names = (column, *((str(records.schema.household),) if given.get("unit") else ()))
        return (
            Claim("sampled", others, "every record is one of before, as it was", {"columns": list(others)}, others),
            Claim("design-weights", names, text, given, (base,) if base is not None else ()),
        )
