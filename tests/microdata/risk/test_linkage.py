"""Record linkage against brute force and reference rates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabprotect.microdata as md
from tabprotect.errors import SolverError
from tabprotect.microdata.risk.linkage import _check_assignment
from tabprotect.microdata.risk.nearest import by_blocks, gower_space
from tests.quick import examples


def brute(original: pd.DataFrame, masked: pd.DataFrame) -> list[float]:
    x, y = original.to_numpy(), masked.to_numpy()
    spread = np.where(x.std(axis=0) > 0, x.std(axis=0), 1)
    found = []
    for i, row in enumerate(x):
        distance = np.sqrt((((y - row) / spread) ** 2).sum(axis=1))
        near = distance <= distance.min() * (1 + 1e-9) + 1e-300
        found.append(1 / near.sum() if near[i] else 0.0)
    return found


@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 3))
@settings(max_examples=examples(40, 100))
def test_distance_linkage_by_brute_force(seed: int, n: int, p: int) -> None:
    rng = np.random.default_rng(seed)
    original = pd.DataFrame(rng.integers(0, 8, (n, p)).astype(float), columns=[f"x{j}" for j in range(p)])
    masked = (original + rng.integers(-2, 3, (n, p))).round(-1 if seed % 3 == 0 else 0)
    found = md.risk.distance_linkage(original, masked)
    assert found.records is not None
    np.testing.assert_allclose(found.records, brute(original, masked))


@pytest.mark.parametrize(("k", "rate"), [(3, 0.2932), (5, 0.1604), (10, 0.0729)])
def test_linkage_of_microaggregated_census(shared: Callable[[str], Path], k: int, rate: float) -> None:
    names = list(pd.read_csv(shared("reference/Census_mdav_k3.csv"), nrows=1).columns)
    census = pd.read_csv(shared("microdata/sdcMicro_CASCrefmicrodata.csv"))[names]
    masked = md.mask(census, None, md.Microaggregation(names, k=k), seed=1)
    assert md.risk.distance_linkage(census, masked).value == pytest.approx(rate, abs=1e-4)


@pytest.mark.parametrize(("p", "rate"), [(5, 0.875), (10, 0.594), (20, 0.135)])
def test_linkage_of_rank_swapped_census(shared: Callable[[str], Path], p: int, rate: float) -> None:
    names = list(pd.read_csv(shared("reference/Census_mdav_k3.csv"), nrows=1).columns)
    census = pd.read_csv(shared("microdata/sdcMicro_CASCrefmicrodata.csv"))[names]
    masked = md.mask(census, None, md.RankSwapping(names, p=p), seed=1)
    assert md.risk.distance_linkage(census, masked).value == pytest.approx(rate, abs=0.03)


def test_links_of_a_sample_are_followed() -> None:
    original = pd.DataFrame({"x": np.arange(50.0)})
    masked = md.mask(original, None, md.Sampling(size=10), seed=1)
    found = md.risk.distance_linkage(original, masked, columns=["x"])
    assert found.records is not None
    assert np.flatnonzero(found.records == 1).tolist() == sorted(masked.links.tolist())
    with pytest.raises(md.InputError, match="give links="):
        md.risk.distance_linkage(original, masked.frame)


def test_mahalanobis_does_not_care_for_linear_transformations() -> None:
    rng = np.random.default_rng(1)
    x = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    y = x + rng.normal(size=(60, 3)) * 0.3
    turn = rng.normal(size=(3, 3))
    moved = [pd.DataFrame(f.to_numpy() @ turn, columns=list("abc")) for f in (x, y)]
    one = md.risk.distance_linkage(x, y, metric="mahalanobis").value
    assert md.risk.distance_linkage(*moved, metric="mahalanobis").value == pytest.approx(one)
    plain = [md.risk.distance_linkage(*files).records for files in ((x, y), moved)]
    assert plain[0] is not None
    assert plain[1] is not None
    assert (plain[0] != plain[1]).any()


def test_gower_links_mixed_columns() -> None:
    original = pd.DataFrame({"sex": list("mfmf"), "age": [20.0, 20.0, 60.0, np.nan]})
    masked = original.assign(age=[22.0, 25.0, 61.0, 40.0])
    found = md.risk.distance_linkage(original, masked, md.Schema(keys=["sex", "age"]), metric="gower")
    assert found.records is not None
    assert found.records.tolist() == [1, 1, 1, 0]
    heavy = md.risk.distance_linkage(original, masked, columns=["sex", "age"], metric="gower", weights={"age": 0.0})
    assert heavy.records is not None
    assert heavy.records.tolist() == [0.5, 0.5, 0.5, 0]


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_the_assignment_is_the_best_of_all(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    x = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})
    y = x + rng.normal(size=(n, 2)) * 0.5
    found = md.risk.assignment_linkage(x, y)
    scale = x.to_numpy().std(axis=0)
    cost = np.sqrt((((x.to_numpy()[:, None] - y.to_numpy()[None]) / scale) ** 2).sum(axis=2))
    best = min(sum(cost[i, j] for i, j in enumerate(order)) for order in permutations(range(n)))
    assert found.details["total distance"] == pytest.approx(best)


def test_a_worse_assignment_is_found_out() -> None:
    cost = np.array([[1.0, 5.0], [5.0, 1.0]])
    _check_assignment(cost, np.arange(2), np.arange(2))
    with pytest.raises(SolverError, match="not the one with the least"):
        _check_assignment(cost, np.arange(2), np.array([1, 0]))


def test_agreement_patterns_are_counted_as_by_listing_all_pairs() -> None:
    from tabprotect.microdata.risk.probabilistic import _patterns

    rng = np.random.default_rng(2)
    mine, theirs = rng.integers(0, 3, (20, 3)), rng.integers(0, 3, (15, 3))
    counts, _ = _patterns(mine, theirs)
    wanted = np.zeros(8)
    for a in mine:
        for b in theirs:
            wanted[sum(1 << j for j in range(3) if a[j] == b[j])] += 1
    assert counts.tolist() == wanted.tolist()


def test_probabilistic_linkage_finds_what_the_keys_tell() -> None:
    rng = np.random.default_rng(4)
    n = 400
    original = pd.DataFrame({f"k{j}": rng.integers(0, 9, n) for j in range(5)})
    masked = original.copy()
    for name in original:
        wrong = rng.random(n) < 0.1
        masked[name] = np.where(wrong, rng.integers(0, 9, n), original[name])
    schema = md.Schema(keys=list(original.columns))
    found = md.risk.probabilistic_linkage(original, masked, schema)
    assert found.details["converged"]
    # a tenth is drawn anew, a ninth of that is right by chance
    np.testing.assert_allclose(found.details["m"], 1 - 0.1 * 8 / 9, atol=0.05)
    np.testing.assert_allclose(found.details["u"], 1 / 9, atol=0.02)
    exact = md.risk.distance_linkage(
        original.astype(str), masked.astype(str), columns=list(original.columns), metric="gower"
    )
    assert found.value == pytest.approx(exact.value, abs=0.1)
    assert found.value > 0.8


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4))
def test_the_assignment_of_files_of_different_length_is_the_best_of_all(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = pd.DataFrame({"a": rng.normal(size=6)}), pd.DataFrame({"a": rng.normal(size=6)})
    x.loc[n:, "a"], y.loc[m:, "a"] = np.nan, np.nan
    found = md.risk.assignment_linkage(x, y)
    a, b = x["a"].dropna().to_numpy(), y["a"].dropna().to_numpy()
    cost = np.abs(a[:, None] - b[None]) / (a.std() or 1.0)
    cost = cost if n <= m else cost.T
    best = min(sum(cost[i, j] for i, j in enumerate(order)) for order in permutations(range(max(n, m)), min(n, m)))
    assert found.details["total distance"] == pytest.approx(best)
    assert found.details["records linked"] == min(n, m)


def test_a_record_that_is_left_over_may_prove_an_assignment_wrong() -> None:
    cost = np.array([[1.0, 5.0, 0.5], [5.0, 1.0, 5.0]])
    _check_assignment(cost, np.arange(2), np.array([2, 1]))
    _check_assignment(cost.T, np.array([2, 1]), np.arange(2))
    with pytest.raises(SolverError, match="not the one with the least"):
        _check_assignment(cost, np.arange(2), np.array([0, 1]))


@pytest.mark.parametrize(
    ("weights", "part"),
    [
        ({"a": -1.0}, "at least 0, not -1"),
        ({"a": float("nan")}, "at least 0, not nan"),
        ({"a": "much"}, "weights must be a mapping to numbers"),
        ({"a": 0, "b": 0}, "weights of all linked columns are 0"),
        ({"aa": 1.0}, "did you mean 'a'"),
    ],
)
def test_weights_that_cannot_be_are_named(weights: dict[str, float], part: str) -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, 3.0]})
    with pytest.raises(md.InputError, match=part):
        md.risk.distance_linkage(frame, frame, weights=weights)


def test_several_masked_records_of_one_original_all_count() -> None:
    original = pd.DataFrame({"x": [1.0, 2.0, 9.0], "k": ["a", "b", "c"]})
    masked = pd.DataFrame({"x": [1.1, 2.1, 9.0, 1.1, 5.0, 9.0], "k": ["a", "b", "c", "a", "z", "c"]})
    links = np.tile(np.arange(3), 2)
    released = md.read_records(original.take(links).assign(x=masked["x"].to_numpy()), md.Schema())
    stacked = replace(md.mask(original, None, md.Noise("x"), seed=1), records=released, links=links)
    # the nearest of record 2 is its first copy; of the others both copies are
    for found in (
        md.risk.distance_linkage(original, stacked, columns=["x"]),
        md.risk.distance_linkage(original, stacked, columns=["x"], metric="gower"),
    ):
        assert found.records is not None
        assert found.records.tolist() == [1, 1, 1]
    half = replace(stacked, links=np.array([0, 1, 2, 1, 1, 2]))
    assert md.risk.distance_linkage(original, half, columns=["x"]).records.tolist() == [0.5, 1, 1]  # type: ignore[union-attr]
    keyed = replace(stacked, records=md.read_records(masked, md.Schema()), links=np.array([0, 1, 2, 1, 1, 2]))
    by_key = md.risk.probabilistic_linkage(original, keyed, md.Schema(keys=["k"]))
    assert by_key.records is not None
    assert by_key.records.tolist() == [0.5, 1, 1]


@pytest.mark.parametrize("values", [[3.0], [3.0, 3.0, 3.0]])
def test_mahalanobis_needs_something_that_varies(values: list[float]) -> None:
    frame = pd.DataFrame({"x": values})
    with pytest.raises(md.InputError, match="no linked column varies"):
        md.risk.distance_linkage(frame, frame, metric="mahalanobis")


@settings(max_examples=examples(25, 60))
@given(st.integers(0, 10**6), st.integers(2, 60), st.integers(1, 12))
def test_the_tree_links_mixed_files_as_comparing_all_pairs_does(seed: int, n: int, categories: int) -> None:
    rng = np.random.default_rng(seed)
    original = pd.DataFrame(
        {
            "sex": rng.choice(list("mf"), n),
            "job": rng.integers(0, categories, n).astype(str),
            "age": rng.integers(0, 5, n).astype(float),
            "pay": rng.normal(size=n).round(1),
        }
    )
    masked = original.sample(n, replace=True, random_state=seed).reset_index(drop=True)
    masked["age"] += rng.integers(-1, 2, n)
    for frame in (original, masked):
        for name in frame:
            frame.loc[rng.random(n) < 0.1, name] = None
    names = ["sex", "job", "age", "pay"]
    weights = {"sex": float(rng.integers(0, 3)), "pay": 0.5}
    one, other = (md.read_records(frame, md.Schema()) for frame in (original, masked))
    share = np.array([weights.get(name, 1.0) for name in names])
    expected = by_blocks(one, other, names, share / share.sum(), np.arange(n))
    schema = md.Schema(scales={"pay": "continuous", "age": "continuous"})
    found = md.risk.distance_linkage(original, masked, schema, columns=names, metric="gower", weights=weights)
    np.testing.assert_allclose(found.records, expected)


def test_many_categories_are_compared_in_all_pairs() -> None:
    many = pd.DataFrame({"k": [f"v{i}" for i in range(600)], "x": np.arange(600.0) // 2})
    records = md.read_records(many, md.Schema())
    assert gower_space(records, records, ["k", "x"]) is None
    assert gower_space(records, records, ["x"]) is not None
    found = md.risk.distance_linkage(many, many.assign(k=many["k"].iloc[0]), columns=["k", "x"], metric="gower")
    # pairs of equal x are tied, but for the record whose k is that of all
    assert found.value == pytest.approx(0.5)
