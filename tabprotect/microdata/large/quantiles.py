"""Quantiles of columns that are sorted outside of memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tabprotect.microdata.large.stage import RECORDS, ROW, Stage, number_sql

__all__ = ["quantiles"]

Floats = npt.NDArray[np.float64]

SLACK = 1 - 1e-12
"""As in `weighted_quantile`: a share is reached up to rounding."""


def quantiles(stage: Stage, name: str, weight: str | None, shares: Sequence[float]) -> list[float]:
    """Return the smallest values up to which at least shares of the records (of the weight) are found.

    The same numbers as `weighted_quantile` in memory: weights are added up in the same order.

    Parameters
    ----------
    weight : str, optional
        SQL of the weights.
    """
    value = number_sql(stage, name)
    sql = f"SELECT {value} AS x, {weight or '1'} AS w FROM {RECORDS} WHERE {value} IS NOT NULL ORDER BY x, {ROW}"
    if weight is None:
        total = float(stage.query(f"SELECT count({value}) AS n FROM {RECORDS}").column("n")[0].as_py())
    else:
        total = 0.0
        for _, reached in _running(stage.batches(sql)):
            total = float(reached[-1])
    found = [float("nan")] * len(shares)
    left = set(range(len(shares)))
    for x, reached in _running(stage.batches(sql)):
        for i in sorted(left):
            at = int(np.searchsorted(reached, shares[i] * total * SLACK))
            if at < len(x):
                found[i] = float(x[at])
                left.remove(i)
        if not left:
            break
    return found


def _running(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[Floats, Floats]]:
    """Return values with the sum of the weights up to each."""
    before = 0.0
    for batch in batches:
        if not batch.num_rows:
            continue
        w = np.asarray(batch.column("w"), dtype=np.float64)
        reached = np.cumsum(np.concatenate([[before], w]))[1:]
        before = float(reached[-1])
        yield np.asarray(batch.column("x"), dtype=np.float64), reached
