"""Selection probabilities as convex programmes (Singh et al. 2003, eq. 5.3 and 5.4); stated in models/massc.py.

Records are selected independently, with one probability in each substratum s of N_s records and cost c_s.

Substitution: with d_ij the change of total j if record i is substituted, w its weight, S_sj the sum of w d_ij and Q_sj
the sum of (w d_ij)^2 over the substratum, the expected square of the change of a total is at most
``(sum_s psi_s S_sj)^2 + sum_s psi_s Q_sj`` (the variance is that with psi (1 - psi)). ::

    min  sum_s c_s N_s (1 - psi_s)^2   subject to   (sum_s psi_s S_sj)^2 + sum_s psi_s Q_sj <= alpha T_j^2,
                                                    lowest <= psi_s <= highest

Subsampling: with R_sj the sum of squares of w times the value of a record, the variance of the weighted total is
``sum_s (1 / phi_s - 1) R_sj``, linear in u = 1 / phi. ::

    min  sum_s c_s N_s / u_s^2   subject to   sum_s (u_s - 1) R_sj <= beta T_j^2,   1 / highest <= u_s <= 1 / lowest
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import optimize

__all__ = ["Design", "subsampling_design", "substitution_design"]

Floats = npt.NDArray[np.float64]

SAFE = 1 - 1e-9
"""Share of each bound that a design may use, so that rounding does not break it."""


@dataclass(frozen=True, eq=False)
class Design:
    """Selection probabilities, and what they reach.

    Attributes
    ----------
    probabilities : ndarray, shape (substrata,)
    cost : float
        The value of the programme.
    used : ndarray, shape (totals,)
        Left sides over the squared totals: the mean squared error that the design may cause, relative.
    feasible : bool
        Whether every bound holds; they are evaluated again from the probabilities. False if even the smallest
        treatment is too much.
    """

    probabilities: Floats
    cost: float
    used: Floats
    feasible: bool


def substitution_design(
    sums: Floats, squares: Floats, totals: Floats, bound: float, cost: Floats, box: tuple[float, float]
) -> Design:
    """Return the substitution probabilities of least disclosure cost.

    Parameters
    ----------
    sums, squares : ndarray, shape (substrata, totals)
        S and Q.
    totals : ndarray, shape (totals,)
        None is 0.
    bound : float
        alpha.
    cost : ndarray, shape (substrata,)
        c_s N_s.
    box : (float, float)
        Lowest and highest probability.
    """
    scaled, squared = sums / np.abs(totals), squares / totals**2

    def used(psi: Floats) -> Floats:
        return np.asarray((psi @ scaled) ** 2 + psi @ squared)

    def slopes(psi: Floats) -> Floats:
        return np.asarray(2 * (psi @ scaled)[:, None] * scaled.T + squared.T)

    unit = cost.sum() or 1.0
    found = _solve(
        lambda x: float((cost * (1 - x) ** 2).sum() / unit), lambda x: -2 * cost * (1 - x) / unit,
        used, slopes, bound, box, len(cost),
    )  # fmt: skip
    return Design(found, float((cost * (1 - found) ** 2).sum()), used(found), bool((used(found) <= bound).all()))


def subsampling_design(squares: Floats, totals: Floats, bound: float, cost: Floats, box: tuple[float, float]) -> Design:
    """Return the sampling probabilities of least disclosure cost; see `substitution_design`."""
    scaled = squares / totals**2

    def used(u: Floats) -> Floats:
        return np.asarray((u - 1) @ scaled)

    unit = cost.sum() or 1.0
    u = _solve(
        lambda x: float((cost / x**2).sum() / unit), lambda x: -2 * cost / x**3 / unit,
        used, lambda _: scaled.T, bound, (1 / box[1], 1 / box[0]), len(cost),
    )  # fmt: skip
    return Design(1 / u, float((cost / u**2).sum()), used(u), bool((used(u) <= bound).all()))


def _solve(
    cost: object, slope: object, used: object, slopes: object, bound: float, box: tuple[float, float], n: int
) -> Floats:
    """Minimise a convex function under convex bounds, from the lowest point; return a point that meets them.

    Both families of bounds grow along the line from the lowest point to any other, so an answer that exceeds them by
    rounding is drawn back along it. If the lowest point itself is too much it is returned.
    """
    low = np.full(n, box[0])
    if (used(low) > bound * SAFE).any():  # type: ignore[operator]
        return low
    limits = {
        "type": "ineq",
        "fun": lambda x: (bound * SAFE - used(x)) / bound,  # type: ignore[operator]
        "jac": lambda x: -slopes(x) / bound,  # type: ignore[operator]
    }
    options = {"maxiter": 500, "ftol": 1e-12}
    answer = optimize.minimize(
        cost, low, jac=slope, bounds=[box] * n, constraints=[limits], method="SLSQP", options=options
    )  # type: ignore[call-overload]
    x = np.clip(answer.x, *box) if np.isfinite(answer.x).all() else low
    if (used(x) <= bound * SAFE).all():  # type: ignore[operator]
        return np.asarray(x)
    inside, outside = 0.0, 1.0
    for _ in range(60):
        middle = (inside + outside) / 2
        fits = (used(low + middle * (x - low)) <= bound * SAFE).all()  # type: ignore[operator]
        inside, outside = (middle, outside) if fits else (inside, middle)
    return np.asarray(low + inside * (x - low))
