"""Attacks with knowledge of the method: the truth is never excluded, and knowledge pays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabprotect.microdata as md
from tabprotect.errors import InputError
from tabprotect.microdata.risk import AddedNoise, ConsecutiveGroups, FuzzyDraw, RankWindow, transparency


def people(n: int, seed: int, ties: bool) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 6, size=(n, 3)).astype(float) if ties else rng.normal(size=(n, 3))
    return pd.DataFrame(values, columns=["a", "b", "c"])


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.booleans(), st.sampled_from(["individual", "individual-optimal"]))
def test_the_true_record_is_always_among_the_candidates(seed: int, ties: bool, method: str) -> None:
    frame = people(20, seed, ties)
    frame.loc[seed % 20, "a"] = np.nan
    masked = md.mask(frame, None, md.Microaggregation(["a", "b", "c"], k=3, method=method, aggregate="mean"))
    risk = transparency(frame, masked)
    assert risk.contained.all()
    assert (risk.candidates >= 1).all()
    assert risk.pinned <= risk.value + 1e-12


def test_candidates_are_those_of_the_definition() -> None:
    frame = people(24, 1, False)
    masked = md.mask(frame, None, md.Microaggregation(["a", "b", "c"], k=3, method="individual-optimal"))
    risk = transparency(frame, masked)
    x, y = frame.to_numpy(), masked.frame.to_numpy()
    for i in range(24):
        inside = np.ones(24, dtype=bool)
        for j in range(3):
            above, below = y[y[:, j] >= x[i, j], j], y[y[:, j] <= x[i, j], j]
            values = {*([above.min()] if len(above) else []), *([below.max()] if len(below) else [])}
            inside &= np.isin(y[:, j], list(values))
        assert risk.candidates[i] == inside.sum()
        apart = (((x[i] - y) / y.std(axis=0)) ** 2).sum(axis=1)
        best = np.isclose(apart, apart[inside].min()) & inside
        assert risk.records[i] == pytest.approx(best[i] / best.sum())
        nearest = np.isclose(apart, apart.min())
        assert risk.plain[i] == pytest.approx(nearest[i] / nearest.sum())


def test_rank_swapping_never_excludes_the_truth() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 150, size=(200, 5)).astype(float)
    y = x.copy()
    window = 20
    for j in range(5):
        order = np.argsort(x[:, j], kind="stable")
        free = np.ones(200, dtype=bool)
        for i in range(200):
            if free[i]:
                partners = [t for t in range(i + 1, min(i + window, 199) + 1) if free[t]]
                if partners:
                    t = int(rng.choice(partners))
                    y[order[i], j], y[order[t], j] = x[order[t], j], x[order[i], j]
                    free[[i, t]] = False
    before, after = (pd.DataFrame(v, columns=list("abcde")) for v in (x, y))
    known = transparency(before, after, knowledge=RankWindow(10), columns=list("abcde"))
    assert known.contained.all()
    assert known.candidates.mean() < 40
    assert known.value > known.plain_value
    less = transparency(before, after, knowledge=RankWindow(100), columns="a")
    assert (less.candidates == 200).all()


@pytest.mark.parametrize(("distribution", "least"), [("uniform", 1.0), ("normal", 0.98)])
def test_noise_is_contained_as_often_as_it_should(distribution: Any, least: float) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(800, 2))
    noise = rng.uniform(-1, 1, size=x.shape) * np.sqrt(3) if distribution == "uniform" else rng.normal(size=x.shape)
    y = x + 0.2 * x.std(axis=0) * noise
    before, after = (pd.DataFrame(v, columns=["a", "b"]) for v in (x, y))
    risk = transparency(before, after, knowledge=AddedNoise(0.2, distribution), columns=["a", "b"])
    assert risk.contained.mean() >= least
    assert risk.candidates.mean() < 300


def test_fuzzy_draws_exclude_nobody() -> None:
    frame = people(60, 3, False)
    masked = md.mask(frame, None, md.FuzzyMicroaggregation(["a", "b", "c"], k=3, m1=1.3, m2=1.5), seed=1)
    risk = transparency(frame, masked)
    assert (risk.candidates == 60).all()
    assert risk.pinned == 0
    crisp = md.mask(frame, None, md.Microaggregation(["a", "b", "c"], k=3, method="individual-optimal"))
    assert risk.value < transparency(frame, crisp).value


def test_census_is_more_exposed_to_those_who_know_the_method(shared: Callable[[str], Path]) -> None:
    census = pd.read_csv(shared("microdata/sdcMicro_CASCrefmicrodata.csv"))
    columns = list(census)
    masked = md.mask(census, None, md.Microaggregation(columns, k=25, method="individual-optimal"))
    risk = transparency(census, masked)
    assert risk.contained.all()
    assert risk.value > risk.plain_value
    assert risk.pinned > 0.99
    few = transparency(census, masked, columns=columns[:3])
    assert few.value >= few.plain_value


def test_released_records_are_found_by_their_links() -> None:
    frame = people(12, 5, False)
    masked = md.mask(frame, None, md.Microaggregation(["a", "b"], k=3, method="individual"))
    order = np.arange(12)[::-1].copy()
    from dataclasses import replace

    turned = replace(masked, records=masked.records.take(order), links=masked.links[order])
    assert transparency(frame, turned).records.tolist() == transparency(frame, masked).records.tolist()


def test_results_read_well() -> None:
    frame = people(20, 5, False)
    masked = md.mask(frame, None, md.Microaggregation(["a", "b"], k=3, method="individual"))
    risk = transparency(frame, masked)
    assert "plain distance linkage" in risk.summary()
    assert risk.to_dict()["value"] == risk.value
    assert risk.plot().startswith("<svg")
    assert "candidates left" in risk.plot()


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda f, m: transparency(f, m.frame), "give knowledge"),
        (lambda f, m: transparency(f, m.frame.head(3), knowledge=ConsecutiveGroups(), columns="a"), "Masked"),
        (lambda f, m: transparency(f, m, columns="x"), "no column 'x'"),
        (lambda f, m: transparency(f, m.frame, knowledge=ConsecutiveGroups()), "name the columns"),
        (lambda f, m: transparency(f, m.frame, knowledge=5, columns="a"), "not 5"),
        (lambda f, m: transparency(f, m.frame, knowledge={"a": FuzzyDraw(2.0)}, columns=["x", "b"]), "no column"),
        (lambda f, m: RankWindow(0), "above 0 to 100"),
        (lambda f, m: AddedNoise(-1), "above 0"),
        (lambda f, m: FuzzyDraw(0.5), "at least 1"),
    ],
)
def test_bad_input(make: Callable[[Any, Any], Any], part: str) -> None:
    frame = people(12, 5, False)
    masked = md.mask(frame, None, md.Microaggregation(["a", "b"], k=3, method="individual"))
    with pytest.raises(InputError, match=part):
        make(frame, masked)
