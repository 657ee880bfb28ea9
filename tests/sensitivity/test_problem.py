"""From a table to a problem: costs, bounds, levels that nobody could reach, respondents who know cells."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tabprotect.errors import InputError
from tabprotect.problem import Problem, Status
from tabprotect.sensitivity import BoxCox, Log, assess, make_problem, needs
from tabprotect.sensitivity.costs import costs
from tabprotect.table.dimension import Dimension
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.link import link
from tabprotect.table.system import LinearSystem
from tabprotect.table.table import Table
from tabprotect.table.tabulate import tabulate
from tests.sensitivity.cells import table_of, units

TREE = Hierarchy((("Total", ("N", "S")), ("N", ("n1", "n2")), ("S", ("s1", "s2"))))


@pytest.fixture
def table():
    rows = [
        ("n1", "x", 100.0, "a", "A"),
        ("n1", "x", 5.0, "b", "B"),
        ("n2", "x", 60.0, "c", "A"),
        ("n2", "y", 30.0, "d", "D"),
        ("s1", "x", 20.0, "e", "E"),
        ("s1", "x", 21.0, "f", "F"),
        ("s1", "x", 22.0, "g", "G"),
        ("s2", "y", 7.0, "h", "D"),
        ("s2", "x", 0.0, "h", "D"),
    ]
    data = pd.DataFrame(rows, columns=["region", "kind", "turnover", "firm", "group"])
    return tabulate(
        data, [Dimension("region", TREE), "kind"], "turnover", contributor="firm", holding="group", top=needs("p%=15")
    )


def at(table, *cell):
    return int(table.system.cells.get_loc(cell))


def test_microdata_to_problem(table):
    problem = make_problem(table, "p%=15|threshold=3")
    status = pd.Series(problem.status, table.system.cells)
    safe = {("Total", "Total"), ("Total", "x"), ("S", "Total"), ("S", "x"), ("s1", "Total"), ("s1", "x")}
    assert set(status.index[status == Status.SAFE]) == safe
    assert set(status.index[status == Status.ZERO]) == {("n1", "y"), ("s1", "y")}
    assert (status == Status.PRIMARY).sum() == 21 - 6 - 2
    n1 = at(table, "n1", "x")
    assert (problem.lpl[n1], problem.upl[n1]) == (15.0, 15.0)
    assert problem.weights[at(table, "Total", "Total")] == 265.0
    assert problem.weights[at(table, "s2", "x")] == 1.0
    assert not problem.integer
    assert problem.notes == ()


def test_holdings_that_are_alone_know_all_their_cells(table):
    attackers = {a.name: set(a.known) for a in make_problem(table, "p%=15").attackers}
    one = [("N", "y"), ("n2", "y"), ("S", "y"), ("s2", "y"), ("Total", "y"), ("s2", "x"), ("s2", "Total")]
    assert attackers == {"D": {at(table, *cell) for cell in one}, "A": {at(table, "n2", "x")}}
    assert make_problem(table, "p%=15", singletons=False).attackers == ()


def test_attackers_know_nothing_that_is_published_anyway(table):
    letters = np.array(table.columns["status"], copy=True)
    letters[at(table, "n2", "x")] = "p"
    marked = replace(table, columns={**table.columns, "status": letters})
    assert [a.name[-1] for a in make_problem(marked, "threshold=1").attackers] == ["D"]


def test_attackers_of_finished_and_weighted_tables():
    system = LinearSystem.from_equations([("t", ["a", "b", "c"])])
    finished = replace(table_of([units(1)] * 4, system=system), contributions=None, counts=np.array([3.0, 1, 1, 1]))
    finished = replace(finished, weighted_counts=None)
    assert [a.known for a in make_problem(finished, "threshold=2").attackers] == [(1,), (2,), (3,)]
    named = replace(finished, columns={"holder": np.array([None, "x", None, "x"], dtype=object)})
    attackers = make_problem(named, "threshold=2").attackers
    assert [(a.name, a.known) for a in attackers] == [("x", (1, 3)), ("only contributor of b", (2,))]
    weighted = replace(finished, weighted_counts=np.array([6.0, 1, 4, 1]))
    assert [a.known for a in make_problem(weighted, "threshold=2").attackers] == [(1,), (3,)]
    counted = replace(finished, counts=None, values=np.array([3.0, 1, 2, 0]), kind="frequency")
    assert [a.known for a in make_problem(counted, "threshold=2").attackers] == [(1,)]
    silent = replace(finished, counts=None, columns={"status": np.array(["", "u", "", ""], dtype=object)})
    assert make_problem(silent, ["manual=20"]).attackers == ()


def test_costs(table):
    total, cell = at(table, "Total", "Total"), at(table, "n1", "x")

    def weights(**how):
        return make_problem(table, "p%=15", **how).weights

    assert weights()[[total, cell]].tolist() == [265, 105]
    assert set(weights(cost="unit")) == {1.0}
    assert weights(cost="count")[[total, cell]].tolist() == [6, 2]
    assert weights(transform=BoxCox(0.5))[cell] == pytest.approx(105**0.5)
    assert weights(transform=BoxCox(0))[cell] == weights(transform=Log())[cell] == pytest.approx(np.log(106))
    assert weights(transform=lambda c: c + 7)[cell] == 112
    assert weights(cost=np.arange(table.n_cells))[[0, 5]].tolist() == [1, 5]
    charged = replace(table, columns={**table.columns, "cost": np.full(table.n_cells, 0.25), "other": weights() * 2})
    assert set(make_problem(charged, "p%=15").weights) == {0.25}
    assert make_problem(charged, "p%=15", cost="value").weights[cell] == 105
    assert make_problem(charged, "p%=15", cost="turnover").weights[cell] == 105
    assert make_problem(charged, "p%=15", cost="other").weights[cell] == 210


def test_hiding_is_never_free(table):
    """Zero cells cost 1, or as little as the cheapest cell where that is less."""
    small = replace(table, values=table.values / 1000)
    assert make_problem(small, "p%=15").weights.min() == 0.007
    assert make_problem(table, "p%=15").weights.min() == 1.0
    assert set(make_problem(table, "p%=15", cost=np.zeros(table.n_cells)).weights) == {1.0}


def test_preferences_are_factors_by_level(table):
    weights = make_problem(table, "p%=15", cost="unit", preferences={"region": [100, 10], "kind": {0: 2.5}}).weights
    series = pd.Series(weights, table.system.cells)
    assert series["Total", "Total"] == 250
    assert series["Total", "x"] == 100
    assert series["N", "x"] == 10
    assert series["n1", "Total"] == 2.5
    assert series["n1", "x"] == 1


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"cost": "turnovr"}, "cost='turnovr' is not known"),
        ({"cost": [1.0]}, r"cost has shape \(1,\)"),
        ({"cost": -np.ones(21)}, "costs must be numbers of at least 0; 21 are not, such as those of Total x Total"),
        ({"transform": lambda c: c * np.nan}, "costs must be numbers"),
        ({"preferences": {"regio": [1]}}, "no dimension 'regio'; did you mean 'region'"),
        ({"preferences": {"region": [1, 1, 1, 1]}}, r"levels 0 \(the total\) to 2, not \[3\]"),
        ({"preferences": {"region": {0: 0}}}, "must be above 0"),
        ({"bounds": 50.0}, "bounds must be a text"),
        ({"bounds": "fifty"}, "there is no column 'fifty'"),
        ({"bounds": "x%"}, "lower bound 'x%' is no percentage"),
        ({"bounds": (np.ones(3), None)}, r"lower bound has shape \(3,\)"),
        ({"bounds": (50, None)}, "9 values lie below their lower external bound: Total x y, N x y"),
        ({"bounds": (None, 50)}, "values lie above their upper external bound: Total x Total"),
        ({"levels": "up"}, "levels must be"),
        ({"empty": "none"}, "empty must be 'zero' or 'safe'"),
    ],
)
def test_what_cannot_be_is_refused_with_the_cure(table, how, words):
    with pytest.raises(InputError, match=words):
        make_problem(table, "p%=15", **how)


def test_bounds(table):
    cell = at(table, "n1", "x")

    def box(bounds, table=table):
        problem = make_problem(table, "p%=15", bounds=bounds)
        return problem.lower[cell], problem.upper[cell]

    assert box(None) == (0, np.inf)
    assert box("20%") == (84, 126)
    assert box(("10%", 1000)) == (94.5, 1000)
    assert box((None, np.full(table.n_cells, 300.0))) == (0, 300)
    lower = np.full(table.n_cells, np.nan)
    lower[cell] = 90
    known = replace(table, columns={**table.columns, "lower": lower, "most": np.full(table.n_cells, 999.0)})
    assert box(None, known) == (90, np.inf)
    assert box((None, "most"), known) == (90, 999)
    assert box((-5, None), known) == (-5, np.inf)


def test_negative_values_need_bounds():
    system = LinearSystem.from_equations([("t", ["a", "b"])])
    table = table_of([units(7, -3), units(7), units(-3)], system=system)
    with pytest.raises(InputError, match=r"1 cell is negative or with negative contributions \(b\).*bounds='100%'"):
        make_problem(table, "p%=15")
    problem = make_problem(table, "p%=15", bounds=(-10, None))
    assert problem.lower.tolist() == [-10] * 3
    marked = replace(table, values=np.abs(table.values), columns={"negative": np.array([True, False, True])})
    with pytest.raises(InputError, match="2 cells are negative"):
        make_problem(marked, "p%=15")
    assert make_problem(table, "p%=15", bounds="200%").lower.tolist() == [-4, -7, -9]


def test_lower_levels_below_zero_are_capped_only_under_the_default_bound():
    table = table_of([units(9, 1), units(5)])
    problem = make_problem(table, "nk=1,30")
    assert problem.upl == pytest.approx([20, 5 / 0.3 - 5])
    assert problem.lpl.tolist() == [10, 5]
    assert problem.notes == (
        "2 lower protection levels exceed the cell value and were lowered to it: everybody knows that y >= 0",
    )
    given = make_problem(table, "nk=1,30", bounds=(0, None))
    assert given.lpl == pytest.approx(given.upl)
    assert given.notes == ()


def test_levels_of_integer_tables_are_whole():
    system = LinearSystem.from_equations([("t", ["a", "b"])])
    counted = replace(
        table_of([units(1)] * 3, system=system), values=np.array([22.0, 2, 20]), kind="frequency", counts=None
    )
    problem = make_problem(counted, "threshold=30,12")
    assert problem.integer
    assert problem.upl.tolist() == [3, 1, 3]
    assert make_problem(counted, "threshold=30,10").upl.tolist() == [3, 1, 2]
    assert not make_problem(replace(counted, values=counted.values / 4), "threshold=30").integer


def test_an_assessment_is_taken_as_it_is(table):
    assessment = assess(table, "p%=15", levels="sliding")
    problem = make_problem(table, assessment, cost="unit")
    assert np.array_equal(problem.spl, assessment.spl)
    assert not problem.upl.any()
    with pytest.raises(InputError, match="of another table"):
        make_problem(replace(table), assessment)
    with pytest.raises(InputError, match="decided by assess"):
        make_problem(table, assessment, minimum=2)


def test_zeros_of_frequency_tables_are_what_the_table_says(table):
    data = pd.DataFrame({"a": ["x", "x", "y"], "b": ["1", "2", "1"]})
    zero = tabulate(data, ["a", "b"])
    cell = zero.system.cells.get_loc(("y", "2"))
    assert make_problem(zero, "threshold=2").status[cell] == Status.SAFE
    assert make_problem(zero, "threshold=2", empty="zero").status[cell] == Status.ZERO
    known = tabulate(data, ["a", "b"], empty="structural")
    assert make_problem(known, "threshold=2").status[cell] == Status.ZERO
    assert make_problem(known, "threshold=2", empty="safe").status[cell] == Status.SAFE


def test_numbers_of_the_wrong_length_are_named() -> None:
    with pytest.raises(InputError, match=r"lpl has shape \(2,\); one number, or one for each of 3 cells"):
        Problem.from_arrays([[-1, 1, 1]], [9, 4, 5], primary=[1], lpl=[1, 2], upl=1)


def test_cells_are_given_as_positions_or_as_one_bool_each() -> None:
    def build(primary: Any, **more: Any) -> Problem:
        return Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=primary, lpl=2, upl=2, **more)

    mask = np.array([False, True, False, True])
    assert build(mask).primaries.tolist() == build([1, 3]).primaries.tolist() == [1, 3]
    for wrong in ([-1], [4], [1.5], ["a"], None):
        with pytest.raises(InputError, match=r"primary must be one bool a cell or positions in 0\.\.3"):
            build(wrong)
    with pytest.raises(InputError, match=r"2 problems:\n.*primary has shape \(2,\)(.|\n)*zero must be"):
        build(mask[:2], zero=[9])


def _linked() -> Table:
    regions = ["Total", "N", "n1", "n2", "S"]
    tree = Hierarchy((("Total", ("N", "S")), ("N", ("n1", "n2"))))
    deep = pd.DataFrame({"region": regions, "v": [10.0, 6, 4, 2, 4]})
    flat = pd.DataFrame({"region": ["Total", "N", "S"] * 2, "kind": ["Total"] * 3 + ["x"] * 3, "v": [10.0, 6, 4] * 2})
    kinds = pd.DataFrame({"kind": ["Total", "x"], "v": [10.0, 10.0]})
    return link(
        {
            "deep": Table.from_cells(deep, Dimension("region", tree), "v"),
            "flat": Table.from_cells(flat, ["region", "kind"], "v"),
            "kinds": Table.from_cells(kinds, "kind", "v"),
        }
    )


def test_preferences_of_linked_tables_are_by_the_levels_of_the_table_that_a_cell_is_in() -> None:
    table = _linked()
    weights = costs(table, "unit", preferences={"region": [5, 3, 2]})
    by_row = dict(
        zip(zip(table.rows["table"], table.rows["region"], strict=True), weights[table.row_cell], strict=True)
    )
    assert [by_row["deep", code] for code in ("Total", "N", "n1", "n2", "S")] == [5, 3, 2, 2, 3]
    assert [by_row["flat", code] for code in ("Total", "N", "S")] == [5, 3, 3]
    assert set(weights[table.row_cell[(table.rows["table"] == "kinds").to_numpy()]]) == {5.0}


def test_preferences_of_linked_tables_name_a_dimension_of_one_of_them() -> None:
    with pytest.raises(InputError, match="no linked table has a dimension 'regio'; did you mean 'region'"):
        costs(_linked(), "unit", preferences={"regio": [1]})
    with pytest.raises(InputError, match=r"levels 0 \(the total\) to 2"):
        costs(_linked(), "unit", preferences={"region": [1, 1, 1, 1]})
