"""The method MASSC."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tabprotect.errors import Problems, did_you_mean
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.masking.massc.calibration import rake
from tabprotect.microdata.masking.massc.design import Design, subsampling_design, substitution_design
from tabprotect.microdata.masking.massc.strata import Totals, partners, risk_strata, substrata, totals_of
from tabprotect.microdata.method import Masking, Method, MethodCall
from tabprotect.microdata.parameters import as_columns, need_number
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import ANY, Scale

__all__ = ["MASSC"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class MASSC(Method):
    """Substitute keys of some records, release a subsample of all, and calibrate its weights.

    Records fall into risk strata: unique on the core columns, unique with the first noncore column, and so on. In each
    a random part gets the core and noncore values of its nearest neighbour with other ones; of the file so treated a
    random part is released. The probabilities minimise a disclosure cost under bounds on bias and variance of totals.
    Weights (1 without any) are divided by the sampling probability and calibrated: the count and all totals of the
    outcomes are then exact, in the file and in every domain.

    Missing values: in core and noncore columns a category of their own; in outcomes they count 0. Weights enter bias,
    variance and calibration. Strata of the schema divide the substrata further, so that probabilities hold in each.

    Parameters
    ----------
    core : str or sequence of str
        Identifying columns that an intruder has easily.
    noncore : sequence of str
        Further ones, the easiest to come by first.
    outcomes : sequence of str
        Columns whose totals are kept, numbers or categories.
    domains : sequence of str
        The totals are kept for each category of these columns, too.
    bias, variance : float
        Bounds on the root of the expected squared bias, and on the standard error, of every total, relative to it:
        the square roots of alpha and beta. The root mean squared error before calibration is at most the root of
        their sum of squares.
    parts : int
        Most substrata of each risk stratum.
    lowest, highest : float
        Range of the probability to be substituted, and to be sampled out.
    weight : str
        Name of the new column of weights if the schema has none.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import tabprotect.microdata as md
    >>> rng = np.random.default_rng(0)
    >>> people = pd.DataFrame({"age": rng.integers(18, 80, 400), "sex": rng.choice(["f", "m"], 400),
    ...                        "income": rng.lognormal(10, 0.4, 400)})
    >>> method = md.MASSC(["age"], ["sex"], outcomes=["income"], domains=["sex"], bias=0.05, variance=0.05)
    >>> masked = md.mask(people, md.Schema(confidential=["income"]), method, seed=1)
    >>> len(masked.frame) < 400, bool(masked.verify())
    (True, True)
    >>> bool(np.isclose((masked.frame["weight"] * masked.frame["income"]).sum(), people["income"].sum()))
    True
    """

    name: ClassVar[str] = "massc"
    family: ClassVar[str] = "perturbative"
    scales: ClassVar[tuple[Scale, ...]] = ANY
    random: ClassVar[bool] = True
    claim_kinds: ClassVar[tuple[str, ...]] = ("calibrated-totals",)
    source: ClassVar[str] = "Singh, Yu and Dunteman 2003, section 5"

    core: Sequence[str] | str
    noncore: Sequence[str] | str = ()
    outcomes: Sequence[str] | str = ()
    domains: Sequence[str] | str = ()
    bias: float = 0.02
    variance: float = 0.02
    parts: int = 4
    lowest: float = 0.01
    highest: float = 0.5
    weight: str = "weight"

    def check_parameters(self, problems: Problems) -> None:
        """Note parameters that cannot be."""
        as_columns(self, "core", problems)
        for field_name in ("noncore", "outcomes", "domains"):
            as_columns(self, field_name, problems, least=0)
        for field_name in ("bias", "variance"):
            need_number(self, field_name, problems, above=0)
        need_number(self, "parts", problems, least=1, whole=True)
        need_number(self, "lowest", problems, above=0, most=0.5)
        need_number(self, "highest", problems, above=0, most=0.5)
        twice = sorted(set(self.core) & set(self.noncore))
        if twice:
            problems.add(f"{self.name}: '{twice[0]}' is both core and noncore")
        if not problems.found and self.lowest > self.highest:
            problems.add(f"{self.name}: lowest must not be above highest")
        if not isinstance(self.weight, str) or not self.weight:
            problems.add(f"{self.name}: weight must be the name of a column, not {self.weight!r}")

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return core and noncore columns, and the weight."""
        there = (records.schema.weight,) if records.schema.weight is not None else ()
        return (*self.core, *self.noncore, *there)

    def uses(self, records: Records) -> tuple[str, ...]:
        """Return outcomes and domains."""
        return (*self.outcomes, *self.domains)

    def check(self, records: Records, problems: Problems) -> None:
        """Note columns that cannot serve."""
        if records.schema.weight is None and self.weight in records.columns:
            problems.add(f"column '{self.weight}' is there already; name another one for the weights")
        for name in (*self.core, *self.noncore, *self.outcomes, *self.domains):
            if name in (records.schema.weight, records.schema.household):
                problems.add(f"'{name}' is weight or household{did_you_mean(name, records.columns)}")

    def apply(self, call: MethodCall) -> Masking:
        """Carry out the four steps."""
        records = call.records
        columns = [*self.core, *self.noncore]
        weights = records.weights()
        totals = totals_of(records, self.outcomes, self.domains)
        true = weights @ totals.values
        stratum = risk_strata(records, self.core, self.noncore)
        partner = partners(records, columns)
        notes: list[str] = []
        treated, substitution, psi = self._substitute(call, totals, true, stratum, partner, notes)
        values = totals_of(treated, self.outcomes, self.domains, like=totals).values
        kept, sampling, phi = self._sample(call, values, true, stratum, notes)
        if not len(kept):
            # every probability is at least a half, so this is a file of a few records
            kept = np.arange(len(records))
            phi = np.ones(len(records))
            notes.append("every record was sampled out; all are released")
        design_weights = weights[kept] / phi[kept]
        calibrated = rake(design_weights, values[kept], true)
        if calibrated is None:
            notes.append("no positive weights give all totals; the weights are inverse probabilities, not calibrated")
        name = records.schema.weight or self.weight
        released = treated.take(kept).with_numbers(name, design_weights if calibrated is None else calibrated)
        released = replace(released, schema=replace(records.schema, weight=name))
        claims = () if calibrated is None else (self._claim(name, totals, true),)
        error = np.sqrt(substitution.used + sampling.used)
        facts = {
            "risk strata": np.bincount(stratum, minlength=len(self.noncore) + 2).tolist(),
            "substituted": int(psi.sum()), "released": len(kept),
            "substitution probabilities": substitution.probabilities.tolist(),
            "sampling probabilities": sampling.probabilities.tolist(),
            "disclosure cost": {"substitution": substitution.cost, "sampling": sampling.cost},
            "largest relative root mean squared error": float(error.max(initial=0.0)),
            "bound on it": float(np.hypot(self.bias, self.variance)),
        }  # fmt: skip
        return Masking(released, facts, claims, np.asarray(kept, dtype=np.int64), tuple(notes))

    def _cells(self, records: Records, stratum: Ints, size: Floats) -> tuple[Ints, int]:
        """Return the substratum of every record, within strata of the schema, and how many there are."""
        within = stratum
        if records.schema.strata:
            index, count = records.groups(records.schema.strata)
            within = stratum * count + index
        found = substrata(within, size, int(self.parts))
        return found, int(found.max()) + 1

    def _cost(self, stratum: Ints, cell: Ints, cells: int) -> Floats:
        """Return c_s N_s: a record unique on the core costs 1, one of the next stratum 1/2, then 1/3, and so on."""
        return np.bincount(cell, 1.0 / (1.0 + stratum), cells).astype(np.float64)

    def _substitute(
        self, call: MethodCall, totals: Totals, true: Floats, stratum: Ints, partner: Ints, notes: list[str]
    ) -> tuple[Records, Design, Any]:
        records, weights = call.records, call.records.weights()
        if (partner < 0).any():
            notes.append("all records have the same core and noncore values; none is substituted")
            one = Design(np.zeros(1), 0.0, np.zeros(int((true != 0).sum())), True)
            return records, one, np.zeros(len(records), dtype=bool)
        columns = [*self.core, *self.noncore]
        swapped = totals_of(records.with_rows(columns, partner), self.outcomes, self.domains, like=totals).values
        off = weights[:, None] * (swapped - totals.values)
        usable = true != 0
        if not usable.all():
            notes.append(f"{int((~usable).sum())} totals are 0 and have no relative bound")
        size = np.abs(off[:, usable] / true[usable]).sum(axis=1)
        cell, cells = self._cells(records, stratum, size)
        sums = np.column_stack([np.bincount(cell, off[:, j], cells) for j in np.flatnonzero(usable)]).astype(np.float64)
        squares = np.column_stack([np.bincount(cell, off[:, j] ** 2, cells) for j in np.flatnonzero(usable)]).astype(
            np.float64
        )
        box = (float(self.lowest), float(self.highest))
        design = substitution_design(sums, squares, true[usable], self.bias**2, self._cost(stratum, cell, cells), box)
        if not design.feasible:
            notes.append(f"even substitution with probability {self.lowest:g} exceeds the bound on bias: {self.bias:g}")
        chosen = call.rng.random(len(records)) < design.probabilities[cell]
        rows = np.where(chosen, partner, np.arange(len(records)))
        return records.with_rows(columns, rows), design, chosen

    def _sample(
        self, call: MethodCall, values: Floats, true: Floats, stratum: Ints, notes: list[str]
    ) -> tuple[Ints, Design, Floats]:
        usable = true != 0
        parts = call.records.weights()[:, None] * values[:, usable]
        cell, cells = self._cells(call.records, stratum, np.abs(parts / true[usable]).sum(axis=1))
        squares = np.column_stack([np.bincount(cell, parts[:, j] ** 2, cells) for j in range(parts.shape[1])]).astype(
            np.float64
        )
        box = (1 - float(self.highest), 1 - float(self.lowest))
        design = subsampling_design(squares, true[usable], self.variance**2, self._cost(stratum, cell, cells), box)
        if not design.feasible:
            notes.append(f"even sampling with probability {box[1]:g} exceeds the bound on variance: {self.variance:g}")
        phi = design.probabilities[cell]
        return np.flatnonzero(call.rng.random(len(phi)) < phi), design, phi

    def _claim(self, weight: str, totals: Totals, true: Floats) -> Claim:
        columns = dict.fromkeys((weight, *self.outcomes, *self.domains))
        return Claim(
            "calibrated-totals", tuple(columns), f"{len(true)} weighted totals are those of the original file",
            {
                "weight": weight, "outcomes": list(self.outcomes), "domains": list(self.domains),
                "names": [list(name) for name in totals.names], "totals": true.tolist(),
            },
        )  # fmt: skip
