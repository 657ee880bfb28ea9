"""Fuzzy microaggregation (Torra, section 5)."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect.microdata as md
from tabprotect.errors import InputError
from tabprotect.microdata.masking.microaggregation.fuzzy import fuzzy_centres, memberships


def frame(n: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    return pd.DataFrame({"a": rng.normal(size=n), "b": rng.exponential(size=n)})


def test_memberships_are_those_of_step_3() -> None:
    rng = np.random.default_rng(0)
    points, centres, m = rng.normal(size=(7, 3)), rng.normal(size=(4, 3)), 1.7
    found = memberships(points, centres, m)
    for x, row in zip(points, found, strict=True):
        d = ((x - centres) ** 2).sum(axis=1)
        for i in range(4):
            assert row[i] == pytest.approx(1 / ((d[i] / d) ** (1 / (m - 1))).sum())


def test_limits_of_the_exponent() -> None:
    points, centres = np.array([[0.0], [4.0]]), np.array([[1.0], [4.0]])
    assert memberships(points, centres, 1.0).tolist() == [[1, 0], [0, 1]]
    assert memberships(points, centres, math.inf).tolist() == [[0.5, 0.5]] * 2
    assert memberships(points, centres, 2.0)[1].round(12).tolist() == [0, 1]


def test_centres_are_stationary() -> None:
    points = np.random.default_rng(1).normal(size=(30, 2))
    centres, settled = fuzzy_centres(points, 4, 1.6, 500, 1e-10, np.random.default_rng(0))
    assert settled
    share = memberships(points, centres, 1.6) ** 1.6
    np.testing.assert_allclose(share.T @ points / share.sum(axis=0)[:, None], centres, atol=1e-8)


def test_crisp_exponents_are_k_means_to_the_nearest_centre() -> None:
    data = frame()
    masked = md.mask(data, None, md.FuzzyMicroaggregation(["a", "b"], k=4, m1=1, m2=1), seed=1)
    values = masked.frame.to_numpy()
    z = ((data - data.mean()) / data.std()).to_numpy()
    scaled = (values - data.mean().to_numpy()) / data.std().to_numpy()
    apart = ((z[:, None] - np.unique(scaled, axis=0)) ** 2).sum(axis=2)
    np.testing.assert_allclose(((z - scaled) ** 2).sum(axis=1), apart.min(axis=1), atol=1e-12)


def test_sizes_are_reported_and_not_claimed() -> None:
    masked = md.mask(frame(41), None, md.FuzzyMicroaggregation(["a", "b"], k=4, m1=1.3, m2=1.5), seed=3)
    facts = masked.steps[0].facts
    assert facts["centres"] == 11
    _, sizes = np.unique(masked.frame.to_numpy(), axis=0, return_counts=True)
    assert facts["classes"] == len(sizes)
    assert (facts["smallest class"], facts["largest class"]) == (sizes.min(), sizes.max())
    assert facts["records in classes below k"] == sizes[sizes < 4].sum()
    assert [claim.kind for claim in masked.claims] == ["few-combinations"]
    assert masked.verify()


def test_strata_and_missing_values() -> None:
    data = frame(40).assign(s=["x", "y"] * 20)
    data.loc[:7, "a"] = np.nan
    schema = md.Schema(strata=["s"])
    masked = md.mask(data, schema, md.FuzzyMicroaggregation(["a", "b"], k=4), seed=3)
    assert masked.verify()
    assert masked.frame["a"].isna().sum() == 8
    with pytest.raises(InputError, match="fewer than k=5"):
        md.mask(data, schema, md.FuzzyMicroaggregation(["a", "b"], k=5), seed=3)
    blank = md.mask(data, schema, md.FuzzyMicroaggregation(["a", "b"], k=5, too_small="missing"), seed=3)
    assert blank.verify()
    assert blank.frame["b"].isna().sum() == 8


def test_the_same_seed_gives_the_same_and_another_does_not() -> None:
    method = md.FuzzyMicroaggregation(["a", "b"], k=4, m2=math.inf)
    one, two, three = (md.mask(frame(), None, method, seed=s).frame for s in (1, 1, 2))
    pd.testing.assert_frame_equal(one, two)
    assert not one.equals(three)


def test_large_exponents_do_not_map_everything_to_the_mean(shared: Callable[[str], Path]) -> None:
    # the paper says so of m1 = m2 > 4
    data = pd.read_csv(shared("microdata/sdcMicro_Tarragona.csv")).iloc[:150, :4]
    masked = md.mask(data, None, md.FuzzyMicroaggregation(list(data), k=5, m1=4.5, m2=4.5), seed=1)
    assert len(np.unique(masked.frame.to_numpy().round(6), axis=0)) > 1


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ({"m1": 0.5}, "at least 1"),
        ({"m2": math.nan}, "m2 must be a number"),
        ({"k": 1}, "at least 2"),
        ({"columns": "s"}, "unordered"),
    ],
)
def test_bad_input(words: dict[str, Any], part: str) -> None:
    with pytest.raises(InputError, match=part):
        md.mask(frame().assign(s="x"), None, md.FuzzyMicroaggregation(**({"columns": "a"} | words)))
