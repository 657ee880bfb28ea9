"""Weight noise and numbers of households."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabprotect.microdata as md
from tabprotect.errors import InputError


@given(st.integers(0, 10**6), st.floats(0.01, 0.9), st.booleans())
@settings(max_examples=25)
def test_weights_stay_near_and_add_up(seed: int, share: float, keep: bool) -> None:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"w": rng.lognormal(3, 1, 30), "s": rng.choice(["a", "b", "c"], 30), "h": rng.integers(0, 9, 30)}
    )
    frame["s"] = frame.groupby("h")["s"].transform("first")
    schema = md.Schema(weight="w", strata=["s"], household="h")
    masked = md.mask(frame, schema, md.WeightNoise(share=share, keep_total=keep), seed=seed)
    assert masked.verify(), masked.verify().summary()
    ratio = masked.frame["w"] / frame["w"]
    assert (np.abs(ratio - 1) <= share * (1 + 1e-9)).all()
    assert (ratio.groupby(frame["h"]).std().fillna(0) < 1e-9).all()
    if keep:
        sums = [x.groupby(frame["s"]).sum() for x in (masked.frame["w"], frame["w"])]
        assert np.allclose(*sums)


def test_noise_is_really_there() -> None:
    frame = pd.DataFrame({"w": np.full(1000, 100.0)})
    masked = md.mask(frame, md.Schema(weight="w"), md.WeightNoise(share=0.5), seed=1)
    assert masked.frame["w"].between(50, 150).all()
    assert masked.frame["w"].std() > 20


def test_households_of_a_real_file_are_renumbered(shared: Callable[[str], Path]) -> None:
    frame = pd.read_csv(shared("microdata/sdcMicro_testdata.csv"))
    schema = md.Schema(household="ori_hid", weight="sampling_weight")
    masked = md.mask(frame, schema, md.HouseholdNumbers(), seed=1)
    again = md.mask(frame, schema, md.HouseholdNumbers(), seed=2)
    assert masked.verify()
    pairs = pd.DataFrame({"old": frame["ori_hid"], "new": masked.frame["ori_hid"]}).drop_duplicates()
    assert len(pairs) == pairs["old"].nunique() == pairs["new"].nunique() == pairs["new"].max()
    assert masked.frame["ori_hid"].tolist() != again.frame["ori_hid"].tolist()


def test_a_number_that_joins_two_households_is_found() -> None:
    before = md.read_records(pd.DataFrame({"h": ["x", "x", "y"]}), md.Schema())
    check = md.claim_kinds()["renumbered"]
    for numbers, part in (([1, 1, 1], "equal numbers"), ([1, 2, 3], "equal numbers"), ([1, 1, 3], "count from 1")):
        after = md.read_records(pd.DataFrame({"h": numbers}), md.Schema())
        assert part in check(after, before, {"column": "h"})


def test_what_is_missing_in_the_schema_is_named() -> None:
    frame = pd.DataFrame({"w": [1.0, 2.0]})
    with pytest.raises(InputError, match="names no weight"):
        md.mask(frame, None, md.WeightNoise())
    with pytest.raises(InputError, match="names no household"):
        md.mask(frame, None, md.HouseholdNumbers())
    with pytest.raises(InputError, match="below 1"):
        md.WeightNoise(share=1.0)
