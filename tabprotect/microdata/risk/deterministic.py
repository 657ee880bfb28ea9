"""Deterministic record linkage: exact agreement (survey, section 6.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, did_you_mean
from tabprotect.kinds import of_kinds
from tabprotect.microdata.keys import match_counts
from tabprotect.microdata.risk.agreement import joint_codes
from tabprotect.microdata.risk.base import Measure, pair
from tabprotect.microdata.schema import Schema

__all__ = ["deterministic_linkage"]

Ints = npt.NDArray[np.int64]
Missing = Literal["none", "own", "any"]


@of_kinds()
def deterministic_linkage(
    original: Any,
    masked: Any,
    schema: Schema | None = None,
    *,
    columns: Sequence[str] | str | None = None,
    missing: Missing = "none",
) -> Measure:
    """Share of the original records found by an intruder who links those that agree exactly; ties are shared out.

    Where t masked records agree with an original one in all columns, each of them that is right counts 1 / t. Sampling
    weights play no part.

    Parameters
    ----------
    original : frame of any kind
    masked : frame of any kind, or Masked
    schema : Schema
    columns : str or sequence of str, optional
        By default the keys that both files have.
    missing : {'none', 'own', 'any'}
        A missing value agrees with nothing, with missing values, or with every value. Take 'any' for files in which
        values were suppressed.

    Returns
    -------
    Measure
        ``value``: expected share of original records found; ``records``: the probability that each is. Details:
        originals with a match, with one match, and with one match that is right.

    Raises
    ------
    InputError
        If there is no column, or one is not in both files.

    Examples
    --------
    >>> import pandas as pd
    >>> original = pd.DataFrame({"region": ["n", "n", "s"], "sex": ["f", "f", "m"]})
    >>> masked = original.assign(sex=["f", "f", "f"])
    >>> deterministic_linkage(original, masked, columns=["region", "sex"]).records.tolist()
    [0.5, 0.5, 0.0]
    """
    if missing not in get_args(Missing):
        hint = did_you_mean(missing, get_args(Missing))
        raise InputError(f"missing must be 'none', 'own' or 'any', not {missing!r}{hint}")
    files = pair(original, masked, schema)
    first, second, links = files.original, files.masked, files.links
    if columns is None:
        names = [name for name in first.schema.keys if name in second.columns]
    else:
        names = [columns] if isinstance(columns, str) else list(columns)
    gone = [name for name in names if name not in first.columns or name not in second.columns]
    if gone:
        raise InputError(*(f"column '{name}' is not in both files{did_you_mean(name, first.columns)}" for name in gone))
    if not names:
        raise InputError("there is no column to link by; give columns=, or keys in the schema")
    codes = [joint_codes(first, second, name) for name in names]
    mine, theirs = np.column_stack([a for a, _ in codes]), np.column_stack([b for _, b in codes])
    if missing == "own":
        mine, theirs = mine + 1, theirs + 1
    sizes = [int(max(a.max(initial=0), b.max(initial=0))) + 1 for a, b in zip(mine.T, theirs.T, strict=True)]
    if missing == "none":
        # -1 would match everything
        whole = [(side >= 0).all(axis=1) for side in (mine, theirs)]
        matches = np.zeros(len(mine), dtype=np.int64)
        matches[whole[0]] = _matches(mine[whole[0]], theirs[whole[1]], sizes)
    else:
        matches = _matches(mine, theirs, sizes)
    linked = np.flatnonzero(links >= 0)
    a, b = mine[links[linked]], theirs[linked]
    blank = (a < 0) | (b < 0)
    agree = np.where(blank, missing == "any", a == b).all(axis=1)
    own = np.bincount(links[linked[agree]], minlength=len(mine))
    found = np.divide(own, matches, out=np.zeros(len(mine)), where=matches > 0)
    details = {
        "columns": names, "missing": missing, "with a match": int((matches > 0).sum()),
        "with one match": int((matches == 1).sum()),
        "with one match that is right": int(((matches == 1) & (own == 1)).sum()),
    }  # fmt: skip
    return Measure("deterministic linkage", float(found.mean()), found, details)


def _matches(rows: Ints, others: Ints, sizes: Sequence[int]) -> Ints:
    return match_counts(rows, others, sizes, np.ones(len(others), dtype=np.int64))
