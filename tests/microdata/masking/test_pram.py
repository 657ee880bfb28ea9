"""PRAM and random response."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabprotect.microdata as md
from tabprotect.microdata.masking.markov import invariant, optimal_matrix
from tabprotect.models import pram as model

COUNTS = st.lists(st.integers(0, 50), min_size=2, max_size=7).filter(lambda c: sum(x > 0 for x in c) > 1)


@given(COUNTS, st.floats(0, 0.95))
def test_the_invariant_matrix_keeps_counts_and_floor(counts: list[int], floor: float) -> None:
    p = invariant(counts, floor)
    t = np.array(counts, float)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(t @ p, t, atol=1e-9 * t.sum())
    assert p.min() >= 0
    assert p.diagonal().min() >= floor - 1e-12
    # and something changes
    assert p.diagonal()[t > 0].min() < 1


@settings(max_examples=25)
@given(COUNTS, st.integers(0, 10**6))
def test_the_optimal_matrix_is_that_of_the_algebraic_model(counts: list[int], seed: int) -> None:
    t = np.array([c for c in counts if c > 0], float)
    if t.max() > t.sum() / 2:
        return
    m = len(t)
    distance = np.random.default_rng(seed).random((m, m)).round(2)
    np.fill_diagonal(distance, 0)
    p = optimal_matrix(t, distance, 0.3, 0.7)
    answer = model.solve(t.tolist(), distance.tolist(), 0.3, 0.7)
    assert answer.status == "optimal"
    assert float((t[:, None] * distance * p).sum()) == pytest.approx(answer.objective, abs=1e-6 * t.sum())


def test_a_category_with_most_of_the_records_has_no_low_ceiling() -> None:
    with pytest.raises(md.InputError, match=r"90.0 % of the records; raise ceiling"):
        optimal_matrix([90, 5, 5], 1 - np.eye(3), 0.2, 0.5)


@pytest.mark.parametrize("kind", ["invariant", "optimal"])
def test_counts_are_kept_on_average(kind: str) -> None:
    frame = pd.DataFrame({"x": ["a"] * 300 + ["b"] * 200 + ["c"] * 100, "s": [1, 2] * 300})
    schema = md.Schema(strata=["s"])
    counts = []
    for seed in range(60):
        masked = md.mask(frame, schema, md.PRAM("x", kind=kind, floor=0.6), seed=seed)
        counts.append(masked.frame["x"].value_counts().reindex(list("abc")).to_numpy())
    assert masked.verify(), masked.verify().summary()
    error = np.std(counts, axis=0) / np.sqrt(60)
    assert (np.abs(np.mean(counts, axis=0) - [300, 200, 100]) < 4 * error + 0.5).all()


def test_weighted_counts_are_what_is_kept() -> None:
    frame = pd.DataFrame({"x": list("aab"), "w": [1.0, 2.0, 5.0]})
    masked = md.mask(frame, md.Schema(weight="w"), md.PRAM("x", floor=0.5), seed=1)
    p = np.array(masked.steps[0].facts["x"]["matrices"][0])
    np.testing.assert_allclose(np.array([3, 5]) @ p, [3, 5])


def test_a_given_matrix_is_followed_and_zeros_are_never_crossed() -> None:
    frame = pd.DataFrame({"x": ["y", "n"] * 2000})
    method = md.PRAM("x", kind="given", matrix=[[0.7, 0.3], [0.0, 1.0]], categories=["y", "n"])
    masked = md.mask(frame, None, method, seed=4)
    assert masked.verify()
    assert (masked.frame["x"][frame["x"] == "n"] == "n").all()
    assert (masked.frame["x"][frame["x"] == "y"] == "y").mean() == pytest.approx(0.7, abs=0.04)
    crossed = masked.frame.copy()
    crossed.loc[1, "x"] = "y"
    assert "rules out" in replace(masked, records=md.read_records(crossed, md.Schema())).verify().summary()


def test_the_optimal_matrix_moves_along_the_order() -> None:
    frame = pd.DataFrame({"size": list("ssmmllxx") * 10})
    schema = md.Schema(orders={"size": ["s", "m", "l", "x"]})
    masked = md.mask(frame, schema, md.PRAM("size", kind="optimal", floor=0.5, ceiling=0.8), seed=1)
    p = np.array(masked.steps[0].facts["size"]["matrices"][0])
    assert p[0, 3] == p[0, 2] == 0
    assert p[0, 1] == pytest.approx(0.2)


def test_columns_that_change_together_keep_their_combinations() -> None:
    frame = pd.DataFrame({"a": [1, 1, 2, 2, None] * 30, "b": list("xyxxy") * 30})
    masked = md.mask(frame, md.Schema(scales={"a": "unordered"}), md.PRAM(["a", "b"], joint=True, floor=0.3), seed=1)
    there = frame.dropna().drop_duplicates()
    assert len(masked.frame.dropna().merge(there)) == len(frame.dropna())
    assert masked.frame["a"].isna().equals(frame["a"].isna())
    assert (masked.frame["b"] != frame["b"]).any()


def test_true_counts_are_estimated_without_bias() -> None:
    p = [[0.8, 0.2], [0.1, 0.9]]
    rng = np.random.default_rng(1)
    found = []
    for _ in range(300):
        released = rng.multinomial(300, p[0]) + rng.multinomial(700, p[1])
        estimate, variance = md.pram_estimate(released, p)
        found.append(estimate)
    assert np.mean(found, axis=0) == pytest.approx([300, 700], abs=4 * np.std(found) / np.sqrt(300))
    assert np.var(found, axis=0) == pytest.approx(variance, rel=0.3)
    with pytest.raises(md.InputError, match="no inverse"):
        md.pram_estimate([5, 5], [[0.5, 0.5], [0.5, 0.5]])


@pytest.mark.parametrize(
    "method", [md.RandomResponse("x", truth=0.7), md.RandomResponse("x", truth=0.7, kind="warner")]
)
def test_random_response_can_be_estimated(method: md.RandomResponse) -> None:
    frame = pd.DataFrame({"x": ["yes"] * 6000 + ["no"] * 14000})
    masked = md.mask(frame, None, method, seed=2)
    shares = masked.frame["x"].value_counts(normalize=True).to_dict()
    assert shares["yes"] != 0.3
    assert md.random_response_estimate(shares, method)["yes"] == pytest.approx(0.3, abs=0.03)


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda: md.PRAM("x", kind="given"), "belong together"),
        (lambda: md.PRAM("x", kind="given", matrix=[[0.5, 0.4], [0, 1]]), "row 1 of the matrix adds up to 0.9"),
        (lambda: md.PRAM("x", floor=1.0), "below 1"),
        (lambda: md.PRAM("x", kind="optimal", floor=0.6, ceiling=0.5), "must not be below floor"),
        (lambda: md.RandomResponse("x", truth=0.5, kind="warner"), "say nothing"),
        (lambda: md.RandomResponse("x", answers={"a": 0.5}), "add up to 1"),
    ],
)
def test_bad_parameters(make: object, part: str) -> None:
    with pytest.raises(md.InputError, match=part):
        make()  # type: ignore[operator]
