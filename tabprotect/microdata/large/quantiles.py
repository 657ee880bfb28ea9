"""Quantiles of columns that are sorted outside of memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tabprotect.microdata.large.stage import ROW, Stage, number_sql

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
    there = f"FROM records WHERE {value} IS NOT NULL"
    if weight is None:
        count = stage.query(f"SELECT count(*) AS n {there}").column("n")[0].as_py()
        if not count:
            return [float("nan")] * len(shares)
        # the first place whose number reaches the share
        places = [min(max(int(np.ceil(share * count * SLACK)) - 1, 0), count - 1) for share in shares]
        return [_at(stage, value, there, at) for at in places]
    sql = f"SELECT {value} AS x, {weight} AS w {there} ORDER BY x, {ROW}"
    total = 0.0
    for _, reached in _running(stage.batches(sql)):
        total = float(reached[-1])
    found = [float("nan")] * len(shares)
    for x, reached in _running(stage.batches(sql)):
        for i, share in enumerate(shares):
            if np.isnan(found[i]):
                at = int(np.searchsorted(reached, share * total * SLACK))
                if at < len(x):
                    found[i] = float(x[at])
    return found


def _at(stage: Stage, value: str, there: str, at: int) -> float:
    sql = f"SELECT {value} AS x {there} ORDER BY x LIMIT 1 OFFSET {at}"
    return float(stage.query(sql).column("x")[0].as_py())


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
