"""What it costs to hide a cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError, as_numbers, collect, did_you_mean
from tabprotect.sensitivity.cells import code_levels
from tabprotect.sensitivity.concentration import counts
from tabprotect.table.table import Table

__all__ = ["BoxCox", "Log", "Preferences", "Transform", "costs", "parse_transform"]

Floats = npt.NDArray[np.float64]

STREAM = 18
"""Which random numbers of the seed raise costs."""
Preferences = Mapping[str, Sequence[float] | Mapping[int, float]]


class Transform(Protocol):
    """Turns costs >= 0 into costs >= 0."""

    def __call__(self, cost: Floats) -> Floats:
        """Return the transformed costs."""
        ...


@dataclass(frozen=True)
class BoxCox:
    """The simplified Box-Cox transformation of tau-ARGUS: cost ** lmbda, or log(1 + cost) for lmbda = 0.

    Between 1 (the cost itself) and 0 it draws costs together, so that fewer, larger cells are preferred.

    Parameters
    ----------
    lmbda : float
        From 0 to 1.

    References
    ----------
    tau-ARGUS 4.1 manual, section 4.4.4; libtauargus, ``CDataCell::GetCost`` (1 is added inside the logarithm).

    Examples
    --------
    >>> BoxCox(0.5)(np.array([0.0, 9.0])).tolist()
    [0.0, 3.0]
    """

    lmbda: float

    def __post_init__(self) -> None:
        if isinstance(self.lmbda, bool) or not isinstance(self.lmbda, Real) or not 0 <= self.lmbda <= 1:
            raise InputError(f"BoxCox: lmbda must lie between 0 and 1, not {self.lmbda!r}")

    def __call__(self, cost: Floats) -> Floats:
        """Return the transformed costs."""
        return np.log1p(cost) if self.lmbda == 0 else cost**self.lmbda


@dataclass(frozen=True)
class Log:
    """log(1 + cost)."""

    def __call__(self, cost: Floats) -> Floats:
        """Return the transformed costs."""
        return np.log1p(cost)


def parse_transform(text: str) -> Transform:
    """Read a transformation of costs as specifications and flags write it: ``log`` or ``boxcox=LAMBDA``.

    Raises
    ------
    InputError
        If it is neither, or the parameter does not lie between 0 and 1.

    Examples
    --------
    >>> parse_transform("log"), parse_transform("boxcox=0.5")
    (Log(), BoxCox(lmbda=0.5))
    >>> parse_transform("lgo")
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: transform 'lgo' is not known; did you mean 'log'?; write log or boxcox=0.5
    """
    name, sign, parameter = (part.strip() for part in text.partition("="))
    if name == "log" and not sign:
        return Log()
    if name == "boxcox":
        try:
            return BoxCox(float(parameter))
        except (ValueError, InputError):
            raise InputError(f"transform '{text}': write boxcox and a number from 0 to 1, such as boxcox=0.5") from None
    raise InputError(f"transform '{text}' is not known{did_you_mean(name, ['log', 'boxcox'])}; write log or boxcox=0.5")


def costs(
    table: Table,
    cost: str | Sequence[float] | Floats | None = None,
    *,
    transform: Transform | None = None,
    preferences: Preferences | None = None,
    override: Floats | None = None,
) -> Floats:
    """Return the cost of hiding every cell.

    Parameters
    ----------
    table : Table
    cost : str or sequence of float, optional
        'value' (its absolute amount), 'unit' (1 for every cell), 'count' (number of contributors), the name of
        a column of the table, or numbers. By default the table's column ``cost`` where there is one, else 'value'.
    transform : callable, optional
        `BoxCox`, `Log`, or any function from costs to costs.
    preferences : mapping, optional
        For a dimension, a factor for every level of its hierarchy, the total first: ``{"region": [100, 10, 1]}`` hides
        districts rather than provinces, and provinces rather than the country. Levels that are not named have 1.
    override : ndarray, optional
        Costs of single cells that replace the variable, nan elsewhere (from an a-priori file).

    Returns
    -------
    ndarray, shape (cells,)
        Positive. A cell whose cost would be 0 gets 1 or the smallest positive cost, whichever is less: hiding is
        never free, else methods would hide such cells without need. Costs are neither scaled nor rounded.

    Raises
    ------
    InputError
        Unknown column, dimension or level; costs that are negative or not numbers.
    """
    if wrong := list(wrong_changes(transform, preferences)):
        raise InputError(*wrong)
    with collect() as problems:
        base = problems.attempt(_base, table, cost)
        found = [problems.attempt(_factors, table, name, given) for name, given in dict(preferences or {}).items()]
    assert base is not None
    if override is not None:
        base = np.where(np.isnan(override), base, override)
    if transform is not None:
        base = np.asarray(transform(base), dtype=np.float64)
    for factors in found:
        base = base if factors is None else base * factors
    bad = ~(np.isfinite(base) & (base >= 0))
    if bad.any():
        names = ", ".join(table.system.label(int(i)) for i in np.flatnonzero(bad)[:5])
        raise InputError(f"costs must be numbers of at least 0; {int(bad.sum())} are not, such as those of {names}")
    positive = base[base > 0]
    base = base.copy()
    base[base == 0] = min(1.0, float(positive.min())) if len(positive) else 1.0
    return base


def wrong_changes(transform: object, preferences: object) -> Iterator[str]:
    """Say which changes of costs are of another kind altogether.

    Examples
    --------
    >>> list(wrong_changes("log", None))
    ["transform must be a function of costs, such as BoxCox(0.5), not 'log'"]
    """
    if transform is not None and not callable(transform):
        yield f"transform must be a function of costs, such as BoxCox(0.5), not {transform!r}"
    if preferences is not None and not isinstance(preferences, Mapping):
        such_as = "{'region': [100, 10, 1]}"
        yield f"preferences must be factors by dimension and level, such as {such_as}, not {preferences!r}"


def raised(cost: Floats, share: float, seed: int) -> Floats:
    """Return costs that are raised at random, each by up to a share of it (uniformly).

    Examples
    --------
    >>> cost = raised(np.array([10.0, 10, 10]), 0.2, seed=4)
    >>> bool(np.all((10 <= cost) & (cost < 12))), len(set(cost.tolist()))
    (True, 3)
    """
    return cost * (1 + share * np.random.default_rng([seed, STREAM]).random(len(cost)))


def _base(table: Table, cost: str | Sequence[float] | Floats | None) -> Floats:
    if cost is None:
        cost = "cost" if "cost" in table.columns else "value"
    if not isinstance(cost, str):
        array = as_numbers(cost, "cost", "'value', 'unit', 'count', the name of a column, or a number for every cell")
        if array.shape != (table.n_cells,):
            raise InputError(f"cost has shape {array.shape}; {table.n_cells} cells need ({table.n_cells},)")
        return array
    if cost in table.columns:
        column: Any = pd.to_numeric(pd.Series(table.columns[cost]), errors="coerce")
        return np.asarray(column, dtype=np.float64)
    if cost in ("value", table.value_name):
        return np.abs(table.values)
    if cost == "unit":
        return np.ones(table.n_cells)
    if cost == "count":
        if table.counts is None and table.weighted_counts is None and table.kind != "frequency":
            raise InputError(
                "cost='count' needs the number of contributors: give the column of counts to Table.from_cells"
            )
        return np.abs(counts(table))
    raise InputError(f"cost='{cost}' is not known{did_you_mean(cost, ['value', 'unit', 'count', *table.columns])}")


def _factors(table: Table, name: str, factors: Sequence[float] | Mapping[int, float]) -> Floats:
    level = code_levels(table, name)
    try:
        table_of = dict(factors) if isinstance(factors, Mapping) else dict(enumerate(factors))
        table_of = {key: float(value) for key, value in table_of.items()}
    except (TypeError, ValueError):
        raise InputError(f"preferences: those of '{name}' are numbers by level, not {factors!r}") from None
    deepest = int(level.max(initial=0))
    if unknown := [key for key in table_of if key not in range(deepest + 1)]:
        raise InputError(f"preferences: dimension '{name}' has levels 0 (the total) to {deepest}, not {unknown}")
    if bad := [value for value in table_of.values() if not (np.isfinite(value) and value > 0)]:
        raise InputError(f"preferences: factors of '{name}' must be above 0, not {bad}")
    return np.array([table_of.get(i, 1.0) for i in range(deepest + 1)])[level]
