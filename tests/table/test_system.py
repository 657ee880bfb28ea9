"""The equations of a crossing of hierarchies, against a cell-by-cell statement and at a million cells."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.errors import InputError
from tabprotect.table.grid import Grid
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.system import LinearSystem


def balanced(branches: int, depth: int) -> Hierarchy:
    codes = ["".join(digits) for digits in product("0123456789"[:branches], repeat=depth)]
    return Hierarchy.from_prefixes(codes, lengths=range(1, depth))


@st.composite
def hierarchies(draw: st.DrawFn) -> Hierarchy:
    """A small tree, or two groupings of the same leaves."""
    leaves = [f"l{i}" for i in range(draw(st.integers(1, 5)))]

    def grouping(name: str) -> Hierarchy:
        groups = [draw(st.integers(0, 2)) for _ in leaves]
        return Hierarchy.from_columns(pd.DataFrame({"g": [f"{name}{g}" for g in groups], "l": leaves}), ["g", "l"])

    return grouping("a") if draw(st.booleans()) else Hierarchy.merge(grouping("a"), grouping("b"))


def by_hand(grid: Grid) -> set[frozenset[tuple[tuple[str, ...], float]]]:
    """All equations, written cell by cell: one hierarchy's equation, all codes of the others fixed."""
    found = set()
    for k, h in enumerate(grid.hierarchies):
        others = [[g.codes[i] for i in g.distinct] for j, g in enumerate(grid.hierarchies) if j != k]
        for row in h.equations.tocsr():
            for fixed in product(*others):
                terms = []
                for code, sign in zip(row.indices, row.data, strict=True):
                    cell = [*fixed]
                    cell.insert(k, h.codes[code])
                    terms.append((tuple(cell), float(sign)))
                found.add(frozenset(terms))
    return found


def equations_of(system: LinearSystem) -> list[frozenset[tuple[tuple[str, ...], float]]]:
    return [
        frozenset(zip([system.cells[j] for j in row.indices], row.data.tolist(), strict=True))
        for row in system.A.tocsr()
    ]


@settings(max_examples=20, deadline=None)
@given(st.lists(hierarchies(), min_size=1, max_size=3))
def test_kronecker_equations_are_those_written_by_hand(hs: list[Hierarchy]) -> None:
    grid = Grid(tuple(hs), tuple(f"d{k}" for k in range(len(hs))))
    system = LinearSystem.from_hierarchies(hs, names=grid.names)
    found = equations_of(system)
    assert len(found) == len(set(found))
    assert set(found) == by_hand(grid)
    assert system.cells.is_unique
    assert system.n_cells == grid.size
    assert np.array_equal(grid.key(grid.codes_of(np.arange(grid.size))), np.arange(grid.size))


@settings(max_examples=20, deadline=None)
@given(st.lists(hierarchies(), min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_sparse_grids_have_the_equations_of_the_full_one(hs: list[Hierarchy], random: object) -> None:
    """Absent cells are zero: striking their columns, and equations without cells, from the full system."""
    full = LinearSystem.from_hierarchies(hs)
    keys = np.array(sorted(random.sample(range(full.n_cells), random.randint(1, full.n_cells))))  # type: ignore[attr-defined]
    part = LinearSystem.from_hierarchies(hs, present=keys)
    kept = full.A.tocsc()[:, keys].tocsr()
    kept = kept[np.flatnonzero(np.diff(kept.indptr))]
    assert (kept != part.A).nnz == 0
    assert part.cells.tolist() == full.cells[keys].tolist()


@settings(max_examples=20, deadline=None)
@given(st.lists(hierarchies(), min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_rows_hold_every_name_of_every_cell(hs: list[Hierarchy], random: object) -> None:
    grid = Grid(tuple(hs), tuple(f"d{k}" for k in range(len(hs))))
    keys = np.array(sorted(random.sample(range(grid.size), random.randint(1, grid.size))))  # type: ignore[attr-defined]
    expected = {}
    for codes in product(*(range(len(h.codes)) for h in hs)):
        key = int(grid.key([np.array([c]) for c in codes])[0])
        expected[codes] = key
    all_codes, cell = grid.rows()
    assert {tuple(map(int, c)): int(i) for c, i in zip(zip(*all_codes, strict=True), cell, strict=True)} == expected
    some_codes, cell = grid.rows(keys)
    found = {tuple(map(int, c)): int(keys[i]) for c, i in zip(zip(*some_codes, strict=True), cell, strict=True)}
    assert found == {codes: key for codes, key in expected.items() if key in set(keys.tolist())}


def test_a_million_cells_stay_sparse() -> None:
    first, second = balanced(10, 3), balanced(9, 3)
    m, n = len(first.codes), len(second.codes)
    # prefixes of length 1 and 2 and the total: 1 + 10 + 100 and 1 + 9 + 81 equations
    system = LinearSystem.from_hierarchies([first, second, Hierarchy.flat(["m"])])
    assert (m, n) == (1111, 820)
    assert system.A.shape == (111 * n + m * 91, m * n)
    assert system.A.nnz == (111 + 1110) * n + m * (91 + 819)
    assert system.A.data.nbytes + system.A.indices.nbytes + system.A.indptr.nbytes < 60e6
    assert isinstance(system.cells, pd.MultiIndex)
    assert system.cells[-1] == ("999", "888", "Total")
    assert system.equation(0).startswith("Total x Total x Total = 0 x Total x Total + 1 x Total")
    values = np.ones((1, 1)) * np.outer(np.diff(first.members.indptr), np.diff(second.members.indptr))
    assert not system.residuals(values.ravel()).any()


def test_a_grid_that_is_too_large_is_refused_before_it_is_built() -> None:
    hs = [Hierarchy.flat([f"{name}{k}" for k in range(5999)]) for name in "ab"]
    with pytest.raises(InputError, match=r"36,000,000 cells \(6000 x 6000\), more than 30,000,000"):
        LinearSystem.from_hierarchies(hs)
    # the total and two parts of its row
    assert LinearSystem.from_hierarchies(hs, present=np.array([0, 1, 2])).A.toarray().tolist() == [
        [-1, 0, 0],
        [0, -1, 0],
        [0, 0, -1],
        [-1, 1, 1],
    ]
    with pytest.raises(InputError, match="too many to number"):
        LinearSystem.from_hierarchies([balanced(10, 3)] * 7)


def test_present_cells_must_be_in_the_grid() -> None:
    with pytest.raises(InputError, match=r"outside 0\.\.2"):
        LinearSystem.from_hierarchies([Hierarchy.flat(["a", "b"])], present=np.array([3]))
    with pytest.raises(InputError, match="at least one dimension"):
        LinearSystem.from_hierarchies([])


@pytest.mark.parametrize("number", [-1, 3, "a", 1.0, True, None])
def test_a_cell_or_an_equation_that_is_not_there_is_no_other_one(number: object) -> None:
    system = LinearSystem.from_equations([("t", ["a", "b"])])
    with pytest.raises(InputError, match="there is no cell"):
        system.label(number)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="there is no equation"):
        system.equation(number)  # type: ignore[arg-type]


def test_a_system_is_made_of_a_grid_only() -> None:
    with pytest.raises(InputError, match="from_grid"):
        LinearSystem.from_grid("abc")  # type: ignore[arg-type]
