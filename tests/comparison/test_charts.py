"""Bars of a comparison: as its tables say, with their signs, and no rounding error as a bar."""

from __future__ import annotations

from dataclasses import replace

import tabprotect as tp
from tabprotect.comparison.figures import charts
from tabprotect.report.charts import Bars
from tabprotect.report.numbers import Numbers


def test_a_gap_that_is_a_rounding_error_is_no_bar() -> None:
    found = tp.compare(tp.instances.load("eustat-investment"), ["suppress", "round:base=5"])
    (line, other), cost = found.lines, 1e7
    lines = (replace(line, cost=cost, bound=cost * (1 - 1e-15)), replace(other, cost=cost, bound=cost * 0.9))
    assert lines[0].gap is not None
    assert lines[0].gap > 0
    (gaps,) = (chart for chart in charts(found.problem, lines) if chart.title == "Gap of the cost (%)")
    assert gaps.heights[0] == 0
    assert [bar["label"] for bar in gaps.bars()] == ["0", "10"]


def test_ends_of_bars_are_written_as_numbers_elsewhere() -> None:
    bars = Bars("t", ["a", "b", "c", "d"], [1234.5, 0.03267, None, 13.76], digits=3)
    assert [bar["label"] for bar in bars.bars(Numbers(",", "."))] == ["1.230", "0,0327", "does not apply", "13,8"]
