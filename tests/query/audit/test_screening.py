"""Classes that are too large for anybody to stand out are passed without looking at their units."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.query.audit import Auditor, Records, knowledge


@pytest.mark.parametrize("seed", range(4))
def test_decisions_are_the_same_without_screening(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    n = 30
    x = np.round(rng.lognormal(3, 0.5, n))
    records = Records.of(x, units=rng.integers(0, 20, n) if seed % 2 else None)
    rules = ("p%=10|threshold=3", "nk=2,60", "p%=20,2", "nk=1,30|threshold=4")[seed % 4]
    sets = [rng.random(n) < rng.uniform(0.2, 0.9) for _ in range(4)]
    screened = Auditor(records, rules)
    got = [screened.ask(s).answered for s in sets]
    nobody = lambda r, c, classes, *_: (np.zeros(len(classes), np.int64), np.zeros(len(classes), bool))  # noqa: E731
    with monkeypatch.context() as m:
        m.setattr(knowledge, "_screened", nobody)
        exact = Auditor(records, rules)
        assert [exact.ask(s).answered for s in sets] == got


def test_large_classes_have_no_needs():
    records = Records.of(np.full(200, 10.0))
    auditor = Auditor(records, "p%=10|threshold=3")
    assert auditor.ask(range(100)).answered
    _, large = knowledge._screened(records, auditor.state.partition.class_of, np.arange(2), auditor.measures, None)
    assert large.all()
    assert auditor.ask(range(98)).denial is not None
