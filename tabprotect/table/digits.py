"""Whole numbers as floats: which of them lose digits."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from tabprotect.table.codes import rows_of

__all__ = ["EXACT", "inexact_numbers", "lost_digits"]

EXACT = 2.0**53
"""Every whole number up to this one is a float."""


def lost_digits(texts: Sequence[str | None], numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Return which numbers are not what their texts say, beyond 2^53, where not every whole number is a float.

    Parameters
    ----------
    texts : sequence of str or None
        With a decimal point and without signs between thousands; looked at where numbers are large.
    numbers : ndarray of float
        What was read of them.

    Examples
    --------
    >>> texts = ["9007199254740993", "9007199254740992", "1e20", "12345678901234567000"]
    >>> lost_digits(texts, np.array([float(text) for text in texts])).tolist()
    [True, False, False, False]
    """
    lost = np.zeros(len(numbers), dtype=bool)
    for i in np.flatnonzero(np.isfinite(numbers) & (np.abs(numbers) >= EXACT)).tolist():
        number, word = float(numbers[i]), texts[i]
        # the shortest digits that read back as a float are what other programs write of it
        lost[i] = bool(word) and Decimal(str(word)) not in (Decimal(number), Decimal(repr(number)))
    return lost


def inexact_numbers(column: str, lost: npt.NDArray[np.bool_]) -> str:
    """Say in which rows a column holds whole numbers that are no floats."""
    return f"column '{column}' holds whole numbers beyond 2^53 in {rows_of(lost)}: not exact as floats"
