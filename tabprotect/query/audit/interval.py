"""The intruder's interval of a sum, by linear programming (the fast form of `tabprotect.models.inference`)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.errors import SolverError
from tabprotect.query.audit.records import FREE
from tabprotect.query.audit.worlds import Box
from tabprotect.solver.lp import LinearProgram

__all__ = ["reach"]

Ints = npt.NDArray[np.int64]


def reach(M: sparse.csr_array, box: Box, classes: Ints) -> tuple[float, float]:
    """Return how far the sum over some classes can move down and up: max -d(A) and max d(A) with M d = 0 in a box.

    A number of floating-point arithmetic, for reports; decisions rest on `tabprotect.query.audit.worlds`.

    Examples
    --------
    x_1 + x_2 = 10 with x >= 0 and x_1 = 4:

    >>> box = Box(np.array([-4, -6]), np.array([FREE, FREE]))
    >>> reach(sparse.csr_array(np.array([[1, 1]])), box, np.array([0]))
    (4.0, 6.0)
    """
    m, n = M.shape
    lower = np.where(box.lower <= -FREE, -np.inf, box.lower.astype(np.float64))
    upper = np.where(box.upper >= FREE, np.inf, box.upper.astype(np.float64))
    cost = np.zeros(n)
    cost[classes] = 1.0
    result = []
    for sign in (-1.0, 1.0):
        lp = LinearProgram(M, np.zeros(m), np.zeros(m), lower, upper, sign * cost, maximise=True)
        solution = lp.solve()
        if solution.status not in ("optimal", "unbounded"):
            raise SolverError(f"the interval of a sum ended with '{solution.status}'")
        result.append(float(FREE) if solution.status == "unbounded" else abs(solution.objective))
    return result[0], result[1]
