"""Trees, multiple imputation, maximum entropy, selective imputation of keys, combining rules."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabprotect.microdata as md
from tabprotect.microdata.synthesis.entropy import maximum_entropy
from tests.microdata.frames import KINDS, as_pandas

pytest.importorskip("sklearn")


def workers(n: int = 600, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sex, region = rng.choice(["m", "f"], n, p=[0.4, 0.6]), rng.choice(list("nswe"), n)
    age = rng.integers(18, 66, n)
    pay = 1000 + 40 * age + 500 * (sex == "m") + rng.normal(0, 100, n)
    return pd.DataFrame({"sex": sex, "region": region, "age": age, "pay": pay.round(2)})


def test_sequential_trees_keep_relations_and_margins() -> None:
    frame = workers()
    frame.loc[:29, "pay"] = np.nan
    method = md.SequentialTrees(["sex", "region", "age", "pay"], margins=[["sex", "region"]], smooth=True)
    masked = md.mask(frame, None, method, seed=1)
    new = masked.frame
    assert masked.verify(), masked.verify().summary()
    assert masked.steps[0].facts["largest difference of a margin"] == 0
    old, found = (f.groupby(["sex", "region"]).size() for f in (frame, new))
    pd.testing.assert_series_equal(old, found)
    assert (masked.links == -1).all()
    assert new["pay"].isna().sum() == pytest.approx(30, abs=20)
    assert new["age"].corr(new["pay"]) == pytest.approx(frame["age"].corr(frame["pay"]), abs=0.08)
    # of one file, the difference of means has a standard error of a tenth
    files = (frame, new, *(md.mask(frame, None, method, seed=seed).frame for seed in (2, 3, 4)))
    gap = [f.groupby("sex")["pay"].mean().diff().iloc[-1] for f in files]
    assert np.mean(gap[1:]) == pytest.approx(gap[0], rel=0.25)
    assert not np.isin(new["pay"].dropna(), frame["pay"]).any()
    assert (new["age"] == np.rint(new["age"])).all()


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "duckdb"])
def test_synthetic_files_come_in_the_kind_of_the_original(kind: str) -> None:
    given = KINDS[kind](workers(60))
    for method in (
        md.SequentialTrees(["sex", "age"]), md.PartiallySynthetic("pay", replicates=2), md.SMIKe(["region"]),
        md.MaximumEntropy(["sex", "region"]), md.Cholesky(["age", "pay"]),
        md.MultipleImputation(["pay"], background=["sex"], population=KINDS[kind](workers(100)[["sex"]]), replicates=2),
    ):  # fmt: skip
        masked = md.mask(given, None, method, seed=3)
        assert type(masked.frame) is type(given), method.name
        again = md.mask(given, None, method, seed=3)
        pd.testing.assert_frame_equal(as_pandas(masked.frame), as_pandas(again.frame))
        assert masked.verify(), method.name


def test_partially_synthetic_records_keep_everything_else() -> None:
    frame = workers()
    masked = md.mask(frame, None, md.PartiallySynthetic("pay", where={"region": ["n"]}, replicates=3), seed=2)
    new = masked.frame
    assert len(new) == 3 * len(frame)
    for _, one in new.groupby("replicate"):
        kept = one.reset_index(drop=True)
        pd.testing.assert_frame_equal(kept[["sex", "region", "age"]], frame[["sex", "region", "age"]])
        other = frame["region"] != "n"
        assert (kept["pay"][other] == frame["pay"][other]).all()
        assert (kept["pay"][~other] != frame["pay"][~other]).mean() > 0.7
    assert masked.links.tolist() == list(range(600)) * 3


@pytest.mark.slow
def test_combined_intervals_cover_the_truth() -> None:
    covered = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        group = rng.integers(0, 2, 200)
        frame = pd.DataFrame({"group": group, "y": 5 + 3 * group + rng.normal(0, 2, 200)})
        new = md.mask(frame, None, md.PartiallySynthetic("y", replicates=5, leaf=10), seed=seed).frame
        files = [f["y"] for _, f in new.groupby("replicate")]
        found = md.combine_partially_synthetic([y.mean() for y in files], [y.var() / len(y) for y in files])
        low, high = found.interval(0.95)
        covered += low <= 6.5 <= high
    assert covered >= 51  # 57 expected; fewer than 51 has a probability below 1 %


def test_combining_rules() -> None:
    found = md.combine_fully_synthetic([10, 14, 12], [1, 1, 1])
    assert (found.estimate, found.between, found.within) == (12, 4, 1)
    assert found.variance == pytest.approx(4 / 3 * 4 - 1)
    assert found.degrees_of_freedom == pytest.approx(2 * (1 - 1 / (4 / 3 * 4)) ** 2)
    low = md.combine_fully_synthetic([10, 10.1], [1, 1], n=50, original=100)
    assert low.adjusted
    assert low.variance == 0.5
    part = md.combine_partially_synthetic([10, 14, 12], [1, 1, 1])
    assert part.variance == pytest.approx(1 + 4 / 3)
    assert part.degrees_of_freedom == pytest.approx(2 * (1 + 1 / (4 / 3)) ** 2)
    with pytest.raises(md.InputError, match="at least two files"):
        md.combine_partially_synthetic([1.0], [1.0])


def test_multiple_imputation_releases_nobody_of_the_file(tmp_path: Path) -> None:
    frame, others = workers(300), workers(2000, seed=9)[["sex", "age"]]
    others.to_csv(tmp_path / "others.csv", index=False)
    method = md.MultipleImputation(
        ["region", "pay"], background=["sex", "age"], population=str(tmp_path / "others.csv"), replicates=3, n=250
    )
    masked = md.mask(frame, None, method, seed=1)
    new = masked.frame
    assert new.groupby("replicate").size().tolist() == [250] * 3
    assert new["age"].corr(new["pay"]) > 0.8
    # background comes from the others, replicate by replicate
    for _, one in new.groupby("replicate"):
        assert len(one[["sex", "age"]].merge(others.drop_duplicates())) == 250
    with pytest.raises(md.InputError, match="cannot be drawn from a population of 2000"):
        md.mask(frame, None, md.MultipleImputation(["pay"], ["age"], population=others, n=3000))
    with pytest.raises(md.InputError, match="no column 'region'"):
        md.mask(frame, None, md.MultipleImputation(["pay"], ["region"], population=others))


@settings(max_examples=8)
@given(st.integers(0, 10**6))
def test_maximum_entropy_of_two_margins_is_their_product(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(4))
    states = np.unravel_index(np.arange(12), (3, 4))
    p, off = maximum_entropy(list(states), [a, b])
    np.testing.assert_allclose(p.reshape(3, 4), np.outer(a, b), atol=1e-5)
    assert off <= 1e-6


def test_no_distribution_with_the_same_margins_has_more_entropy() -> None:
    rng = np.random.default_rng(1)
    table = rng.dirichlet(np.ones(27))
    states = np.unravel_index(np.arange(27), (3, 3, 3))
    pairs = [states[i] * 3 + states[j] for i, j in itertools.combinations(range(3), 2)]
    wanted = [np.bincount(pair, weights=table, minlength=9) for pair in pairs]
    p, _ = maximum_entropy(pairs, wanted)
    entropy = -(p * np.log(p)).sum()
    # moves that keep every two-way table
    corner = np.array([(-1) ** (i + j + k) if max(i, j, k) < 2 else 0 for i, j, k in zip(*states, strict=True)])
    for step in (1e-3, -1e-3):
        other = p + step * corner * p.min() / 1e-3
        assert -(other * np.log(other)).sum() < entropy
    assert entropy > -(table * np.log(table)).sum()


def test_maximum_entropy_holds_tables_and_moments() -> None:
    frame = workers(1000)
    method = md.MaximumEntropy(["sex", "region", "age", "pay"], margins=[["sex", "region"], ["age"], ["pay"]], n=20_000)
    new = md.mask(frame, None, method, seed=1).frame
    old, found = (f.groupby(["sex", "region"]).size() / len(f) for f in (frame, new))
    assert np.abs(old - found).max() < 0.015
    assert new["age"].corr(new["pay"]) == pytest.approx(frame["age"].corr(frame["pay"]), abs=0.1)
    assert new["pay"].mean() == pytest.approx(frame["pay"].mean(), rel=0.01)
    with pytest.raises(md.InputError, match="combinations are more than"):
        md.mask(frame, None, md.MaximumEntropy(["age", "pay"], bins=5000))


def test_selective_imputation_touches_mixing_sets_only() -> None:
    frame = workers(400)
    frame.loc[5, "region"] = "x"
    method = md.SMIKe(["region", "sex"], near=["age", "pay"], threshold=3, mixing=8, rate=0.5)
    masked = md.mask(frame, None, method, seed=1)
    facts = masked.steps[0].facts
    assert facts["sensitive records"] == 1
    assert facts["records in mixing sets"] == 9
    assert masked.verify()
    changed = (masked.frame[["region", "sex"]] != frame[["region", "sex"]]).any(axis=1)
    assert 0 < changed.sum() <= 9
    near = (frame[["age", "pay"]] - frame.loc[5, ["age", "pay"]]).div(frame[["age", "pay"]].std()).pow(2).sum(axis=1)
    assert near[changed].max() <= near.nsmallest(12).max()
    drawn = {md.mask(frame, None, method, seed=s).frame.loc[5, "region"] for s in range(20)}
    assert len(drawn) > 1
