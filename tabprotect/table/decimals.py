"""How many decimals the values of a table have, and how one is written."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, among

__all__ = ["MOST_DECIMALS", "check_sign", "decimals_of", "written"]

MOST_DECIMALS = 6
"""Published values are rounded to the decimals that they have, up to this many; values with more stay as they are."""


def decimals_of(values: npt.NDArray[np.float64]) -> int | None:
    """Return how many decimals numbers have when the noise of floating-point sums is left out; None above six.

    Examples
    --------
    >>> decimals_of(np.array([0.1 + 0.2, 5, np.nan])), decimals_of(np.array([1 / 3]))
    (1, None)
    """
    values = values[np.isfinite(values)]
    for places in range(MOST_DECIMALS + 1):
        scaled = np.abs(values) * 10.0**places
        noise = np.clip(1e-14 * scaled, 1e-9, 1e-2)
        if np.all(np.abs(scaled - np.rint(scaled)) <= noise):
            return places
    return None


def written(value: float, decimal: str = ".", form: str = ".12g") -> str:
    """Return a number for people, with a decimal sign.

    Examples
    --------
    >>> written(12.5, ","), written(3.0)
    ('12,5', '3')
    """
    return format(value, form).replace(".", decimal)


def check_sign(decimal: object) -> None:
    """Refuse what is no decimal sign.

    Raises
    ------
    InputError
    """
    if decimal is None or not among(decimal, (".", ",")):
        raise InputError(f"decimal must be '.' or ',', not {decimal!r}")
