"""Microaggregation: values are replaced by averages over groups of at least k similar records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from tabprotect.counted import counted
from tabprotect.errors import Problems, did_you_mean
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.masking.microaggregation.outcome import Outcome, check_sizes, release
from tabprotect.microdata.masking.microaggregation.segments import best_segments, fixed_segments
from tabprotect.microdata.masking.microaggregation.space import Space, check_trees, make_space
from tabprotect.microdata.masking.microaggregation.strategies import METHODS, ORDERS, Settings, form_groups
from tabprotect.microdata.masking.microaggregation.ward import LARGEST
from tabprotect.microdata.method import Masking, Method, MethodCall, shown
from tabprotect.microdata.parameters import as_columns, need_choice, need_number
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import ANY, Scale

__all__ = ["Microaggregation"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

AGGREGATES = ("mean", "median", "mode")

ORDER = {"single-axis": "principal-component", "mhm": "nearest-point", "genetic": "principal-component"}
"""Orders that methods use by default."""


@dataclass(frozen=True)
class Microaggregation(Method):
    """Values are replaced by the averages over groups of k to 2k - 1 similar records.

    Groups never cross strata. Records that lack a value in some of the columns form groups of their own, with those
    that lack the same values; a missing value stays missing. A stratum (or such records in one) with fewer than k
    records is an error, or loses its values (`too_small`). Records that lack all values are left as they are.

    Groups are formed of records without regard to weights: k is a number of records, SSE a sum over them. Means,
    medians and modes are weighted, so weighted sums stay as they are.

    Distances are Euclidean on standardised coordinates; categories have coordinates, too: ranks (ordered), indicators
    (unordered), indicators of the nodes above (value trees).

    Parameters
    ----------
    columns : str or sequence of str
    k : int
        Least number of records of a group, at least 2.
    method : str
        'mdav', 'v-mdav', 'ward' (modified Ward), 'single-axis' (k consecutive records of an order), 'mhm' (the best
        consecutive groups of an order), 'genetic' (random search for them), 'exact' (few records, proven by a MILP);
        'given' (the classes of another column); 'individual' (every column alone, k consecutive values) or
        'individual-optimal' (every column alone, shortest path).
    order : {'principal-component', 'z-scores', 'variable', 'nearest-point'}, optional
        For 'single-axis', 'mhm' (nearest point next by default), 'genetic' and 'ward' (what first and last mean there;
        the two records farthest apart by default).
    by : str, optional
        The column of ``order='variable'`` or ``method='given'``; no value may be missing.
    gamma : float, optional
        For 'v-mdav': how readily groups grow; 0.2 by default, 1.1 for clustered data.
    improve : bool
        Lower SSE by local search (moves, swaps, groups dissolved and made) afterwards.
    trials : int
        Then form the groups of so many random neighbourhoods anew, and keep what is better; implies `improve`.
    population, generations : int, optional
        For 'genetic'; 50 and 100 by default.
    seconds : float, optional
        For 'exact': limit of the MILP of each stratum; 60 by default.
    standardise : bool
        Give every column the same variance in distances. False: values as they are.
    aggregate : str or mapping of column to str, optional
        'mean', 'median' or 'mode'; by default means of numbers, medians of ordered and modes of other categories.
    too_small : {'error', 'missing'}
        What becomes of strata with fewer than k records: an error, or their values are blanked.
    bound : bool, optional
        Report a lower bound of SSE and the gap; by default for up to 20,000 records.

    Notes
    -----
    Only 'genetic', 'exact' and `trials` draw at random. Sums and means of averaged columns stay as they are, variances
    fall. Every combination of released values is shared by k records, except with the two individual methods, where
    that holds of every column alone.

    References
    ----------
    Ciriani et al. 2007, section 4.2; Eustat notebook, "Microaggregation" and "Modified Ward's Algorithm";
    Domingo-Ferrer and Torra 2005 (MDAV); Solanas and Martinez-Balleste 2006 (V-MDAV); Hansen and Mukherjee 2003
    (shortest path); Domingo-Ferrer et al. 2006 (MHM on orders).

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"income": [10, 11, 12, 90, 95, 100], "age": [20, 21, 22, 60, 61, 62]})
    >>> masked = md.mask(frame, None, md.Microaggregation(["income", "age"], k=3))
    >>> masked.frame["income"].tolist(), masked.frame["age"].tolist()
    ([11, 11, 11, 95, 95, 95], [21, 21, 21, 61, 61, 61])
    >>> print(masked.verify().summary().splitlines()[0])
    every claim holds (3 claims checked)
    """

    name: ClassVar[str] = "microaggregation"
    family: ClassVar[str] = "perturbative"
    scales: ClassVar[tuple[Scale, ...]] = ANY
    random: ClassVar[bool] = True
    claim_kinds: ClassVar[tuple[str, ...]] = ("aggregated-groups", "shared-values", "same-sums")
    source: ClassVar[str] = "Ciriani et al. 2007, section 4.2; Eustat; Torra 2017"

    columns: Sequence[str] | str
    k: int = 3
    method: str = "mdav"
    order: str | None = None
    by: str | None = None
    gamma: float | None = None
    improve: bool = False
    trials: int = 0
    population: int | None = None
    generations: int | None = None
    seconds: float | None = None
    standardise: bool = True
    aggregate: str | Mapping[str, str] | None = None
    too_small: Literal["error", "missing"] = "error"
    bound: bool | None = None

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        as_columns(self, "columns", problems)
        need_number(self, "k", problems, least=2, whole=True)
        need_number(self, "trials", problems, least=0, whole=True)
        need_number(self, "gamma", problems, least=0, optional=True)
        need_number(self, "population", problems, least=4, whole=True, optional=True)
        need_number(self, "generations", problems, least=1, whole=True, optional=True)
        need_number(self, "seconds", problems, above=0, optional=True)
        need_choice(self, "method", problems, tuple(METHODS))
        need_choice(self, "too_small", problems, ("error", "missing"))
        if self.order is not None:
            need_choice(self, "order", problems, ORDERS)
        self._check_options(problems)
        self._check_aggregate(problems)

    def _check_options(self, problems: Problems) -> None:
        if self.method not in METHODS:
            return
        for option in ("order", "by", "gamma", "improve", "trials", "population", "generations", "seconds"):
            value = getattr(self, option)
            given = value is not None and not (isinstance(value, int | float) and not value)
            if given and option not in METHODS[self.method]:
                fits = [name for name, options in METHODS.items() if option in options]
                problems.add(f"{self.name}: {option} is for {', '.join(fits)}, not for method='{self.method}'")
        if (self.order == "variable" or self.method == "given") != (self.by is not None):
            problems.add(
                f"{self.name}: by names the column of order='variable' or of method='given'; give both or none"
            )

    def _check_aggregate(self, problems: Problems) -> None:
        given = self.aggregate
        if given is None:
            return
        words = list(given.values()) if isinstance(given, Mapping) else [given]
        for word in words:
            if not isinstance(word, str) or word not in AGGREGATES:
                problems.add(f"{self.name}: aggregate cannot be {shown(word)}{did_you_mean(word, AGGREGATES)}")
        for name in given if isinstance(given, Mapping) else ():
            if name not in self.columns:
                problems.add(f"{self.name}: aggregate names '{name}', which is no column of it")

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the columns."""
        return tuple(self.columns)

    def uses(self, records: Records) -> tuple[str, ...]:
        """Return the column named by `by`."""
        return (self.by,) if self.by else ()

    @property
    def _alone(self) -> bool:
        """Whether every column is grouped alone."""
        return self.method.startswith("individual")

    def check(self, records: Records, problems: Problems) -> None:
        """Note everything about the records that the method cannot work with."""
        schema = records.schema
        for name in self.columns:
            if name in schema.strata:
                problems.add(f"column '{name}' is a stratum; groups within strata cannot average it")
            if name == schema.weight:
                problems.add(f"column '{name}' is the weight; averages are weighted by it")
            scale, how = records.scale(name), self._how(records, name)
            if (how == "mean" and scale is not Scale.CONTINUOUS) or (
                how == "median" and scale not in (Scale.CONTINUOUS, Scale.ORDERED)
            ):
                problems.add(f"column '{name}' is {scale}, it has no {how}; aggregate it by 'mode'")
            if self._alone and scale not in (Scale.CONTINUOUS, Scale.ORDERED):
                problems.add(f"column '{name}' is {scale}, method='{self.method}' needs an order; use 'mdav'")
        if self.by and records.missing(self.by).any():
            problems.add(f"column '{self.by}' has no value in {counted(int(records.missing(self.by).sum()), 'record')}")
        if self.by and self.order == "variable" and records.scale(self.by) not in (Scale.CONTINUOUS, Scale.ORDERED):
            problems.add(f"column '{self.by}' is {records.scale(self.by)} and gives no order")
        check_trees(records, self.columns, problems)
        if not problems.found:
            missing = np.column_stack([records.missing(name) for name in self.columns])
            space = Space(tuple(self.columns), np.empty((len(records), 0)), np.empty(0, dtype=np.int64), missing)
            self._check_parts(records, space, problems)

    def _check_parts(self, records: Records, space: Space, problems: Problems) -> None:
        cells = list(self._cells(records, space))
        if self.too_small == "error":
            check_sizes(cells, self.columns, self.k, records.schema.strata, problems)
        if self.method == "ward" and max((len(rows) for rows, _ in cells), default=0) > LARGEST:
            problems.add(f"method='ward' takes up to {LARGEST:,} records in a stratum; use 'mdav' or 'mhm', or strata")

    def _cells(self, records: Records, space: Space) -> list[tuple[Ints, list[int]]]:
        """Return what is partitioned on its own: records of a stratum with the same columns present."""
        strata = records.strata()
        if self.method == "given":
            assert self.by
            index, count = records.groups([*records.schema.strata, self.by])
            strata = [np.flatnonzero(index == g) for g in range(count)]
        if self._alone:
            cells = [cell for j in range(len(self.columns)) for cell in space.parts(strata, [j])]
        else:
            cells = space.parts(strata, list(range(len(self.columns))))
        return [(rows, here) for rows, here in cells if here]

    def _how(self, records: Records, name: str) -> str:
        given = self.aggregate.get(name) if isinstance(self.aggregate, Mapping) else self.aggregate
        if given:
            return given
        scale = records.scale(name)
        return "mean" if scale is Scale.CONTINUOUS else "median" if scale is Scale.ORDERED else "mode"

    def apply(self, call: MethodCall) -> Masking:
        """Form the groups, and replace values by averages."""
        records = call.records
        space = make_space(records, self.columns, self.standardise)
        settings = Settings(
            self.method, self.k, self.order or ORDER.get(self.method), 0.2 if self.gamma is None else self.gamma,
            self.population or 50, self.generations or 100, self.improve, self.trials, self.seconds or 60.0, call.rng,
        )  # fmt: skip
        axis = None
        if self.order == "variable" and self.by:
            continuous = records.scale(self.by) is Scale.CONTINUOUS
            axis = records.numbers(self.by) if continuous else records.categories(self.by).index.astype(np.float64)
        wanted = len(records) <= 20_000 if self.bound is None else self.bound
        outcome = Outcome(space, self.k, wanted)
        for rows, here in self._cells(records, space):
            if len(rows) < self.k:
                outcome.leave_out(rows, here)
                continue
            points = space.part(rows, here)
            if self.method == "given":
                outcome.add(rows, here, points, np.zeros(len(rows), dtype=np.int64))
            elif self._alone:
                outcome.add(rows, here, points, _alone(points, self.k, self.method), self.method)
            else:
                found = form_groups(points, None if axis is None else axis[rows], settings)
                outcome.add(rows, here, points, found.group, note=found.note, bound=found.bound)
        how = {name: self._how(records, name) for name in self.columns}
        most = None if self.method == "given" else 2 * self.k - 1
        return release(records, outcome, how, most, alone=self._alone)

    def keeps(self, claim: Claim) -> bool:
        """Averages, medians and modes lie between the values of their groups."""
        return claim.kind in ("at-most", "at-least")


def _alone(points: Floats, k: int, method: str) -> Ints:
    """Group the values of one column."""
    order = np.argsort(points[:, 0], kind="stable")
    group = np.empty(len(points), dtype=np.int64)
    if method == "individual-optimal" and len(points) >= 2 * k:
        group[order] = best_segments(points[order], k)
    else:
        group[order] = fixed_segments(len(points), k)
    return group
