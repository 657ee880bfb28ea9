"""Risk of sample uniques by a Poisson log-linear model of the keys (Skinner and Shlomo 2008, section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, SolverError
from tabprotect.kinds import of_kinds
from tabprotect.microdata.records import Records
from tabprotect.microdata.risk.base import Measure
from tabprotect.microdata.risk.population.sample import as_measure, read_sample
from tabprotect.microdata.schema import Schema

__all__ = ["fit_margins", "log_linear_risk"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

CELLS = 20_000_000
"""Combinations of keys that are held in memory, at most."""

ROUNDS = 1_000
"""Rounds of fitting, at most."""


@of_kinds()
def log_linear_risk(
    original: Any,
    masked: Any = None,
    schema: Schema | None = None,
    *,
    order: int = 1,
    population_size: int | None = None,
    tolerance: float = 1e-5,
) -> Measure:
    """Pr(PU | SU) of every sample unique where frequencies are Poisson and their means follow a log-linear model.

    With mu the fitted sample frequency of a combination and pi the sampling fraction, the rest of the population has a
    Poisson number of people in it with mean ``d = mu (1 - pi) / pi``: a sample unique is unique in the population with
    probability ``exp(-d)``, and a match with it is right with expectation ``(1 - exp(-d)) / d``. The answer
    is as good as the model: its overdispersion is about standard normal where the model holds, far above 0 where the
    model leaves interactions out, far below 0 where it has too many.
    A missing key is a value of its own; weights give the population size only.

    Parameters
    ----------
    original, masked : frame of any kind, or Masked
        Of the masked file where one is given.
    schema : Schema
        With keys, and a weight where no population size is given.
    order : int
        1: keys are independent; 2: all interactions of two keys; and so on.
    population_size : int, optional
        N; by default the sum of the weights.
    tolerance : float
        How far a fitted margin may be from that of the sample, as a share of the records. Where the maximum lies at the
        edge (combinations that a margin rules out) the fit comes near it slowly.

    Returns
    -------
    Measure
        ``value``: mean of Pr(PU | SU) over sample uniques; ``records``: that of each, 0 where a record is not unique;
        details: expected population uniques among the sample uniques (tau_1), expected number of right matches (tau_2),
        rounds of fitting, the largest distance of a margin in records, overdispersion.

    Raises
    ------
    InputError
        Without keys, for sizes that cannot be, or with more than 20,000,000 possible combinations.
    SolverError
        If the fit does not settle.

    References
    ----------
    Skinner, Shlomo (2008), "Assessing identification risk in survey microdata using log-linear models", JASA 103.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"sex": list("mmff"), "age": [1, 1, 1, 2]})
    >>> found = log_linear_risk(frame, schema=md.Schema(keys=["sex", "age"]), population_size=8)
    >>> found.records.round(4).tolist()  # mu = 2 x 3 / 4 and 2 x 1 / 4
    [0.0, 0.0, 0.2231, 0.6065]
    """
    sample = read_sample(original if masked is None else masked, schema, population_size, what="log-linear risk")
    count = len(sample.keys)
    if isinstance(order, bool) or not isinstance(order, int) or not 1 <= order <= count:
        raise InputError(f"log-linear risk: order must be from 1 to the number of keys, {count}, not {order!r}")
    if isinstance(tolerance, bool) or not isinstance(tolerance, Real) or not 0 < tolerance < 1:
        raise InputError(f"log-linear risk: tolerance must be between 0 and 1, not {tolerance!r}")
    if sample.cells > CELLS:
        raise InputError(
            f"log-linear risk: the keys have {sample.cells:,} possible combinations, more than {CELLS:,}; "
            "take fewer keys or broader categories"
        )
    table, place = _table(sample.records, sample.keys)
    fitted, rounds, apart = fit_margins(table, list(combinations(range(count), order)), tolerance)
    rest = fitted.reshape(-1)[place] * (1 - sample.fraction) / sample.fraction
    unique = sample.sizes[sample.index] == 1
    alone = np.where(unique, np.exp(-rest), 0.0)
    right = np.where(unique, -np.expm1(-rest) / np.where(rest > 0, rest, 1.0), 0.0)
    right[unique & (rest == 0)] = 1.0
    given = float(alone.sum() / unique.sum()) if unique.any() else 0.0
    details = {
        "expected right matches with sample uniques": float(right.sum()), "order": order, "rounds": rounds,
        "margins apart by": apart,
        "overdispersion": _overdispersion(table, fitted),
    }  # fmt: skip
    # each combination has people beyond the sample as its mean says: N Pr(F = 1) over all cells
    means = fitted / sample.fraction
    measure = as_measure("log-linear risk", sample, given, float((means * np.exp(-means)).sum()), details)
    return Measure(measure.name, measure.value, alone, measure.details)


def _table(records: Records, keys: Sequence[str]) -> tuple[Floats, Ints]:
    """Return the sample as a table of all combinations, and the cell of every record."""
    columns, shape = [], []
    for key in keys:
        codes, size = records.codes(key)
        gone = codes < 0
        columns.append(np.where(gone, size, codes))
        shape.append(size + bool(gone.any()))
    place = np.ravel_multi_index(tuple(columns), tuple(shape)).astype(np.int64)
    counts = np.bincount(place, minlength=int(np.prod(shape))).astype(np.float64)
    return counts.reshape(shape), place


def fit_margins(
    table: Floats, margins: Sequence[tuple[int, ...]], tolerance: float = 1e-5
) -> tuple[Floats, int, float]:
    """Fit a log-linear model by iterative proportional fitting: the fitted table has the margins of the given one.

    These are the maximum-likelihood means under Poisson sampling of the model with all interactions within margins.

    Parameters
    ----------
    table : ndarray
        Frequencies.
    margins : sequence of tuple of int
        Axes of each margin.
    tolerance : float
        Allowed distance of a fitted margin, as a share of the total.

    Returns
    -------
    fitted : ndarray, of the same shape
    rounds : int
    apart : float
        Largest distance of a fitted margin, in records.

    Raises
    ------
    SolverError
        If the margins are not met after 1,000 rounds.

    Examples
    --------
    >>> fit_margins(np.array([[2.0, 0.0], [1.0, 1.0]]), [(0,), (1,)])[0].tolist()
    [[1.5, 0.5], [1.5, 0.5]]
    """
    fitted = np.full(table.shape, table.sum() / table.size)
    aims = []
    for margin in margins:
        others = tuple(i for i in range(table.ndim) if i not in margin)
        aims.append((others, table.sum(axis=others, keepdims=True)))
    for done in range(1, ROUNDS + 1):
        for others, aim in aims:
            now = fitted.sum(axis=others, keepdims=True)
            fitted = fitted * np.divide(aim, now, out=np.zeros_like(aim), where=now > 0)
        worst = max(float(np.abs(fitted.sum(axis=others, keepdims=True) - aim).max()) for others, aim in aims)
        if worst <= tolerance * table.sum():
            return fitted, done, worst
    raise SolverError(
        f"log-linear risk: margins are still {worst:.3g} records apart after {ROUNDS} rounds of fitting; take a lower "
        f"order, or a tolerance above {worst / table.sum():.1g}"
    )


def _overdispersion(table: Floats, fitted: Floats) -> float:
    """Return the score statistic for extra-Poisson variation (Dean and Lawless 1989)."""
    below = float(np.sqrt(2 * (fitted**2).sum()))
    return float(((table - fitted) ** 2 - table).sum() / below) if below else 0.0
