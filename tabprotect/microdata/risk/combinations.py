"""Unsafe combinations of a file, as a measure of risk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tabprotect.kinds import of_kinds
from tabprotect.microdata.risk.base import Measure, share_unsafe
from tabprotect.microdata.risk.individual import keys_of
from tabprotect.microdata.schema import Schema
from tabprotect.microdata.unsafe import unsafe_combinations as table_of_combinations

__all__ = ["unsafe_combinations"]


@of_kinds()
def unsafe_combinations(
    original: Any,
    masked: Any = None,
    schema: Schema | None = None,
    *,
    up_to: int | None = 3,
    threshold: int | Mapping[int, int] = 3,
) -> Measure:
    """Count the records in an unsafe combination of keys; see `tabprotect.microdata.unsafe_combinations`.

    Parameters
    ----------
    original, masked : frame of any kind, or Masked
        Of the masked file where one is given.
    schema : Schema
        With keys. A record has no combination of keys that it does not state; for others a missing value matches.
        Weights do not change counts; with one, details tell the share of the population, too.
    up_to : int, optional
        The largest number of keys in a combination; None for all.
    threshold : int or mapping of int to int
        A combination is unsafe that fewer records share; one for all sizes, or by the number of keys.

    Returns
    -------
    Measure
        ``value``: how many records; ``records``: in how many minimal unsafe combinations each is. Details: the sets of
        keys.

    Raises
    ------
    InputError

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"zip": [1, 1, 1, 2], "sex": ["f", "f", "m", "m"]})
    >>> found = unsafe_combinations(frame, schema=md.Schema(keys=["zip", "sex"]), threshold=2)
    >>> found.value, found.records.tolist()
    (2.0, [0.0, 0.0, 1.0, 1.0])
    """
    records, _ = keys_of(original if masked is None else masked, schema)
    found = table_of_combinations(records, records.schema, up_to=up_to, threshold=threshold)
    often = found.records.astype(np.float64)
    details = {key: value for key, value in found.to_dict().items() if key in ("keys", "thresholds", "sets")}
    return replace(share_unsafe("unsafe combinations", often, often > 0, records, details), value=float(found.value))
