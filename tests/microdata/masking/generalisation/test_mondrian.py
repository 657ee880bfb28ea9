"""Mondrian: classes are large, diverse and labelled truly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabprotect.microdata as md
from tabprotect.errors import InfeasibleError
from tabprotect.table.hierarchy import Hierarchy
from tests.microdata.frames import KINDS, as_pandas

TREE = Hierarchy.from_hrc("N\n@a\n@b\nS\n@c\n@d\n@e")


def people(seed: int, n: int, gaps: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 70, n).astype(float),
            "region": rng.choice(list("abcde"), n),
            "job": rng.choice(["x", "y", "z"], n),
            "ill": rng.choice(["flu", "cold", "none"], n),
        }
    )
    for name in ("age", "region", "job"):
        frame.loc[rng.random(n) < gaps, name] = None
    return frame


def fits(label: Any, value: Any, key: str) -> bool:
    """Whether a label says nothing false of a value."""
    if label == "*":
        return True
    if label is None or label != label:
        return value is None or value != value
    if value is None or value != value:
        return False
    if key == "age":
        low, _, high = str(label).partition("-")
        return float(low) <= value <= float(high or low)
    if key == "region":
        return str(value) in [TREE.leaves[i] for i in TREE.members[[TREE.position[label]]].indices]
    return str(value) in label.split("|")


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([0.0, 0.2]))
@settings(max_examples=20)
def test_classes_have_k_records_and_true_labels(seed: int, strict: bool, gaps: float) -> None:
    frame = people(seed, 40, gaps)
    keys = ["age", "region", "job"]
    schema = md.Schema(keys=keys, hierarchies={"region": TREE})
    masked = md.mask(frame, schema, md.Mondrian(k=3, strict=strict), seed=1)
    assert masked.verify(), masked.verify().summary()
    assert masked.frame.groupby(keys, dropna=False).size().min() >= 3
    for key in keys:
        assert all(fits(label, value, key) for label, value in zip(masked.frame[key], frame[key], strict=True)), key


@pytest.mark.parametrize(
    "constraint",
    [
        md.Diversity("ill", 2),
        md.Diversity("ill", 1.9, "entropy"),
        md.Diversity("ill", 2, "recursive", 2.0),
        md.Closeness("ill", 0.3),
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_constraints_hold_in_every_class(constraint: Any, strict: bool) -> None:
    frame = people(1, 200)
    masked = md.mask(
        frame, md.Schema(keys=["age", "job"]), md.Mondrian(k=3, strict=strict, constraints=constraint), seed=1
    )
    assert len(masked.claims) == 2
    assert masked.verify(), masked.verify().summary()
    assert masked.steps[0].facts["classes"] > 5


def test_strict_splits_are_minimal_in_one_dimension() -> None:
    """A strict class with at least 2k records of distinct values would have been split."""
    frame = pd.DataFrame({"x": np.random.default_rng(0).permutation(100)})
    masked = md.mask(frame, md.Schema(keys=["x"]), md.Mondrian(k=5), seed=1)
    sizes = masked.frame.groupby("x").size()
    assert sizes.between(5, 9).all()


def test_means_keep_totals() -> None:
    frame = people(2, 50)
    masked = md.mask(frame, md.Schema(keys=["age", "job"]), md.Mondrian(k=4, numbers="mean"), seed=1)
    assert masked.frame["age"].sum() == pytest.approx(frame["age"].sum())
    assert {claim.kind for claim in masked.claims} == {"k-anonymity", "same-total"}
    assert masked.verify()


def test_classes_lie_within_strata() -> None:
    frame = people(3, 60)
    masked = md.mask(frame, md.Schema(keys=["age"], strata=["job"]), md.Mondrian(k=4), seed=1)
    assert masked.frame.groupby(["age", "job"]).size().min() >= 4
    with pytest.raises(InfeasibleError, match="a stratum of"):
        md.mask(frame, md.Schema(keys=["age"], strata=["job"]), md.Mondrian(k=40), seed=1)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame(kind: str) -> None:
    schema = md.Schema(keys=["age", "region", "job"], hierarchies={"region": TREE})
    plain = md.mask(people(4, 30), schema, md.Mondrian(k=3), seed=1)
    masked = md.mask(KINDS[kind](people(4, 30)), schema, md.Mondrian(k=3), seed=1)
    assert as_pandas(masked.frame).astype(str).to_numpy().tolist() == plain.frame.astype(str).to_numpy().tolist()
    assert masked.verify()
