"""HiGHS without a word on standard output, and with bounds of a size that it copes with."""

from __future__ import annotations

import highspy
import numpy as np
import numpy.typing as npt

from tabprotect.solver.tolerances import BOUND_DIGITS

__all__ = ["SilentHighs", "digits"]


class SilentHighs(highspy.Highs):  # type: ignore[misc]  # highspy has no types
    """An instance of HiGHS that is silent from the start.

    Some versions print their copyright when callbacks are set, which the constructor does before any option can be.

    Examples
    --------
    >>> h = SilentHighs()
    >>> h.run().name
    'kOk'
    """

    def enableCallbacks(self) -> None:
        """Set callbacks, in silence."""
        self.setOptionValue("output_flag", False)
        super().enableCallbacks()

    def scale_bounds(self, digits: int) -> None:
        """Have a linear programme whose bounds have so many binary digits solved in other units, a power of two.

        Beside bounds of 10^12 rounding exceeds the tolerances, which are absolute: HiGHS ends without an answer, or
        calls a programme infeasible that is not.
        """
        self.setOptionValue("user_bound_scale", min(0, BOUND_DIGITS - digits))


def digits(*bounds: npt.NDArray[np.float64]) -> int:
    """Return how many binary digits the largest finite bound has before the point.

    Examples
    --------
    >>> digits(np.array([-9.0, -np.inf]), np.array([1.0, 0.0]))
    4
    """
    return int(np.frexp(max(np.max(np.abs(b), where=np.isfinite(b), initial=0.0) for b in bounds))[1])
