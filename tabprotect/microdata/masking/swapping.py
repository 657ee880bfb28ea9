"""Swapping: records exchange values (survey of Ciriani et al., section 4.2, Fig. 10; Dalenius and Reiss 1982)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tabprotect.errors import Problems
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.method import Masking, Method, MethodCall
from tabprotect.microdata.parameters import as_columns, need_number
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import ANY, Scale

__all__ = ["Swapping"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Swapping(Method):
    """Pairs of records that agree in the matching columns exchange the values of the swapped columns.

    All tables of the swapped columns among themselves and with the matching columns stay exactly as they are; with one
    swapped column and matching on t - 1 others these are the t-order statistics of Dalenius and Reiss. A missing value
    is a value like any other. Weights are not looked at (weighted tables change). Pairs come from the same stratum.

    Parameters
    ----------
    columns : str or sequence of str
        Their values are exchanged together.
    match : str or sequence of str
        Pairs agree in these; without any, pairs are drawn from the whole file (stratum).
    rate : float
        Share of the records to be swapped, as far as there are partners.
    unlike : bool
        Pairs differ in the swapped columns, so that every swap changes something.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"sex": list("mmmff"), "disease": list("abcde")})
    >>> masked = md.mask(frame, None, md.Swapping("disease", match=["sex"], rate=1.0), seed=2)
    >>> sorted(masked.frame["disease"][:3]), sorted(masked.frame["disease"][3:])
    (['a', 'b', 'c'], ['d', 'e'])
    """

    name: ClassVar[str] = "swapping"
    family: ClassVar[str] = "perturbative"
    scales: ClassVar[tuple[Scale, ...]] = ANY
    random: ClassVar[bool] = True
    claim_kinds: ClassVar[tuple[str, ...]] = ("same-tuples",)
    source: ClassVar[str] = "Ciriani et al. 2007, section 4.2 (swapping)"

    columns: Sequence[str] | str
    match: Sequence[str] | str = ()
    rate: float = 0.1
    unlike: bool = True

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        as_columns(self, "columns", problems)
        as_columns(self, "match", problems, least=0)
        need_number(self, "rate", problems, above=0, most=1)
        both = set(self.columns) & set(self.match)
        if both:
            problems.add(f"swapping: {', '.join(sorted(both))} cannot be both swapped and matched")

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the swapped columns."""
        return tuple(self.columns)

    def uses(self, records: Records) -> tuple[str, ...]:
        """Return the matching columns."""
        return tuple(self.match)

    def apply(self, call: MethodCall) -> Masking:
        """Draw pairs and exchange."""
        records = call.records
        names = tuple(dict.fromkeys((*records.schema.strata, *self.match)))
        group, _ = records.groups(names)
        value, _ = records.groups(self.columns)
        first, second = pairs(group, value if self.unlike else None, self.rate, call.rng)
        source = np.arange(len(records))
        source[first], source[second] = second, first
        records = records.with_rows(self.columns, source)
        swapped, wanted = 2 * len(first), int(self.rate * len(records))
        notes = () if swapped >= wanted - 1 else (f"only {swapped} of {wanted} records found a partner",)
        given = {"columns": list(self.columns), "match": list(names)}
        where = f" within {', '.join(names)}" if names else ""
        columns = (*self.columns, *names)
        claim = Claim(
            "same-tuples", columns, f"{', '.join(self.columns)}: the same values as before{where}", given, columns
        )
        changed = int((value[source] != value).sum())
        return Masking(records, {"pairs": len(first), "records changed": changed}, (claim,), notes=notes)


def pairs(group: Ints, value: Ints | None, rate: float, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Draw disjoint pairs of records of the same group (and of different values), about `rate` of all records.

    Within a group the records are put in random order of their values and each of the first half is paired with one
    of the second, so that equal values meet only where one value has more than half of the group.
    """
    n = len(group)
    chosen = rng.permutation(n)
    order = np.lexsort((rng.random(n), group)) if value is None else _by_value(group, value, rng)
    sizes = np.bincount(group)
    start = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    half = sizes // 2
    position = np.arange(n) - np.repeat(start, sizes)
    is_first = position < np.repeat(half, sizes)
    first = order[is_first]
    second = order[np.flatnonzero(is_first) + np.repeat(half + sizes % 2, sizes)[is_first]]
    if value is not None:
        different = value[first] != value[second]
        first, second = first[different], second[different]
    most = round(rate * n / 2)
    if len(first) > most:
        rank = np.empty(n, dtype=np.int64)
        rank[chosen] = np.arange(n)
        kept = np.argsort(rank[first], kind="stable")[:most]
        first, second = first[kept], second[kept]
    return first, second


def _by_value(group: Ints, value: Ints, rng: np.random.Generator) -> Ints:
    """Sort by group, then by values in random order: shifted by half a group, few values meet themselves."""
    count = int(value.max(initial=0)) + 1
    shuffled = rng.permutation(count)[value]
    # the order of the values differs from group to group, too
    key = (shuffled + rng.integers(0, count, int(group.max(initial=0)) + 1)[group]) % count
    return np.lexsort((rng.random(len(group)), key, group))
