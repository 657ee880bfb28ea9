"""Charts of confidential pages."""

from __future__ import annotations

from tabprotect.report.charts import Course, Steps
from tabprotect.report.facts import course
from tabprotect.report.numbers import Numbers
from tabprotect.solver.trace import Known


def test_a_chart_is_drawn_where_there_is_something_to_draw() -> None:
    nothing: list[tuple[Known, ...]] = [
        (),
        (Known(0, 5.0, 5.0),),
        (Known(0, 9.0, None), Known(0, 5.0, 5.0)),
        (Known(1, None, 3.0), Known(9, None, 4.0)),
    ]
    assert [course(trace, "cost") for trace in nothing] == [[]] * 4
    (chart,) = course((Known(0, 900.0, None), Known(3, 10.0, 2.0), Known(9, 10.0, 10.0)), "cost")
    assert [list(line.points) for line in chart.lines] == [[(0, 20.0), (3, 10.0), (9, 10.0)], [(3, 2.0), (9, 10.0)]]
    assert "Higher costs end at the edge" in chart.note
    (free,) = course((Known(0, 4.0, None), Known(5, 0.0, 0.0)), "cost")
    assert free.lines[0].points[0] == (0, 4.0)


def test_steps_are_drawn_to_scale() -> None:
    chart = Course("t", "work units", [Steps("a", "cost", [(0, 4_000.0), (10, 2_000.0)]), Steps("b", "bound", [])], 20)
    drawn = chart.drawn(Numbers(",", "."))
    first, empty = drawn["lines"]
    assert first["points"] == "100.0,10.0 265.0,10.0 265.0,85.0 430.0,85.0"
    assert first["dot"] == (430.0, 85.0)
    assert (empty["points"], empty["dot"]) == ("", None)
    assert drawn["levels"] == [(160.0, "0"), (85.0, "2.000"), (10.0, "4.000")]
    assert drawn["places"] == [(100.0, "0", "start"), (430.0, "20", "end")]


def test_corners_on_the_same_place_are_drawn_once() -> None:
    many = [(i, 1_000.0 + i / 1_000) for i in range(10_000)]
    (line,) = Course("t", "work units", [Steps("a", "bound", many)], 10_000).drawn()["lines"]
    corners = line["points"].split(" ")
    assert len(corners) == len(set(corners)) < 4_000
    assert corners[-1] == "430.0,10.0"
