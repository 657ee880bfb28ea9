"""The classic audit of the comparison is right, and disagreement is no result."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import audit_speed
from tabprotect.attack.audit import audit
from tabprotect.instances import load


@pytest.mark.parametrize("warm", [True, False])
def test_two_programmes_a_primary_find_what_the_audit_finds(warm):
    problem = load("hier2d-small")
    for pattern in (problem.must_hide, problem.may_hide):
        exposed, asked = audit_speed.classic(problem, pattern, warm=warm)
        assert asked == len(problem.primaries)
        assert exposed == audit(problem, pattern).exposed.tolist()


def test_a_limit_ends_the_classic_audit_early():
    problem = load("unit-medium")
    assert audit_speed.classic(problem, problem.may_hide, -1.0) == ([], 0)


def test_all_audits_are_timed_on_the_same_pattern():
    problem = load("unit-small")
    for _, pattern in audit_speed.patterns(problem, 10.0):
        t = audit_speed.measure("unit-small", problem, pattern, 10.0)
        assert t.asked == (3, 3)
        assert min(t.check, t.proof, t.cold, t.warm) > 0
        assert audit_speed.line(t).count("|") == audit_speed.HEADING.splitlines()[0].count("|")


def test_disagreement_is_an_error(monkeypatch):
    problem = load("unit-small")
    monkeypatch.setattr(audit_speed, "classic", lambda *_, **__: ([0], 3))
    with pytest.raises(RuntimeError, match="disagree"):
        audit_speed.measure("unit-small", problem, np.asarray(problem.may_hide), 10.0)
