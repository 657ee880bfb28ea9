"""Resampling, rounding, lossy compression, top and bottom coding."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import tabprotect.microdata as md
from tabprotect.microdata.masking.resampling import average_of_ranked
from tests.microdata.survey import patients
from tests.quick import examples

SAMPLES = [
    [260, 170, 200, 280, 190, 185, 200, 290, 170, 300, 200],
    [220, 280, 210, 310, 290, 180, 285, 265, 150, 270, 190],  # row 11 is printed as 298
    [170, 290, 220, 270, 185, 300, 250, 260, 190, 270, 200],
    [210, 190, 230, 200, 185, 260, 220, 290, 230, 310, 170],
]


def test_figure_8() -> None:
    assert average_of_ranked(SAMPLES[0], SAMPLES).tolist() == [
        260, 165, 212.5, 273.75, 200, 188.75, 233.75, 290, 180, 305, 240,
    ]  # fmt: skip


def test_resampling_keeps_the_order_of_the_records() -> None:
    frame = pd.DataFrame({"x": np.random.default_rng(1).lognormal(size=500), "s": [0, 1] * 250})
    masked = md.mask(frame, md.Schema(strata=["s"]), md.Resampling("x", samples=10), seed=1)
    for s in (0, 1):
        mine = frame["s"] == s
        assert (masked.frame["x"][mine].rank() == frame["x"][mine].rank()).all()
    assert masked.frame["x"].mean() == pytest.approx(frame["x"].mean(), rel=0.05)
    assert (masked.frame["x"] != frame["x"]).mean() > 0.9


def test_rounding_of_the_survey() -> None:
    masked = md.mask(patients(), None, md.Rounding("Temp", points=[36, 37, 38, 39]))
    assert masked.frame["Temp"].tolist() == [36, 38, 38, 37, 36, 38, 37, 39, 38, 39, 37]
    assert masked.verify()


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40),
    st.floats(0.01, 1e4),
    st.sampled_from(["nearest", "random"]),
)
@settings(max_examples=examples(40, 100))
def test_rounding_goes_to_a_neighbouring_multiple(values: list[float], base: float, direction: str) -> None:
    frame = pd.DataFrame({"x": values})
    masked = md.mask(frame, None, md.Rounding("x", base=base, direction=direction), seed=1)
    assert masked.verify(), masked.verify().summary()
    limit = base / 2 if direction == "nearest" else base
    assert (masked.frame["x"] - frame["x"]).abs().max() <= limit * (1 + 1e-9) + 1e-9


def test_random_rounding_is_unbiased() -> None:
    frame = pd.DataFrame({"x": np.full(20_000, 3.2)})
    new = md.mask(frame, None, md.Rounding("x", base=5, direction="random"), seed=1).frame["x"]
    assert set(new) == {0.0, 5.0}
    assert new.mean() == pytest.approx(3.2, abs=0.08)


def test_records_go_to_the_nearest_point() -> None:
    frame = pd.DataFrame({"x": [0.0, 1.0, 10.0, np.nan], "y": [0.0, 100.0, 1000.0, 5.0]})
    masked = md.mask(frame, None, md.Rounding(["x", "y"], points=[[0, 0], [9, 900]]))
    assert masked.frame.iloc[:3].to_numpy().tolist() == [[0, 0], [0, 0], [9, 900]]
    assert masked.frame["y"][3] == 5


def test_the_lower_the_quality_the_stronger_the_change() -> None:
    pytest.importorskip("PIL")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"x{j}": rng.normal(size=1003) * 10**j for j in range(5)})
    frame.loc[7, "x2"] = np.nan
    change = []
    for quality in (95, 50, 10):
        masked = md.mask(frame, None, md.LossyCompression(list(frame.columns), quality=quality))
        assert masked.verify()
        assert masked.frame.isna().equals(frame.isna())
        change.append(float(((masked.frame - frame) / frame.std()).pow(2).mean().mean()))
    assert 0 < change[0] < change[1] < change[2]


def test_a_quantile_counts_weights() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "w": [1, 1, 1, 7]})
    assert md.mask(frame, None, md.TopCoding("x", quantile=0.5)).frame["x"].tolist() == [1, 2, 2, 2]
    assert md.mask(frame, md.Schema(weight="w"), md.TopCoding("x", quantile=0.5)).frame["x"].max() == 4


def test_the_mean_of_what_is_replaced_keeps_the_weighted_total() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 30.0, 40.0], "w": [1, 1, 3, 1]})
    new = md.mask(frame, md.Schema(weight="w"), md.TopCoding("x", threshold=10, replace="mean")).frame
    assert (new["x"] * new["w"]).sum() == (frame["x"] * frame["w"]).sum()
    assert new["x"].tolist() == [1, 2, 32.5, 32.5]


@pytest.mark.parametrize(
    ("tail", "law"), [("normal", stats.norm(5, 2)), ("lognormal", stats.lognorm(0.5)), ("pareto", stats.pareto(3))]
)
def test_tails_of_fitted_distributions(tail: str, law: object) -> None:
    x = law.rvs(40_000, random_state=1)  # type: ignore[attr-defined]
    masked = md.mask(pd.DataFrame({"x": x}), None, md.TopCoding("x", quantile=0.95, tail=tail))
    limit = masked.steps[0].facts["x"]["limit"]
    assert limit == pytest.approx(law.ppf(0.95), rel=0.03)  # type: ignore[attr-defined]
    assert masked.frame["x"].max() == limit
