"""What is known of a problem before a search of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabprotect.attack.witness import Deviation
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.solver.mip.rows import Inequalities

__all__ = ["NOTHING", "Known"]

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Known:
    """What other searches of a problem leave to the next one.

    Attributes
    ----------
    start : ndarray of bool, shape (cells,), or None
        A pattern to start from.
    cleaned : bool
        Whether it was tried to publish each of its secondaries by itself: that is not tried again.
    deviations : sequence of Deviation
        They are checked.
    rows : Inequalities or None
        That hold for this problem, such as those of a search with fewer sums.
    attacker_cuts : Inequalities or None
        Met by another search of this problem, for the clean-ups.
    """

    start: Bools | None = None
    cleaned: bool = False
    deviations: Sequence[Deviation] = ()
    rows: Inequalities | None = None
    attacker_cuts: Inequalities | None = None

    @classmethod
    def of(cls, result: SuppressionResult, rows: Inequalities | None = None) -> Known:
        """What a result with a pattern leaves, and rows found elsewhere."""
        return cls(result.pattern, result.cleaned, result.deviations, rows, result.attacker_cuts)


NOTHING = Known()
"""What is known before any search."""
