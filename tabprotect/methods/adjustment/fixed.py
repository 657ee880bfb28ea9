"""The adjustment problem once every primary has its sense: a linear or a convex quadratic programme."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.methods.adjustment.statement import Statement
from tabprotect.solver.limits import Budget
from tabprotect.solver.mip.milp import WIDEST_INTEGER, solve_milp
from tabprotect.solver.qp import Cone, solve_qp
from tabprotect.solver.tolerances import INTEGRALITY, QP_NOISE, ROW_FEASIBILITY

__all__ = ["Fixed", "solve_fixed"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: above this many cells an interior point method with crossover beats the simplex method
_LARGE = 1500


@dataclass(frozen=True, eq=False)
class Fixed:
    """The best deviations for given senses.

    Attributes
    ----------
    z : ndarray or None
        In the statement's unit; None when there are none (``infeasible``) or a limit came first.
    bound : float
        No deviations with these senses cost less (the statement's unit; -inf when unknown).
    infeasible : bool
    """

    z: Floats | None
    bound: float
    infeasible: bool


def solve_fixed(statement: Statement, senses: Ints, budget: Budget, *, seconds: float | None = None) -> Fixed:
    """Solve for given senses (+1 up, -1 down; every primary)."""
    lower, upper = statement.bounds(senses)
    if np.any(lower > upper):
        return Fixed(None, np.inf, True)
    quadratic = statement.norm == "l2" or statement.cones
    continuous = _quadratic(statement, lower, upper, budget) if quadratic else _linear(statement, lower, upper, budget)
    if continuous.z is None or statement.step is None:
        return continuous
    if np.all(np.abs(continuous.z - np.rint(continuous.z)) <= INTEGRALITY):
        whole = np.rint(continuous.z)
        if not np.any(statement.A @ whole - np.clip(statement.A @ whole, statement.row_lower, statement.row_upper)):
            return Fixed(whole, continuous.bound, False)
    if quadratic:
        return _nearest(statement, lower, upper, continuous, budget, seconds)
    return _whole(statement, lower, upper, continuous, budget, seconds)


def _whole(
    st: Statement, lower: Floats, upper: Floats, continuous: Fixed, budget: Budget, seconds: float | None
) -> Fixed:
    """Go on from a linear optimum to whole steps, within the widest ranges around it that HiGHS takes.

    Beyond them a cell costs, by itself, its weight times how far it would have to move at least.
    """
    assert continuous.z is not None
    reach = np.floor(WIDEST_INTEGER / 2)
    least = np.where(upper - lower > WIDEST_INTEGER, np.maximum(lower, np.floor(continuous.z) - reach), lower)
    most = np.where(upper - lower > WIDEST_INTEGER, np.minimum(upper, np.ceil(continuous.z) + reach), upper)
    found = _linear(st, least, most, budget, whole=True, seconds=seconds)
    if np.array_equal(least, lower) and np.array_equal(most, upper):
        return found
    below = np.where(least > lower, st.weights * np.maximum(1 - least, 0.0), np.inf)
    above = np.where(most < upper, st.weights * np.maximum(most + 1, 0.0), np.inf)
    beyond = min(below.min(initial=np.inf), above.min(initial=np.inf))
    return Fixed(found.z, max(continuous.bound, min(found.bound, beyond)), False)


def _linear(
    st: Statement, lower: Floats, upper: Floats, budget: Budget, *, whole: bool = False, seconds: float | None = None
) -> Fixed:
    """HiGHS over z+, z- and, for L-infinity, the largest of all changes."""
    n, extra = st.n, int(st.norm == "linf")
    rows = [sparse.hstack([st.A, -st.A, sparse.csr_array((st.A.shape[0], extra))])]
    low, high = [st.row_lower], [st.row_upper]
    cost = np.tile(st.weights, 2)
    if extra:
        each = sparse.diags_array(st.weights, format="csr")
        rows.append(sparse.hstack([each, each, sparse.csr_array(-np.ones((n, 1)))]))
        low, high, cost = [*low, np.full(n, -np.inf)], [*high, np.zeros(n)], np.r_[np.zeros(2 * n), 1.0]
    answer = solve_milp(
        sparse.vstack(rows, format="csr"),
        np.concatenate(low),
        np.concatenate(high),
        np.concatenate((np.maximum(lower, 0.0), np.maximum(-upper, 0.0), np.zeros(extra))),
        np.concatenate((np.maximum(upper, 0.0), np.maximum(-lower, 0.0), np.full(extra, np.inf))),
        cost,
        np.repeat([True, False], [2 * n, extra]) if whole else None,
        budget=budget,
        seconds=seconds,
        method="ipm" if n > _LARGE else "choose",
    )
    bound = -np.inf if answer.bound is None else answer.bound
    if answer.x is None or (answer.status != "optimal" and not whole):
        return Fixed(None, bound, answer.status == "infeasible")
    z = answer.x[:n] - answer.x[n : 2 * n]
    return Fixed(np.rint(z) if whole else z, bound, False)


def _quadratic(st: Statement, lower: Floats, upper: Floats, budget: Budget) -> Fixed:
    """Clarabel; L1 and L-infinity come here only with cones, with their columns z, u >= |z|."""
    n = st.n
    if st.norm == "l2":
        zeros = np.zeros(n)
        answer = solve_qp(
            st.A, st.row_lower, st.row_upper, lower, upper, zeros, st.weights, _widened(st.cones, n), budget=budget
        )
    else:
        q = n if st.norm == "l1" else 1
        eye = sparse.eye_array(n, format="csr")
        cover = eye if st.norm == "l1" else sparse.csr_array((1 / np.maximum(st.weights, 1e-12))[:, None])
        weighted = st.weights if st.norm == "l1" else np.ones(1)
        rows = sparse.vstack(
            [
                sparse.hstack([st.A, sparse.csr_array((st.A.shape[0], q))]),
                sparse.hstack([eye, -cover]),
                sparse.hstack([-eye, -cover]),
            ],
            format="csr",
        )
        answer = solve_qp(
            rows,
            np.concatenate((st.row_lower, np.full(2 * n, -np.inf))),
            np.concatenate((st.row_upper, np.zeros(2 * n))),
            np.concatenate((lower, np.zeros(q))),
            np.concatenate((upper, np.full(q, np.inf))),
            np.concatenate((np.zeros(n), weighted)),
            np.zeros(n + q),
            _widened(st.cones, n + q),
            budget=budget,
        )
    if answer.x is None:
        # an interior point method's "infeasible" is not taken at its word; the programme without squares decides
        linear = _linear(replace(st, norm="l1", cones=()), lower, upper, budget)
        fits = linear.z is not None and all(cone.excess(linear.z) <= 0 for cone in st.cones)
        return Fixed(
            linear.z if fits else None, -np.inf, linear.infeasible or (not fits and answer.status == "infeasible")
        )
    z = answer.x[:n]
    return Fixed(np.where(np.abs(z) <= QP_NOISE, 0.0, z), float(answer.bound or 0.0), False)


def _widened(cones: tuple[Cone, ...], n: int) -> tuple[Cone, ...]:
    """The same cones over more columns."""

    def wide(cone: Cone) -> Cone:
        more = n - len(cone.slope)
        F = sparse.csr_array(sparse.hstack([cone.F, sparse.csr_array((cone.F.shape[0], more))], format="csr"))
        return Cone(F, cone.offset, cone.radius, np.concatenate((cone.slope, np.zeros(more))))

    return tuple(wide(cone) for cone in cones)


def _nearest(
    st: Statement, lower: Floats, upper: Floats, continuous: Fixed, budget: Budget, seconds: float | None
) -> Fixed:
    """Round a continuous optimum to whole steps up or down, at least cost, wider only where that is impossible."""
    assert continuous.z is not None
    z = continuous.z
    whole = np.rint(z)
    base = np.where(np.abs(z - whole) <= INTEGRALITY, whole, np.floor(z))
    for reach in (1, 2, 8):
        least = np.maximum(lower, base - (reach - 1))
        most = np.minimum(upper, np.where(base == z, base, base + 1) + (reach - 1))
        slope = 2 * st.weights * (2 * base + 1)
        every = np.ones(st.n, bool)
        answer = solve_milp(st.A, st.row_lower, st.row_upper, least, most, slope, every, budget=budget, seconds=seconds)
        if answer.x is not None:
            rounded = np.rint(answer.x)
            if all(cone.excess(rounded) <= ROW_FEASIBILITY for cone in st.cones):
                return Fixed(rounded, continuous.bound, False)
    return Fixed(None, continuous.bound, False)
