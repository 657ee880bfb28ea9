"""Synthetic records from the distribution of maximum entropy under given moments and margins (survey, section 5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import optimize, special

from tabprotect.errors import Problems, SolverError
from tabprotect.microdata.method import Masking, Method, MethodCall
from tabprotect.microdata.parameters import as_columns, is_names, need_number
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import ANY, Scale

__all__ = ["MaximumEntropy", "maximum_entropy"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

STATES = 2_000_000
"""Combinations of categories and bins that are held in memory at the most."""

MET = 1e-6
"""How far a constraint of the fitted distribution may be from its number."""


@dataclass(frozen=True)
class MaximumEntropy(Method):
    """New records from the distribution of largest entropy among all that have some tables and moments of the file.

    States are the combinations of the categories and of bins of the numbers (of equal frequency). Constraints are the
    shares of the margins and, for numbers, second moments of their bins. The distribution is the solution of a convex
    problem; records are drawn from it, numbers uniformly within their bin. Missing values are a category of their own
    (numbers: a bin that gives a missing value). With weights, shares and moments are weighted and the synthetic file
    has none. Strata are not looked at. Only the columns named are released.

    Parameters
    ----------
    columns : sequence of str
    margins : sequence of sequences of str, optional
        Tables whose shares are kept; by default those of each column.
    moments : bool
        Second moments and products of the numbers (standardised centres of their bins) are kept, too.
    bins : int
        Of each continuous column.
    n : int, optional
        How many records; by default as many as there are.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"sex": list("mf") * 50, "job": list("aabb") * 25})
    >>> masked = md.mask(frame, None, md.MaximumEntropy(["sex", "job"], n=1000), seed=1)
    >>> bool(abs((masked.frame["sex"] == "m").mean() - 0.5) < 0.05)
    True
    """

    name: ClassVar[str] = "maximum-entropy"
    family: ClassVar[str] = "fully synthetic"
    scales: ClassVar[tuple[Scale, ...]] = ANY
    random: ClassVar[bool] = True
    source: ClassVar[str] = "Ciriani et al. 2007, section 5.1 (maximum entropy)"

    columns: Sequence[str] | str
    margins: Sequence[Sequence[str]] | None = None
    moments: bool = True
    bins: int = 10
    n: int | None = None

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        as_columns(self, "columns", problems)
        need_number(self, "bins", problems, least=2, whole=True)
        need_number(self, "n", problems, least=1, whole=True, optional=True)
        given: Any = [[name] for name in self.columns] if self.margins is None else self.margins
        several = given if isinstance(given, list | tuple) else [given]
        held = tuple(tuple(names) for names in several if is_names(names))
        if len(held) != len(several) or not held:
            problems.add("maximum-entropy: margins is a list of lists of columns, such as [['sex'], ['sex', 'region']]")
        unknown = sorted({name for names in held for name in names} - set(self.columns))
        if unknown:
            problems.add(f"maximum-entropy: margins name '{unknown[0]}', which is not among the columns")
        object.__setattr__(self, "margins", held)

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the columns."""
        return tuple(self.columns)

    def check(self, records: Records, problems: Problems) -> None:
        """Note state spaces that do not fit into memory."""
        size = 1
        for name in self.columns:
            continuous = records.scale(name) is Scale.CONTINUOUS
            size *= 1 + (self.bins if continuous else len(records.categories(name).values))
        if size > STATES:
            problems.add(
                f"{size:,} combinations are more than {STATES:,}; take fewer columns or bins, or recode before"
            )

    def apply(self, call: MethodCall) -> Masking:
        """Fit and draw."""
        records = call.records
        coded = [_coded(records, name, self.bins) for name in self.columns]
        sizes = tuple(one.count for one in coded)
        share = records.weights() / records.weights().sum()
        states = np.unravel_index(np.arange(int(np.prod(sizes))), sizes)
        features, wanted = self._constraints(coded, states, sizes, share)
        p, off = maximum_entropy(features, wanted)
        n = len(records) if self.n is None else int(self.n)
        drawn = call.rng.choice(len(p), n, p=p)
        made = records.blank(self.columns, n)
        for name, one, at in zip(self.columns, coded, states, strict=True):
            place = np.asarray(at)[drawn]
            if one.edges is None:
                values = np.array([*one.values, None], dtype=object)
                made = made.with_values(name, values[np.where(place < len(one.values), place, -1)].tolist())
                continue
            inner = np.minimum(place, len(one.edges) - 2)
            low, high = one.edges[inner], one.edges[inner + 1]
            number = low + call.rng.random(n) * (high - low)
            number = np.rint(number) if one.whole else number
            made = made.with_numbers(name, np.where(place >= len(one.edges) - 1, np.nan, number))
        lost = [c for c in records.columns if c not in self.columns and c not in records.schema.identifiers]
        notes = (f"not synthesised and so not released: {', '.join(lost)}",) if lost else ()
        entropy = float(-special.xlogy(p, p).sum())
        facts = {"states": len(p), "constraints": len(wanted), "entropy": entropy, "largest residual": off}
        return Masking(made, facts, rows=np.full(n, -1, dtype=np.int64), notes=notes)

    def _constraints(
        self, coded: Sequence[_Coded], states: tuple[Ints, ...], sizes: tuple[int, ...], share: Floats
    ) -> tuple[list[Ints | Floats], list[Floats]]:
        """Return each constraint as the cell of every state (a table) or its number (a moment), and what it must be."""
        features: list[Ints | Floats] = []
        wanted: list[Floats] = []
        assert self.margins is not None
        for names in self.margins:
            which = [list(self.columns).index(name) for name in names]
            shape = [sizes[j] for j in which]
            cell = np.ravel_multi_index([states[j] for j in which], shape)
            mine = np.ravel_multi_index([coded[j].index for j in which], shape)
            features.append(cell)
            wanted.append(np.bincount(mine, weights=share, minlength=int(np.prod(shape))).astype(np.float64))
        numbers = [j for j, one in enumerate(coded) if one.edges is not None] if self.moments else []
        centred = {j: coded[j].scores() for j in numbers}
        for a, j in enumerate(numbers):
            for k in numbers[a:]:
                features.append(centred[j][states[j]] * centred[k][states[k]])
                wanted.append(np.array([(share * centred[j][coded[j].index] * centred[k][coded[k].index]).sum()]))
        return features, wanted


