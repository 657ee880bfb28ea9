"""Interval and attribute disclosure, by hand and by loops."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import tabprotect.microdata as md
from tests.microdata.frames import KINDS

X = np.array([10.0, 20, 30, 40, 50, 60, 70, 80, 90, 1000])


def share(masked: np.ndarray, **given: object) -> float:
    found = md.risk.interval_disclosure(pd.DataFrame({"x": X}), pd.DataFrame({"x": masked}), columns=["x"], **given)
    assert found.records is not None
    assert found.value == pytest.approx(np.nanmean(found.records))
    return found.value


def test_standard_deviation_by_hand() -> None:
    masked = X.copy()
    masked[0] += 0.1 * X.std(ddof=1) * 0.99
    masked[1] += 0.1 * X.std(ddof=1) * 1.01
    assert share(masked, kind="sd") == 0.9


def test_the_robust_interval_is_not_widened_by_an_outlier() -> None:
    # mad 25, so 3.7 around most values; the standard deviation of about 300 would disclose all
    masked = X + np.array([3, 5, -3, -5, 3, 5, -3, -5, 3, 20.0])
    assert share(masked, kind="sd") == 1.0
    assert share(masked, kind="robust") == 0.6


def ranks(x: np.ndarray, y: np.ndarray, width: float) -> float:
    one, other = pd.DataFrame({"x": x}), pd.DataFrame({"x": y})
    return md.risk.interval_disclosure(one, other, columns=["x"], width=width).value


@pytest.mark.parametrize("seed", range(5))
def test_ranks_of_values_without_ties_by_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=40), rng.normal(size=40)
    y[:10] = x[:10]
    ordered = np.sort(y)
    for width, reach in ((0.1, 4), (0.12, 4), (0.4, 16)):
        hits = []
        for true, masked in zip(x, y, strict=True):
            at = int(np.flatnonzero(ordered == masked)[0])
            low = ordered[at - reach] if at >= reach else -np.inf
            high = ordered[at + reach] if at + reach < 40 else np.inf
            hits.append(low <= true <= high)
        assert ranks(x, y, width) == pytest.approx(np.mean(hits))


@pytest.mark.parametrize("seed", range(5))
def test_equal_values_have_their_mean_rank(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.integers(-6, 6, 40) / 4, rng.integers(-3, 3, 40) / 2

    def rank(value: float) -> float:
        same = np.flatnonzero(np.sort(y) == value)
        return float(same.mean()) if len(same) else (y < value).sum() - 0.5

    hits = [abs(rank(true) - rank(masked)) <= 4 for true, masked in zip(x, y, strict=True)]
    assert ranks(x, y, 0.1) == pytest.approx(np.mean(hits))


def test_a_column_of_one_value_discloses_that_value_alone() -> None:
    x = np.arange(100.0)
    assert ranks(x, np.full(100, 50.0), 0.1) == 0.01
    assert ranks(x, np.full(100, 49.5), 0.1) == 0.0
    # half of a class lies within the interval around its middle only where the interval is as wide
    classes = np.repeat([9.5, 29.5, 49.5, 69.5, 89.5], 20)
    assert ranks(x, classes, 0.09) == 0.0
    assert ranks(x, classes, 0.1) == 1.0


def test_a_share_of_ranks_is_a_whole_number_of_them() -> None:
    x = np.arange(100.0)
    assert 0.29 * 100 < 29
    assert ranks(x, np.roll(x, 29), 0.29) == pytest.approx(0.71)


def test_missing_values_disclose_nothing() -> None:
    masked = X.copy()
    masked[:5] = np.nan
    assert share(masked, kind="sd") == 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_attribute_disclosure_by_loops(kind: str) -> None:
    rng = np.random.default_rng(3)
    one = pd.DataFrame({"a": rng.integers(0, 4, 60), "b": rng.choice(["u", "v"], 60), "x": rng.integers(1, 9, 60) * 10})
    two = pd.DataFrame({"a": rng.integers(0, 5, 45), "b": rng.choice(["v", "u"], 45), "x": rng.integers(1, 9, 45) * 10})
    schema = md.Schema(keys=["a", "b"], confidential=["x"])
    found = md.risk.attribute_disclosure(KINDS[kind](one), KINDS[kind](two), schema, column="x", tolerance=0.25)
    wanted = []
    for row in one.itertuples():
        same = two[(two["a"] == row.a) & (two["b"] == row.b)]["x"].to_numpy()
        wanted.append(np.mean(np.abs(same - row.x) <= 0.25 * row.x) if len(same) else 0.0)
    assert found.records is not None
    np.testing.assert_allclose(found.records, wanted)


def test_bad_parameters() -> None:
    frame = pd.DataFrame({"x": X, "s": list("abcdefghij")})
    with pytest.raises(md.InputError, match="'s' is unordered; intervals need"):
        md.risk.interval_disclosure(frame, frame, columns=["s"])
    with pytest.raises(md.InputError, match="width must be a number above 0"):
        md.risk.interval_disclosure(frame, frame, columns=["x"], width=0)
    with pytest.raises(md.InputError, match="did you mean 'robust'"):
        md.risk.interval_disclosure(frame, frame, columns=["x"], kind="robst")
