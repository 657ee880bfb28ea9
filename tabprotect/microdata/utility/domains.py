"""Estimates for domains: weighted totals and means by groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tabprotect.errors import InputError
from tabprotect.kinds import of_kinds
from tabprotect.microdata.risk.base import Measure, pair
from tabprotect.microdata.risk.limits import joint_strata
from tabprotect.microdata.scales import Scale
from tabprotect.microdata.schema import Schema
from tabprotect.microdata.utility.categorical import _no_links
from tabprotect.microdata.utility.columns import common_columns

__all__ = ["domain_estimates"]


@of_kinds()
def domain_estimates(
    original: Any, masked: Any, schema: Schema | None = None, *, columns: Sequence[str], by: Sequence[str]
) -> Measure:
    """Compare weighted totals of columns in domains.

    Parameters
    ----------
    original, masked : frame of any kind, or Masked
    schema : Schema
        Each file is weighted with its own weights.
    columns : sequence of str
        Continuous; missing values count 0 in the total.
    by : sequence of str
        Columns whose combinations are the domains, of any scale; a missing value is one of its own.

    Returns
    -------
    Measure
        `value` is the mean over domains and columns of ``min(1, |T' - T| / |T|)``, where T is the total in the
        original file; a total of 0 counts 0 if it stays so, else 1. `details` has, for every column, the mean, the
        largest and the number of domains that are gone or new.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> people = pd.DataFrame({"region": ["n", "n", "s"], "income": [10, 20, 40]})
    >>> masked = people.assign(income=[13, 20, 40])
    >>> round(md.utility.domain_estimates(people, masked, columns=["income"], by=["region"]).value, 12)
    0.05
    """
    both = pair(original, masked, schema, _no_links(masked))
    names = common_columns(both, columns, (Scale.CONTINUOUS,), "continuous")
    if not by or isinstance(by, str):
        raise InputError("by must be a list of at least one column")
    domains = common_columns(both, by, tuple(Scale), "domain")
    one, other = joint_strata(both.original, both.masked, domains)
    count = int(max(one.max(), other.max())) + 1
    v, w = both.original.weights(), both.masked.weights()
    there = np.bincount(one, minlength=count) > 0
    still = np.bincount(other, minlength=count) > 0
    details: dict[str, Any] = {"domains": int(there.sum()), "gone": int((there & ~still).sum())}
    details["new"] = int((still & ~there).sum())
    means = []
    for name in names:
        total = np.bincount(one, v * np.nan_to_num(both.original.numbers(name)), count)
        new = np.bincount(other, w * np.nan_to_num(both.masked.numbers(name)), count)
        off = np.abs(new - total)
        with np.errstate(divide="ignore", invalid="ignore"):
            loss = np.where(total != 0, np.minimum(1.0, off / np.abs(total)), (off > 0).astype(float))
        details[name] = {"mean": float(loss.mean()), "largest": float(loss.max())}
        means.append(float(loss.mean()))
    return Measure("domain estimates", float(np.mean(means)), None, details)
