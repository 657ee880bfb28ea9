"""What raises the bound next."""

from tabprotect.methods.suppression.search.bound_credit import BoundCredit


def test_relaxation_keeps_a_share_after_a_round_that_gained_nothing():
    """A first round that its slice cut short has no rate: the relaxation was never asked again, and the bound stood."""
    credit = BoundCredit()
    credit.first(gain=0.0, spent=1.2)
    credit.wait(1.2, useless=True)
    credit.record("relaxation", gain=0.0, spent=0.3, whole=True)
    assert credit.next(bound=10.0, relaxed=9.0) == "relaxation"
    credit.record("master", gain=0.07, spent=4.0, whole=False)
    assert credit.next(bound=11.0, relaxed=9.0) == "relaxation"


def test_relaxation_that_is_far_behind_gets_no_more_than_its_share():
    credit = BoundCredit()
    credit.first(gain=0.1, spent=1.0)
    credit.record("relaxation", gain=0.0, spent=1.0, whole=True)
    assert credit.next(bound=10.0, relaxed=9.0) == "master"


def test_useful_pools_are_not_left_for_a_relaxation_that_is_behind():
    credit = BoundCredit(useful=True)
    credit.first(gain=0.3, spent=1.2)
    credit.record("relaxation", gain=0.0, spent=0.3, whole=True)
    assert credit.next(bound=10.0, relaxed=9.0) == "master"
