"""Exact agreement, linkage by clusters, and learned weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabprotect.microdata as md
from tests.quick import examples


def agrees(a: Any, b: Any, missing: str) -> bool:
    if pd.isna(a) or pd.isna(b):
        return missing == "any" or (missing == "own" and pd.isna(a) and pd.isna(b))
    return bool(a == b)


@settings(max_examples=examples(25, 60))
@given(st.integers(0, 10**6), st.integers(1, 25), st.sampled_from(["none", "own", "any"]))
def test_exact_agreement_by_comparing_all_pairs(seed: int, n: int, missing: Any) -> None:
    rng = np.random.default_rng(seed)
    values = np.array(["a", "b", "c", None], dtype=object)
    original, masked = (pd.DataFrame(rng.choice(values, (n, 2)), columns=["k", "l"]) for _ in range(2))
    expected = []
    for i in range(n):
        near = [all(agrees(original.iloc[i, c], masked.iloc[j, c], missing) for c in range(2)) for j in range(n)]
        expected.append(near[i] / max(sum(near), 1))
    found = md.risk.deterministic_linkage(original, masked, md.Schema(keys=["k", "l"]), missing=missing)
    assert found.records is not None
    assert found.records.tolist() == pytest.approx(expected)


def test_originals_that_one_record_matches_are_counted() -> None:
    original = pd.DataFrame({"k": ["a", "b", "c", "c"]})
    found = md.risk.deterministic_linkage(original, pd.DataFrame({"k": ["b", "a", "c", "d"]}), columns="k")
    assert found.details["with a match"] == 4
    assert found.details["with one match"] == 4
    assert found.details["with one match that is right"] == 1
    assert found.value == 0.25
    with pytest.raises(md.InputError, match="did you mean 'k'"):
        md.risk.deterministic_linkage(original, original, columns=["kk"])
    with pytest.raises(md.InputError, match="'none', 'own' or 'any'"):
        md.risk.deterministic_linkage(original, original, columns="k", missing="some")  # type: ignore[arg-type]


@pytest.mark.parametrize("metric", ["euclidean", "gower"])
def test_learned_weights_find_the_column_that_was_left_alone(metric: Any) -> None:
    rng = np.random.default_rng(3)
    original = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])
    masked = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])
    masked["b"] = original["b"] + 0.001 * rng.normal(size=300)
    found = md.risk.learned_linkage(original, masked, metric=metric)
    equal = md.risk.distance_linkage(original, masked, metric=metric)
    alone = md.risk.distance_linkage(original, masked, columns=["b"], metric=metric)
    assert found.details["equal weights"] == equal.value
    assert found.value > 0.9 * alone.value > 3 * equal.value
    assert max(found.details["weights"], key=found.details["weights"].get) == "b"
    # its weights, given to the plain measure, find as many
    again = md.risk.distance_linkage(original, masked, metric=metric, weights=found.details["weights"])
    assert again.value == pytest.approx(found.value)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(2, 30), st.sampled_from(["euclidean", "gower"]))
def test_learned_weights_are_never_worse_than_equal_ones(seed: int, n: int, metric: Any) -> None:
    rng = np.random.default_rng(seed)
    original = pd.DataFrame({"a": rng.integers(0, 9, n).astype(float), "b": rng.normal(size=n)})
    masked = original + rng.normal(size=(n, 2))
    masked.loc[rng.random(n) < 0.2, "b"] = None
    masked.loc[0, "b"] = 0.0
    found = md.risk.learned_linkage(original, masked, metric=metric, rounds=2)
    assert found.value >= md.risk.distance_linkage(original, masked, metric=metric).value


def test_files_without_common_columns_are_linked_by_their_clusters() -> None:
    rng = np.random.default_rng(1)
    centre = np.repeat([[0.0, 0.0], [9.0, 1.0], [3.0, 12.0]], [100, 60, 20], axis=0)
    people = pd.DataFrame(centre + rng.normal(size=centre.shape), columns=["a", "b"])
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    masked = pd.DataFrame(people.to_numpy() @ turn * 3 + 5, columns=["c", "d"])
    given: dict[str, Any] = {"columns": ["a", "b"], "masked_columns": ["c", "d"], "clusters": 3}
    found = md.risk.cluster_linkage(people, masked, **given)
    assert found.records is not None
    # whoever is in the right cluster is drawn from its records
    assert found.records.tolist() == pytest.approx(np.repeat([1 / 100, 1 / 60, 1 / 20], [100, 60, 20]).tolist())
    assert md.risk.cluster_linkage(people, masked, **given).value == found.value
    shuffled = masked.sample(frac=1, random_state=1).reset_index(drop=True)
    assert md.risk.cluster_linkage(people, shuffled, **given).value < found.value
    with pytest.raises(md.InputError, match="at least 2"):
        md.risk.cluster_linkage(people, masked, columns="a", masked_columns="c", clusters=1)
    with pytest.raises(md.InputError, match="did you mean 'c'"):
        md.risk.cluster_linkage(people, masked, columns="a", masked_columns="cc")
