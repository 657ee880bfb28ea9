"""k, l, t and unsafe combinations as measures of risk, by counting by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabprotect.microdata as md
from tabprotect.microdata.risk.anonymity import CELLS
from tests.quick import examples

SCHEMA = md.Schema(keys=["k", "l"], confidential=["ill"], weight="w")


def draw(seed: int, n: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "k": rng.choice(np.array(["a", "b", None], dtype=object), n),
            "l": rng.integers(0, 3, n),
            "ill": rng.choice(np.array(["x", "y", "z", None], dtype=object), n),
            "w": rng.integers(1, 9, n).astype(float),
        }
    )


@settings(max_examples=examples(15, 40))
@given(st.integers(0, 10**6), st.integers(1, 30))
def test_measures_by_counting(seed: int, n: int) -> None:
    frame = draw(seed, n)
    k = md.risk.k_anonymity(frame, schema=SCHEMA, k=3)
    matches = [
        sum((pd.isna(a) or pd.isna(b) or a == b) and c == d for b, d in zip(frame["k"], frame["l"], strict=True))
        for a, c in zip(frame["k"], frame["l"], strict=True)
    ]
    assert k.records is not None
    assert k.records.tolist() == matches
    bad = np.array(matches) < 3
    assert k.value == bad.mean()
    assert k.details["share of the population"] == pytest.approx(frame["w"][bad].sum() / frame["w"].sum())
    classes = frame.fillna("none").groupby(["k", "l"])["ill"]
    distinct = classes.transform(lambda ill: len(set(ill) - {"none"}))
    l = md.risk.l_diversity(frame, schema=SCHEMA, l=2)
    assert l.records is not None
    assert l.records.tolist() == distinct.tolist()
    assert l.value == pytest.approx((distinct < 2).mean())
    t = md.risk.t_closeness(frame, schema=SCHEMA, t=0.3)
    whole = frame["ill"].value_counts(normalize=True)
    far = [
        (group["ill"].value_counts(normalize=True).reindex(whole.index, fill_value=0) - whole).abs().sum() / 2
        if group["ill"].notna().any()
        else np.nan
        for _, group in frame.fillna({"k": "none"}).groupby(["k", "l"])
    ]
    assert t.records is not None
    assert sorted(set(t.records[~np.isnan(t.records)].round(9))) == sorted({round(x, 9) for x in far if x == x})
    assert t.value == pytest.approx(np.mean(~(t.records <= 0.3 + 1e-12)))


def test_many_classes_are_counted_in_parts() -> None:
    """More counts of classes by values than are held at a time."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"k": rng.integers(0, 4000, 8000), "ill": rng.integers(0, 4000, 8000)})
    classes = frame.groupby("k")["ill"]
    assert classes.ngroups * frame["ill"].nunique() > CELLS
    schema = md.Schema(keys=["k"], confidential=["ill"])
    assert list(md.risk.l_diversity(frame, schema=schema).records) == classes.transform("nunique").tolist()
    # the distance of a class is the sum over its values of what its share exceeds that of the file by
    share = frame.groupby(["k", "ill"])["ill"].transform("size") / classes.transform("size")
    over = (share - frame.groupby("ill")["ill"].transform("size") / len(frame)).where(
        ~frame.duplicated(["k", "ill"]), 0.0
    )
    wanted = over.groupby(frame["k"]).transform("sum")
    assert list(md.risk.t_closeness(frame, schema=schema).records) == pytest.approx(wanted.tolist())


def test_recursive_and_entropy_diversity() -> None:
    frame = pd.DataFrame({"k": list("aaaabb"), "ill": list("xxyzxx")})
    schema = md.Schema(keys=["k"], confidential=["ill"])
    found = md.risk.l_diversity(frame, schema=schema, kind="recursive", l=2, c=1.5)
    # a: 2 / (1 + 1) is below 1.5; b has one value only
    assert found.value == pytest.approx(2 / 6)
    np.testing.assert_array_equal(found.records, [1, 1, 1, 1, np.nan, np.nan])
    assert found.details["least c of the file"] is None
    entropy = md.risk.l_diversity(frame, schema=schema, kind="entropy", l=2.5)
    assert entropy.records is not None
    assert entropy.records.tolist() == pytest.approx([2**1.5] * 4 + [1.0] * 2)


def test_unsafe_combinations_are_those_of_the_table() -> None:
    frame = draw(3, 60)
    table = md.unsafe_combinations(frame, SCHEMA, up_to=2, threshold=4)
    found = md.risk.unsafe_combinations(frame, schema=SCHEMA, up_to=2, threshold=4)
    assert found.value == table.value
    np.testing.assert_array_equal(found.records, table.records)
    assert found.details["sets"] == table.to_dict()["sets"]


@pytest.mark.parametrize(
    ("measure", "options", "part"),
    [
        ("k_anonymity", {"k": 0}, "k must be a whole number of at least 1"),
        ("k_anonymity", {"missing": "ani"}, "did you mean 'any'"),
        ("l_diversity", {"l": 1.5}, "l must be a whole number"),
        ("l_diversity", {"kind": "recursive"}, "needs it"),
        ("l_diversity", {"column": "il"}, "did you mean 'ill'"),
        ("t_closeness", {"t": 2}, "at most 1"),
        ("t_closeness", {"distance": "hierarchical"}, "no value tree"),
    ],
)
def test_options_that_cannot_be_are_named(measure: str, options: dict[str, Any], part: str) -> None:
    with pytest.raises(md.InputError, match=part):
        getattr(md.risk, measure)(draw(1, 9), schema=SCHEMA, **options)
