"""Which values of a column are the same in two files."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.microdata.records import Records

__all__ = ["joint_codes"]

Ints = npt.NDArray[np.int64]


def joint_codes(first: Records, second: Records, name: str) -> tuple[Ints, Ints]:
    """Number the values of a column in two files alike, -1 for a missing one.

    Values are the same where they are written the same: 1, 1.0 and '1' are one category (a column of whole numbers
    becomes one of floats as soon as a value is missing), '01' is another.

    Parameters
    ----------
    first, second : Records
    name : str

    Returns
    -------
    first, second : ndarray of int, shape (records of each file,)

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> one, other = (md.read_records(pd.DataFrame({"a": a}), md.Schema()) for a in ([1, 2, 3], [3.0, None, 2.5]))
    >>> [codes.tolist() for codes in joint_codes(one, other, "a")]
    [[0, 1, 2], [2, -1, 3]]
    """
    number: dict[str, int] = {}
    sides = []
    for records in (first, second):
        found = records.categories(name)
        place = [number.setdefault(_written(value), len(number)) for value in found.values]
        sides.append(np.array([*place, -1], dtype=np.int64)[found.index])
    return sides[0], sides[1]


def _written(value: Any) -> str:
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)