@dataclass(frozen=True, eq=False)
class _Coded:
    """A column as states: its categories or bins, the last state for missing values."""

    index: Ints
    count: int
    values: tuple[object, ...] = ()
    edges: Floats | None = None
    whole: bool = False

    def scores(self) -> Floats:
        """Centres of the bins, standardised; 0 for the missing one."""
        assert self.edges is not None
        centre = (self.edges[1:] + self.edges[:-1]) / 2
        spread = centre.std() or 1.0
        scaled = (centre - centre.mean()) / spread
        return np.concatenate([scaled, np.zeros(self.count - len(scaled))])


def _coded(records: Records, name: str, bins: int) -> _Coded:
    if records.scale(name) is not Scale.CONTINUOUS:
        one = records.categories(name)
        gone = bool((one.index < 0).any())
        index = np.where(one.index < 0, len(one.values), one.index)
        return _Coded(index, len(one.values) + gone, one.values)
    values = records.numbers(name)
    missing = np.isnan(values)
    there = values[~missing]
    edges = np.unique(np.quantile(there, np.linspace(0, 1, bins + 1))) if len(there) else np.array([0.0, 0.0])
    if len(edges) == 1:
        edges = np.repeat(edges, 2)
    index = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    index = np.where(missing, len(edges) - 1, index)
    whole = bool(len(there) and (there == np.rint(there)).all())
    return _Coded(index.astype(np.int64), len(edges) - 1 + bool(missing.any()), (), edges, whole)


def maximum_entropy(features: Sequence[Ints | Floats], wanted: Sequence[Floats]) -> tuple[Floats, float]:
    """Return the distribution of largest entropy under linear constraints, and the largest residual of these.

    Its dual is convex and without constraints: minimise log sum exp(theta f) - theta b. What the solver returns is held
    against every constraint.

    Parameters
    ----------
    features : sequence of ndarray, shape (states,)
        Integers: the cell of a table in which a state lies; floats: a number of each state.
    wanted : sequence of ndarray
        Shares of the cells, or the expectation of the number.

    Raises
    ------
    SolverError
        If a constraint is not met.

    Examples
    --------
    >>> cells = [np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])]
    >>> p, _ = maximum_entropy(cells, [np.array([0.3, 0.7]), np.array([0.6, 0.4])])
    >>> p.round(6).tolist()
    [0.18, 0.12, 0.42, 0.28]
    """
    # states in a cell that must be empty have no probability
    possible = np.ones(len(features[0]), dtype=bool)
    for f, b in zip(features, wanted, strict=True):
        if f.dtype.kind == "i":
            possible &= b[f] > 0
    inside = [f[possible] for f in features]
    sizes = [len(b) for b in wanted]
    target = np.concatenate(wanted)
    ends = np.cumsum([0, *sizes])

    def exponent(theta: Floats) -> Floats:
        total = np.zeros(int(possible.sum()))
        for k, f in enumerate(inside):
            part = theta[ends[k] : ends[k + 1]]
            total += part[f] if f.dtype.kind == "i" else part[0] * f
        return total

    def expected(p: Floats) -> Floats:
        return np.concatenate(
            [
                np.bincount(f, weights=p, minlength=m).astype(np.float64) if f.dtype.kind == "i" else np.array([p @ f])
                for f, m in zip(inside, sizes, strict=True)
            ]
        )

    def dual(theta: Floats) -> tuple[float, Floats]:
        e = exponent(theta)
        level = float(special.logsumexp(e))
        return level - float(theta @ target), expected(np.exp(e - level)) - target

    found = optimize.minimize(
        dual,
        np.zeros(len(target)),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 5000, "ftol": 0, "gtol": MET / 100},
    )
    e = exponent(found.x)
    p = np.exp(e - special.logsumexp(e))
    off = float(np.abs(expected(p) - target).max())
    if off > MET:
        raise SolverError(f"no distribution was found that has the margins and moments: off by {off:g}")
    full = np.zeros(len(possible))
    full[possible] = p / p.sum()
    return full, off
