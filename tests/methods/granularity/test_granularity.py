"""Granularity: the examples of the Eustat notebook, and records without it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.errors import InputError
from tabprotect.methods.granularity import granularity, granularity_index, kind_of, remove_granularity
from tabprotect.table.hierarchy import Hierarchy

NOTEBOOK = [
    ([1, 30, 18, 9, 2], 20, "normal"),
    ([1, 3, 4, 1, 1], 60, "proportional"),
    ([0, 1, 1, 21, 1], 75, "odd"),
    ([1, 30, 1, 9, 1], 60, "dispersed"),
]
TREE = Hierarchy((("Total", ("A", "B")), ("A", ("a1", "a2")), ("B", ("b1", "b2", "b3"))))
FLAT = Hierarchy.flat(["x", "y", "z"])


@pytest.mark.parametrize(("row", "index", "kind"), NOTEBOOK)
def test_examples_of_the_notebook(row, index, kind):
    assert granularity_index(row) == index
    assert kind_of(row, NOTEBOOK[0][0]) == kind


def test_kinds_depend_on_what_they_say():
    assert kind_of([0, 1, 1, 21, 1]) == "proportional"
    assert kind_of([5, 1, 5]) == "dispersed"
    assert kind_of([5, 1, 4]) == "normal"
    assert kind_of([5, 1, 4], high=4) == "dispersed"
    assert kind_of([1, 1, 9, 9], [10, 10, 40, 40], significance=0.5) == "odd"
    assert kind_of([2, 2], [1, 1]) == "normal"
    assert kind_of([0, 0, 0], [1, 1, 1]) == "normal"
    assert kind_of([1, 2, 2], level=33) == "proportional"
    assert granularity_index([0, 0]) == 0


def brute(data, keys, sizes, level):
    """Hyper-rows that reach the level, from their definition."""
    found = set()
    for size in sizes:
        for table in combinations(keys, size):
            records = data.dropna(subset=list(table))
            for held in range(1, size):
                for fixed in combinations(table, held):
                    for codes in set(records[list(fixed)].itertuples(index=False, name=None)):
                        inside = records
                        for name, code in zip(fixed, codes, strict=True):
                            inside = inside[inside[name] == code]
                        counts = list(
                            pd.Series(list(inside[list(table)].itertuples(index=False, name=None))).value_counts()
                        )
                        if 100 * counts.count(1) >= level * len(counts):
                            found.add((table, tuple(zip(fixed, codes, strict=True))))
    return found


records = st.lists(
    st.tuples(
        st.sampled_from(["a1", "a2", "b1", "b2", "b3"]),
        st.sampled_from("xyz"),
        st.sampled_from("mf"),
        st.sampled_from("12"),
    ),
    min_size=1,
    max_size=14,
)


@pytest.mark.slow
@given(records, st.sampled_from([25.0, 50.0, 80.0]))
@settings(max_examples=8, deadline=None)
def test_unsafe_rows_are_those_of_the_definition(rows, level):
    keys = ["place", "job", "sex", "age"]
    data = pd.DataFrame(rows, columns=keys)
    report = granularity(data, keys, level=level)
    assert {(row.table, row.fixed) for row in report.unsafe} == brute(data, keys, (2, 3), level)
    assert report.safe == (not report.unsafe)
    assert set(report.unsafe_tables) == {row.table for row in report.unsafe}
    counted = data.value_counts().rename("n").reset_index()
    again = granularity(counted, keys, count="n", level=level)
    assert again.rows == report.rows


@pytest.mark.slow
@given(records, st.sampled_from(["aggregate", "suppress"]), st.sampled_from([30.0, 50.0]))
@settings(max_examples=12, deadline=None)
def test_result_is_safe_and_only_coarser(rows, prefer, level):
    keys = ["place", "job", "sex"]
    data = pd.DataFrame(rows, columns=[*keys, "age"]).set_axis(range(100, 100 + len(rows)))
    result = remove_granularity(data, keys, {"place": TREE, "job": FLAT}, prefer=prefer, level=level)
    assert result.report.safe
    assert not brute(result.data, keys, (2, 3), level)
    assert result.data.index.tolist() == data.index.tolist()
    assert result.data["age"].tolist() == data["age"].tolist()
    missing = int(result.data[keys].isna().sum().sum())
    assert missing == result.suppressed == sum("suppressed" in line for line in result.log)
    codes = {parent for name, parent in result.aggregated if name == "place"}
    for before, after in zip(data["place"], result.data["place"], strict=True):
        assert after is None or after == before or (after in codes and after == {"a": "A", "b": "B"}[before[0]])
    if prefer == "suppress":
        assert not result.aggregated
    again = remove_granularity(data, keys, {"place": TREE, "job": FLAT}, prefer=prefer, level=level)
    assert again.data.equals(result.data)
    assert again.log == result.log


def test_safe_records_are_left_alone():
    data = pd.DataFrame({"place": ["a1", "a1", "b1", "b1"], "sex": list("mmff")})
    result = remove_granularity(data, ["place", "sex"], {"place": TREE}, dimensions=(2,))
    assert result.data.equals(data.astype(object))
    assert (result.rounds, result.suppressed, result.log) == (0, 0, ())


def test_aggregation_hits_where_the_units_are():
    """Two unit cells are under A, none under B: only A is aggregated, and nothing is suppressed."""
    data = pd.DataFrame({"place": ["a1", "a2", "b1", "b1", "b2", "b2"], "sex": list("mmmmmm")})
    result = remove_granularity(data, ["place", "sex"], {"place": TREE}, dimensions=(2,))
    assert result.aggregated == (("place", "A"),)
    assert result.data["place"].tolist() == ["A", "A", "b1", "b1", "b2", "b2"]
    only = remove_granularity(data, ["place", "sex"], dimensions=(2,))
    assert only.suppressed == 2


def test_a_real_file_of_persons(shared):
    data = pd.read_csv(shared("microdata/sdcMicro_testdata.csv"), dtype=str)
    keys = ["roof", "walls", "water", "relat"]
    before, after = granularity(data, keys), remove_granularity(data, keys)
    assert len(before.unsafe) > 10
    assert after.report.safe
    assert 0 < after.suppressed < 0.01 * len(data) * len(keys)


def test_report_reads_well():
    data = pd.DataFrame({"job": list("aab"), "sex": list("mfm")})
    report = granularity(data, ["job", "sex"], dimensions=(2,))
    assert str(report.rows[0]) == "job x sex at job = a: 2 of 2 cells (100 %), proportional"
    frame = report.frame
    assert frame.columns.tolist() == ["table", "fixed", "index", "cells", "units", "kind"]
    assert len(frame) == len(report.rows)
    assert report.looked_at == 4


def test_what_cannot_be_is_refused():
    data = pd.DataFrame({"job": list("aab"), "sex": list("mfm"), "n": [1, 2, 0.5]})
    with pytest.raises(InputError) as error:
        granularity(data, ["job", "sx", "job"], dimensions=(1, 4))
    assert len(error.value.problems) == 4
    with pytest.raises(InputError, match="must hold counts"):
        granularity(data, ["job", "sex"], count="n", dimensions=(2,))
    with pytest.raises(InputError, match="prefer must be"):
        remove_granularity(data, ["job", "sex"], dimensions=(2,), prefer="both")
    with pytest.raises(InputError) as error:
        remove_granularity(data, ["job", "sex"], {"job": FLAT, "jb": FLAT}, dimensions=(2,))
    assert "key 'job' has codes that its hierarchy does not: a, b" in error.value.problems[0]
    assert "hierarchies name 'jb', which is no key; did you mean 'job'?" in error.value.problems[1]
    assert np.isfinite(granularity(data, ["job", "sex"], dimensions=(2,)).level)
