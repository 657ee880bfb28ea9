"""Diversity and closeness: examples of the papers, and the earth mover's distance as a linear programme."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import tabprotect.microdata as md
from tabprotect.errors import InputError
from tabprotect.microdata.anonymity import (
    closeness,
    distinct_diversity,
    entropy_diversity,
    key_counts,
    recursive_diversity,
    tree_distances,
)
from tabprotect.table.hierarchy import Hierarchy

TREE = Hierarchy.from_hrc("R\n@A\n@@1\n@@2\n@@3\n@B\n@@4\n@@5\n@C\n@@6")


def mover(p: np.ndarray, q: np.ndarray, far: np.ndarray) -> float:
    """Earth mover's distance."""
    n = len(p)
    rows = np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n))
    return float(linprog(far.ravel(), A_eq=np.vstack(rows), b_eq=np.concatenate([p, q])).fun)


def ground(distance: str, n: int) -> np.ndarray:
    i, j = np.indices((n, n))
    if distance == "equal":
        return (i != j).astype(float)
    if distance == "ordered":
        return np.abs(i - j) / (n - 1)
    levels = tree_distances([str(v) for v in range(1, n + 1)], TREE)
    same = np.array([[np.argmax(levels[:, a] == levels[:, b]) for b in range(n)] for a in range(n)])
    return same / (len(levels) - 1)


@given(st.integers(0, 10**6), st.sampled_from(["equal", "ordered", "hierarchical"]))
@settings(max_examples=25)
def test_closeness_is_the_earth_movers_distance(seed: int, distance: Any) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, (3, 6)).astype(float)
    counts[:, 0] += 1
    tree = tree_distances([str(v) for v in range(1, 7)], TREE)
    found = closeness(counts, None, distance, tree)
    whole = counts.sum(axis=0) / counts.sum()
    expected = [mover(row / row.sum(), whole, ground(distance, 6)) for row in counts]
    assert found == pytest.approx(expected, abs=1e-9)


def test_examples_of_the_papers() -> None:
    """Machanavajjhala et al.: a class (2 of 4, 1, 1) is 2.83-diverse by entropy; Li et al.: incomes."""
    assert entropy_diversity(np.array([[2.0, 1.0, 1.0]]))[0] == pytest.approx(2**1.5)
    assert distinct_diversity(np.array([[2.0, 1.0, 1.0]]))[0] == 3
    assert recursive_diversity(np.array([[2.0, 1.0, 1.0]]), 3)[0] == 2
    assert recursive_diversity(np.array([[2.0, 1.0, 1.0]]), 4)[0] == np.inf
    incomes = np.zeros((1, 9))
    incomes[0, :3] = 1
    assert closeness(incomes, np.ones(9), "ordered")[0] == pytest.approx(0.375)


@given(st.integers(0, 10**6))
@settings(max_examples=20)
def test_merging_good_classes_gives_good_classes(seed: int) -> None:
    """What the lattice search rests on, without suppression."""
    rng = np.random.default_rng(seed)
    pair = rng.integers(0, 5, (2, 4)).astype(float)
    pair[:, 0] += 1
    both = pair.sum(axis=0, keepdims=True)
    assert distinct_diversity(both)[0] >= distinct_diversity(pair).max()
    assert entropy_diversity(both)[0] >= entropy_diversity(pair).min() - 1e-12
    assert recursive_diversity(both, 2)[0] <= recursive_diversity(pair, 2).max() + 1e-12
    whole = rng.integers(1, 5, 4).astype(float)
    for distance in ("equal", "ordered"):
        assert closeness(both, whole, distance)[0] <= closeness(pair, whole, distance).max() + 1e-12  # type: ignore[arg-type]


def test_claims_of_diversity_and_closeness_are_refused_where_they_fail() -> None:
    frame = pd.DataFrame({"a": [1, 1, 2, 2], "ill": ["x", "y", "x", "x"]})
    after = md.read_records(frame, md.Schema())
    kinds = md.claim_kinds()
    diversity = {"keys": ["a"], "column": "ill", "kind": "distinct", "l": 2, "c": None, "silent": []}
    assert "1 classes" in kinds["diversity"](after, None, diversity)
    assert kinds["diversity"](after, None, {**diversity, "l": 1}) == ""
    near = {"keys": ["a"], "column": "ill", "t": 0.2, "distance": "equal", "silent": []}
    assert "2 classes" in kinds["closeness"](after, None, near)
    assert kinds["closeness"](after, None, {**near, "t": 0.25}) == ""


def test_unknown_words_are_named() -> None:
    records = md.read_records(pd.DataFrame({"a": [1]}), md.Schema())
    with pytest.raises(InputError, match="did you mean 'stated'"):
        key_counts(records, ["a"], "statd")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="not in the hierarchy"):
        tree_distances(["9"], TREE)
