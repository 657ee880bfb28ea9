"""Local suppression against the algebraic model, brute force and the reference file."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabprotect.microdata as md
from tabprotect.errors import InputError
from tabprotect.microdata.anonymity import MISSING, key_counts
from tabprotect.microdata.masking.suppression.covers import (
    cover_by_enumeration,
    cover_by_programmes,
    cover_households,
)
from tabprotect.models import local_suppression
from tests.microdata.frames import KINDS, as_pandas

TESTDATA = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]


def small(seed: int, records: int = 7, keys: int = 3, values: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({f"k{j}": rng.integers(0, values, records) for j in range(keys)})


def counts_by_hand(before: np.ndarray, after: np.ndarray, missing: str) -> np.ndarray:
    """Count matches pair by pair; -1 is missing."""
    found = np.zeros(len(after), dtype=int)
    for i, j in product(range(len(after)), repeat=2):
        stated = after[i] >= 0
        if missing == "any":
            found[i] += bool(((before[j] == after[i]) | (before[j] < 0))[stated].all())
        elif missing == "both":
            found[i] += bool(((after[j] == after[i]) | (after[j] < 0))[stated].all())
        elif missing == "stated":
            found[i] += bool((after[j] == after[i])[stated].all())
        else:
            found[i] += bool((after[j] == after[i]).all())
    return found


def coded(frame: pd.DataFrame) -> np.ndarray:
    return frame.apply(pd.to_numeric).fillna(-1).to_numpy(dtype=int)


@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("seed", range(6))
def test_the_method_pays_what_the_algebraic_model_pays(seed: int, missing: Any) -> None:
    frame = small(seed, records=6 if missing != "any" else 8)
    cost = {"k0": 1.0, "k1": 1.5, "k2": 2.0}
    step = md.LocalSuppression(k=2, importance=cost, missing=missing, work=10**7)
    masked = md.mask(frame, md.Schema(keys=list(frame)), step, seed=1)
    facts = masked.steps[0].facts
    model = local_suppression.solve(frame.to_numpy(), 2, list(cost.values()), missing)
    assert facts["status"] == "optimal"
    assert facts["cost"] == pytest.approx(model.objective, abs=1e-6)
    assert sum(facts["blanks"][key] * cost[key] for key in cost) == pytest.approx(facts["cost"])
    assert masked.verify()
    assert counts_by_hand(coded(frame), coded(masked.frame), missing).min() >= 2


@given(st.data())
@settings(max_examples=25)
def test_every_count_is_that_of_pairs_also_with_missing_values(data: st.DataObject) -> None:
    shape = (data.draw(st.integers(1, 7)), data.draw(st.integers(1, 3)))
    cell = st.integers(-1, 2)
    before = np.array([[data.draw(cell) for _ in range(shape[1])] for _ in range(shape[0])])
    blank = np.array([[data.draw(st.booleans()) for _ in range(shape[1])] for _ in range(shape[0])])
    after = np.where(blank, -1, before)
    frames = [pd.DataFrame(x).astype("Int64").mask(pd.DataFrame(x < 0)).set_axis(list("abc")[: shape[1]], axis=1)
              for x in (before, after)]  # fmt: skip
    read = [md.read_records(frame, md.Schema()) for frame in frames]
    all_counts = []
    for missing in ("own", "stated", "any", "both"):
        found = key_counts(read[1], list(frames[1]), missing, read[0])  # type: ignore[arg-type]
        assert found.tolist() == counts_by_hand(before, after, missing).tolist(), missing
        all_counts.append(found)
    for less, more in pairwise(all_counts):
        assert (less <= more).all()


def test_blanks_of_others_do_not_count_by_default() -> None:
    """Under 'both' k - 1 records without keys match everybody; 'any' pays for each record that is alone."""
    frame = pd.DataFrame({"a": range(8), "b": range(8)})
    schema = md.Schema(keys=["a", "b"])
    any_value = md.mask(frame, schema, md.LocalSuppression(k=3), seed=1)
    both = md.mask(frame, schema, md.LocalSuppression(k=3, missing="both"), seed=1)
    assert any_value.steps[0].facts["cost"] == 16
    assert both.steps[0].facts["cost"] == 4
    assert "missing='any'" in both.steps[0].notes[-1]
    assert both.verify()
    assert both.frame.isna().all(axis=1).sum() == 2


def test_the_reference_file_needs_283_blanks(shared: Callable[[str], Path]) -> None:
    """A widely used package blanks 293 values; fewer than 283 will not do."""
    frame = pd.read_csv(shared("microdata/sdcMicro_testdata.csv"))
    masked = md.mask(frame, md.Schema(keys=TESTDATA), md.LocalSuppression(k=3), seed=1)
    facts = masked.steps[0].facts
    assert (facts["cost"], facts["bound"], facts["status"]) == (283, 283, "optimal")
    assert masked.verify()
    # and the same file by the count of that package
    assert key_counts(masked.records, TESTDATA, "both").min() >= 3
    # each record on its own: the fewest keys without which three records agree
    least = np.full(len(frame), len(TESTDATA))
    least[:] = 99
    for size in range(len(TESTDATA), -1, -1):
        for keep in combinations(TESTDATA, size):
            shared_by = (
                frame.groupby(list(keep))["sex"].transform("size") if keep else pd.Series([len(frame)] * len(frame))
            )
            least = np.where(shared_by.to_numpy() >= 3, np.minimum(least, len(TESTDATA) - size), least)
    assert least.sum() == 283


@pytest.mark.parametrize("missing", ["stated", "own"])
def test_stricter_counts_hold_on_the_reference_file(shared: Callable[[str], Path], missing: Any) -> None:
    frame = pd.read_csv(shared("microdata/sdcMicro_testdata.csv"))
    step = md.LocalSuppression(k=3, missing=missing, exact=False)
    masked = md.mask(frame, md.Schema(keys=TESTDATA), step, seed=1)
    facts = masked.steps[0].facts
    assert facts["bound"] == 283
    assert facts["cost"] <= {"stated": 284, "own": 440}[missing]
    assert facts["gap"] == pytest.approx((facts["cost"] - 283) / facts["cost"])
    assert masked.verify()


@pytest.mark.slow
def test_the_programme_closes_on_the_reference_file(shared: Callable[[str], Path]) -> None:
    frame = pd.read_csv(shared("microdata/sdcMicro_testdata.csv"))
    masked = md.mask(frame, md.Schema(keys=TESTDATA), md.LocalSuppression(k=3, missing="stated"), seed=1)
    facts = masked.steps[0].facts
    assert (facts["cost"], facts["status"]) == (283, "optimal")
    assert key_counts(masked.records, TESTDATA, "stated").min() >= 3
    assert masked.verify()


@given(st.integers(0, 10**6), st.integers(1, 3), st.booleans())
@settings(max_examples=15)
def test_combinations_up_to_a_size_reach_their_thresholds(seed: int, up_to: int, gaps: bool) -> None:
    frame = small(seed, records=12, keys=4).astype("Int64")
    if gaps:
        frame = frame.mask(np.random.default_rng(seed).random(frame.shape) < 0.15)
    thresholds = {size: 5 - size for size in range(1, up_to + 1)}
    step = md.LocalSuppression(thresholds=thresholds, importance={"k1": 3.0})
    masked = md.mask(frame, md.Schema(keys=list(frame)), step, seed=1)
    assert masked.verify()
    before, after = coded(frame), coded(masked.frame)
    assert ((after == before) | (after < 0)).all()
    total = 0.0
    for i in range(len(frame)):
        best = np.inf
        for blank in product([False, True], repeat=4):
            stated = [j for j in range(4) if not blank[j] and before[i, j] >= 0]
            fits = all(
                (((before[:, list(t)] == before[i, list(t)]) | (before[:, list(t)] < 0)).all(axis=1)).sum() >= least
                for size, least in thresholds.items()
                for t in combinations(stated, size)
            )
            if fits:
                best = min(best, sum((3.0 if j == 1 else 1.0) for j in range(4) if blank[j] and before[i, j] >= 0))
        total += best
    assert masked.steps[0].facts["cost"] == pytest.approx(total)


@given(st.integers(0, 10**6))
@settings(max_examples=25)
def test_set_covers_by_programmes_cost_what_enumeration_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, keys = 6, 4
    sets = [t for size in (1, 2, 3) for t in combinations(range(keys), size)]
    unsafe = {t: rng.random(rows) < 0.25 for t in sets}
    counts, cost = rng.integers(1, 5, rows), rng.choice([1.0, 2.0, 2.5], keys)
    one, other = cover_by_enumeration(unsafe, counts, cost), cover_by_programmes(unsafe, counts, cost)
    for cover in (one, other):
        for t, flags in unsafe.items():
            assert cover.blanks[flags][:, list(t)].any(axis=1).all()
        assert (cover.blanks @ cost * counts).sum() == pytest.approx(cover.bound)
    assert one.bound == pytest.approx(other.bound)


@given(st.integers(0, 10**6))
@settings(max_examples=25)
def test_households_are_blanked_together_at_the_least_cost(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, keys = 7, 3
    unsafe = {t: rng.random(rows) < 0.3 for size in (1, 2) for t in combinations(range(keys), size)}
    home, cost = rng.integers(0, 3, rows), rng.choice([1.0, 1.5], keys)
    home = np.unique(home, return_inverse=True)[1]
    one = cover_households(unsafe, home, cost, [0, 1])
    other = cover_by_programmes(unsafe, np.ones(rows, int), cost, home, [0, 1])
    least = 0.0
    for h in range(home.max() + 1):
        mine = np.flatnonzero(home == h)
        best = np.inf
        for shared_blank in product([0, 1], repeat=2):
            alone = 0.0
            for i in mine:
                mine_unsafe = [t for t, flags in unsafe.items() if flags[i]]
                fits = [last for last in (0, 1) if all(any((*shared_blank, last)[j] for j in t) for t in mine_unsafe)]
                alone += cost[2] * min(fits) if fits else np.inf
            best = min(best, alone + len(mine) * np.dot(shared_blank, cost[:2]))
        least += best
    for cover in (one, other):
        assert (cover.blanks @ cost).sum() == pytest.approx(least) == pytest.approx(cover.bound)
        for t, flags in unsafe.items():
            assert cover.blanks[flags][:, list(t)].any(axis=1).all()
        for h in range(home.max() + 1):
            assert (cover.blanks[home == h][:, :2] == cover.blanks[home == h][0, :2]).all()


def test_household_variables_of_a_file_are_blanked_together() -> None:
    frame = pd.DataFrame({"hid": [1, 1, 2, 2, 3], "town": [7, 7, 8, 8, 8], "job": ["a", "b", "a", "b", "b"]})
    schema = md.Schema(keys=["town", "job"], household="hid")
    masked = md.mask(frame, schema, md.LocalSuppression(k=2, together="town", importance={"job": 5.0}), seed=1)
    assert masked.verify()
    assert {claim.kind for claim in masked.claims} == {"k-anonymity", "only-blanked", "blanked-together"}
    gone = masked.frame["town"].isna().groupby(frame["hid"]).nunique()
    assert (gone == 1).all()


def test_within_strata_each_stratum_has_k() -> None:
    frame = pd.DataFrame({"s": ["x"] * 4 + ["y"] * 3, "a": [1, 1, 2, 2, 1, 2, 2]})
    masked = md.mask(frame, md.Schema(keys=["a"], strata=["s"]), md.LocalSuppression(k=2), seed=1)
    assert masked.frame["a"].isna().tolist() == [False] * 4 + [True, False, False]
    assert masked.verify()


def test_a_claim_is_found_false_when_a_value_comes_back() -> None:
    frame = pd.DataFrame({"a": [1, 1, 1, 2], "b": [1, 1, 2, 2]})
    masked = md.mask(frame, md.Schema(keys=["a", "b"]), md.LocalSuppression(k=2), seed=1)
    claim = next(c for c in masked.claims if c.kind == "k-anonymity")
    before = md.read_records(frame, md.Schema())
    assert "match fewer than 2" in md.claim_kinds()["k-anonymity"](before, before, claim.parameters)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame(kind: str) -> None:
    frame = pd.DataFrame({"a": ["x", "x", "y", None, "x"], "b": [1.0, 1.0, 2.0, 2.0, np.nan], "c": range(5)})
    answers = [
        md.mask(KINDS[k](frame), md.Schema(keys=["a", "b"]), md.LocalSuppression(k=2), seed=1) for k in ("pandas", kind)
    ]
    first, found = (as_pandas(answer.frame) for answer in answers)
    assert found.isna().to_numpy().tolist() == first.isna().to_numpy().tolist()
    assert answers[1].verify()


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda: md.LocalSuppression(k=0), "k must be at least 1"),
        (lambda: md.LocalSuppression(missing="anny"), "did you mean 'any'"),  # type: ignore[arg-type]
        (lambda: md.LocalSuppression(up_to=2, missing="own"), "ask for missing='any'"),
        (lambda: md.LocalSuppression(importance={"a": 0}), "importance of 'a'"),
        (lambda: run(md.LocalSuppression(importance={"aa": 1})), "'aa' is none of the keys"),
        (lambda: run(md.LocalSuppression(k=9)), "cannot reach k = 9"),
        (lambda: run(md.LocalSuppression(together="a")), "need the household"),
        (lambda: run(md.LocalSuppression(thresholds={5: 2})), "a threshold for 5 keys"),
        (lambda: run(md.LocalSuppression(keys=["a", "z"])), "no column 'z'"),
        (lambda: md.mask(pd.DataFrame({"a": [1]}), None, md.LocalSuppression()), "no keys are given"),
    ],
)
def test_bad_input_gives_one_clear_error(make: Any, part: str) -> None:
    with pytest.raises(InputError, match=part):
        make()


def run(step: md.Method) -> md.Masked:
    return md.mask(pd.DataFrame({"a": [1, 1, 2], "b": [1, 2, 2]}), md.Schema(keys=["a", "b"]), step, seed=1)
