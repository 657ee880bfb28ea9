from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.errors import InputError
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.link import link
from tabprotect.table.naming import cell_of_system, cell_of_table
from tabprotect.table.system import LinearSystem
from tabprotect.table.table import Table

DATA = pd.DataFrame({"region": ["a", "a", "b", "c"], "size": ["s", "b", "s", "s"], "v": [90.0, 5.0, 7.0, 3.0]})
ONE = tp.tabulate(DATA, "region", "v")
TWO = tp.tabulate(DATA, ["region", "size"], "v")


@pytest.mark.parametrize("name", ["a", ("a",), ["a"], {"region": "a"}, 1, np.int64(1)])
def test_every_name_of_a_cell_with_one_code_is_the_same_cell(name: Any) -> None:
    assert cell_of_table(ONE, name) == cell_of_system(ONE.system, name) == 1


@pytest.mark.parametrize("name", [("b", "s"), ["b", "s"], {"size": "s", "region": "b"}, "b x s"])
def test_every_name_of_a_cell_with_two_codes_is_the_same_cell(name: Any) -> None:
    place = TWO.system.cells.get_loc(("b", "s"))
    assert cell_of_table(TWO, name) == place
    assert tp.assess(TWO, "p%=10").explain(name).startswith("b x s: 7")


def test_all_cells_are_found_by_each_of_their_names() -> None:
    cells = TWO.system.cells
    for i, key in enumerate(cells):
        names = [key, list(key), dict(zip(cells.names, key, strict=True)), TWO.system.label(i), i]
        assert [cell_of_table(TWO, name) for name in names] == [i] * 5


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a", "'a' names no cell: a cell has 2 codes, those of region, size"),
        (("a",), "a cell has 2 codes"),
        (("a", "s", "s"), "a cell has 2 codes"),
        ({"region": "a"}, "the code of size is missing"),
        ({"regio": "a", "size": "s"}, "'regio', which is no dimension; did you mean 'region'"),
        ("a x t", "'t' is no code of size; there are"),
        (("q", "s"), "'q' is no code of region"),
        (99, "positions go from 0 to 11"),
        (-1, "positions go from 0 to 11"),
        (True, "not by bool"),
        (None, "not by NoneType"),
        (1.5, "not by float"),
    ],
)
def test_what_names_no_cell_is_refused(name: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        cell_of_table(TWO, name)
    with pytest.raises(InputError, match=words):
        tp.assess(TWO, "p%=10").explain(name)


def test_a_wrong_code_of_the_only_dimension_is_no_other_cell() -> None:
    with pytest.raises(InputError, match="'d' is no code of region"):
        tp.assess(ONE, "p%=10").explain("d")
    with pytest.raises(InputError, match="one code"):
        tp.assess(ONE, "p%=10").explain(("a", "s"))


def test_cells_that_are_not_in_a_sparse_table_are_named() -> None:
    sparse = tp.tabulate(DATA, ["region", "size"], "v", empty="drop")
    with pytest.raises(InputError, match="there is no cell b x b, though each of its codes is in the table"):
        cell_of_table(sparse, ("b", "b"))


def test_codes_that_are_the_same_cell_as_another() -> None:
    tree = Hierarchy((("Total", ("A", "B")), ("A", ("a", "b")), ("B", ("c",))))
    table = tp.tabulate(DATA, [tp.Dimension("region", tree), "size"], "v")
    assert cell_of_table(table, ("c", "s")) == cell_of_table(table, "B x s") == cell_of_table(table, "c x s")
    assert cell_of_table(table, {"region": "c", "size": "s"}) == cell_of_table(table, ("B", "s"))


def test_codes_that_hold_the_joining_sign() -> None:
    keys = pd.MultiIndex.from_tuples([("2 x 2", "s"), ("2", "s"), ("2", "2 x s"), ("u", "2 x s x t")])
    system = LinearSystem(np.zeros((0, 4)), np.zeros(0), keys)
    assert cell_of_system(system, "2 x s") == 1
    assert cell_of_system(system, "u x 2 x s x t") == 3
    with pytest.raises(InputError, match="may be 2 cells; give the codes as a tuple"):
        cell_of_system(system, "2 x 2 x s")
    assert cell_of_system(system, ("2", "2 x s")) == 2


def test_integer_ids_come_before_positions() -> None:
    system = LinearSystem.from_equations([(30, [10, 20])])
    assert cell_of_system(system, 20) == cell_of_system(system, "20") == 2
    with pytest.raises(InputError, match="there is no cell 1"):
        cell_of_system(system, 1)


@pytest.mark.parametrize("codes", [[0, 1, 2, 3], ["0", "1", "2", "3"], [3, 2, 1, 0]])
def test_a_number_is_a_code_where_codes_are_numbers(codes: list[Any]) -> None:
    table = tp.tabulate(pd.DataFrame({"class": codes, "v": [90.0, 5, 7, 3]}), "class", "v")
    for code in (0, 1, 2, 3):
        named = cell_of_table(table, str(code))
        assert cell_of_table(table, code) == cell_of_table(table, np.int64(code)) == named
        assert cell_of_table(table, (code,)) == cell_of_table(table, {"class": code}) == named
        assert tp.assess(table, "p%=10").explain(code).startswith(f"{code}: ")
    with pytest.raises(InputError, match="there is no cell 4"):
        cell_of_table(table, 4)


def test_no_number_is_a_position_where_any_code_is_a_number() -> None:
    table = tp.tabulate(pd.DataFrame({"class": ["01", "02", "x"], "v": [90.0, 5, 7]}), "class", "v")
    with pytest.raises(InputError, match="there is no cell 1"):
        cell_of_table(table, 1)
    assert cell_of_table(table, "01") == 1


def test_cells_of_linked_tables() -> None:
    ab = pd.DataFrame({"a": ["Total", "1", "2"], "v": [9.0, 5.0, 4.0]})
    ac = pd.DataFrame({"c": ["Total", "x", "y"], "v": [9.0, 2.0, 7.0]})
    both = link({"by a": Table.from_cells(ab, "a", "v"), "by c": Table.from_cells(ac, "c", "v")})
    assert cell_of_table(both, {"table": "by c", "c": "x"}) == cell_of_table(both, ("Total", "x")) == 1
    assert cell_of_table(both, {"a": "1", "c": "Total"}) == 3
    with pytest.raises(InputError, match=r"no table 'by d'; did you mean 'by [ac]'"):
        cell_of_table(both, {"table": "by d", "c": "x"})
    with pytest.raises(InputError, match="wants the codes of c"):
        cell_of_table(both, {"table": "by c", "a": "1"})


@pytest.mark.parametrize("name", [("II", "C"), "II x C", ["II", "C"]])
def test_the_audit_takes_every_name_of_a_cell(name: Any) -> None:
    problem = tp.instances.load("eustat-investment")
    place = int(problem.system.cells.get_loc(("II", "C")))
    pattern = problem.must_hide.copy()
    pattern[place] = True
    found = tp.audit(problem, pattern)
    assert found.interval(name) == found.interval(place)
    with pytest.raises(InputError, match="names no cell"):
        found.interval("II")
    with pytest.raises(InputError, match="is not hidden"):
        found.interval(int(np.flatnonzero(~pattern)[0]))
