"""Weights and numbers of households that tell less (mu-ARGUS; Eustat notebook, other important factors)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tabprotect.errors import Problems
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.method import Masking, Method, MethodCall
from tabprotect.microdata.parameters import need_number
from tabprotect.microdata.records import Records

__all__ = ["HouseholdNumbers", "WeightNoise"]


@dataclass(frozen=True)
class WeightNoise(Method):
    """Sampling weights are multiplied by numbers between 1 - share and 1 + share, so that they do not give strata away.

    The records of a household get one number where the schema names households. There are no missing weights. With
    `keep_total` the weights of every stratum of the schema add up as before (a stratum of one household keeps its
    weights).

    Parameters
    ----------
    share : float
        The most by which a weight changes, such as 0.5 for the 50 % of the Eustat example.
    keep_total : bool

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"w": [100.0, 100.0, 250.0, 250.0]})
    >>> masked = md.mask(frame, md.Schema(weight="w"), md.WeightNoise(share=0.2), seed=1)
    >>> float(masked.frame["w"].sum().round(9)), [claim.kind for claim in masked.claims]
    (700.0, ['relative-change', 'same-total'])
    """

    name: ClassVar[str] = "weight-noise"
    family: ClassVar[str] = "perturbative"
    random: ClassVar[bool] = True
    claim_kinds: ClassVar[tuple[str, ...]] = ("relative-change", "same-total")
    source: ClassVar[str] = "Eustat notebook, mu-ARGUS: sampling weights"

    share: float = 0.1
    keep_total: bool = True

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        need_number(self, "share", problems, above=0, below=1)

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the weight of the schema."""
        return (records.schema.weight,) if records.schema.weight is not None else ()

    def uses(self, records: Records) -> tuple[str, ...]:
        """Return household and strata."""
        household = records.schema.household
        return (*records.schema.strata, *((household,) if household is not None else ()))

    def check(self, records: Records, problems: Problems) -> None:
        """Note what the records do not allow."""
        if records.schema.weight is None:
            problems.add("the schema names no weight")

    def apply(self, call: MethodCall) -> Masking:
        """Multiply."""
        records = call.records
        column = str(records.schema.weight)
        weights = records.weights()
        homes = np.arange(len(records))
        if records.schema.household is not None:
            homes = records.groups([records.schema.household])[0]
        noise = call.rng.uniform(-self.share, self.share, int(homes.max()) + 1)[homes]
        strata = list(records.schema.strata)
        if self.keep_total:
            index, count = records.groups(strata)
            mean = np.bincount(index, weights * noise, count) / np.bincount(index, weights, count)
            noise = noise - mean[index]
            # moved noise may be beyond the share: it is drawn together, stratum by stratum
            largest = np.zeros(count)
            np.maximum.at(largest, index, np.abs(noise))
            noise = noise * np.minimum(1.0, self.share / np.maximum(largest, 1e-300))[index]
        released = records.with_numbers(column, weights * (1 + noise))
        claims = [
            Claim(
                "relative-change", (column,), f"weights differ by at most {self.share:.0%}",
                {"column": column, "most": self.share}, (column,),
            )
        ]  # fmt: skip
        if self.keep_total:
            within = f" of every {', '.join(strata)}" if strata else ""
            text, given = f"the weights{within} add up as before", {"column": column, "strata": strata}
            claims.append(Claim("same-total", (column, *strata), text, given, (column,)))
        facts = {"mean absolute change": float(np.abs(noise).mean())}
        return Masking(released, facts, tuple(claims))


@dataclass(frozen=True)
class HouseholdNumbers(Method):
    """Households get the numbers 1 to n in a random order: who belongs together stays known, where they come from not.

    Missing numbers stay missing. Weights and strata are not looked at. The order of the records is not changed; sort or
    shuffle the file if it tells something.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"hid": [480111, 480111, 480112, 990001]})
    >>> masked = md.mask(frame, md.Schema(household="hid"), md.HouseholdNumbers(), seed=1)
    >>> masked.frame["hid"].nunique(), sorted(masked.frame["hid"].unique().tolist())
    (3, [1, 2, 3])
    """

    name: ClassVar[str] = "household-numbers"
    family: ClassVar[str] = "non-perturbative"
    random: ClassVar[bool] = True
    claim_kinds: ClassVar[tuple[str, ...]] = ("renumbered",)
    source: ClassVar[str] = "Eustat notebook, mu-ARGUS: household variables"

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the household of the schema."""
        return (records.schema.household,) if records.schema.household is not None else ()

    def check(self, records: Records, problems: Problems) -> None:
        """Note what the records do not allow."""
        if records.schema.household is None:
            problems.add("the schema names no household")

    def apply(self, call: MethodCall) -> Masking:
        """Renumber."""
        records = call.records
        column = str(records.schema.household)
        found = records.categories(column)
        numbers = np.append(call.rng.permutation(len(found.values)) + 1, 0)[found.index]
        values = [int(number) if number else None for number in numbers]
        text = f"'{column}' counts from 1, equal where it was equal"
        claim = Claim("renumbered", (column,), text, {"column": column}, (column,))
        return Masking(records.with_values(column, values), {"households": len(found.values)}, (claim,))
