"""Synthetic numbers: what is kept exactly, what is kept nearly, what the survey shows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabprotect.microdata as md
from tabprotect.microdata.synthesis.latin_hypercube import rank_correlation
from tests.microdata.survey import patients
from tests.quick import examples


def sample(n: int, p: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.lognormal(size=(n, p)) @ rng.normal(size=(p, p)), columns=[f"x{j}" for j in range(p)])


@settings(max_examples=examples(15, 40))
@given(st.integers(0, 10**6), st.integers(6, 80), st.integers(1, 4), st.integers(6, 90))
def test_cholesky_keeps_means_and_covariances_exactly(seed: int, n: int, p: int, size: int) -> None:
    frame = sample(n, p, seed)
    masked = md.mask(frame, None, md.Cholesky(list(frame.columns), n=size), seed=seed)
    assert len(masked.frame) == size
    assert (masked.links == -1).all()
    assert masked.verify(), masked.verify().summary()
    new = masked.frame
    scale = np.sqrt(np.outer(frame.var(), frame.var()))
    assert (np.abs(np.atleast_2d(new.cov()) - np.atleast_2d(frame.cov())) / scale).max() < 1e-9
    assert not np.isin(new.to_numpy(), frame.to_numpy()).any()


@settings(max_examples=examples(15, 40))
@given(st.integers(0, 10**6), st.integers(12, 60), st.integers(1, 3), st.integers(1, 3), st.sampled_from("BC"))
def test_ipso_keeps_what_its_variant_says(seed: int, n: int, p: int, q: int, variant: str) -> None:
    frame = sample(n, p + q, seed)
    y, x = list(frame.columns[:p]), list(frame.columns[p:])
    masked = md.mask(frame, None, md.IPSO(y, given=x, variant=variant), seed=seed)
    assert masked.verify(), masked.verify().summary()
    assert masked.frame[x].equals(frame[x])
    old, new = (
        np.linalg.lstsq(np.column_stack([np.ones(n), f[x]]), f[y], rcond=None)[0] for f in (frame, masked.frame)
    )
    np.testing.assert_allclose(new, old, atol=1e-6 * np.abs(old).max())
    if variant == "C":
        np.testing.assert_allclose(masked.frame.cov(), frame.cov(), atol=1e-8 * np.abs(frame.cov()).to_numpy().max())
    assert (masked.frame[y] != frame[y]).all().all()


def test_ipso_a_keeps_the_regression_in_expectation() -> None:
    frame = sample(5000, 2, 1)
    new = md.mask(frame, None, md.IPSO("x0", given="x1", variant="A"), seed=2).frame
    assert np.polyfit(new["x1"], new["x0"], 1) == pytest.approx(np.polyfit(frame["x1"], frame["x0"], 1), rel=0.2)


def test_latin_hypercube_has_the_marginals_and_rank_correlations() -> None:
    frame = sample(500, 4, 5)
    masked = md.mask(frame, None, md.LatinHypercube(list(frame.columns)), seed=1)
    new = masked.frame
    assert masked.steps[0].facts["largest difference of rank correlations"] < 0.02
    assert np.abs(rank_correlation(new.to_numpy()) - frame.corr("spearman").to_numpy()).max() < 0.02
    for name in frame:
        # one value in every five-hundredth part of the distribution
        part = np.searchsorted(np.quantile(frame[name], np.linspace(0, 1, 501)[1:-1]), np.sort(new[name]), side="right")
        assert np.abs(part - np.arange(500)).max() <= 1


@pytest.mark.parametrize("marginal", ["smoothed", "normal", "lognormal"])
def test_bootstrap_of_a_fitted_distribution(marginal: str) -> None:
    rng = np.random.default_rng(3)
    z = rng.multivariate_normal([1, 2], [[0.09, 0.05], [0.05, 0.09]], 4000)
    frame = pd.DataFrame(z if marginal == "normal" else np.exp(z), columns=["a", "b"])
    new = md.mask(frame, None, md.Bootstrap(["a", "b"], n=8000, marginal=marginal), seed=1).frame
    for share in (0.05, 0.5, 0.95):
        np.testing.assert_allclose(new.quantile(share), frame.quantile(share), rtol=0.06)
    assert new.corr("spearman").loc["a", "b"] == pytest.approx(frame.corr("spearman").loc["a", "b"], abs=0.03)


def test_hybrid_values_lie_between_both() -> None:
    frame = sample(200, 2, 7).abs() + 1
    for kind in ("additive", "multiplicative"):
        near, far = (
            md.mask(frame, None, md.HybridMasking(["x0", "x1"], share=share, kind=kind), seed=1).frame
            for share in (0.9, 0.1)
        )
        assert 0 < (near - frame).abs().mean().sum() < (far - frame).abs().mean().sum()
        assert near.corr().loc["x0", "x1"] == pytest.approx(frame.corr().loc["x0", "x1"], abs=0.1)


def test_figure_14() -> None:
    frame = patients()
    frame["month"] = frame["DoB"].str[3:5]  # the numbers printed are those of "same month", not "same month and year"
    rows = [3, 5, 8, 11]
    by = {"DH": "Disease", "Chol": "Race", "Temp": "month"}
    masked = md.mask(frame, None, md.BlankAndImpute(["DH", "Chol", "Temp"], by=by, rows=rows))
    chosen = masked.frame.iloc[[r - 1 for r in rows]]
    # the survey rounds: 23.5, 2.5, 19.5, 4.33 days; 227.5, 216.25, 216.25, 223.33
    assert chosen["DH"].round(2).tolist() == [23.5, 2.5, 19.5, 4.33]
    assert chosen["Chol"].round(2).tolist() == [227.5, 216.25, 216.25, 223.33]
    assert chosen["Temp"].round(2).tolist() == [37.75, 36.75, 37.22, 37.22]
    rest = [i for i in range(11) if i + 1 not in rows]
    assert (
        masked.frame.iloc[rest][["Chol", "Temp"]].to_numpy().tolist()
        == frame.iloc[rest][["Chol", "Temp"]].to_numpy().tolist()
    )
    assert masked.verify()


def test_categories_are_imputed_by_mode_or_draw() -> None:
    frame = pd.DataFrame({"g": list("aaaab"), "x": ["u", "u", "v", None, None]})
    mode = md.mask(frame, None, md.BlankAndImpute("x", by={"x": "g"}, rows=[3, 4, 5], how="mode"))
    assert mode.frame["x"].tolist()[:4] == ["u"] * 4
    assert mode.frame["x"].isna().tolist() == [False] * 4 + [True]
    assert "1 values stay missing" in mode.notes[0]
    drawn = [
        md.mask(frame, None, md.BlankAndImpute("x", by={"x": "g"}, rows=[4], how="draw"), seed=s).frame["x"][3]
        for s in range(40)
    ]
    assert set(drawn) == {"u", "v"}


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda: md.BlankAndImpute("x"), "either rate or rows"),
        (lambda: md.BlankAndImpute("x", rows=[0]), "counted from 1"),
        (lambda: md.BlankAndImpute("x", rows=[1], by={"y": "g"}), "'y', which is not among"),
        (lambda: md.mask(patients(), None, md.BlankAndImpute("Race", rows=[1])), "has no mean"),
        (lambda: md.mask(patients(), None, md.BlankAndImpute("DH", rows=[12])), "no row 12"),
        (lambda: md.mask(patients(), None, md.Cholesky(["DH", "Chol"], n=2)), "above the number of columns"),
        (lambda: md.mask(patients().head(4), None, md.IPSO(["DH", "Chol"], given="Temp")), "needs more than 4"),
        (lambda: md.IPSO("x", given="x"), "both replaced and given"),
        (lambda: md.mask(patients(), None, md.HybridMasking(["DH"], share=1)), "below 1"),
    ],
)
def test_bad_input(make: object, part: str) -> None:
    with pytest.raises(md.InputError, match=part):
        make()  # type: ignore[operator]
