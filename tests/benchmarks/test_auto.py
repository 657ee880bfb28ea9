from __future__ import annotations

import pytest

from benchmarks.auto import Line, table
from benchmarks.methods import Answer


def line(auto: float | None, exact: float | None, peer: float | None, note: str = "") -> Line:
    def answer(method: str, cost: float | None, note: str = "") -> Answer:
        return Answer("x", method, cost, note=note)

    return Line("x", 9, answer("auto", auto), answer("exact", exact), answer("MOD", peer, note))


@pytest.mark.parametrize(
    ("auto", "exact", "peer", "missed"),
    [
        (105.0, 100.0, None, False),
        (106.0, 100.0, None, True),
        (100.0, None, 100.0, False),
        (101.0, 101.0, 100.0, True),
        (None, None, 100.0, True),
        (None, 100.0, None, True),
        (None, None, None, False),
        (0.0, 0.0, 0.0, False),
        (3.0, 0.0, None, True),
    ],
)
def test_what_is_too_dear_is_marked(auto: float, exact: float, peer: float, missed: bool) -> None:
    one = line(auto, exact, peer)
    assert one.missed == missed
    assert ("(!)" in table([one])) == missed


def test_a_peer_that_does_not_protect_is_no_measure() -> None:
    one = line(200.0, 200.0, 100.0, "3 primary exposed")
    assert not one.missed
    assert one.to_peer is None
    assert "100 (3 primary exposed)" in table([one])
