"""Data, random queries and what an independent evaluation answers for one vector of confidential values."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import pandas as pd

from tabprotect.query.camouflage import Query

COMPARE = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
WORKLOAD = [(), "region", "size", ("region", "size")]


def firms(n: int, seed: int) -> pd.DataFrame:
    """Turnover and costs (which may be negative) are confidential; both are skewed."""
    rng = np.random.default_rng(seed)
    staff = np.ceil(rng.lognormal(2, 1, n))
    turnover = np.round(staff * rng.lognormal(3, 0.6, n)) + 1
    return pd.DataFrame(
        {
            "region": rng.choice(["north", "south", "east", "west"], n),
            "size": np.where(staff > 10, "L", "S"),
            "staff": staff,
            "turnover": turnover,
            "profit": np.round(turnover * rng.normal(0.05, 0.1, n), 1),
        }
    )


def draw(frame: pd.DataFrame, rng: np.random.Generator) -> Query:
    """Draw a query of any kind, with conditions on public and often on confidential columns."""
    function = str(
        rng.choice(
            ["count", "sum", "mean", "minimum", "maximum", "median", "quantile", "ratio", "variance", "coefficient"]
        )
    )
    where: list[tuple[str, str, Any]] = []
    if rng.random() < 0.5:
        where.append(("region", str(rng.choice(["==", "!="])), str(rng.choice(["north", "south", "east", "west"]))))
    if rng.random() < 0.4:
        where.append(("size", "==", str(rng.choice(["L", "S"]))))
    if rng.random() < 0.4:
        where.append(("staff", str(rng.choice(["<", ">="])), float(rng.choice(frame["staff"]))))
    if function in ("count", "sum", "mean", "minimum", "maximum") and rng.random() < 0.6:
        for _ in range(rng.integers(1, 3)):
            column = str(rng.choice(["turnover", "profit"]))
            where.append((column, str(rng.choice(["<", "<=", ">", ">="])), float(rng.choice(frame[column]))))
    return Query(
        function,
        "" if function == "count" else str(rng.choice(["turnover", "profit"])),
        tuple(where),
        denominator=str(rng.choice(["turnover", "staff"])),
        regressors=("staff",),
        name=str(rng.choice(["intercept", "staff"])),
        level=float(rng.random()),
        kind=str(rng.choice(["sample", "population"])),  # type: ignore[arg-type]
    )


def evaluate(frame: pd.DataFrame, query: Query) -> float:
    """Answer for the values in a frame; nan where there is none."""
    q, keep = query, np.ones(len(frame), bool)
    for column, sign, value in q.where:
        keep &= COMPARE[sign](frame[column].to_numpy(), value)
    part = frame[keep]
    if q.function == "count":
        return float(len(part))
    x = part[q.field].to_numpy(float)
    if q.function == "sum":
        return math.fsum(x)
    if not len(x):
        return math.nan
    if q.function == "ratio":
        return math.fsum(x) / math.fsum(part[q.denominator])
    if q.function == "variance":
        return float(np.var(x, ddof=q.kind == "sample")) if len(x) > (q.kind == "sample") else math.nan
    if q.function == "coefficient":
        slope, intercept = np.polyfit(part["staff"].to_numpy(float), x, 1)
        return float(slope if q.name == "staff" else intercept)
    if q.function in ("median", "quantile"):
        return float(np.quantile(x, 0.5 if q.function == "median" else q.level))
    return float({"mean": np.mean, "minimum": np.min, "maximum": np.max}[q.function](x))


def with_values(frame: pd.DataFrame, values: dict[str, np.ndarray]) -> pd.DataFrame:
    """Return the frame with other confidential values."""
    return frame.assign(**values)
