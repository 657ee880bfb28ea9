"""Whether a table adds up, and what it looks like when it does not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError
from tabprotect.solver.tolerances import SUM_ROUNDING
from tabprotect.table.decimals import written
from tabprotect.table.system import LinearSystem

__all__ = ["NOISE", "Tolerance", "beyond_noise", "check_additivity", "in_short", "noticeable"]

Floats = npt.NDArray[np.float64]

NOISE: Final = 1e-9
"""Differences below this fraction of an equation's terms are noise of floating-point arithmetic and always accepted."""

WORST: Final = 5
"""So many equations are named in an error."""


@dataclass(frozen=True)
class Tolerance:
    """How far an equation may be off.

    Parameters
    ----------
    stated : float, optional
        In the unit of the values, for every equation; None accepts floating-point noise only.
    values : ndarray
        The cell values.
    """

    stated: float | None
    values: Floats

    def exceeded(self, system: LinearSystem, residuals: Floats) -> npt.NDArray[np.int64]:
        """Return the equations that are off by more, the worst first."""
        size = abs(system.A) @ np.abs(self.values) + np.abs(system.b)
        bad = np.flatnonzero(np.abs(residuals) > (self.stated or 0.0) + NOISE * size)
        return bad[np.argsort(-np.abs(residuals[bad]), kind="stable")]


def noticeable(residual: float, values: Floats) -> float:
    """Return a residual as it is told: 0 where it is no more than the last digits of floating-point numbers.

    Examples
    --------
    >>> values = np.array([1e6, 4e5])
    >>> noticeable(8.7e-11, values), noticeable(0.5, values)
    (0.0, 0.5)
    """
    return residual if residual > SUM_ROUNDING * float(np.abs(values).max(initial=0.0)) else 0.0


def beyond_noise(system: LinearSystem, values: Floats, residuals: Floats) -> float:
    """Return the largest residual that is more than noise of floating-point arithmetic; 0 without any.

    Examples
    --------
    >>> s = LinearSystem.from_equations([("all", ["a", "b"])])
    >>> y = np.array([0.3, 0.1, 0.2])
    >>> float(s.residuals(y)[0]) == 0.0, beyond_noise(s, y, s.residuals(y))
    (False, 0.0)
    """
    size = abs(system.A) @ np.abs(values) + np.abs(system.b)
    return float(np.abs(residuals[np.abs(residuals) > NOISE * size]).max(initial=0.0))


def in_short(equation: str, most: int = 160) -> str:
    """Return the words of an equation, cut where they are long.

    Examples
    --------
    >>> in_short("all = a + b"), in_short(200 * "a + ", most=12)
    ('all = a + b', 'a + a + ...')
    """
    return equation if len(equation) <= most else equation[: most - 4].rstrip() + " ..."


def check_additivity(
    system: LinearSystem, values: Floats, tolerance: Tolerance, name: str, decimal: str = ".", absent: bool = False
) -> float:
    """Return the largest residual beyond noise; refuse a table that is off by more than the tolerance.

    Messages have the decimal sign that is given, but for what is typed as an argument. `absent` says that margins may
    be missing, and could be computed.

    Raises
    ------
    InputError
        Names the worst equations and the differences. Says so when the values look like averages.

    Examples
    --------
    >>> s = LinearSystem.from_equations([("all", ["a", "b"])])
    >>> check_additivity(s, np.array([30.5, 10.0, 20.0]), Tolerance(0.5, np.array([30.5, 10.0, 20.0])), "x")
    0.5
    >>> check_additivity(s, np.array([15.0, 10.0, 20.0]), Tolerance(None, np.array([15.0, 10.0, 20.0])), "x")
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: column 'x' looks like averages or percentages: in 1 of 1 equations ...
    """
    A, residuals = system.A, system.residuals(values)
    number = partial(written, decimal=decimal, form=".10g")

    def off(row: int) -> str:
        cells, signs = A.indices[A.indptr[row] : A.indptr[row + 1]], A.data[A.indptr[row] : A.indptr[row + 1]]
        parts = float((values[cells] * np.maximum(signs, 0)).sum())
        return f"{in_short(system.equation(row))} ({number(parts - residuals[row])} against {number(parts)})"

    bad = tolerance.exceeded(system, residuals)
    if not len(bad):
        return beyond_noise(system, values, residuals)
    between = 0
    for row in bad[:200].tolist():
        cells, signs = A.indices[A.indptr[row] : A.indptr[row + 1]], A.data[A.indptr[row] : A.indptr[row + 1]]
        parts, margin = values[cells[signs > 0]], values[cells[signs < 0]]
        between += bool(len(margin) == 1 and len(parts) > 1 and parts.min() <= margin[0] <= parts.max())
    if between == min(len(bad), 200) and 2 * len(bad) >= system.n_equations:
        raise InputError(
            f"column '{name}' looks like averages or percentages: in {len(bad)} of {system.n_equations} equations the "
            f"margin lies between its parts instead of being their sum, as in {off(int(bad[0]))}; "
            "protect the tables of numerators and denominators, then divide what is published"
        )
    worst = "; ".join(off(row) for row in bad[:WORST].tolist())
    more = f"; and {len(bad) - WORST} more" if len(bad) > WORST else ""
    largest = float(np.abs(residuals).max())
    cure = (
        "; if margins are not in the table, let them be computed: margins='add'" if absent else "; or mend the values"
    )
    raise InputError(
        f"the table does not add up in {len(bad)} of {system.n_equations} equations of '{name}': "
        f"{worst}{more}. If the values are rounded, state how far they may be off: tolerance={largest:.6g}{cure}"
    )
