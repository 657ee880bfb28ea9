"""The inference model against the intervals that the auditor reports, and against its decisions."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.models import inference
from tabprotect.query.audit import Auditor, Denial, Records
from tabprotect.query.audit.interval import reach


@pytest.mark.parametrize("seed", range(6))
def test_the_model_has_the_intervals_of_the_fast_form(seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 30, 8)
    records = Records.of(x, upper=np.where(rng.random(8) < 0.5, np.inf, x + rng.integers(0, 40, 8)))
    auditor = Auditor(records, "threshold=1")  # marks nothing: everything is answered
    for _ in range(4):
        assert auditor.ask(rng.random(8) < 0.5).answered
    state = auditor.state
    partition, box = state.partition, state.knowledge[0].box
    totals = np.bincount(partition.class_of, weights=x, minlength=partition.n_classes)
    free = 2**61
    lower = np.where(box.lower <= -free, -np.inf, totals + box.lower)
    upper = np.where(box.upper >= free, np.inf, totals + box.upper)
    chosen = np.flatnonzero(rng.random(partition.n_classes) < 0.4)
    M = partition.rows()
    low, high = inference.solve(M.toarray(), M @ totals, lower, upper, chosen.tolist())
    down, up = reach(M, box, chosen)
    assert low == pytest.approx(totals[chosen].sum() - down, abs=1e-6)
    assert high == (np.inf if up >= free else pytest.approx(totals[chosen].sum() + up, abs=1e-6))


@pytest.mark.parametrize("seed", range(6))
def test_a_single_unit_is_answered_about_exactly_as_the_model_permits(seed):
    """(1, k): a record may be confined to [0, x + (100/k - 1) x], and not more closely."""
    rng = np.random.default_rng(seed)
    x = rng.integers(5, 40, 6)
    auditor, sets = Auditor(Records.of(x), "nk=1,80"), []
    for _ in range(5):
        members = rng.random(6) < 0.6
        decision = auditor.ask(members)
        if decision.denial is Denial.SENSITIVE or not members.any():
            continue
        M = np.array([*sets, members], float)
        safe = True
        for i in np.flatnonzero(M.any(axis=0)).tolist():
            low, high = inference.solve(M, M @ x, np.zeros(6), np.full(6, np.inf), [i])
            safe &= high >= x[i] + np.ceil(x[i] / 4) - 1e-6 and low <= x[i] - np.ceil(x[i] / 4) + 1e-6
        assert decision.answered == safe
        sets += [members] if decision.answered else []
