"""What methods claim and what intruders conclude from it are two sides of one thing."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tabprotect.certificate.claims import Claim, note
from tabprotect.certificate.document import Malformed

CLAIMS: list[dict[str, Any]] = [
    {"method": "multiple", "base": "5", "steps": 0, "fixed": []},
    {"method": "multiple", "base": "2.5", "steps": 1, "fixed": []},
    {"method": "nearest", "base": "4", "fixed": []},
    {"method": "nearest", "base": "5", "fixed": []},
    {"method": "near", "within": "2.5", "fixed": []},
    {"method": "noise", "support": [[0], [-1, 0, 1], [-2, 0, 1, 2], [-3, -1, 0, 1, 3]], "fixed": []},
    {"method": "small", "base": "3", "inner": [0], "fixed": []},
    {"method": "multiple", "base": "5", "steps": 0, "fixed": [0]},
    {"method": "rising", "base": "5", "steps": 0, "fixed": []},
    {"method": "rising", "base": "2.5", "steps": 1, "fixed": []},
]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: c["method"])
def test_known_ranges_are_the_true_counts_that_the_method_may_publish_so(claim: dict[str, Any]) -> None:
    read = Claim.read(claim, 1, True)
    seen = 0
    for half in range(61):
        v = Fraction(half, 2)
        possible = [a for a in range(60) if read.kept(0, v, Fraction(a))]
        if not possible:
            continue
        seen += 1
        low, high = read.known(0, v)
        assert low is not None
        assert high is not None
        assert max(low, 0) == possible[0]
        assert high == possible[-1]
    assert seen > 5


def test_where_values_are_not_whole_the_ends_count_as_reached() -> None:
    claim = Claim.read(CLAIMS[0], 1, False)
    assert claim.known(0, Fraction(10)) == (5, 15)
    assert claim.kept(0, Fraction(10), Fraction(51, 10))
    assert not claim.kept(0, Fraction(10), Fraction(5))
    assert not claim.kept(0, Fraction(11), Fraction(11))


def test_who_is_told_no_distance_knows_none() -> None:
    claim = Claim.read({"method": "near", "within": None, "fixed": [1]}, 2, False)
    assert claim.known(0, Fraction(7)) == (None, None)
    assert claim.known(1, Fraction(7)) == (7, 7)
    assert claim.kept(0, Fraction(7), Fraction(99))
    assert not claim.kept(1, Fraction(7), Fraction(8))


def test_margins_of_small_count_rounding_tell_nothing_by_themselves() -> None:
    claim = Claim.read({"method": "small", "base": "3", "inner": [0], "fixed": []}, 2, True)
    assert claim.known(1, Fraction(3)) == (0, None)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"method": "magic", "fixed": []}, "no such method"),
        ({"method": "multiple", "base": "5", "fixed": []}, "exactly the entries"),
        ({"method": "multiple", "base": "0", "steps": 0, "fixed": []}, "above 0"),
        ({"method": "multiple", "base": "5", "steps": -1, "fixed": []}, "at least 0"),
        ({"method": "multiple", "base": 5, "steps": 0, "fixed": []}, "written as text"),
        ({"method": "near", "within": "1", "fixed": [3]}, "must lie in"),
        ({"method": "noise", "support": [], "fixed": []}, "count of 0 is missing"),
        ({"method": "noise", "support": [[0], []], "fixed": []}, "no noise"),
    ],
)
def test_claims_that_are_none_are_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(Malformed, match=words):
        Claim.read(wrong, 1, True)


def test_noise_is_for_whole_numbers() -> None:
    with pytest.raises(Malformed, match="whole numbers"):
        Claim.read(CLAIMS[5], 1, False)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: c["method"])
def test_the_public_note_says_whether_sums_hold(claim: dict[str, Any]) -> None:
    assert note(claim, True).endswith("they add up.")
    assert "sums may differ" in note(claim, False)
