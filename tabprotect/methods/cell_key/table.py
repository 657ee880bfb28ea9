"""Perturbation tables: which noise a count gets for which key."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import collect
from tabprotect.methods.cell_key.entropy import maximum_entropy, second_moments
from tabprotect.methods.cell_key.keys import KEYS
from tabprotect.solver.tolerances import MOMENT_ERROR

__all__ = ["PerturbationTable", "design_perturbation"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PerturbationTable:
    """Probabilities of the noise for the counts 0, 1, ..., and for all larger ones as for the last.

    Parameters
    ----------
    noise : ndarray, shape (k,)
        Values of the noise, ascending and symmetric about 0.
    probabilities : ndarray, shape (rows, k)
        One row a count; the first is for 0, which stays 0.

    Attributes
    ----------
    deviation : float
        The largest noise.
    variance : ndarray, shape (rows,)
        As it came out, row by row.

    Raises
    ------
    InputError
        A row that does not add up to one, is biased, or could make a count negative.

    Examples
    --------
    >>> t = PerturbationTable(np.array([-1.0, 0, 1]), np.array([[0, 1, 0], [0.3, 0.4, 0.3]]))
    >>> t.deviation, t.variance.tolist()
    (1.0, [0.0, 0.6])
    """

    noise: Floats
    probabilities: Floats
    _upper: Ints = field(init=False, repr=False)

    def __post_init__(self) -> None:
        noise, p = np.asarray(self.noise, np.float64), np.asarray(self.probabilities, np.float64)
        object.__setattr__(self, "noise", noise)
        object.__setattr__(self, "probabilities", p)
        with collect() as problems:
            if noise.ndim != 1 or p.ndim != 2 or p.shape[1] != len(noise) or not len(p):
                problems.add(f"probabilities have shape {p.shape} for {len(noise)} values of noise")
            elif np.any(np.diff(noise) <= 0) or not np.array_equal(noise, -noise[::-1]):
                problems.add("the noise must be ascending and symmetric about 0")
        with collect() as problems:
            for count, row in enumerate(p):
                if not np.all(np.isfinite(row) & (row >= 0)) or abs(row.sum() - 1) > MOMENT_ERROR:
                    problems.add(f"count {count}: probabilities must be >= 0 and add up to 1, not {row.sum():g}")
                elif abs(row @ noise) > MOMENT_ERROR * self.deviation:
                    problems.add(f"count {count}: the noise is biased by {row @ noise:g}")
                if np.any(row[noise < -count] > 0):
                    problems.add(f"count {count} could become negative")
        upper = np.rint(np.cumsum(p, axis=1) * KEYS).astype(np.int64)
        last = len(noise) - 1 - (p > 0)[:, ::-1].argmax(axis=1)
        upper[np.arange(len(noise)) >= last[:, None]] = KEYS
        object.__setattr__(self, "_upper", upper)

    @property
    def deviation(self) -> float:
        """The largest noise."""
        return float(self.noise[-1])

    @property
    def variance(self) -> Floats:
        """Variance of the noise, row by row."""
        return np.asarray(self.probabilities @ self.noise**2)

    @property
    def stay(self) -> Floats:
        """Probability of no change, row by row."""
        return np.asarray(self.probabilities[:, len(self.noise) // 2])

    def lookup(self, counts: Ints, keys: Ints) -> Floats:
        """Return the noise of cells.

        Parameters
        ----------
        counts : ndarray of int
            Rows of the table; larger counts take the last.
        keys : ndarray of int
            Cell keys (from 0 to 2^26 - 1).
        """
        rows = np.minimum(np.asarray(counts, np.int64), len(self.probabilities) - 1)
        which = np.zeros(len(rows), np.int64)
        for column in range(len(self.noise) - 1):
            which += keys >= self._upper[rows, column]
        return self.noise[which]

    @property
    def frame(self) -> pd.DataFrame:
        """Return the table as other programs exchange it: i, j = i + v, p, v, and the interval of the key.

        Rows of probability 0 are left out. The columns are those of the R package ptable and of tau-ARGUS.
        """
        rows, columns = np.nonzero(np.diff(self._upper, axis=1, prepend=0))
        upper = self._upper[rows, columns] / KEYS
        lower = np.where(columns > 0, self._upper[rows, np.maximum(columns, 1) - 1], 0) / KEYS
        p, v = self.probabilities[rows, columns], self.noise[columns]
        return pd.DataFrame(
            {"i": rows, "j": rows + v, "p": p, "v": v, "p_int_lb": lower, "p_int_ub": upper, "type": "all"}
        )


def design_perturbation(
    deviation: int, variance: float, *, stay: float | None = None, blocked: int = 0, step: int = 1
) -> PerturbationTable:
    """Design the noise with the largest entropy that has the wanted moments.

    For every count i: maximise -sum p log p over the noise v from -deviation to deviation, subject to sum p = 1, mean 0
    (unbiased), the wanted variance, i + v >= 0 (no negative counts), i + v not in 1..blocked, and if `stay` is given
    p(0) = stay. Without further wishes this makes the noise as unpredictable as it can be.

    Parameters
    ----------
    deviation : int
        Largest noise.
    variance : float
        Of the noise, the same for all counts. Where `blocked` makes that impossible for a count from 1 to `blocked`
        (which has to move), it gets the nearest variance that is possible; see `PerturbationTable.variance`.
    stay : float, optional
        Probability of no change, for all counts that may be published.
    blocked : int
        Published counts from 1 to this never occur.
    step : int
        The noise takes multiples of 1/step (for magnitudes).

    Returns
    -------
    PerturbationTable
        With rows 0, 1, ... up to the first count whose noise nothing restricts.

    Raises
    ------
    InputError
        Parameters that cannot be met, with the nearest that can.

    References
    ----------
    Fraser & Wooton (2005); Giessing (2016), Computational issues in the design of transition probabilities and
    disclosure risk estimation for additive noise; Enderle & Vollmar (2019), the R package ptable, has the same
    model.

    Examples
    --------
    >>> table = design_perturbation(3, 1.5, stay=0.3)
    >>> table.variance.round(6).tolist(), table.stay.round(6).tolist()
    ([0.0, 1.5, 1.5, 1.5], [1.0, 0.3, 0.3, 0.3])
    >>> design_perturbation(3, 4)
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: count 1: the variance can be from 0 to 3, not 4
    """
    with collect() as problems:
        for name, value, least in (("deviation", deviation, 1), ("blocked", blocked, 0), ("step", step, 1)):
            if isinstance(value, bool) or value != int(value) or value < least:
                problems.add(f"{name} must be a whole number of at least {least}, not {value!r}")
        if not (np.isfinite(variance) and variance > 0):
            problems.add(f"variance must be a number above 0, not {variance!r}")
        if stay is not None and not 0 <= stay < 1:
            problems.add(f"stay must be a probability below 1, not {stay!r}")
    noise = np.arange(-deviation * step, deviation * step + 1) / step
    # from this count on no target is negative or blocked, so that all larger counts are alike
    alike = deviation + blocked + 1 if blocked else deviation
    p = np.zeros((alike + 1, len(noise)))
    p[0, deviation * step] = 1.0
    with collect() as problems:
        for count in range(1, len(p)):
            target = count + noise
            usable = (target >= 0) & ~((target > 0) & (target <= blocked))
            row = _row(noise, usable, variance, stay if count > blocked else None, may_differ=count <= blocked)
            if isinstance(row, str):
                problems.add(f"count {count}: {row}")
            else:
                p[count] = row
    return PerturbationTable(noise, p)


def _row(
    noise: Floats, usable: npt.NDArray[np.bool_], variance: float, stay: float | None, may_differ: bool
) -> Floats | str:
    """Return the probabilities of one count, or what cannot be met."""
    p = np.zeros(len(noise))
    share = 1.0
    if stay is not None:
        usable = usable & (noise != 0)
        p[noise == 0] = stay
        share = 1.0 - stay
    values = noise[usable]
    if not len(values) or values[0] > 0 or values[-1] < 0:
        return "no noise of mean 0 is possible; give a larger deviation"
    least, most = (share * moment for moment in second_moments(values))
    if may_differ:
        variance = min(max(variance, least), most)
    if not least - MOMENT_ERROR <= variance <= most + MOMENT_ERROR:
        also = f" with stay = {stay:g}" if stay is not None else ""
        return f"the variance can be from {least:.6g} to {most:.6g}{also}, not {variance:g}"
    p[usable] = share * maximum_entropy(values, variance / share)
    return p
