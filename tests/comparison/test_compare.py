"""Methods side by side: measures by hand, intruders that know their method, nothing public."""

from __future__ import annotations

import inspect
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.attack.audit import audit
from tabprotect.comparison import APPROACHES, Approach, compare, loss, parse_approach
from tabprotect.errors import InputError
from tabprotect.methods.suppression.options import Options, changed
from tabprotect.problem import Problem
from tabprotect.solver.limits import Limits
from tests.methods.rounding.tables import flat


def sensitive(level=2.0, seed=1):
    problem = flat(3, 4, seed=seed, high=40)
    status = problem.status.copy()
    status[[7, 13, 18]] = 1
    return replace(problem, status=status, lpl=np.full(20, level), upl=np.full(20, level), lower=np.zeros(20))


def test_measures_by_hand():
    p = Problem.from_arrays([[-1, 1, 1]], [8, 2, 6], primary=[], lpl=0, upl=0)
    found = loss(p, np.array([10.0, 2, 8]))
    assert (found.hidden, found.changed, found.distance, found.mean, found.largest) == (0, 2, 4, 4 / 3, 2)
    assert found.relative == pytest.approx((2 / 8 + 0 + 2 / 6) / 3)
    assert (found.margins, found.kept, found.off) == (1, 0, 0)
    expected = np.sqrt(((np.sqrt([2 / 8, 6 / 8]) - np.sqrt([2 / 10, 8 / 10])) ** 2).sum() / 2)
    assert found.hellinger == pytest.approx(expected)
    assert found.ranks == 1
    assert loss(p, np.array([9.0, 2, 8])).off == 1
    assert loss(p, np.array([8.0, 6, 2])).ranks == pytest.approx(0.5)


def test_methods_that_hide_cells_are_named_as_in_protect():
    lines = compare(sensitive(), ["greedy", "exact"], limits=20).lines
    assert [line.approach for line in lines] == [Approach("suppress", {"method": m}) for m in ("greedy", "exact")]
    assert all(line.risk.exposed == 0 for line in lines)
    with pytest.raises(InputError, match="unknown method 'gredy'; did you mean 'greedy'"):
        compare(sensitive(), ["gredy"])


def test_hidden_cells_are_counted_apart():
    p = Problem.from_arrays([[-1, 1, 1]], [8, 2, 6], primary=[], lpl=0, upl=0)
    found = loss(p, np.array([8.0, np.nan, np.nan]))
    assert (found.hidden, found.changed, found.distance, found.kept, found.off) == (2, 0, 0, 1, 0)
    assert found.hellinger is None
    assert found.ranks is None
    minus = loss(replace(p, values=-p.values, lower=p.values - 99), -p.values)
    assert minus.hellinger is None
    assert minus.ranks == 1


def test_nothing_changed_is_nothing_lost():
    p = sensitive()
    found = loss(p, p.values)
    assert (found.hidden, found.changed, found.distance, found.off, found.hellinger, found.kept) == (
        0, 0, 0, 0, 0, found.margins,
    )  # fmt: skip
    assert found.ranks == pytest.approx(1)


def test_every_method_has_a_line():
    p = replace(sensitive(), integer=True)
    keys = np.random.default_rng(0).integers(0, 2**26, p.n_cells)
    found = compare(p, keys=keys, limits=Limits(seconds=20))
    assert [line.approach.name for line in found.lines] == [
        name for name in APPROACHES if name not in ("recode", "swap", "successive-round")
    ]
    for line in found.lines:
        assert line.loss is not None, line
        assert line.risk.sensitive == 3
        assert line.seconds > 0
    by = {line.approach.name: line for line in found.lines}
    assert by["suppress"].risk.exposed == 0
    assert by["suppress"].loss.hidden > 3
    assert by["suppress"].loss.changed == 0
    assert by["round"].loss.off == by["adjust"].loss.off == 0
    assert by["conventional-round"].loss.off > 0
    assert by["round"].loss.distance <= by["unbiased-round"].loss.distance
    assert by["conventional-round"].loss.distance <= by["round"].loss.distance


def test_recoding_gives_up_cells_of_tables_that_have_hierarchies():
    data = tp.instances.register(200, seed=1)
    data["section"] = data["division"].str[:1]
    by = [tp.Dimension(["section", "division"]), "size"]
    table = tp.tabulate(data, by, "turnover", contributor="enterprise_id")
    found = compare(tp.make_problem(table, "threshold=3", singletons=False), ["recode"], table=table).lines[0]
    assert found.status == "optimal"
    assert found.loss.hidden > 0
    assert found.loss.changed == 0
    # what was given up is not published, but a parent that is hardly larger tells most of it
    assert found.risk.exact == 0
    assert found.risk.exposed < found.risk.sensitive / 5
    assert "parts of" in found.message
    assert compare(sensitive(), ["recode"]).lines[0].status == "not possible"


