"""The a-priori file of tau-ARGUS."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tabprotect.errors import InputError
from tabprotect.formats.argus import read_apriori
from tabprotect.problem import Status
from tabprotect.sensitivity import APriori, assess, make_problem
from tabprotect.table.system import LinearSystem
from tests.sensitivity.cells import table_of, units

CELLS = pd.MultiIndex.from_product([["Total", "Nr", "Zd"], ["Total", "4", "5"]], names=["region", "size"])


@pytest.fixture
def table():
    system = LinearSystem.from_equations(
        [((r, "Total"), [(r, "4"), (r, "5")]) for r in ("Total", "Nr", "Zd")]
        + [(("Total", s), [("Nr", s), ("Zd", s)]) for s in ("Total", "4", "5")],
        list(CELLS),
    )
    system = LinearSystem(system.A, system.b, CELLS)
    inner = {("Nr", "4"): [40], ("Nr", "5"): [9, 8, 7, 6], ("Zd", "4"): [], ("Zd", "5"): [9, 8, 7]}
    cells = [
        units(*(x for key, xs in inner.items() if r in ("Total", key[0]) and s in ("Total", key[1]) for x in xs))
        for r, s in CELLS
    ]
    return table_of(cells, system=system)


def write(tmp_path, text):
    path = tmp_path / "cells.hst"
    path.write_text(text)
    return APriori(str(path))


@pytest.mark.parametrize("mark", [";", ", ", "\t"])
def test_status_cost_and_levels(table, tmp_path, mark):
    lines = ["Nr|4|s", "", 'Nr|"5"|U', "Zd|5|p", "Total|Total|ML", "Nr|5|pl|3|7.5", "Nr|Total|c|0.5", "Zd|Total|W|0"]
    rule = write(tmp_path, "\n".join(line.replace("|", mark) for line in lines))
    assessment = assess(table, ["p%=15", rule], empty="zero")
    status = pd.Series(assessment.status, CELLS)
    assert status["Nr", "4"] == Status.SAFE
    assert status["Nr", "5"] == Status.PRIMARY
    assert status["Zd", "5"] == Status.PROTECTED
    assert status["Total", "Total"] == Status.FORCED
    assert status["Zd", "4"] == Status.ZERO
    primary = CELLS.get_loc(("Nr", "5"))
    assert assessment.primaries.tolist() == [CELLS.get_loc(("Total", "4")), primary]
    assert (assessment.lpl[primary], assessment.upl[primary]) == (3.0, 7.5)
    problem = make_problem(table, assessment, preferences=None)
    assert problem.weights[CELLS.get_loc(("Nr", "Total"))] == 0.5
    assert problem.weights[CELLS.get_loc(("Zd", "Total"))] == 1.0
    assert problem.weights[CELLS.get_loc(("Zd", "5"))] == 24.0


def test_levels_by_default(table, tmp_path):
    cells = table.system.cells.get_loc
    assert assess(table, [write(tmp_path, "Nr;5;u")]).upl[cells(("Nr", "5"))] == 6.0
    assert assess(table, [APriori(str(tmp_path / "cells.hst"), 50.0)]).upl[cells(("Nr", "5"))] == 15.0


def test_empty_cells_are_left_alone_and_unused_levels_reported(table, tmp_path):
    assessment = assess(table, ["p%=15", write(tmp_path, "Zd;4;u\nZd;5;pl;1;1")], empty="zero")
    assert assessment.status[CELLS.get_loc(("Zd", "4"))] == Status.ZERO
    assert assessment.messages == ("protection levels given for 1 cell that is not sensitive have no effect",)


def test_external_bounds_of_single_cells_take_the_place_of_the_others(table, tmp_path):
    rule = write(tmp_path, "Nr;5;ab;20;45\nZd;4;ab;0;9\nTotal;Total;ab;90;100")
    nr, zd, total = (CELLS.get_loc(cell) for cell in (("Nr", "5"), ("Zd", "5"), ("Total", "Total")))
    for bounds, other in ((None, [0.0, np.inf]), ("50%", [12.0, 36.0])):
        problem = make_problem(table, ["p%=15", rule], bounds=bounds)
        assert [problem.lower[nr], problem.upper[nr]] == [20.0, 45.0]
        assert [problem.lower[total], problem.upper[total]] == [90.0, 100.0]
        assert [problem.lower[zd], problem.upper[zd]] == other


LINE_8 = (
    "line 8: the value 30 of Nr x 5 does not lie between the external bounds 1 and 2; they are values that intruders "
    "know it to lie between, not distances from it"
)


def test_every_bad_line_is_named(table, tmp_path):
    rule = write(
        tmp_path,
        "Nr;4;s\nNo;4;u\nNr;4\nNr;5;q\nNr;5;c\nNr;5;c;x\nNr;5;pl;-1;2\nNr;5;ab;1;2\nNr;4;u\nZd;6;u\nNr;5;c;inf\n",
    )
    with pytest.raises(InputError) as error:
        assess(table, ["p%=15", rule])
    problems = [problem.split("cells.hst, ")[1] for problem in error.value.problems]
    assert problems == [
        "line 2: code 'No' is not in region; there are 'Nr', 'Total', 'Zd'",
        "line 3: 2 fields; wanted are 2 codes (region, size) and a change, with ';' between them",
        "line 4: change 'q' means nothing; there are 's', 'u', 'p', 'm', 'ml', 'c', 'w', 'pl', 'ab'",
        "line 5: 'c' is followed by 1 number, not 0",
        "line 6: not a number in ['x']",
        "line 7: protection levels must be finite and at least 0, not ['-1', '2']",
        LINE_8,
        "line 9: cell Nr x 4 was SAFE in an earlier line",
        "line 10: code '6' is not in size; there are '4', '5', 'Total'",
        "line 11: costs must be finite and at least 0, not ['inf']",
    ]


def test_missing_file_and_sensitive_cell_to_be_published(table, tmp_path):
    with pytest.raises(InputError, match=r"a-priori file .*none.hst: cannot be read"):
        assess(table, [APriori(str(tmp_path / "none.hst"))])
    with pytest.raises(InputError, match="1 cell must be published but a rule finds it sensitive: Nr x 4"):
        assess(table, ["p%=15", write(tmp_path, "Nr;4;p")])


def test_the_file_overrules_the_status_column(table, tmp_path):
    letters = np.full(9, "", dtype=object)
    letters[CELLS.get_loc(("Nr", "5"))] = "u"
    marked = type(table)(
        **{**{f: getattr(table, f) for f in table.__dataclass_fields__}, "columns": {"status": letters}}
    )
    assert CELLS.get_loc(("Nr", "5")) in assess(marked, "p%=15").primaries
    assert CELLS.get_loc(("Nr", "5")) not in assess(marked, ["p%=15", write(tmp_path, "Nr;5;s")]).primaries


def test_costs_below_zero_are_refused_with_their_line(table, tmp_path):
    with pytest.raises(InputError, match=r"line 2: costs must be finite and at least 0, not \['-5'\]"):
        assess(table, write(tmp_path, "Nr;4;u\nNr;5;c;-5"))
    (tmp_path / "w.hst").write_text("Nr;5;w;-5\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 1: costs must be at least 0, not -5"):
        read_apriori(tmp_path / "w.hst", 2)
