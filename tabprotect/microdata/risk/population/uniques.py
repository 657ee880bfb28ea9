"""Population uniques by models in which all combinations of keys are alike before the sample is seen.

The population has N people in K possible combinations of keys, the sample n of them. Each model gives the number of
population uniques and Pr(PU | SU), the probability that a sample unique is unique in the population.

References
----------
Bethlehem, Keller, Pannekoek (1990), "Disclosure control of microdata", JASA 85; Takemura (1999), "Some superpopulation
models for estimating the number of population uniques", SDP'98; Hoshino (2001), "Applying Pitman's sampling formula to
microdata disclosure risk assessment", Journal of Official Statistics 17; Zayatz (1991), "Estimation of the percent of
unique population elements on a microdata file using the sample", US Bureau of the Census, SRD 91/08.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import optimize
from scipy.special import betaln, gammaln

from tabprotect.errors import InputError, SolverError
from tabprotect.kinds import of_kinds
from tabprotect.microdata.risk.base import Measure
from tabprotect.microdata.risk.population.sample import Sample, as_measure, read_sample
from tabprotect.microdata.schema import Schema

__all__ = ["dirichlet_multinomial_uniques", "pitman_uniques", "poisson_gamma_uniques", "zayatz_uniques"]

Floats = npt.NDArray[np.float64]

LOG_SHAPE = (-25.0, 15.0)
"""Where the logarithm of a shape parameter is looked for."""


@of_kinds()
def poisson_gamma_uniques(
    original: Any,
    masked: Any = None,
    schema: Schema | None = None,
    *,
    population_size: int | None = None,
    cells: int | None = None,
) -> Measure:
    """Pr(PU | SU) where population frequencies are Poisson with gamma means (Bethlehem et al. 1990, section 4).

    Frequencies are negative binomial then, with mean N / K and a shape that is estimated by maximum likelihood from the
    sample, empty combinations included. A missing key is a value of its own; weights give the population size only.

    Parameters
    ----------
    original, masked : frame of any kind, or Masked
        Of the masked file where one is given.
    schema : Schema
        With keys, and a weight where no population size is given.
    population_size : int, optional
        N; by default the sum of the weights.
    cells : int, optional
        K; by default the product of the numbers of categories of the keys.

    Returns
    -------
    Measure
        ``value``: Pr(PU | SU); ``records``: that of sample uniques, 0 for others; details: expected numbers, shape, and
        whether the estimate lies at the end of the range that was searched.

    Raises
    ------
    InputError
        Without keys, or for sizes that cannot be.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"age": [1, 1, 1, 1, 2, 2, 3, 4, 5, 6]})
    >>> found = poisson_gamma_uniques(frame, schema=md.Schema(keys=["age"]), population_size=20, cells=12)
    >>> 0 < found.value < 1, found.details["sample uniques"]
    (True, 4)
    """
    sample = _read(original, masked, schema, population_size, cells, "Poisson-gamma uniques")
    mean, big = sample.n / sample.cells, sample.population / sample.cells
    size, times = np.unique(sample.sizes, return_counts=True)

    def loss(log_shape: float) -> float:
        a = np.exp(log_shape)
        each = times * (gammaln(size + a) - gammaln(a))
        return -float(each.sum() - sample.cells * a * np.log1p(mean / a) - sample.n * np.log(a + mean))

    shape, at_end = _largest(loss)
    given = float(np.exp((shape + 1) * (np.log(shape + mean) - np.log(shape + big))))
    uniques = sample.population * float(np.exp(-(shape + 1) * np.log1p(big / shape)))
    details = {"shape": shape, "cells": sample.cells, "shape at the end of its range": at_end}
    return as_measure("Poisson-gamma uniques", sample, given, uniques, details)


@of_kinds()
def dirichlet_multinomial_uniques(
    original: Any,
    masked: Any = None,
    schema: Schema | None = None,
    *,
    population_size: int | None = None,
    cells: int | None = None,
) -> Measure:
    """Pr(PU | SU) where shares of the population are a symmetric Dirichlet draw (Takemura 1999).

    As `poisson_gamma_uniques`, with the numbers of people in population and sample taken as given. Parameters, result
    and errors are the same.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"age": [1, 1, 1, 1, 2, 2, 3, 4, 5, 6]})
    >>> found = dirichlet_multinomial_uniques(frame, schema=md.Schema(keys=["age"]), population_size=10, cells=12)
    >>> round(found.value, 9)  # everybody is in the sample
    1.0
    """
    sample = _read(original, masked, schema, population_size, cells, "Dirichlet-multinomial uniques")
    n, k = sample.n, sample.cells
    size, times = np.unique(sample.sizes, return_counts=True)

    def loss(log_shape: float) -> float:
        a = np.exp(log_shape)
        each = times * (gammaln(size + a) - gammaln(a))
        return -float(each.sum() + gammaln(k * a) - gammaln(n + k * a))

    shape, at_end = _largest(loss)
    rest = max((k - 1) * shape, np.finfo(float).tiny)
    more = sample.population - n
    given = float(np.exp(betaln(shape + 1, rest + n - 1 + more) - betaln(shape + 1, rest + n - 1)))
    # the chance that nobody else shares the combination of a given person, times N
    alone = float(np.exp(betaln(shape + 1, rest + sample.population - 1) - betaln(shape + 1, rest)))
    details = {"shape": shape, "cells": k, "shape at the end of its range": at_end}
    return as_measure("Dirichlet-multinomial uniques", sample, given, sample.population * alone, details)


@of_kinds()
def pitman_uniques(
    original: Any, masked: Any = None, schema: Schema | None = None, *, population_size: int | None = None
) -> Measure:
    """Pr(PU | SU) by Pitman's sampling formula (Hoshino 2001); the number of possible combinations plays no part.

    The two parameters 0 <= alpha < 1 and theta > -alpha are estimated by maximum likelihood. Given the sample, a unique
    stays alone with probability ``product of (theta + alpha + i - 1) / (theta + i), i = n, ..., N - 1``.

    Parameters
    ----------
    original, masked, schema, population_size
        As for `poisson_gamma_uniques`.

    Returns
    -------
    Measure
        As for `poisson_gamma_uniques`; details have theta and alpha.

    Raises
    ------
    InputError
        Without keys, for sizes that cannot be, or where every record is unique or all share one combination: the
        parameters have no estimate then.
    SolverError
        If the likelihood has no maximum that the search can find.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"age": [1, 1, 1, 1, 2, 2, 3, 4, 5, 6]})
    >>> found = pitman_uniques(frame, schema=md.Schema(keys=["age"]), population_size=10)
    >>> round(found.value, 9)  # everybody is in the sample
    1.0
    """
    sample = _read(original, masked, schema, population_size, None, "Pitman uniques")
    if len(sample.sizes) in (1, sample.n):
        raise InputError("Pitman uniques: the model needs both shared and different combinations of keys in the file")
    theta, alpha = _pitman(sample)
    n, big = sample.n, sample.population
    given = np.exp(gammaln(theta + big - 1 + alpha) - gammaln(theta + big) - gammaln(theta + n - 1 + alpha)
                   + gammaln(theta + n))  # fmt: skip
    log_alone = gammaln(theta + alpha + big - 1) + gammaln(theta + 1) - gammaln(theta + alpha) - gammaln(theta + big)
    uniques = big * float(np.exp(log_alone))
    return as_measure("Pitman uniques", sample, float(given), uniques, {"theta": theta, "alpha": alpha})


@of_kinds()
def zayatz_uniques(
    original: Any, masked: Any = None, schema: Schema | None = None, *, population_size: int | None = None
) -> Measure:
    """Pr(PU | SU) where combinations have sizes in the population as they have in the sample (Zayatz 1991).

    With p_i the share of the combinations of the sample that have i records, and h_i the hypergeometric probability
    that one of i people is in the sample, it is ``p_1 h_1 / sum of p_i h_i``.

    Parameters
    ----------
    original, masked, schema, population_size
        As for `poisson_gamma_uniques`.

    Returns
    -------
    Measure
        As for `poisson_gamma_uniques`; the expected number of population uniques is
        ``value * sample uniques / (n / N)``.

    Raises
    ------
    InputError
        Without keys, or for sizes that cannot be.

    Examples
    --------
    A tenth of the population; 2 uniques, 1 pair: h_1 = 1/10, h_2 = 2 x 4 x 36 / (40 x 39):

    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"age": [20, 20, 90, 91]})
    >>> found = zayatz_uniques(frame, schema=md.Schema(keys=["age"]), population_size=40)
    >>> bool(np.isclose(found.value, 2 * 0.1 / (2 * 0.1 + 2 * 4 * 36 / (40 * 39))))
    True
    """
    sample = _read(original, masked, schema, population_size, None, "Zayatz uniques")
    size, times = np.unique(sample.sizes, return_counts=True)
    n, big = sample.n, sample.population
    possible = size <= big - n + 1
    i = size[possible].astype(np.float64)
    # C(N - i, n - 1) i / C(N, n), by logarithms
    logs = np.log(i) + _choose(big - i, n - 1) - _choose(np.array(float(big)), n)
    weight = times[possible] * np.exp(logs)
    given = float(weight[i == 1].sum() / weight.sum()) if sample.uniques else 0.0
    return as_measure("Zayatz uniques", sample, given, given * sample.uniques / sample.fraction, {})


def _choose(n: Floats, k: int) -> Floats:
    found: Floats = gammaln(n + 1) - gammaln(k + 1.0) - gammaln(n - k + 1)
    return found


def _read(
    original: Any, masked: Any, schema: Schema | None, population_size: int | None, cells: int | None, what: str
) -> Sample:
    return read_sample(original if masked is None else masked, schema, population_size, cells, what=what)


def _largest(loss: Callable[[float], float]) -> tuple[float, bool]:
    """Return the shape with the largest likelihood, and whether it lies at the end of the range."""
    grid = np.linspace(*LOG_SHAPE, 81)
    best = int(np.argmin([loss(x) for x in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    found = optimize.minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-10})
    return float(np.exp(found.x)), best in (0, len(grid) - 1)


def _pitman(sample: Sample) -> tuple[float, float]:
    """Maximise the likelihood of Pitman's formula; parameters (log(theta + alpha), logit(alpha))."""
    n, kinds = sample.n, len(sample.sizes)
    size, times = np.unique(sample.sizes, return_counts=True)
    some = np.arange(1, kinds, dtype=np.float64)

    def parts(x: Floats) -> tuple[float, float]:
        alpha = 1 / (1 + np.exp(-x[1]))
        return float(np.exp(x[0]) - alpha), float(alpha)

    def loss(x: Floats) -> float:
        theta, alpha = parts(x)
        value = (
            np.log(theta + some * alpha).sum() - gammaln(theta + n) + gammaln(theta + 1)
            + float((times * (gammaln(size - alpha) - gammaln(1 - alpha))).sum())
        )  # fmt: skip
        return -float(value)

    starts = [np.array([np.log(t), a]) for t in (1.0, kinds / 2) for a in (-3.0, 0.0)]
    bounds = [(-20.0, 30.0), (-20.0, 20.0)]
    # the simplex method goes on where the likelihood is flat in alpha, at which gradients stop early; nor does it solve
    # the small systems of equations for which BLAS wakes its threads at every step
    close: Any = {
        "xatol": 1e-6,
        "fatol": 1e-12 * max(abs(loss(x)) for x in starts) + 1e-9,
        "maxfev": 4000,
        "maxiter": 4000,
    }
    tries = [optimize.minimize(loss, x, method="Nelder-Mead", bounds=bounds, options=close) for x in starts]
    best = min(tries, key=lambda one: float(one.fun))
    if not np.isfinite(best.fun) or not best.success:
        raise SolverError("Pitman uniques: the likelihood has no maximum that the search can find")
    theta, alpha = parts(best.x)
    return theta, alpha
