"""Random noise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabprotect.microdata as md
from tests.microdata.survey import patients
from tests.quick import examples


def sample(n: int = 400, p: int = 3, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    mix = rng.normal(size=(p, p))
    return pd.DataFrame(rng.lognormal(size=(n, p)) @ mix, columns=[f"x{j}" for j in range(p)])


def test_figure_9_has_the_variance_that_arithmetic_gives() -> None:
    days = patients()["DH"].to_numpy(float)
    assert days.mean() == 13
    assert days.var() == pytest.approx(328.36, abs=0.005)
    released = days + np.array([2, 1, -10, 3, 5, 8, 4, -11, -2, -3, 3])
    assert released.tolist() == [5, 2, 30, 10, 7, 11, 9, 49, 5, 7, 8]


@pytest.mark.parametrize("kind", ["uncorrelated", "correlated"])
def test_errors_have_the_stated_covariance(kind: str) -> None:
    frame = sample(20_000, 2, seed=3)
    new = md.mask(frame, None, md.Noise(["x0", "x1"], kind=kind, alpha=0.2), seed=5).frame
    error = (new - frame).to_numpy()
    wanted = 0.2 * np.cov(frame.to_numpy(), rowvar=False)
    if kind == "uncorrelated":
        wanted = np.diag(np.diag(wanted))
    size = np.sqrt(np.outer(np.diag(wanted), np.diag(wanted)))
    np.testing.assert_allclose(np.cov(error, rowvar=False) / size, wanted / size, atol=0.04)
    assert np.abs(error.mean(axis=0)).max() < 4 * np.sqrt(np.diag(wanted).max() / 20_000)


def test_a_linear_transformation_keeps_the_covariance_in_expectation() -> None:
    frame = sample(30_000, 2, seed=4)
    new = md.mask(frame, None, md.Noise(["x0", "x1"], kind="linear", alpha=0.5), seed=6).frame
    old, found = (np.cov(f.to_numpy(), rowvar=False) for f in (frame, new))
    np.testing.assert_allclose(found, old, rtol=0.12)


@given(st.integers(0, 10**6), st.integers(3, 60), st.integers(1, 4), st.sampled_from(["linear", "romm"]))
@settings(max_examples=examples(40, 100))
def test_exact_kinds_keep_means_and_covariances_of_any_data(seed: int, n: int, p: int, kind: str) -> None:
    frame = sample(n, p, seed)
    method = md.Noise(list(frame.columns), kind=kind, alpha=0.3, exact=kind == "linear", block=20)
    masked = md.mask(frame, None, method, seed=seed)
    assert [claim.kind for claim in masked.claims] == ["moments"]
    assert masked.verify(), masked.verify().summary()
    old, new = frame.to_numpy(), masked.frame.to_numpy()
    np.testing.assert_allclose(new.mean(axis=0), old.mean(axis=0), atol=1e-8 * np.abs(old).max())
    np.testing.assert_allclose(new.T @ new, old.T @ old, atol=1e-7 * np.abs(old.T @ old).max())


def test_collinear_columns_stay_collinear() -> None:
    frame = sample(50, 2)
    frame["sum"] = frame["x0"] + frame["x1"]
    for method in (
        md.Noise(list(frame.columns), kind="romm", alpha=0.5),
        md.Noise(list(frame.columns), kind="linear", exact=True),
    ):
        masked = md.mask(frame, None, method, seed=1)
        assert masked.verify()
        np.testing.assert_allclose(masked.frame["x0"] + masked.frame["x1"], masked.frame["sum"], atol=1e-8)


def test_multiplicative_noise_moves_every_value() -> None:
    frame = sample(500, 1)
    masked = md.mask(frame, None, md.Noise("x0", kind="multiplicative", least=0.05, most=0.2), seed=1)
    ratio = (masked.frame["x0"] / frame["x0"]).to_numpy()
    assert np.abs(ratio - 1).min() >= 0.05 - 1e-12
    assert np.abs(ratio - 1).max() <= 0.2 + 1e-12
    assert masked.verify()
    assert {claim.kind for claim in masked.claims} == {"moved-at-least"}


def test_strata_are_moved_by_their_own_variance_and_missing_values_stay() -> None:
    frame = pd.DataFrame({"s": ["a"] * 50 + ["b"] * 50, "x": [1000.0] * 50 + list(range(50)), "y": range(100)})
    frame.loc[3, "x"] = np.nan
    masked = md.mask(frame, md.Schema(strata=["s"]), md.Noise("x", alpha=0.5), seed=1)
    assert masked.frame["x"].isna().tolist() == frame["x"].isna().tolist()
    assert (masked.frame["x"].dropna().iloc[:49] == 1000).all()  # no variance, no noise
    assert (masked.frame["x"].iloc[50:] != frame["x"].iloc[50:]).all()
    together = md.mask(frame, None, md.Noise(["x", "y"], kind="correlated"), seed=1)
    assert together.frame.loc[3, "y"] == 3
    assert "1 records with a missing value" in together.notes[0]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ({"alpha": 0}, "above 0"),
        ({"kind": "additive"}, "cannot be 'additive'"),
        ({"least": 0.1}, "both least and most"),
        ({"least": 0.1, "most": 0.2}, "belong to kind='multiplicative'"),
        ({"kind": "multiplicative", "least": 0.3, "most": 0.2}, "below most"),
        ({"kind": "romm", "exact": True}, "exact belongs to additive noise"),
    ],
)
def test_bad_parameters(words: dict[str, object], part: str) -> None:
    with pytest.raises(md.InputError, match=part):
        md.Noise("x", **words)  # type: ignore[arg-type]
