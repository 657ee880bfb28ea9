"""Sums are exact and do not depend on the order."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tabprotect.sums import Limbs

numbers = st.lists(
    st.one_of(
        st.floats(-1e18, 1e18, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-18),
        st.integers(-(10**9), 10**9).map(float),
        st.decimals(-1000, 1000, places=2).map(float),
    ),
    min_size=1,
    max_size=40,
)


@given(numbers, st.randoms(use_true_random=False))
def test_sum_is_the_exact_one_in_any_order(values: list[float], random: object) -> None:
    x = np.array(values)
    limbs = Limbs.of(x)
    parts = limbs.split(x)
    order = list(range(len(x)))
    random.shuffle(order)  # type: ignore[attr-defined]
    total = limbs.join(parts.sum(axis=0)[None])[0]
    again = limbs.join((parts[order][: len(x) // 2].sum(axis=0) + parts[order][len(x) // 2 :].sum(axis=0))[None])[0]
    assert total == again
    # amounts in cents are added up as what is written, others as what the float holds
    exact = float(sum(Fraction(repr(v)) if limbs.decimal else Fraction(v) for v in values))
    assert abs(total - exact) <= math.ulp(exact)
    if limbs.decimal and sum(map(abs, values)) * limbs.scale < 2**53:
        assert total == exact


@given(st.lists(st.decimals(-(10**7), 10**7, places=3), max_size=30))
def test_decimals_add_up_to_what_is_written(values: list[Decimal]) -> None:
    x = np.array([float(v) for v in values])
    limbs = Limbs.of(x)
    assert limbs.join(limbs.split(x).sum(axis=0)[None])[0] == float(sum(values))


@given(numbers)
def test_single_numbers_come_back_as_they_were(values: list[float]) -> None:
    x = np.array(values)
    limbs = Limbs.of(x)
    assert np.array_equal(limbs.join(limbs.split(x)), x)


def test_nothing_to_add() -> None:
    limbs = Limbs.of(np.zeros(3))
    assert limbs.join(limbs.split(np.zeros(3))).tolist() == [0, 0, 0]
    assert limbs.join(np.zeros((0, 1))).tolist() == []
