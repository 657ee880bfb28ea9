"""Groups in one pass give what they give one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.query.audit import Auditor, Records
from tabprotect.query.audit.groups import Groups, chosen, distinct, largest, sizes, totals, units
from tabprotect.query.audit.partition import Partition
from tabprotect.query.audit.sensitive import _in_one_pass, _one_by_one, as_table


@st.composite
def grouped(draw):
    """Records with negative, equal and missing contributions, and groups of which some are empty."""
    n = draw(st.integers(1, 30))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    x = rng.integers(-9, 10, n) / draw(st.sampled_from([1, 4]))
    owners = rng.integers(0, draw(st.integers(1, n)), n) if draw(st.booleans()) else None
    g = draw(st.integers(1, 6))
    return Records.of(x, lower=-np.inf, units=owners), Groups(rng.integers(-1, g, n), g)


@given(grouped(), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_one_pass_gives_the_contributions_of_every_group_by_itself(case, top):
    records, together = case
    masks = list(together)
    for a, b in zip(_in_one_pass(records, together, top), _one_by_one(records, masks, top), strict=True):
        assert np.array_equal(a, b)
    assert totals(records, together) == totals(records, masks)
    assert sizes(together) == sizes(masks)
    assert units(records, together) == units(records, masks)


@given(grouped(), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_a_union_of_classes_is_seen_on_the_parts_as_on_the_records(case, seed):
    """Earlier answers, of which some are groups and some cut them: what follows from them is the same."""
    records, together = case
    rng = np.random.default_rng(seed)
    state = Auditor(records, "threshold=1").state
    for k in range(min(3, len(together))):
        state = state.with_query(records, together[k] if rng.random() < 0.6 else rng.random(len(records)) < 0.5)
    assert state.follow(together) == [state.follows(members) for members in together]


def test_as_table_takes_overlapping_sets_and_disjoint_ones():
    records = Records.of([5, 1, 7, 2], units=[0, 0, 1, 2])
    overlapping = [np.array([1, 1, 1, 0], bool), np.array([0, 0, 1, 1], bool)]
    disjoint = [np.array([1, 1, 0, 0], bool), np.array([0, 0, 1, 1], bool)]
    assert as_table(records, overlapping, 2).contributions.values.tolist() == [[7, 6], [7, 2]]
    assert as_table(records, disjoint, 2).contributions.values.tolist() == [[6, 0], [7, 2]]
    assert as_table(records, disjoint, 2).counts.tolist() == [1, 2]


@given(grouped())
@settings(max_examples=30, deadline=None)
def test_groups_are_a_sequence_of_masks(case):
    _, together = case
    masks = list(together)
    again = Groups.of(masks)
    assert again is not None
    assert np.array_equal(again.label, together.label)
    some = list(range(len(masks)))[::-2]
    for a, b in zip(chosen(together, some), chosen(masks, some), strict=True):
        assert np.array_equal(a, b)
    assert np.array_equal(together[-1], masks[-1])
    with pytest.raises(IndexError):
        together[len(masks)]


@pytest.mark.parametrize("most", [50, 10**9])
def test_codes_are_numbered_alike_in_a_table_and_by_sorting(most):
    """So many codes that no table of them is made."""
    codes = np.random.default_rng(1).integers(0, 50, 200)
    _, first, number = np.unique(codes, return_index=True, return_inverse=True)
    got = distinct(codes, most)
    assert np.array_equal(got[0], number)
    assert np.array_equal(got[1], first)


def test_parts_are_those_of_class_and_group():
    partition, _ = Partition.whole(5).refined(np.array([1, 1, 0, 0, 0], bool))
    atom_of, first = partition.atoms(Groups(np.array([0, -1, 0, 0, -1]), 1))
    assert len(first) == 4
    assert atom_of[2] == atom_of[3]
    assert np.array_equal(atom_of[first], np.arange(4))


def test_largest_contributions_of_equal_size_are_all_kept():
    assert largest(np.array([4, 4, 4, 2]), np.array([0, 4]), 5).tolist() == [[4, 4, 4, 2, 0]]
