"""Every measure of risk on every kind of frame, with weights and missing values."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect.microdata as md
from tabprotect.microdata.measures import risk_measures
from tabprotect.microdata.risk.base import Measure
from tests.microdata.frames import KINDS

SCHEMA = md.Schema(
    keys=["region", "sex", "age"], confidential=["ill"], weight="w", household="h",
    scales={"age": "ordered", "income": "continuous", "savings": "continuous"},
)  # fmt: skip
NUMBERS = ["income", "savings"]
OPTIONS: dict[str, dict[str, Any]] = {
    "attribute-disclosure": {"column": "ill"},
    "interval-disclosure": {"columns": NUMBERS},
    "transparency": {"columns": NUMBERS, "knowledge": md.risk.AddedNoise(0.5)},
}
WEIGHTED = {
    "data-intrusion-simulation", "dirichlet-multinomial-uniques", "household-risk", "individual-risk",
    "log-linear-risk", "pitman-uniques", "poisson-gamma-uniques", "zayatz-uniques",
}  # fmt: skip
"""Measures whose value depends on the weights."""


@cache
def files() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the population's keys, an original file and a masked one."""
    rng = np.random.default_rng(8)
    n = 600
    everybody = pd.DataFrame(
        {
            "region": rng.choice(list("nsw"), n),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.geometric(0.2, n).clip(max=14),
            "ill": rng.choice(["no", "flu", "gout"], n, p=[0.7, 0.2, 0.1]),
            "income": rng.lognormal(3, 1, n).round(2),
            "savings": rng.normal(50, 9, n).round(1),
            "h": np.arange(n) // 3,
        }
    )
    original = everybody.iloc[:60].assign(w=rng.integers(5, 16, 60).astype(float))
    masked = original.assign(
        income=original["income"] * rng.normal(1, 0.05, 60),
        savings=original["savings"] + rng.normal(0, 3, 60),
        age=np.minimum(original["age"] + rng.integers(0, 2, 60), 14),
        ill=np.where(rng.random(60) < 0.1, "no", original["ill"]),
    )
    return everybody, original, masked


def blank(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Take some values away."""
    rng = np.random.default_rng(seed)
    found = frame.copy()
    for name in ("region", "age", "ill", "income", "savings"):
        found[name] = found[name].astype(object if frame[name].dtype == object else frame[name].dtype)
        found[name] = found[name].where(rng.random(len(found)) > 0.1)
    return found


@cache
def files_of(kind: str, missing: bool, w: float) -> tuple[Any, Any, Any]:
    """Return the three files as frames of one kind; nothing changes them."""
    everybody, original, masked = files()
    if missing:
        original, masked = blank(original, 1), blank(masked, 2)
    return (KINDS[kind](everybody), *(KINDS[kind](frame.assign(w=frame["w"] * w)) for frame in (original, masked)))


def measure(name: str, kind: str, *, missing: bool = False, schema: md.Schema = SCHEMA, w: float = 1.0) -> Any:
    everybody, given, released = files_of(kind, missing, w)
    options = dict(OPTIONS.get(name, {}))
    if name == "population-uniqueness":
        options["population"] = everybody
    return risk_measures()[name](given, released, schema, **options)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", sorted(risk_measures()))
def test_all_kinds_of_frames_have_the_same_risk(name: str, missing: bool) -> None:
    expected = measure(name, "pandas", missing=missing)
    assert np.isfinite(expected.value)
    assert expected.value >= 0
    json.dumps(expected.to_dict(), allow_nan=False)
    if isinstance(expected, Measure):
        assert expected.plot().startswith("<svg")
        assert f"{expected.name}: {expected.value:.6g}" in expected.summary()
    for kind in KINDS:
        found = measure(name, kind, missing=missing)
        assert found.value == pytest.approx(expected.value), kind
        if expected.records is not None:
            assert len(expected.records) == 60
            np.testing.assert_allclose(found.records, expected.records, err_msg=kind)


@pytest.mark.parametrize("name", sorted(risk_measures()))
def test_weights_count_where_they_are_said_to(name: str) -> None:
    assert set(risk_measures()) >= WEIGHTED
    one, other = (measure(name, "pandas", w=w).value for w in (1.0, 2.0))
    if name in WEIGHTED:
        # the more people a sample stands for, the less is known of each
        assert other < one
    else:
        assert other == one


@pytest.mark.parametrize("name", ["distance-linkage", "deterministic-linkage", "probabilistic-linkage"])
def test_records_without_their_values_are_not_found(name: str) -> None:
    _, original, _ = files()
    gone = original.assign(income=original["income"].where(np.arange(60) >= 20))
    for key in ("region", "sex", "age"):
        gone[key] = gone[key].where(np.arange(60) >= 20)
    options: dict[str, Any] = {"columns": ["income"]} if name == "distance-linkage" else {}
    found = risk_measures()[name](gone, original, SCHEMA, **options)
    assert found.records is not None
    if name != "probabilistic-linkage":
        assert not found.records[:20].any()
    # whoever agrees with nobody is drawn from all
    assert (found.records[:20] <= 1 / 60 + 1e-12).all()
    assert found.records[20:].all()
