"""Sampling: designs draw what they say, and totals are estimated without bias."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect.microdata as md
from tabprotect.errors import InputError
from tabprotect.microdata.masking.designs import allocate, inclusion
from tests.microdata.frames import KINDS, as_pandas
from tests.quick import examples


def people(n: int = 30) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "region": rng.choice(["n", "s", "w"], n, p=[0.5, 0.3, 0.2]),
            "hid": np.sort(rng.integers(0, n // 2, n)),
            "income": rng.lognormal(3, 1, n).round(2),
            "w": rng.integers(1, 5, n).astype(float),
            "size": rng.integers(1, 30, n),
        }
    )


DESIGNS: dict[str, tuple[md.Schema, md.Sampling]] = {
    "simple": (md.Schema(weight="w"), md.Sampling(size=9)),
    "share": (md.Schema(weight="w"), md.Sampling(share=0.3)),
    "stratified": (md.Schema(weight="w", strata=["region"]), md.Sampling(size=10)),
    "equal": (md.Schema(weight="w", strata=["region"]), md.Sampling(size=9, allocation="equal")),
    "neyman": (md.Schema(weight="w", strata=["region"]), md.Sampling(size=9, allocation="neyman", spread="income")),
    "given": (md.Schema(weight="w", strata=["region"]), md.Sampling(allocation={"n": 3, "s": 2, "w": 4})),
    "systematic": (md.Schema(weight="w"), md.Sampling(size=7, design="systematic")),
    "systematic in strata": (md.Schema(weight="w", strata=["region"]), md.Sampling(size=7, design="systematic")),
    "size": (md.Schema(weight="w"), md.Sampling(size=7, design="proportional-to-size", of="size")),
    "households": (md.Schema(weight="w", household="hid"), md.Sampling(size=6, unit="household")),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_totals_are_estimated_without_bias(name: str) -> None:
    schema, step = DESIGNS[name]
    frame = people()
    target = float((frame["w"] * frame["income"]).sum())
    found = []
    for seed in range(examples(50, 80)):
        masked = md.mask(frame, schema, step, seed=seed)
        found.append(float((masked.frame["w"] * masked.frame["income"]).sum()))
        if seed < 3:
            assert masked.verify(), masked.verify().summary()
            assert (np.diff(masked.links) > 0).all()
            assert masked.frame["income"].tolist() == frame["income"].to_numpy()[masked.links].tolist()
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - target) < 4 * error + 1e-9


def test_systematic_samples_take_every_so_manieth_record() -> None:
    """The survey's example: only the even (or the odd) tuples are published."""
    frame = pd.DataFrame({"x": range(12)})
    seen = Counter(
        tuple(md.mask(frame, None, md.Sampling(size=6, design="systematic"), seed=seed).frame["x"])
        for seed in range(40)
    )
    assert set(seen) == {(0, 2, 4, 6, 8, 10), (1, 3, 5, 7, 9, 11)}


def test_each_record_is_drawn_with_its_probability() -> None:
    sizes = np.array([1.0, 2.0, 3.0, 4.0, 20.0])
    frame = pd.DataFrame({"x": range(5), "size": sizes})
    step = md.Sampling(size=2, design="proportional-to-size", of="size")
    drawn, times = np.zeros(5), examples(200, 400)
    for seed in range(times):
        drawn[md.mask(frame, None, step, seed=seed).links] += 1
    expected = inclusion(sizes, 2)
    assert expected[4] == 1.0
    assert np.abs(drawn / times - expected).max() < 0.08


def test_households_come_whole() -> None:
    frame = people()
    schema, step = DESIGNS["households"]
    masked = md.mask(frame, schema, step, seed=5)
    whole = frame.groupby("hid").size()
    assert (masked.frame.groupby("hid").size() == whole[masked.frame["hid"].unique()]).all()
    assert masked.frame["hid"].nunique() == 6


def test_weights_are_added_and_known_to_later_steps() -> None:
    masked = md.mask(people(), None, [md.Sampling(size=10), md.TopCoding("income", quantile=0.9)], seed=1)
    assert masked.frame["weight"].tolist() == [3.0] * 10
    assert masked.records.schema.weight == "weight"
    assert masked.verify()


def test_bounds_of_earlier_steps_stay_claimed() -> None:
    masked = md.mask(people(), None, [md.TopCoding("income", threshold=40), md.Sampling(size=10)], seed=1)
    assert {claim.kind for claim in masked.claims} == {"at-most", "sampled", "design-weights"}
    assert masked.verify()


def test_claims_about_weights_end_with_the_weights() -> None:
    steps = [md.WeightNoise(share=0.2), md.TopCoding("w", threshold=3), md.Sampling(size=10)]
    masked = md.mask(people(), md.Schema(weight="w"), steps, seed=1)
    assert {claim.kind for claim in masked.claims} == {"sampled", "design-weights"}
    assert masked.verify()


def test_allocations_keep_their_bounds() -> None:
    assert allocate(7, np.array([1.0, 1.0]), np.array([2, 50])).tolist() == [2, 5]
    assert allocate(100, np.array([1.0, 3.0]), np.array([2, 5])).tolist() == [2, 5]
    assert allocate(5, np.array([0.0, 0.0]), np.array([9, 9])).sum() == 5
    rng = np.random.default_rng(0)
    for _ in range(50):
        most = rng.integers(1, 40, 6)
        total = int(rng.integers(6, most.sum() + 1))
        found = allocate(total, rng.random(6), most)
        assert found.sum() == total
        assert ((found >= 1) & (found <= most)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame(kind: str) -> None:
    schema = md.Schema(weight="w", strata=["region"])
    plain = md.mask(people(), schema, md.Sampling(size=10), seed=1)
    masked = md.mask(KINDS[kind](people()), schema, md.Sampling(size=10), seed=1)
    assert as_pandas(masked.frame).to_numpy().tolist() == plain.frame.to_numpy().tolist()
    assert masked.verify()


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda: md.Sampling(), "either size, or share"),
        (lambda: md.Sampling(size=3, share=0.1), "either size, or share"),
        (lambda: md.Sampling(size=3, design="systemtic"), "did you mean 'systematic'"),  # type: ignore[arg-type]
        (lambda: md.Sampling(size=3, of="size"), "go together"),
        (lambda: md.Sampling(size=3, allocation="neyman"), "go together"),
        (lambda: run(md.Sampling(size=99)), "cannot be drawn from 30"),
        (lambda: run(md.Sampling(size=2)), "each needs one"),
        (lambda: run(md.Sampling(allocation={"n": 1, "s": 1})), "does not name stratum 'w'"),
        (lambda: run(md.Sampling(allocation={"n": 1, "s": 1, "ww": 1})), "no stratum 'ww'"),
        (lambda: run(md.Sampling(size=5, unit="household")), "name their column"),
        (lambda: run(md.Sampling(size=5, weight="income")), "there is a column 'income'"),
        (lambda: run(md.Sampling(size=5, design="proportional-to-size", of="sizes")), "did you mean 'size'"),
    ],
)
def test_bad_input_gives_one_clear_error(make: Any, part: str) -> None:
    with pytest.raises(InputError, match=part):
        make()


def run(step: md.Method) -> md.Masked:
    return md.mask(people(), md.Schema(strata=["region"]), step, seed=1)
