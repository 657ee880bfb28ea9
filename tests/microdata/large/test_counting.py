"""Keys and unsafe combinations counted outside of memory are those counted in memory."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabprotect.microdata as md
from tabprotect.errors import InputError
from tabprotect.microdata.anonymity import key_counts
from tabprotect.microdata.combinations import limits_of_choice
from tabprotect.microdata.large.unsafe import large_unsafe
from tests.microdata.frames import KINDS
from tests.microdata.large.cases import people
from tests.quick import examples

KEYS = ["region", "sector", "children", "age"]


def same(wanted: Any, found: Any) -> None:
    pd.testing.assert_frame_equal(found.table, wanted.table)
    assert found.value == wanted.value
    assert found.often.tolist() == np.bincount(wanted.records).tolist()
    assert found.summary() == wanted.summary()
    assert found.to_dict() == wanted.to_dict()


@pytest.mark.parametrize("kind", KINDS)
def test_unsafe_combinations_of_every_frame(kind: str) -> None:
    data = KINDS[kind](people(300))
    wanted = md.unsafe_combinations(data, keys=KEYS)
    found = md.unsafe_combinations(data, keys=KEYS, large=True)
    same(wanted, found)
    for keys in (["sector"], ["age", "region"], ["children", "region", "sector"]):
        pd.testing.assert_frame_equal(found.listing(*keys), wanted.listing(*keys), check_dtype=False)


@given(
    rows=st.lists(st.tuples(*[st.sampled_from([None, "a", "b", "c"])] * 5), min_size=1, max_size=25),
    threshold=st.sampled_from([1, 2, 3, {1: 4, 2: 2}, {1: 2, 3: 3}, {2: 3}]),
    up_to=st.sampled_from([None, 3]),
)
@settings(max_examples=examples(4, 8), deadline=None)
def test_any_records_and_thresholds(rows: list[Any], threshold: Any, up_to: int | None) -> None:
    frame = pd.DataFrame(rows, columns=list("vwxyz"), dtype="str")
    data = duckdb.from_df(frame)
    wanted = md.unsafe_combinations(data, keys=list("vwxyz"), threshold=threshold, up_to=up_to)
    found = md.unsafe_combinations(data, keys=list("vwxyz"), threshold=threshold, up_to=up_to, large=True)
    same(wanted, found)


def test_more_sets_of_keys_than_one_statement_counts() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"k{i}": rng.integers(0, 3, 80) for i in range(8)})
    wanted = md.unsafe_combinations(frame, keys=list(frame), up_to=3, threshold=2)
    same(wanted, md.unsafe_combinations(frame, keys=list(frame), up_to=3, threshold=2, large=True))


@pytest.mark.parametrize("kind", KINDS)
def test_frequencies_of_keys(kind: str) -> None:
    frame = people(300)
    data = KINDS[kind](frame)
    found = md.key_frequencies(data, keys=["region", "sector", "children"])
    each = key_counts(md.read_records(frame, md.Schema()), ["region", "sector", "children"], "own")
    size, records = np.unique(each, return_counts=True)
    assert found.table["size"].tolist() == size.tolist()
    assert found.table["records"].tolist() == records.tolist()
    assert found.records == 300
    assert found.smallest == each.min()
    for k in (1, 3, 5):
        assert found.below(k) == int((each < k).sum())
        listed = found.listing(k)
        assert listed["records"].sum() == found.below(k)
        assert not listed.duplicated(["region", "sector", "children"]).any()
    assert len(found.listing(5, most=2)) == 2


def test_wrong_keys() -> None:
    data = duckdb.from_df(people(50))
    with pytest.raises(InputError, match="no column 'regio'; did you mean 'region'"):
        md.key_frequencies(data, keys=["regio"])
    with pytest.raises(InputError, match="name at least one key"):
        md.key_frequencies(data)
    with pytest.raises(InputError, match="'regio' is none of the keys"):
        md.unsafe_combinations(data, keys=["region"], large=True).listing("regio")
    with pytest.raises(InputError, match="k and most must be whole numbers"):
        md.key_frequencies(data, keys=["region"]).below(0)


def test_a_key_with_too_many_values_is_named() -> None:
    numbers = pd.DataFrame({"region": "N", "number": np.arange(1_000_001)})
    with pytest.raises(InputError, match="column 'number' has more than 1,000,000 different values"):
        md.key_frequencies(numbers, keys=["region", "number"])


def test_too_many_unsafe_combinations_are_an_error() -> None:
    limits = limits_of_choice(len(KEYS), 3, 3)
    with pytest.raises(InputError, match="more than 50 combinations are unsafe; recode the keys"):
        large_unsafe(people(300), md.Schema(), tuple(KEYS), limits, None, md.Large(), most=50)
