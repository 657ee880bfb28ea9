"""Record swapping of microdata: the same swaps as for tables, claims, households, strata, missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
import tabprotect.microdata as md
from tabprotect.errors import InputError
from tabprotect.methods.recoding import open_classes
from tabprotect.methods.record_swapping import swap_records
from tabprotect.seeds import part_of
from tests.microdata.frames import KINDS, as_pandas


def census(n: int = 300, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    home = np.repeat(np.arange(n // 2), 2)
    town = rng.integers(0, 8, n // 2)[home]
    return pd.DataFrame(
        {
            "region": np.where(town < 4, "north", "south"),
            "town": [f"t{t}" for t in town],
            "age": rng.integers(0, 9, n),
            "sex": rng.choice(["f", "m"], n),
            "hid": home,
        }
    )


STEP: dict[str, Any] = {"geography": ["region", "town"], "risk": "age", "similar": [["sex"]], "k": 3, "rate": 0.1}


def test_it_is_the_swapping_of_the_tables() -> None:
    frame = census()
    masked = md.mask(frame, None, md.RecordSwapping(**STEP), seed=5)
    rng = np.random.default_rng(part_of(5, 0))
    done = swap_records(
        frame, geography=["region", "town"], risk=["age"], similar=[["sex"]], k=3, rate=0.1, seed=rng
    )  # fmt: skip
    assert masked.frame["town"].tolist() == done.frame["town"].tolist()
    assert masked.steps[0].facts["swapped"] == 2 * len(done.pairs) > 0


@pytest.mark.parametrize("kind", KINDS)
def test_places_change_and_tables_of_similar_columns_stay(kind: str) -> None:
    frame = census(120)
    given = KINDS[kind](frame)
    masked = md.mask(given, md.Schema(household="hid"), md.RecordSwapping(**STEP), seed=1)
    after = as_pandas(masked.frame)
    assert masked.verify()
    assert (after["town"].to_numpy() != frame["town"].to_numpy()).any()
    for by in (["region", "sex"], ["town", "sex"]):
        assert after.groupby(by).size().to_dict() == frame.groupby(by).size().to_dict()
    # a household moves as a whole, and everything but its place stays
    assert (after.groupby("hid")["town"].nunique() == 1).all()
    assert after[["age", "sex", "hid"]].to_numpy().tolist() == frame[["age", "sex", "hid"]].to_numpy().tolist()
    assert (after.groupby("town")["region"].nunique() == 1).all()


def test_strata_are_kept_and_the_keys_are_what_is_rare() -> None:
    frame = census().assign(half=lambda f: np.where(f["hid"] % 2 == 0, "x", "y"))
    schema = md.Schema(keys=["town", "age"], strata=["half"])
    masked = md.mask(frame, schema, md.RecordSwapping("town", rate=0.3), seed=2)
    moved = masked.frame["town"] != frame["town"]
    assert moved.any()
    assert masked.frame.groupby(["half", "town"]).size().to_dict() == frame.groupby(["half", "town"]).size().to_dict()
    assert masked.verify()


def test_missing_values_are_values_of_their_own() -> None:
    frame = census()
    frame.loc[::7, "age"] = np.nan
    frame.loc[::11, "town"] = None
    frame.loc[::11, "region"] = None
    masked = md.mask(frame, None, md.RecordSwapping(**STEP), seed=1)
    assert masked.verify()
    assert masked.frame["town"].isna().sum() == frame["town"].isna().sum()
    assert masked.frame["age"].equals(frame["age"])


def test_a_swap_that_was_tampered_with_is_found() -> None:
    frame = census()
    masked = md.mask(frame, None, md.RecordSwapping(**STEP), seed=1)
    wrong = masked.frame.copy()
    wrong.loc[0, "town"] = "t0" if wrong.loc[0, "town"] != "t0" else "t1"
    records = md.read_records(wrong, md.Schema())
    assert not tp.microdata.claims.check_claims(masked.claims, records, masked.before)


@pytest.mark.parametrize(
    ("change", "words", "part"),
    [
        ({}, {"geography": ["town", "region"]}, "areas are not nested: 'region'"),
        ({}, {"risk": "town"}, "'town' is swapped"),
        ({}, {"similar": ["sex"]}, "list of lists"),
        ({}, {"k": 0}, "k must be at least 1"),
        ({}, {"rate": 1.5}, "rate must be at most 1"),
        ({}, {"risk": None}, "no columns of risk"),
        ({"town": "t9"}, {}, "a household of 'hid' is in several areas"),
        ({"hid": None}, {}, "without a household"),
    ],
)
def test_what_cannot_be_swapped(change: dict[str, Any], words: dict[str, Any], part: str) -> None:
    frame = census(40).astype({"hid": object})
    for name, value in change.items():
        frame.loc[1, name] = value
    with pytest.raises(InputError, match=part):
        md.mask(frame, md.Schema(household="hid"), md.RecordSwapping(**{**STEP, **words}), seed=1)


def test_open_classes_of_a_table_recode_the_records() -> None:
    frame = pd.DataFrame({"age": [str(a) for a in [1, 2, 2, 3, 3, 3, 4, 4, 4, 5, 6]]})
    classes = open_classes(tp.tabulate(frame, "age"), "age", "threshold=3")
    masked = md.mask(frame, None, md.GlobalRecoding("age", rules=str(classes.recode)), seed=1)
    assert masked.frame["age"].value_counts().to_dict() == {"1-2": 3, "3": 3, "4-6": 5}
    assert masked.verify()
