"""A release by the status of its cells: how many, what they are worth, how many respondents stand behind them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.table.table import Table

__all__ = ["by_status"]

ORDER = ("primary", "secondary", "forced", "safe", "protected", "zero")


def by_status(
    table: Table,
    words: npt.NDArray[np.object_],
    published: npt.NDArray[np.float64] | None = None,
) -> pd.DataFrame:
    """Return cells, value and respondents by status; confidential.

    Every cell counts once; totals and their parts are added up alike. ``respondents`` are contributions to cells, so a
    respondent counts once for every cell that he contributes to; the column is left out where the numbers of
    contributors are not known.

    Parameters
    ----------
    table : Table
    words : ndarray of str, shape (cells,)
        The status of every cell.
    published : ndarray of float, shape (cells,), optional
        Values in the place of the true ones: then ``changed`` is the number of cells that have another one, and
        ``distance`` the sum of the absolute changes.

    Examples
    --------
    >>> from tabprotect.table.system import LinearSystem
    >>> table = Table(LinearSystem.from_equations([("t", ["a", "b"])]), np.array([7.0, 3, 4]))
    >>> by_status(table, np.array(["safe", "primary", "safe"], dtype=object), np.array([7.0, 5, 2]))
        status  cells  value  changed  distance
    0  primary      1    3.0        1       2.0
    1     safe      2   11.0        1       2.0
    """
    found = [word for word in ORDER if (words == word).any()]
    where = [words == word for word in found]
    columns: dict[str, Any] = {
        "status": found,
        "cells": [int(mask.sum()) for mask in where],
        "value": [float(table.values[mask].sum()) for mask in where],
    }
    if table.counts is not None:
        columns["respondents"] = [float(table.counts[mask].sum()) for mask in where]
    if published is not None:
        moved = np.abs(published - table.values)
        columns["changed"] = [int(np.sum(moved[mask] > 0)) for mask in where]
        columns["distance"] = [float(moved[mask].sum()) for mask in where]
    return pd.DataFrame(columns)
