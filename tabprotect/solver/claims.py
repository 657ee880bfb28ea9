"""What solvers claim of their answers, held against itself."""

from __future__ import annotations

from tabprotect.solver.tolerances import PROVEN

__all__ = ["contradictory"]


def contradictory(objective: float, bound: float, gap: float = 0.0) -> bool:
    """Return whether the value of a claimed optimum and its bound are further apart than gap and rounding explain.

    Parameters
    ----------
    objective, bound : float
    gap : float
        Relative gap that the claim allows itself.

    Examples
    --------
    >>> contradictory(10.0, 9.0), contradictory(10.0, 9.0, gap=0.1), contradictory(10.0, 11.0)
    (True, False, True)
    """
    return abs(objective - bound) > gap * abs(objective) + PROVEN * max(1.0, abs(objective))
