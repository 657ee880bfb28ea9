"""Resampling: ranked values are replaced by averages over samples (survey of Ciriani et al., section 4.2, Fig. 8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tabprotect.errors import Problems
from tabprotect.microdata.method import Masking, Method, MethodCall
from tabprotect.microdata.parameters import as_columns, need_number
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import NUMERIC, Scale

__all__ = ["Resampling", "average_of_ranked"]

Floats = npt.NDArray[np.float64]


def average_of_ranked(values: npt.ArrayLike, samples: npt.ArrayLike) -> Floats:
    """Replace each value by the average of the equally ranked values of some samples.

    Parameters
    ----------
    values : array_like, shape (n,)
        Ties are ranked in the order of the records.
    samples : array_like, shape (t, n)

    Returns
    -------
    ndarray, shape (n,)

    Examples
    --------
    >>> average_of_ranked([30, 10, 20], [[30, 10, 20], [40, 20, 60]]).tolist()
    [45.0, 15.0, 30.0]
    """
    x = np.asarray(values, dtype=np.float64)
    averages = np.sort(np.asarray(samples, dtype=np.float64), axis=1).mean(axis=0)
    new = np.empty_like(x)
    new[np.argsort(x, kind="stable")] = averages
    return new


@dataclass(frozen=True)
class Resampling(Method):
    """Each value becomes the average of the equally ranked values of several bootstrap samples.

    Missing values stay missing. With weights, records are drawn with probabilities proportional to them. Samples are
    drawn within each stratum.

    Parameters
    ----------
    columns : str or sequence of str
        Continuous columns, each on its own.
    samples : int
        How many samples are averaged.
    original : bool
        The file itself is the first of them, as in the paper's figure.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"x": [1.0, 5.0, 3.0, 9.0]})
    >>> new = md.mask(frame, None, md.Resampling("x", samples=3), seed=1).frame["x"]
    >>> new.rank().tolist()
    [1.0, 3.0, 2.0, 4.0]
    """

    name: ClassVar[str] = "resampling"
    family: ClassVar[str] = "perturbative"
    scales: ClassVar[tuple[Scale, ...]] = NUMERIC
    random: ClassVar[bool] = True
    source: ClassVar[str] = "Ciriani et al. 2007, section 4.2 (resampling, Fig. 8)"

    columns: Sequence[str] | str
    samples: int = 4
    original: bool = True

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        as_columns(self, "columns", problems)
        need_number(self, "samples", problems, least=2, whole=True)

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the columns."""
        return tuple(self.columns)

    def apply(self, call: MethodCall) -> Masking:
        """Draw the samples and average them."""
        records, weights = call.records, call.records.weights()
        for name in self.columns:
            values = call.records.numbers(name)
            new = values.copy()
            for rows in call.records.strata():
                there = rows[~np.isnan(values[rows])]
                if not len(there):
                    continue
                x, share = values[there], weights[there] / weights[there].sum()
                drawn = self.samples - self.original
                samples = [x] if self.original else []
                samples += [x[call.rng.choice(len(x), len(x), p=share)] for _ in range(drawn)]
                new[there] = average_of_ranked(x, samples)
            records = records.with_numbers(name, new)
        return Masking(records, {"samples": self.samples})
