"""Trials of what cells are charged, cut short by their limits."""

from __future__ import annotations

from tabprotect.instances import family
from tabprotect.instances.large import large
from tabprotect.methods.suppression.large.charges import choose
from tabprotect.methods.suppression.large.cover import Cover
from tabprotect.methods.suppression.large.method import charge_power
from tabprotect.methods.suppression.large.nearby import Nearby
from tabprotect.methods.suppression.large.programme import Move
from tabprotect.methods.suppression.large.surroundings import Surroundings
from tabprotect.methods.suppression.options import DEFAULTS, changed
from tabprotect.solver.limits import Budget, Limits


def test_a_trial_that_is_cut_short_compares_what_all_charges_came_to() -> None:
    problem = family("thin", 1, sizes=(14, 14, 14), filled=0.5)
    power, share = charge_power(problem, Budget(Limits(work=20_000)))
    assert power == 0.0
    assert 0 < share < 0.5


def test_answers_that_a_trial_cut_short_are_not_kept() -> None:
    problem = large(600, dims=3, seed=2)
    cover = Cover(problem)
    nearby = Nearby(problem, Surroundings(problem.system))
    order = cover.open().tolist()
    asked: list[int] = []

    def answer(k: int, part: Budget) -> bool:
        found = nearby.find(Move(cover.keys[k].cell, cover.keys[k].side, cover.need[k]), cover.price, Budget())
        assert found is not None
        cover.take(found, [k])
        asked.append(k)
        if len(asked) == 3:
            part.spend(1_000)
        return True

    options = changed(DEFAULTS, "local.rebuild.charge_powers", (1.0,)).local.rebuild
    choose(cover, nearby.programme, order, options, Budget(Limits(work=1_000)), answer)
    assert len(asked) == 3
    assert [bool(cover.relies[k]) for k in asked] == [True, True, False]
