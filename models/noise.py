"""The design of noise as problems of optimisation: that of counts by cell keys, and the map that keeps a covariance.

*Noise of counts.* Fraser and Wooton (2005); Giessing (2016), "Computational issues in the design of transition
probabilities and disclosure risk estimation for additive noise", Privacy in Statistical Databases. With p_v the
probability that a count i gets the noise v, D the largest noise, V the variance, B the largest count that must not be
published (but 0), s the probability to stay:

    max   - sum_v p_v log p_v
    s.t.  sum_v p_v = 1                                              (1)
          sum_v v p_v = 0                                            (2)
          sum_v v^2 p_v = V                                          (3)
          p_v = 0    where i + v < 0 or 1 <= i + v <= B              (4)
          p_0 = s    where i > B and s is given                      (5)
          0 <= p_v <= 1,    v = -D, -D + 1/q, ..., D

A count i <= B has to move, which may need another variance: the nearest to V under (1), (2), (4).

*Additive noise that keeps means and covariances* (survey of Ciriani et al. 2007, section 4.2; Kim 1986). Centred
records with noise Y, with the covariance matrix S, are mapped linearly to records with the covariance matrix C of
before, as near to what they were as can be:

    min   sum_r || T' y_r - y_r ||^2
    s.t.  T' S T = C
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyomo.environ as pyo

__all__ = ["bounded", "build", "nearest_map"]

Floats = npt.NDArray[np.float64]


def build(
    count: int,
    deviation: int,
    variance: float,
    *,
    stay: float | None = None,
    blocked: int = 0,
    step: int = 1,
    goal: Literal["entropy", "variance"] = "entropy",
) -> pyo.ConcreteModel:
    """State the design of the noise of one count.

    Parameters
    ----------
    count : int
        i, at least 1: a count of 0 stays 0.
    deviation : int
    variance : float
    stay : float, optional
    blocked : int
    step : int
        q.
    goal : {'entropy', 'variance'}
        The largest entropy, or the variance nearest to the wanted one, without (3).

    Returns
    -------
    pyomo.environ.ConcreteModel
        With ``p[v]`` (v in steps of 1/q) and one objective.
    """
    m = pyo.ConcreteModel("noise")
    m.v = pyo.RangeSet(-deviation * step, deviation * step)
    m.p = pyo.Var(m.v, bounds=(0, 1), initialize=1 / len(m.v))
    noise = {v: v / step for v in m.v}
    m.whole = pyo.Constraint(expr=pyo.quicksum(m.p[v] for v in m.v) == 1)  # (1)
    m.unbiased = pyo.Constraint(expr=pyo.quicksum(noise[v] * m.p[v] for v in m.v) == 0)  # (2)
    m.variance = pyo.Expression(expr=pyo.quicksum(noise[v] ** 2 * m.p[v] for v in m.v))
    for v in m.v:  # (4)
        if count + noise[v] < 0 or 0 < count + noise[v] <= blocked:
            m.p[v].fix(0.0)
    if stay is not None and count > blocked:  # (5)
        m.p[0].fix(stay)
    if goal == "variance":
        m.off = pyo.Var(domain=pyo.NonNegativeReals)
        m.above = pyo.Constraint(expr=m.off >= m.variance - variance)
        m.below = pyo.Constraint(expr=m.off >= variance - m.variance)
        m.nearest = pyo.Objective(expr=m.off)
        return m
    m.wanted = pyo.Constraint(expr=m.variance == variance)  # (3)
    free = [v for v in m.v if not m.p[v].fixed]
    m.entropy = pyo.Objective(expr=-pyo.quicksum(m.p[v] * pyo.log(m.p[v]) for v in free), sense=pyo.maximize)
    return m


def bounded(model: Any, at: Floats, *, tangents: int = 40, off: float = 0.0) -> pyo.ConcreteModel:
    """Bound the largest entropy from above by a linear programme over tangents of every ``-p log p``.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
        Of `build`.
    at : ndarray
        Probabilities, in the order of the noise: one tangent of each is there, so that the programme has their entropy
        as its optimum where they are optimal.
    tangents : int
        Further ones at points spread over (0, 1] by a constant factor.
    off : float
        By how much (2) and (3) may be missed, as those of `at` are.

    Returns
    -------
    pyomo.environ.ConcreteModel
        With the objective ``bound``, for the probabilities that are not fixed.
    """
    m = model.clone()
    m.entropy.deactivate()
    variance = float(pyo.value(m.wanted.upper))
    for name, expression, right in (("unbiased", m.unbiased.body, 0.0), ("wanted", m.variance, variance)):
        m.component(name).deactivate()
        m.add_component(f"{name}_nearly", pyo.Constraint(expr=(right - off, expression, right + off)))
    m.free = pyo.Set(initialize=[v for v in m.v if not m.p[v].fixed])
    m.e = pyo.Var(m.free, bounds=(0, 1))
    points = np.geomspace(1e-12, 1.0, tangents).tolist()
    m.under = pyo.ConstraintList()
    for v, own in zip(m.v, at.tolist(), strict=True):
        for q in [*points, own] if v in m.free else []:
            if q > 0:
                # -p log p lies below its tangent at q: -q log q - (log q + 1)(p - q)
                m.under.add(m.e[v] <= q - (float(np.log(q)) + 1) * m.p[v])
    m.bound = pyo.Objective(expr=pyo.quicksum(m.e[v] for v in m.free), sense=pyo.maximize)
    return m


def nearest_map(records: Floats, covariance: Floats) -> pyo.ConcreteModel:
    """State the linear map of centred records to ones of a given covariance matrix that moves them least.

    Parameters
    ----------
    records : ndarray, shape (n, columns)
        Centred.
    covariance : ndarray, shape (columns, columns)
        With the divisor n.

    Returns
    -------
    pyomo.environ.ConcreteModel
        With ``T[i, j]`` and the objective ``moved``. Quadratic equations: not convex.
    """
    n, columns = records.shape
    have = records.T @ records / n
    largest = float(np.sqrt(np.trace(covariance) / np.linalg.eigvalsh(have).min()))
    m = pyo.ConcreteModel("nearest map")
    m.i = pyo.RangeSet(0, columns - 1)
    # T' S T = C bounds every entry: |T|^2 times the smallest eigenvalue of S is at most the trace of C
    m.T = pyo.Var(m.i, m.i, bounds=(-largest, largest), initialize=lambda _, i, j: float(i == j))

    def kept(m: Any, i: int, j: int) -> Any:
        if j < i:
            return pyo.Constraint.Skip
        terms = (float(have[a, b]) * m.T[a, i] * m.T[b, j] for a in m.i for b in m.i)
        return pyo.quicksum(terms) == float(covariance[i, j])

    m.kept = pyo.Constraint(m.i, m.i, rule=kept)
    # |T'y - y|^2 summed is n (tr C - 2 tr T'S + tr S)
    turned = pyo.quicksum(float(have[a, b]) * m.T[b, a] for a in m.i for b in m.i)
    m.moved = pyo.Objective(expr=n * (float(np.trace(covariance) + np.trace(have)) - 2 * turned))
    return m
