"""Progress that is never silent for long, on a clock that the test turns."""

from __future__ import annotations

import itertools

import pandas as pd

import tabprotect as tp
from tabprotect.solver.limits import Progress
from tabprotect.solver.pulse import SILENCE, Pulse, never_silent


def test_the_last_line_is_said_again_after_every_silence() -> None:
    now, heard = [0.0], []
    pulse = Pulse(heard.append, clock=lambda: now[0])
    pulse(Progress("tabulate"))
    for now[0] in range(1, 61):
        if now[0] == 30:
            pulse(Progress("audit", cost=7.0, seconds=30.0))
        pulse.beat()
    times = [p.seconds for p in heard]
    assert max(b - a for a, b in itertools.pairwise(times)) <= SILENCE + 1
    assert times[-1] >= 60 - SILENCE
    assert {p.stage for p in heard if p.seconds < 30} == {"tabulate"}
    assert {(p.stage, p.cost) for p in heard if p.seconds >= 30} == {("audit", 7.0)}


def test_what_a_step_does_not_know_stays_and_seconds_never_go_back() -> None:
    heard: list[Progress] = []
    pulse = Pulse(heard.append)
    pulse(Progress("safe pattern", cost=9.0, bound=4.0, seconds=8.0, work=70))
    pulse(Progress("audit", seconds=1.0))
    assert heard[-1] == Progress("audit", 9.0, 4.0, 8.0, 70)


def test_nobody_listens_nobody_speaks() -> None:
    with never_silent(None) as progress:
        assert progress is None


def test_a_listener_that_raises_ends_the_run_only_where_it_is_called() -> None:
    def refuse(progress: Progress) -> None:
        raise ValueError("no more")

    with never_silent(refuse) as pulse:
        assert pulse is not None
        pulse._said -= 100.0
    assert pulse is not None


def test_a_release_speaks_at_once_and_says_when_a_pattern_is_there() -> None:
    heard: list[Progress] = []
    data = pd.DataFrame({"a": list("xxyyzz") * 3, "b": list("pqrpqr") * 3, "v": [10 + 7 * i % 23 for i in range(18)]})
    release = tp.protect(data, "p%=30", by=["a", "b"], value="v", limits=tp.Limits(work=3000), progress=heard.append)
    assert release.safe
    assert heard[0].stage == "tabulate"
    costs = [p.cost for p in heard if p.cost is not None]
    assert costs
    assert costs[-1] == release.result.cost
    assert next(p.stage for p in heard if p.cost is not None) in ("safe pattern", "first pattern")
    for before, after in itertools.pairwise(heard):
        assert before.seconds <= after.seconds
