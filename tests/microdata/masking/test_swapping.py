"""Swapping and rank swapping."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabprotect.microdata as md
from tabprotect.microdata.claims import check_claims
from tabprotect.microdata.masking.rank_swapping import match_up
from tests.microdata.survey import RANK_SWAPPED, patients, swapped
from tests.quick import examples

MEDICAL = ["Disease", "DH", "Chol", "Temp"]


def test_the_swaps_of_figure_10_are_what_the_claim_says() -> None:
    frame = patients()
    masked = md.mask(frame, None, md.Swapping(MEDICAL, match=["Sex", "MarStat"], rate=1.0), seed=1)
    assert masked.verify()
    paper = replace(masked, records=md.read_records(swapped(), md.Schema()))
    assert paper.verify()
    broken = swapped()
    broken.loc[0, "DH"], broken.loc[10, "DH"] = broken.loc[10, "DH"], broken.loc[0, "DH"]
    assert not replace(masked, records=md.read_records(broken, md.Schema())).verify()


def test_the_rank_swaps_of_figure_11_are_within_a_tenth_of_the_range() -> None:
    frame = patients()
    masked = md.mask(frame, None, md.RankSwapping("Temp", p=10, by="range"), seed=1)
    assert masked.verify()
    assert (masked.frame["Temp"] - frame["Temp"]).abs().max() <= 0.49 + 1e-9
    paper = md.read_records(frame.assign(Temp=RANK_SWAPPED), md.Schema())
    found = check_claims(masked.claims, paper, masked.before)
    assert found, found.summary()


@settings(max_examples=examples(12, 30))
@given(st.integers(0, 10**6), st.integers(2, 200), st.floats(0.05, 1.0), st.booleans())
def test_swapping_keeps_all_tables_of_swapped_and_matching_columns(
    seed: int, n: int, rate: float, unlike: bool
) -> None:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.integers(0, 3, n), "b": rng.integers(0, 4, n), "x": rng.normal(size=n).round(1)})
    masked = md.mask(frame, None, md.Swapping(["b", "x"], match="a", rate=rate, unlike=unlike), seed=seed)
    assert masked.verify()
    changed = (masked.frame != frame).any(axis=1)
    assert (masked.frame["a"] == frame["a"]).all()
    assert changed.sum() <= rate * n + 1
    for value in range(3):
        old, new = (f[f["a"] == value][["b", "x"]].value_counts().sort_index() for f in (frame, masked.frame))
        pd.testing.assert_series_equal(old, new)


def test_with_unlike_values_everybody_who_can_is_swapped() -> None:
    frame = pd.DataFrame({"x": list("aabbccdd")})
    masked = md.mask(frame, None, md.Swapping("x", rate=1.0), seed=3)
    assert (masked.frame["x"] != frame["x"]).all()
    lonely = md.mask(pd.DataFrame({"x": list("aaab")}), None, md.Swapping("x", rate=1.0), seed=3)
    assert "found a partner" in lonely.notes[0]


@given(st.integers(0, 10**6), st.integers(1, 150), st.floats(1, 100))
@settings(max_examples=examples(40, 100))
def test_rank_swapping_stays_within_its_ranks(seed: int, n: int, p: float) -> None:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.integers(0, 40, n).astype(float)})
    frame.loc[(rng.random(n) < 0.1) & (np.arange(n) > 0), "x"] = np.nan
    masked = md.mask(frame, None, md.RankSwapping("x", p=p), seed=seed)
    assert masked.verify(), masked.verify().summary()
    assert masked.frame["x"].isna().equals(frame["x"].isna())


def test_the_checker_finds_ranks_that_moved_too_far() -> None:
    frame = pd.DataFrame({"x": np.arange(100.0)})
    masked = md.mask(frame, None, md.RankSwapping("x", p=5), seed=1)
    far = masked.frame["x"].to_numpy().copy()
    far[[0, 50]] = far[[50, 0]]
    moved = replace(masked, records=md.read_records(pd.DataFrame({"x": far}), md.Schema()))
    assert "ranks change" in moved.verify().summary()


def test_ordered_categories_and_strata() -> None:
    frame = pd.DataFrame({"size": list("smlxsmlx") * 5, "s": ["a", "b"] * 20})
    schema = md.Schema(orders={"size": ["s", "m", "l", "x"]}, strata=["s"])
    masked = md.mask(frame, schema, md.RankSwapping("size", p=20), seed=2)
    assert masked.verify()
    for value in "ab":
        old, new = (sorted(f["size"][f["s"] == value]) for f in (frame, masked.frame))
        assert old == new


def test_p_distribution_claims_nothing_of_ranks() -> None:
    frame = pd.DataFrame({"x": np.arange(200.0)})
    masked = md.mask(frame, None, md.RankSwapping("x", p=10, by="p-distribution"), seed=2)
    assert [claim.kind for claim in masked.claims] == ["same-values"]
    assert (masked.frame["x"] - frame["x"]).abs().max() > 20  # beyond p percent


def test_partners_are_free_and_within_reach() -> None:
    tries = np.array([[1], [2], [3], [3]])
    partner = match_up(tries, np.array([2, 3, 3, 3]))
    assert partner.tolist() == [1, 0, 3, 2]
    assert match_up(np.array([[0], [0]]), np.array([0, 1])).tolist() == [0, 1]


def test_numbers_that_are_no_continuous_column_have_no_range() -> None:
    frame = pd.DataFrame({"size": list("sml")})
    schema = md.Schema(orders={"size": ["s", "m", "l"]})
    with pytest.raises(md.InputError, match="takes continuous columns"):
        md.mask(frame, schema, md.RankSwapping("size", by="range"))
