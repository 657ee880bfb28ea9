"""What the steps of a masked file tell an intruder: the limits hold, and steps without an attack are named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabprotect.microdata as md
from tabprotect.microdata.risk import FuzzyDraw, RankWindow, transparency
from tabprotect.microdata.risk.steps import known_steps
from tests.quick import examples

BOTH = ["a", "b"]


def people(n: int, seed: int, *, whole: bool = False) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.lognormal(1, 0.6, size=(n, 2)), columns=BOTH)
    if whole:
        frame = (frame * 4).round().astype(int)
    return frame.assign(region=rng.choice(["n", "s"], n), size=rng.choice(["1", "2", "3", "4"], n))


CERTAIN: dict[str, Callable[[], md.Method]] = {
    "individual": lambda: md.Microaggregation(BOTH, k=3, method="individual"),
    "optimal": lambda: md.Microaggregation(BOTH, k=3, method="individual-optimal", aggregate="median"),
    "rank": lambda: md.RankSwapping(BOTH, p=15),
    "range": lambda: md.RankSwapping(BOTH, p=15, by="range"),
    "uniform factor": lambda: md.Noise(BOTH, kind="multiplicative", least=0.05, most=0.3),
}


@pytest.mark.parametrize("make", CERTAIN.values(), ids=CERTAIN)
@settings(max_examples=examples(5, 10))
@given(st.integers(0, 10_000), st.booleans(), st.booleans())
def test_certain_limits_never_exclude_the_true_record(
    make: Callable[[], md.Method], seed: int, whole: bool, strata: bool
) -> None:
    frame = people(40, seed, whole=whole)
    frame["a"] = frame["a"].astype("Float64").where(np.arange(40) != seed % 40)
    schema = md.Schema(strata=["region"] if strata else [])
    masked = md.mask(frame, schema, make(), seed=seed)
    risk = transparency(frame, masked)
    assert risk.contained.all()
    assert not risk.unknown
    assert list(risk.known) == BOTH


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(
    "method",
    [
        md.Noise(BOTH, alpha=0.05),
        md.Noise(BOTH, alpha=0.05, exact=True),
        md.Noise(BOTH, kind="correlated", alpha=0.05),
        md.Noise(BOTH, kind="linear", alpha=0.1),
        md.Noise(BOTH, kind="linear", alpha=0.1, exact=True),
        md.Noise(BOTH, kind="multiplicative", alpha=0.02),
        md.RankSwapping(BOTH, p=10, by="p-distribution"),
    ],
    ids=str,
)
def test_likely_limits_hold_as_often_as_they_should(method: md.Method, whole: bool) -> None:
    frame = people(1000, 5, whole=whole)
    masked = md.mask(frame, None, method, seed=2)
    risk = transparency(frame, masked)
    # 0.999 for each of two columns, and the spread of the masked column is an estimate
    assert risk.contained.mean() > 0.99
    assert risk.candidates.mean() < 600
    assert risk.value > 1 / 1000


def test_strata_that_are_known_leave_fewer_candidates() -> None:
    frame = people(300, 1)
    masked = md.mask(frame, md.Schema(strata=["region"]), md.RankSwapping(BOTH, p=20), seed=1)
    inside = transparency(frame, masked)
    released = masked.frame["region"].to_numpy()
    x, y = frame[BOTH].to_numpy(), masked.frame[BOTH].to_numpy()
    for i in range(0, 300, 25):
        there = released == frame["region"][i]
        fits = there.copy()
        for j in range(2):
            column = np.sort(x[there, j])
            window = int(0.2 * len(column) + 1e-9)
            at = int(np.searchsorted(column, x[i, j]))
            least, most = column[max(at - window, 0)], column[min(at + window, len(column) - 1)]
            fits &= (y[:, j] >= least) & (y[:, j] <= most)
        assert inside.candidates[i] == fits.sum()


def test_ordered_categories_count_by_their_position() -> None:
    words = ["low", "middle", "high", "top"]
    frame = pd.DataFrame({"level": np.random.default_rng(1).choice(words, 60)})
    schema = md.Schema(orders={"level": words})
    masked = md.mask(frame, schema, md.RankSwapping("level", p=5), seed=1)
    risk = transparency(frame, masked)
    assert risk.contained.all()
    place = {word: i for i, word in enumerate(words)}
    apart = masked.frame["level"].map(place).to_numpy() - frame["level"].map(place).to_numpy()[:, None]
    assert (risk.candidates <= (np.abs(apart) <= 1).sum(axis=1)).all()


def test_fuzzy_draws_and_limits_are_used_together() -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b", "c"])
    steps = [md.FuzzyMicroaggregation(BOTH, k=4, m1=1.2, m2=1.4), md.RankSwapping("c", p=5)]
    masked = md.mask(frame, None, steps, seed=1)
    risk = transparency(frame, masked)
    assert risk.contained.all()
    assert risk.candidates.max() <= 9
    alone = transparency(frame, masked, columns=BOTH)
    assert alone.value < risk.value
    # the guess is the candidate with the largest probability over the size of its class
    y = masked.frame.to_numpy()
    sx, sy = ((v[:, :2] - y[:, :2].mean(axis=0)) / y[:, :2].std(axis=0) for v in (frame.to_numpy(), y))
    classes = {tuple(row): int((y[:, :2] == row).all(axis=1).sum()) for row in y[:, :2]}
    size = np.array([classes[tuple(row)] for row in y[:, :2]])
    column = np.sort(y[:, 2])
    for i in range(80):
        at = int(np.searchsorted(column, frame["c"][i]))
        fits = (y[:, 2] >= column[max(at - 4, 0)]) & (y[:, 2] <= column[min(at + 4, 79)])
        worth = ((sx[i] - sy) ** 2).sum(axis=1) ** (-1 / 0.4) / size * fits
        best = worth >= worth.max() * (1 - 1e-7)
        assert risk.records[i] == pytest.approx(best[i] / best.sum())


@pytest.mark.parametrize(
    ("steps", "part"),
    [
        ([md.Microaggregation(BOTH, k=3)], "step 1 (microaggregation) on a, b: no attack is known here"),
        ([md.Noise(BOTH, kind="romm")], "step 1 (noise) on a, b: no attack is known here"),
        ([md.RankSwapping("a"), md.Noise("a")], "step 2 (noise) on a: other steps change the same columns"),
        ([md.RankSwapping("a"), md.Sampling(share=0.5)], "later steps changed which records there are"),
        ([md.PRAM("region"), md.RankSwapping("a")], "step 2 (rank-swapping) on a: it worked within strata"),
    ],
)
def test_steps_without_an_attack_are_named(steps: list[md.Method], part: str) -> None:
    frame = people(60, 1)
    schema = md.Schema(strata=["region"] if isinstance(steps[0], md.PRAM) else [])
    masked = md.mask(frame, schema, steps, seed=1)
    risk = transparency(frame, masked, columns=["a"])
    assert any(part in line for line in risk.unknown)
    assert any(part in line for line in risk.to_dict()["details"]["unknown"])
    assert part in risk.summary()
    assert (risk.candidates == len(masked.records)).all()
    assert risk.value == pytest.approx(risk.plain_value)


def test_a_sample_taken_before_leaves_the_ranks_alone() -> None:
    frame = people(200, 1)
    masked = md.mask(frame, None, [md.Sampling(share=0.5), md.RankSwapping("a", p=5)], seed=1)
    risk = transparency(frame, masked)
    assert risk.known["a"] == str(RankWindow(5))
    assert risk.contained[masked.links].all()
    assert risk.contained.sum() == len(masked.records)


def test_what_is_known_is_what_the_parameters_say() -> None:
    frame = people(60, 1)
    masked = md.mask(frame, None, [md.FuzzyMicroaggregation("a", m2=3.0), md.Noise("b", kind="linear", alpha=0.25)])
    about: dict[str, Any] = dict(known_steps(masked).about)
    assert about["a"] == FuzzyDraw(3.0, ("a",))
    assert (about["b"].deviation, about["b"].shrunk) == (0.5, True)


def test_linkage_with_a_masked_answers_for_an_intruder_with_the_method() -> None:
    frame = people(200, 1)
    masked = md.mask(frame, None, md.Microaggregation(BOTH, k=10, method="individual-optimal"))
    for measure in (md.risk.distance_linkage, md.risk.rank_linkage):
        found = measure(frame, masked).details["with the method"]
        assert found["value"] == pytest.approx(transparency(frame, masked).value)
        assert found["pinned"] > 0
        assert "with the method" not in measure(frame, masked.frame).details
    named = md.risk.distance_linkage(frame, masked, columns=["a"]).details["with the method"]
    assert list(named["known"]) == ["a"]
    other = md.mask(frame, None, md.Microaggregation(BOTH, k=10))
    assert "no attack is known here" in md.risk.distance_linkage(frame, other).details["with the method"]["unknown"][0]


def test_the_centre_of_noise_finds_more_than_the_nearest_record() -> None:
    names = list("abcdef")
    frame = pd.DataFrame(np.random.default_rng(1).normal(size=(1000, 6)), columns=names)
    for kind in ("uncorrelated", "linear"):
        found, plain = 0.0, 0.0
        for seed in range(4):
            risk = transparency(frame, md.mask(frame, None, md.Noise(names, kind=kind, alpha=0.5), seed=seed))
            found, plain = found + risk.value, plain + risk.plain_value
        assert found > 1.05 * plain


def test_linkage_of_many_records_says_that_it_does_not_answer() -> None:
    frame = people(200_001, 1)
    masked = md.mask(frame, None, md.Noise(BOTH), seed=1)
    found = md.risk.distance_linkage(frame, masked).details["with the method"]
    assert "call transparency" in found["unknown"][0]
    assert "value" not in found