def test_each_intruder_knows_his_method():
    p = sensitive(level=4.0)
    line = compare(p, ["conventional-round:base=5"]).lines[0]
    assert line.risk.exposed == 3  # within 2.5 of every value
    wide = compare(p, ["round:base=5,levels=yes"]).lines[0]
    assert wide.risk.exposed == 0
    bare = compare(p, ["suppress"]).lines[0]
    shown = audit(p, np.flatnonzero(p.status == 1))
    assert bare.risk.exposed == 0
    assert len(shown.exposed) == 3


def test_what_is_not_possible_is_told():
    found = compare(flat(2, 2, 2), ["unbiased-round:base=5", "cell-key"])
    assert [line.status for line in found.lines] == ["not possible", "not possible"]
    assert "two dimensions" in found.lines[0].message
    assert "keys of records" in found.lines[1].message
    assert found.charts() == []
    assert "not possible" in found.html()


def test_outputs_are_marked(tmp_path):
    found = compare(sensitive(), ["suppress", "round:base=5"], title="<b>A & B</b>")
    page = found.html()
    assert page.count("CONFIDENTIAL") >= 2
    assert "&lt;b&gt;A &amp; B" in page
    assert "<b>A" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert len(found.frame) == 2
    pytest.importorskip("matplotlib")
    for name in ("plot.svg", "plot.png"):
        found.plot(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
    with pytest.raises(InputError, match=r"\.png, \.svg or \.pdf"):
        found.plot(tmp_path / "plot.gif")


def test_the_same_method_twice_has_two_bars():
    found = compare(sensitive(), ["round:base=5", "suppress", "round:base=3"])
    assert list(found.charts()[0].names) == ["round 1", "suppress", "round 2"]
    assert len(found.charts()[0].heights) == 3


def test_words_of_methods():
    assert parse_approach("adjust") == Approach("adjust")
    assert parse_approach("round:base=0.5,steps=2,levels=yes").options == {"base": 0.5, "steps": 2, "levels": True}
    with pytest.raises(InputError, match="did you mean 'round'"):
        parse_approach("roundd")
    for text, word in (
        ("round:bas=5", "did you mean 'base'"),
        ("round:base=five", "base must be a number, not 'five'"),
        ("round:norm=l3", "norm must be 'l1' or 'l2' or 'linf'"),
        ("round:weights=values", "did you mean 'value'"),
        ("round:base=-5", "base must be above 0"),
        ("round:base=nan", "finite"),
        ("adjust:senses=upp", "did you mean 'up'"),
        ("suppress:method=gredy", "did you mean 'greedy'"),
        ("round:levels=maybe", "yes or no"),
        ("round:steps=most", "whole number or 'least'"),
        ("cell-key:deviation=1.5", "a whole number"),
    ):
        with pytest.raises(InputError, match=word):
            parse_approach(text)


def test_hidden_value_cost_and_gap_are_columns_and_nothing_is_best_by_not_applying():
    problem = sensitive()
    found = compare(problem, ["suppress", "round:base=5"])
    main = found.grids()[0]
    rows = [dict(zip(main.columns, row, strict=True)) for row in main.rows]
    values = found.lines[0].values
    assert rows[0]["hidden value"] == np.abs(problem.values[np.isnan(values)]).sum() > 0
    assert rows[0]["gap"] == f"{100 * (rows[0]['cost'] - rows[0]['bound']) / rows[0]['cost']:.2f} %"
    # rounding hides nothing by design: that is no hidden value of 0, and suppression changes nothing by design
    assert rows[1]["hidden value"] is None
    assert rows[1]["hidden cells"] is None
    bars = {chart.title: chart for chart in found.charts()}
    assert bars["Hidden value (%)"].heights[1] is None
    assert bars["Mean relative change of published cells (%)"].heights[0] is None
    assert bars["Mean relative change of published cells (%)"].bars()[0]["label"] == "does not apply"
    assert found.frame["hidden_value"].isna().tolist() == [False, True]


def test_what_is_exposed_is_red():
    found = compare(sensitive(), ["suppress", "conventional-round:base=2"])
    exposed = [line.risk.exposed > 0 for line in found.lines]
    assert exposed == [False, True]
    for grid in (found.grids()[0], found.grids()[2]):
        assert grid.bad == {(1, list(grid.columns).index("exposed"))}
    assert len(re.findall(r'<td class="[^"]*\bbad">', found.html())) == 2


def test_what_is_printed_is_short() -> None:
    found = tp.compare(tp.instances.load("eustat-investment"), ["suppress", "round:base=5"])
    by_the_solver = "optimal by the solver; no bound is proven in exact arithmetic"
    assert repr(found) == f"Comparison(suppress: optimal, round base=5.0: {by_the_solver})"
    for choice in (tp.Suppress(), tp.Suppress("count", "exact"), tp.Recode(then=tp.Suppress("unit"))):
        assert len(repr(choice)) < 60
    tuned = changed(Options(), "schedule.small_cells", 7)
    assert repr(tp.Suppress(options=tuned)) == "Suppress(options=Options(schedule=ScheduleOptions(small_cells=7)))"


def test_adjustment_is_judged_as_protect_does() -> None:
    data = pd.DataFrame({"r": list("nnnssswww"), "c": list("abcabcabc"), "v": [90.0, 5, 44, 40, 53, 21, 33, 60, 12]})
    table = tp.tabulate(data.assign(firm=list("abcdefghi")), ["r", "c"], "v", contributor="firm")
    release = tp.protect(table, "p%=15", tp.Adjust(), seed=0)
    (line,) = compare(release.problem, ["adjust"], seed=0).lines
    assert line.values is not None
    assert line.values.tolist() == release.values.tolist()
    assert line.risk is not None
    assert (release.safe, release.result.knows) == (line.risk.exposed == 0, line.risk.knows) == (True, "no distance")
    assert "an intruder who knew the largest change, too, would come within" in line.message


def test_what_only_the_solver_says_is_marked_in_every_table() -> None:
    found = compare(tp.instances.load("eustat-investment"), ["adjust"])
    (line,) = found.lines
    assert line.status == "optimal"
    assert all("optimal by the solver" in str(grid.rows[0]) for grid in found.grids() if "status" in grid.columns)
    assert found.frame["optimality"][0] == line.words


def test_what_cannot_be_lost_by_hiding_is_a_dash_and_no_best_figure() -> None:
    found = compare(sensitive(), ["suppress", "round:base=5"], limits=Limits(seconds=20))
    (lost,) = [grid for grid in found.grids() if grid.title == "Information loss"]
    of = {name: dict(zip(lost.columns, row, strict=True)) for row in lost.rows for name in [str(row[0])]}
    hidden, rounded = of["suppress"], next(row for name, row in of.items() if "round" in name)
    same = [name for name in lost.columns if hidden[name] is None]
    assert {"Hellinger", "rank correlation", "sums off by"} <= set(same)
    assert all(rounded[name] is not None for name in same)


@pytest.mark.parametrize("bad", [0.5, np.nan, np.inf])
def test_keys_that_are_not_whole_are_refused(bad: float) -> None:
    p = Problem.from_arrays([[-1, 1, 1]], [5, 2, 3], primary=[1], lpl=1, upl=1, integer=True)
    with pytest.raises(InputError, match="keys must be whole numbers"):
        compare(p, ["cell-key"], keys=np.array([1, 2, bad]))


def test_a_notebook_shows_methods_and_no_value() -> None:
    values = np.array([20017.0, 9013, 11004])
    p = Problem.from_arrays([[-1, 1, 1]], values, primary=[1], lpl=711, upl=711)
    found = compare(p, ["suppress", "round:base=4000"])
    page = found._repr_html_()
    text = page.partition("</style>")[2]
    assert "suppress: optimal" in text
    assert ", 2 cells hidden" in text
    assert "INTERNAL" in text
    assert not any(f"{abs(number):.0f}" in text for number in (*values, 711))


def test_the_annotations_name_no_rule_as_a_request() -> None:
    assert "request.Request" in str(inspect.signature(compare).parameters["problem"].annotation)
    with pytest.raises(InputError, match="compare needs a Problem"):
        compare(tp.Request(70))


def test_what_a_stop_came_before_is_not_run_and_said_to_be() -> None:
    found = compare(sensitive(), ["suppress", "round:base=5"], limits=Limits(stop=lambda: True))
    for line in found.lines:
        assert (line.status, line.stopped, line.loss, line.risk) == ("not run", True, None, None)
        assert line.message == "the comparison was stopped before this method"
    assert [row[1] for row in found.grids()[0].rows] == ["not run", "not run"]


def test_what_a_stop_left_unjudged_is_undecided_in_every_table_and_what_follows_is_not_run() -> None:
    heard: list[str] = []
    found = compare(
        sensitive(),
        ["conventional-round:base=5", "suppress"],
        limits=Limits(stop=lambda: "audit" in heard),
        progress=lambda line: heard.append(line.stage),
    )
    rounded, hidden = found.lines
    assert rounded.risk is not None
    assert (rounded.risk.exposed, rounded.risk.undecided) == (0, 3)
    assert rounded.stopped
    assert "3 sensitive cells not decided when the judgement was ended" in rounded.message
    assert found.grids()[0].rows[0][-1] == "0 of 3, 3 undecided"
    assert hidden.status == "not run"
