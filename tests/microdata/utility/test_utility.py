"""Utility of masked files: by hand, by loops, and 0 for an unchanged file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import tabprotect.microdata as md
from tests.microdata.frames import KINDS

u = md.utility


def people(n: int = 120, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(10, 2, n)
    return pd.DataFrame(
        {
            "x": x,
            "y": 3 + 2 * x + rng.normal(0, 1, n),
            "a": rng.choice(["p", "q", "r"], n),
            "b": rng.choice(["u", "v"], n),
            "size": rng.choice(["s", "m", "l"], n),
            "w": rng.uniform(1, 5, n),
        }
    )


SCHEMA = md.Schema(weight="w", orders={"size": ["s", "m", "l"]})
MEASURES: dict[str, Any] = {
    "numeric_loss": {},
    "probabilistic_loss": {},
    "categorical_loss": {},
    "contingency_loss": {"up_to": 3},
    "entropy_loss": {},
    "propensity": {},
    "regression_fit": {"target": "y", "on": ["x", "a"]},
    "domain_estimates": {"columns": ["x", "y"], "by": ["a", "b"]},
}


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("kind", KINDS)
def test_an_unchanged_file_loses_nothing(name: str, kind: str) -> None:
    frame = people()
    frame.loc[[3, 7], "a"] = None
    found = getattr(u, name)(KINDS[kind](frame), KINDS[kind](frame), SCHEMA, **MEASURES[name])
    assert found.value == pytest.approx(0, abs=1e-9)
    assert found.to_dict()["name"] == found.name


@pytest.mark.parametrize("name", MEASURES)
def test_more_masking_loses_more(name: str) -> None:
    frame = people(400)
    rng = np.random.default_rng(9)
    lost = []
    for share in (0.05, 0.6):
        masked = frame.copy()
        for column in ("x", "y", "a", "b", "size"):
            where = rng.random(len(frame)) < share
            new = rng.permutation(frame[column].to_numpy())
            masked[column] = np.where(where, new if column not in "xy" else new * 1.5, frame[column])
        lost.append(getattr(u, name)(frame, masked, SCHEMA, **MEASURES[name]).value)
    assert 0 < lost[0] < lost[1] <= 1


def test_differences_by_hand() -> None:
    one = pd.DataFrame({"x": [1.0, 2.0, 0.0, np.nan]})
    two = pd.DataFrame({"x": [2.0, 2.0, 1.0, 5.0]})
    data = u.numeric_loss(one, two).details["data"]
    assert data == {"MSE": pytest.approx(2 / 3), "MAE": pytest.approx(2 / 3), "MV": 0.5, "skipped": 1}


def test_statistics_against_numpy() -> None:
    frame = people()
    masked = frame.assign(x=frame["x"] * 1.1)
    found = u.numeric_loss(frame, masked, columns=["x", "y"]).details
    c, d = (np.cov(f[["x", "y"]].T, ddof=0) for f in (frame, masked))
    upper = np.triu_indices(2)
    assert found["covariance"]["MAE"] == pytest.approx(np.abs(c[upper] - d[upper]).mean())
    assert found["correlation"]["MAE"] == pytest.approx(0, abs=1e-12)
    assert found["loadings"]["MAE"] == pytest.approx(0, abs=1e-9)
    assert found["means"]["MV"] == pytest.approx(0.05)


def test_bounded_loss_of_a_mean() -> None:
    frame = people()[["x"]]
    error = frame["x"].std(ddof=0) / np.sqrt(len(frame))
    found = u.probabilistic_loss(frame, frame + 1.959964 * error).details
    assert found["means"] == pytest.approx(0.95, abs=1e-6)
    assert found["variances"] == 0


def test_distances_of_ordered_and_missing_categories() -> None:
    one = pd.DataFrame({"size": ["s", "s", "m", None, "l"]})
    two = pd.DataFrame({"size": ["l", "m", "m", None, None]})
    found = u.categorical_loss(one, two, md.Schema(orders={"size": ["s", "m", "l"]}))
    assert found.records is not None
    assert found.records.tolist() == [1.0, 0.5, 0.0, 0.0, 1.0]


def test_weighted_tables_by_loops() -> None:
    one, two = people(80), people(60, seed=5)
    found = u.contingency_loss(one, two, md.Schema(weight="w"), columns=["a", "b"])
    p = one.groupby(["a", "b"])["w"].sum() / one["w"].sum()
    q = two.groupby(["a", "b"])["w"].sum() / two["w"].sum()
    assert found.details["by dimension"]["2"] == pytest.approx(p.sub(q, fill_value=0).abs().sum() / 2)


def test_entropy_by_hand() -> None:
    one, two = pd.DataFrame({"a": list("xxxy")}), pd.DataFrame({"a": list("zzzz")})
    h = -(0.75 * np.log2(0.75) + 0.25 * np.log2(0.25))
    assert u.entropy_loss(one, two).details["bits"]["a"] == pytest.approx(h)


def test_propensity_against_statsmodels() -> None:
    one, two = people(150)[["x"]], people(150, seed=3)[["x"]] + 0.5
    found = u.propensity(one, two)
    x = np.concatenate([one["x"], two["x"]])
    z = (x - x.mean()) / x.std()
    y = np.r_[np.zeros(150), np.ones(150)]
    fit = sm.Logit(y, np.column_stack([np.ones(300), z, z**2 - 1])).fit(disp=0)
    assert found.details["pMSE"] == pytest.approx(((fit.predict() - 0.5) ** 2).mean(), rel=1e-4)
    assert found.details["converged"]


def test_regression_against_statsmodels() -> None:
    one, two = people(), people(seed=6)
    found = u.regression_fit(one, two, SCHEMA, target="y", on=["x"]).details["x"]
    fits = [sm.WLS(f["y"], sm.add_constant(f["x"]), weights=f["w"]).fit(cov_type="HC1") for f in (one, two)]
    assert found["original"] == pytest.approx(fits[0].params["x"])
    (a, b), (c, d) = (fit.conf_int(0.05).loc["x"] for fit in fits)
    inside = max(0.0, min(b, d) - max(a, c))
    assert found["overlap"] == pytest.approx((inside / (b - a) + inside / (d - c)) / 2, rel=1e-6)


def test_domains_that_are_gone() -> None:
    one = pd.DataFrame({"r": ["n", "s"], "x": [10.0, 20.0]})
    found = u.domain_estimates(one, one.assign(r=["s", "s"]), columns=["x"], by=["r"])
    assert found.details["gone"] == 1
    assert found.value == pytest.approx((1 + 0.5) / 2)


def test_bad_columns_are_one_error() -> None:
    frame = people()
    with pytest.raises(md.InputError, match="'a' is unordered; continuous columns are needed"):
        u.numeric_loss(frame, frame, columns=["x", "a"])
    with pytest.raises(md.InputError, match="no column 'sise' in both files; did you mean 'size'"):
        u.categorical_loss(frame, frame, columns=["sise"])
    with pytest.raises(md.InputError, match="only one of the files has p, q, r, zz"):
        u.regression_fit(frame, frame.assign(a="zz"), target="y", on=["a"])
