"""The benchmark of delegation: its figures agree with each other."""

from __future__ import annotations

from math import sqrt

import pytest

from benchmarks.query.delegation import FRAUDS, cost, detected


@pytest.mark.parametrize(("name", "text"), FRAUDS[:4])
def test_frequency_is_what_was_computed(name: str, text: str) -> None:
    _, exact, share, points, most = detected(name, text, 1000, 3)
    assert abs(share - exact) <= 4.5 * sqrt(exact * (1 - exact) / 1000)
    assert points == most


def test_times_are_taken_of_right_results() -> None:
    ring, moduli, budget, *ratios = cost("a*b + c", 200, 3)
    assert (ring, moduli) == (4096, 1)
    assert budget >= 10
    assert len(ratios) == 4
    assert ratios[3] == pytest.approx(ratios[1] + ratios[2])
