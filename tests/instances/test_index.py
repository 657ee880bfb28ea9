"""The index tells the truth about the instances, and the bundled tables are those of the literature."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.errors import InputError
from tabprotect.instances import data, index, load, names
from tabprotect.problem import Status

LARGE = ("flat2d-100x100", "hier2d-20k", "hier2d-large", "hier3d-large", "linked-large")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LARGE else name for name in names()]
)
def test_sizes_are_those_of_the_instance(name: str) -> None:
    problem, row = load(name), index().loc[name]
    assert problem.n_cells == row["cells"]
    assert len(problem.primaries) == row["primaries"] > 0
    assert problem.system.n_equations == row["equations"]
    assert len(problem.attackers) == row["attackers"]
    primaries = problem.primaries
    assert (problem.upl[primaries] > 0).all()
    assert (problem.upl <= problem.up).all()
    assert (problem.lpl <= problem.down).all()


def test_the_field_is_spanned() -> None:
    table = index()
    assert table["cells"].min() < 20
    assert table["cells"].max() > 17_000
    assert set(table["family"]) >= {"flat2d", "flat3d", "hier2d", "hier3d", "linked", "singletons", "sparse", "unit"}
    known = table.dropna(subset=["cost", "bound"])
    assert (known["bound"] <= known["cost"] * (1 + 1e-9)).all()


def test_investment_table_of_willenborg_and_de_waal() -> None:
    problem = load("eustat-investment")
    cells = problem.system.cells
    assert np.abs(problem.system.residuals(problem.values)).max() == 0
    assert problem.values[cells.get_loc(("Total", "Total"))] == 190
    assert [cells[p] for p in problem.primaries] == [("II", "C")]


def test_expenditure_table_carries_its_printed_residual() -> None:
    problem = load("eustat-rd-expenditure")
    residuals = problem.system.residuals(problem.values)
    assert np.sort(np.abs(residuals)).tolist()[-2:] == [1, 1]
    assert problem.values[problem.primaries].sum() == 20_433_239 - 18_318_584
    at = problem.system.cells.get_loc(("Other activities", ">100"))
    assert problem.lpl[at] == problem.upl[at] == 517_987.5
    assert (problem.lower[at], problem.upper[at]) == (0, 2 * 1_726_625)


def test_company_counts_are_integers_and_additive() -> None:
    problem = load("eustat-rd-companies")
    assert problem.integer
    assert np.abs(problem.system.residuals(problem.values)).max() == 0
    small = (problem.values > 0) & (problem.values <= 2)
    assert ((problem.status == Status.PRIMARY) == small).all()
    margins = [problem.values[problem.system.cells.get_loc(("Total", s))] for s in ("<25", "25-49", ">=1000", "Total")]
    assert margins == [69, 40, 9, 313]


def test_unknown_names_get_a_cure() -> None:
    with pytest.raises(InputError, match="did you mean 'flat3d-10x10x10'"):
        load("flat3d-10x10x1")
    with pytest.raises(InputError, match=r"did you mean .nace\.hrc"):
        data("nace.hrcs")
