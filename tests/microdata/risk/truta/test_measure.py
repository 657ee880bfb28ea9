"""Global disclosure risk: worked by hand, and against all subsets of keys."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import tabprotect.microdata as md
from tabprotect.microdata.risk.truta.clusters import Clusters
from tabprotect.microdata.risk.truta.factors import inversion_change_factor
from tabprotect.microdata.risk.truta.subsets import largest_subset
from tests.microdata.frames import KINDS

ORIGINAL = pd.DataFrame(
    {
        "age": [20, 20, 30, 40, 50, 50],
        "sex": ["m", "m", "f", "f", "m", "f"],
        "zip": ["48201", "48202", "48201", "88201", "88201", "48202"],
    }
)
SCHEMA = md.Schema(keys=["age", "sex", "zip"])


def as_printed(
    original: pd.DataFrame, masked: pd.DataFrame, links: np.ndarray, keys: tuple[str, ...]
) -> dict[str, float]:
    """Equations 3.1 and 3.2 as they are printed, without factors, from a full classification matrix."""
    n, t = len(original), len(masked)
    c = np.zeros((t + 1, n + 1))
    big, small = (list(map(tuple, f[list(keys)].astype(str).to_numpy())) for f in (original, masked))
    for s, link in enumerate(links):
        if link >= 0:
            c[small.count(small[s]), big.count(big[link])] += 1
    total = sum((c[1 : k + 1, k].sum() + c[k, 1:k].sum()) / k for k in range(1, t + 1) if k <= n)
    total += sum(c[1 : t + 1, k].sum() / k for k in range(t + 1, n + 1))
    return {"DR_min": c[1, 1] / n, "DR_max": total / n}


def test_a_sample_by_hand() -> None:
    """Four of six records with no change: t < n; clusters by hand."""
    links = np.array([0, 1, 2, 5])
    masked = ORIGINAL.iloc[links].reset_index(drop=True)
    found = md.risk.global_risk(ORIGINAL, masked, SCHEMA, keys=["age", "sex"], links=links)
    # records 0, 1: two released, two original; record 2: (1, 1); record 5, 50 f: (1, 1)
    assert found.details["factors"] == {"age": 0.0, "sex": 0.0}
    assert found.details["classification"] == [[1, 1, 2], [2, 2, 2]]
    assert found.details["DR_min"]["value"] == pytest.approx(2 / 6)
    assert found.value == pytest.approx((1 + 1 + 2 / 2) / 6)
    assert found.records is not None
    np.testing.assert_allclose(found.records, [0.5, 0.5, 1, 1])


def test_the_maximum_is_not_the_full_set() -> None:
    """Half of the values of sex are changed: age and zip alone say more than all three keys."""
    masked = ORIGINAL.assign(sex=["f", "f", "m", "f", "m", "f"])
    found = md.risk.global_risk(ORIGINAL, masked, SCHEMA)
    assert found.details["factors"]["sex"] == 0.5
    assert found.details["DR_max"]["keys"] == ["age", "zip"]
    assert found.value == 1.0
    alone = md.risk.global_risk(ORIGINAL, masked, SCHEMA, keys=["sex"])
    # of the three original men two are changed; clusters: men 3 before, women 3 before; 2 men, 4 women after
    assert alone.value == pytest.approx(0.5 * (4 / 4 + 2 / 3) / 6)


def test_noise_on_an_ordered_key_by_hand() -> None:
    masked = ORIGINAL.assign(age=[20, 35, 30, 40, 50, 45])
    found = md.risk.global_risk(ORIGINAL, masked, SCHEMA, keys=["age"])
    # inversions: 35 > 30, and 45 against the original 50 = 50 is none; 4 * 1 / (6 * 5)
    assert found.details["factors"]["age"] == pytest.approx(4 / 30)
    # sizes (i, j): (1, 2), (1, 2), (1, 1), (1, 1), (1, 2), (1, 2)
    assert found.details["DR_min"]["value"] == pytest.approx((1 - 4 / 30) * 2 / 6)
    assert found.value == pytest.approx((1 - 4 / 30) * (2 + 4 / 2) / 6)


def test_equations_as_printed() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        n = int(rng.integers(4, 15))
        original = pd.DataFrame({"a": rng.integers(0, 4, n), "b": rng.integers(0, 3, n).astype(str)})
        links = rng.permutation(n)[: int(rng.integers(2, n + 1))]
        masked = original.iloc[links].reset_index(drop=True)
        found = md.risk.global_risk(original, masked, md.Schema(keys=["a", "b"]), links=links)
        wanted = as_printed(original, masked, links, ("a", "b"))
        assert found.value == pytest.approx(wanted["DR_max"])
        assert found.details["DR_min"]["value"] == pytest.approx(wanted["DR_min"])


def _weights(n: int) -> np.ndarray:
    """A weight matrix that is not constant: 2^-|i-j| / min(i, j), scaled."""
    i, j = np.indices((n, n)) + 1
    w = 2.0 ** -np.abs(i - j) / np.minimum(i, j)
    return np.asarray(w * n / w.sum())


@pytest.mark.parametrize("seed", range(12))
def test_largest_over_all_subsets(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, p = 24, 5
    original = pd.DataFrame({f"k{k}": rng.integers(0, 3, n) for k in range(p)})
    masked = original.copy()
    for k in range(p):
        where = rng.random(n) < rng.choice([0, 0.1, 0.4])
        masked.loc[where, f"k{k}"] = rng.integers(0, 3, int(where.sum()))
    schema = md.Schema(keys=list(original), scales={"k0": "unordered", "k1": "unordered"})
    weights = _weights(n)
    found = md.risk.global_risk(original, masked, schema, weights=weights)
    one, other = md.read_records(original, schema), md.read_records(masked, schema)
    factors = [inversion_change_factor(one, other, name) for name in original]
    clusters = Clusters.of(one, other, np.arange(n), list(original))
    best = {"least": 0.0, "most": 0.0, "weighted": 0.0}
    for size in range(1, p + 1):
        for subset in combinations(range(p), size):
            sums = clusters.risk(subset, weights)
            factor = float(np.prod([1 - factors[k] for k in subset]))
            best = {kind: max(value, factor * getattr(sums, kind)) for kind, value in best.items()}
    for word, kind in (("DR_min", "least"), ("DR_max", "most"), ("DR_W", "weighted")):
        assert found.details[word]["value"] == pytest.approx(best[kind], abs=1e-12)
        assert found.details[word]["proven"]
    assert found.details["DR_min"]["value"] <= found.value + 1e-12 <= found.details["DR_max"]["value"] + 2e-12
    assert found.records is not None
    assert found.records.sum() / n == pytest.approx(found.value)


def test_a_key_without_inversions_may_lower_the_weighted_risk() -> None:
    """Against the paper: a key with factor 0 need not be in the largest subset of a weight matrix."""
    original = pd.DataFrame({"a": ["x"] * 3, "b": [1, 1, 1]})
    masked = original.assign(b=[1, 2, 3])
    schema = md.Schema(keys=["a", "b"])
    weights = np.eye(3)
    found = md.risk.global_risk(original, masked, schema, weights=weights)
    assert found.details["factors"] == {"a": 0.0, "b": 0.0}
    assert found.details["DR_W"]["keys"] == ["a"]
    assert found.value == pytest.approx(1 / 3)
    assert md.risk.global_risk(original, masked, schema, weights=weights, keys=["b"]).value == 0.0


def test_the_bound_holds_when_the_search_is_cut_off() -> None:
    rng = np.random.default_rng(2)
    n, p = 60, 12
    original = pd.DataFrame({f"k{k}": rng.integers(0, 3, n) for k in range(p)})
    masked = original.map(lambda x: (x + int(rng.random() < 0.25)) % 3)
    schema = md.Schema(keys=list(original), scales=dict.fromkeys(original, "unordered"))
    full = md.risk.global_risk(original, masked, schema, most_subsets=5000).details["DR_max"]
    cut = md.risk.global_risk(original, masked, schema, most_subsets=1).details["DR_max"]
    assert full["proven"]
    assert not cut["proven"]
    assert cut["value"] <= full["value"] <= cut["bound"]
    assert cut["evaluated"] < full["evaluated"]


def test_a_key_with_factor_one_never_helps() -> None:
    original = pd.DataFrame({"a": ["x", "y"], "b": [1, 2]})
    masked = original.assign(a=["y", "x"])
    found = md.risk.global_risk(original, masked, md.Schema(keys=["a", "b"]))
    assert found.details["DR_max"]["keys"] == ["b"]
    assert md.risk.global_risk(original, masked, md.Schema(keys=["a"])).value == 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame(kind: str) -> None:
    masked = ORIGINAL.assign(sex=["f", "f", "m", "f", "m", "f"])
    found = md.risk.global_risk(KINDS[kind](ORIGINAL), KINDS[kind](masked), SCHEMA)
    assert found.details["DR_max"]["keys"] == ["age", "zip"]


def test_bad_weights_and_files() -> None:
    with pytest.raises(md.InputError, match="add up to the number of original records, 6"):
        md.risk.global_risk(ORIGINAL, ORIGINAL, SCHEMA, weights=np.eye(6) * 2)
    with pytest.raises(md.InputError, match="give links="):
        md.risk.global_risk(ORIGINAL, ORIGINAL.head(3), SCHEMA)
    with pytest.raises(md.InputError, match="'sexx' is no key; did you mean 'sex'"):
        md.risk.global_risk(ORIGINAL, ORIGINAL, SCHEMA, changes={"sexx": "any"})


def test_greedy_value_is_a_value_of_a_subset() -> None:
    clusters = Clusters(("a",), (np.array([0, 0, 1]),), (np.array([0, 1, 1]),), np.arange(3))
    found = largest_subset(lambda s: clusters.risk(s), [0.25], "most", 1)
    assert found.value == pytest.approx(0.75 * (1 / 2 + 1 / 2 + 1 / 2) / 3)


@pytest.mark.parametrize(
    ("weights", "problem"),
    [
        ([[1, 2], [0, 1]], "rise along a row to the right"),
        ([[1, 0], [2, 1]], "rise along a column below"),
        ([[1, 0, 0], [0, 2, 0], [0, 0, 1]], "rise along the diagonal"),
        ([[2, 1], [0, 0]], "fall along a column down to"),
        ([[0, 0], [0, 0]], r"w\[1,1\] must be above 0"),
        ([[-1]], "finite numbers of at least 0"),
        ([1, 2], "must be a matrix"),
    ],
)
def test_weight_matrices_that_cannot_be(weights: list[object], problem: str) -> None:
    with pytest.raises(md.InputError, match=problem):
        md.risk.global_risk(ORIGINAL, ORIGINAL, SCHEMA, weights=weights)


def test_replicates_are_measured_one_at_a_time() -> None:
    twice = pd.concat([ORIGINAL, ORIGINAL], ignore_index=True)
    with pytest.raises(md.InputError, match="one replicate at a time"):
        md.risk.global_risk(ORIGINAL, twice, SCHEMA, links=np.tile(np.arange(6), 2))
