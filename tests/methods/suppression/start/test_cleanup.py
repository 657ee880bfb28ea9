"""A clean-up that knows attacker cuts of another one tries less, and is as safe."""

from __future__ import annotations

from collections import deque

import numpy as np

from tabprotect.attack.audit import audit
from tabprotect.attack.witness import Witnesses
from tabprotect.instances import family
from tabprotect.methods.suppression.start.cleanup import Cleaner, Cut
from tabprotect.solver.limits import Budget


def test_cuts_of_a_clean_up_save_trials_of_the_next() -> None:
    problem = family("singletons", seed=1)
    everything = problem.may_hide | problem.must_hide
    cuts: deque[Cut] = deque()
    first = Cleaner(Witnesses(problem), everything, cuts=cuts)
    best = first.run(Budget())
    for cells, capacities, level in cuts:
        assert capacities[best[cells]].sum() >= level * (1 - 1e-9)
    again = problem.weights * np.exp(np.random.default_rng(0).normal(0.0, 0.2, problem.n_cells))
    alone, helped = (Cleaner(Witnesses(problem), everything, order=again, cuts=known) for known in (None, deque(cuts)))
    by_itself, with_cuts = alone.run(Budget()), helped.run(Budget())
    assert np.array_equal(by_itself, with_cuts)
    assert helped.tried < alone.tried
    assert audit(problem, with_cuts, intervals=False).safe


def test_no_more_cuts_are_kept_than_asked_for() -> None:
    problem = family("singletons", seed=2)
    cuts: deque[Cut] = deque(maxlen=2)
    Cleaner(Witnesses(problem), problem.may_hide | problem.must_hide, cuts=cuts).run(Budget())
    assert len(cuts) == 2
