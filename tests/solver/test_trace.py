"""Changes of cost and bound by work, and nothing between them."""

from __future__ import annotations

import numpy as np

from tabprotect.solver.limits import Progress
from tabprotect.solver.trace import Known, Trace


def test_what_is_left_open_is_as_before_and_every_line_is_passed_on() -> None:
    heard: list[Progress] = []
    trace = Trace(heard.append)
    lines = [Progress("a", None, 3.0, work=4), Progress("b", 8.0, work=2), Progress("c", message="still at work")]
    for line in lines:
        trace(line)
    assert heard == lines
    # work never goes back
    assert trace.until(8.0, 3.0) == (Known(4, None, 3.0), Known(4, 8.0, 3.0))
    assert trace.until(8.0, 3.5, 9)[-1] == Known(9, 8.0, 3.5)
    assert Trace().until(None, None) == (Known(0, None, None),)


def test_small_rises_of_a_bound_are_no_change() -> None:
    trace = Trace()
    for i, bound in enumerate(np.linspace(1_000, 1_010, 10_001).tolist()):
        trace(Progress("tree", 2_000.0, bound, work=i))
    known = trace.until(2_000.0, 1_010.0, 20_000)
    assert len(known) <= 12
    assert known[-1] == Known(20_000, 2_000.0, 1_010.0)
    noted = np.array([[one.work, one.bound] for one in known])
    assert np.all(np.abs(np.interp(noted[:-1, 0], np.arange(10_001), np.linspace(1_000, 1_010, 10_001))
                         - noted[:-1, 1]) < 1e-9)  # fmt: skip
