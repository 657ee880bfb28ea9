"""The additive structure of published tables as a sparse linear system A y = b."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from tabprotect.certificate.document import label_of
from tabprotect.counted import counted
from tabprotect.errors import InputError, as_items, as_numbers, collect, need
from tabprotect.table.grid import Grid
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.views import many

__all__ = ["LinearSystem", "as_matrix"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """Equations A y = b over the cells of one table or of several linked tables.

    Parameters
    ----------
    A : scipy.sparse.csr_array, shape (equations, cells)
        A margin has coefficient -1 and its parts +1, as in the CSPLIB files.
    b : ndarray, shape (equations,)
        Right-hand sides in the unit of the values; zeros for ordinary tables.
    cells : pandas.Index
        Unique cell ids in column order; a `pandas.MultiIndex` of codes for tables.
    name_equation : callable, optional
        Maps a row number to words; by default the equation is written out.
    """

    A: sparse.csr_array
    b: Floats
    cells: pd.Index
    name_equation: Callable[[int], str] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        A = as_matrix(self.A, "A")
        A.sum_duplicates()
        A.eliminate_zeros()
        object.__setattr__(self, "A", A)
        object.__setattr__(self, "b", as_numbers(self.b, "b", "a number for every equation"))
        _check_ids(self.cells)
        if self.name_equation is not None and not callable(self.name_equation):
            raise InputError(f"name_equation must be a function of the number of a row, not {self.name_equation!r}")
        cells = self.cells if isinstance(self.cells, pd.Index) else pd.Index(self.cells)
        object.__setattr__(self, "cells", cells)
        with collect() as problems:
            if A.shape[1] != len(cells):
                problems.add(f"A has {counted(A.shape[1], 'column')} for {counted(len(cells), 'cell')}")
            if self.b.shape != (A.shape[0],):
                problems.add(f"b has shape {self.b.shape} but A has {A.shape[0]} rows")
            if not np.isfinite(A.data).all() or not np.isfinite(self.b).all():
                problems.add("A and b must be finite numbers")
            if not cells.is_unique:
                twice = cells[cells.duplicated()].unique()[:5].tolist()
                problems.add(f"cell ids must be unique; more than once: {twice}")

    def __repr__(self) -> str:
        names = [str(name) for name in self.cells.names if name is not None]
        over = f": {' x '.join(names)}" if names else ""
        return f"LinearSystem({many(self.n_cells, 'cell')}, {many(self.n_equations, 'equation')}{over})"

    @property
    def n_cells(self) -> int:
        """Number of cells (columns of A)."""
        return int(self.A.shape[1])

    @property
    def n_equations(self) -> int:
        """Number of equations (rows of A)."""
        return int(self.A.shape[0])

    @classmethod
    def from_equations(
        cls,
        equations: Iterable[tuple[Any, Sequence[Any]] | Mapping[Any, float]],
        cells: Sequence[Any] | pd.Index | None = None,
        rhs: Sequence[float] | None = None,
    ) -> LinearSystem:
        """Build from equations written out by hand.

        Parameters
        ----------
        equations : iterable
            Each is ``(margin, parts)``, read as margin = sum of parts, or a mapping cell -> coefficient.
        cells : sequence, optional
            All cell ids in the wanted order; by default in order of appearance.
        rhs : sequence of float, optional
            Right-hand sides; zeros by default.

        Raises
        ------
        InputError
            If an equation names a cell that is not in `cells`, or names one twice.

        Examples
        --------
        >>> s = LinearSystem.from_equations([("total", ["a", "b"])])
        >>> s.A.toarray().tolist(), s.cells.tolist()
        ([[-1.0, 1.0, 1.0]], ['total', 'a', 'b'])
        """
        words = "pairs (margin, [parts]) or mappings of cells to numbers"
        equations = as_items(equations, (tuple, list, Mapping), "equations", words)
        rows: list[Mapping[Any, float]] = []
        with collect() as problems:
            for number, equation in enumerate(equations):
                if isinstance(equation, Mapping):
                    rows.append(equation)
                    continue
                if len(equation) != 2 or isinstance(equation[1], str) or not isinstance(equation[1], Iterable):
                    problems.add(f"equation {number} must be (margin, [parts]), not {equation!r}")
                    continue
                margin, parts = equation
                terms = {margin: -1.0}
                for part in parts:
                    if part in terms:
                        problems.add(f"equation {number} ({margin!r}) names cell {part!r} twice")
                    terms[part] = 1.0
                rows.append(terms)
        if cells is not None:
            _check_ids(cells)
        order = pd.Index(
            list(dict.fromkeys(cell for row in rows for cell in row)) if cells is None else cells,
            tupleize_cols=False,
        )
        position = {cell: i for i, cell in enumerate(order)}
        unknown = sorted({str(c) for row in rows for c in row if c not in position})
        if unknown:
            raise InputError(f"equations name unknown cells: {', '.join(unknown[:10])}")
        indptr = np.cumsum([0] + [len(row) for row in rows])
        indices = np.array([position[c] for row in rows for c in row], dtype=np.int64)
        data = np.array([v for row in rows for v in row.values()], dtype=np.float64)
        A = sparse.csr_array((data, indices, indptr), shape=(len(rows), len(order)))
        return cls(
            A,
            np.zeros(len(rows)) if rhs is None else np.asarray(as_numbers(rhs, "rhs", "a number for every equation")),
            order,
        )

    @classmethod
    def from_hierarchies(
        cls,
        hierarchies: Sequence[Hierarchy],
        present: npt.NDArray[np.int64] | None = None,
        names: Sequence[str] | None = None,
    ) -> LinearSystem:
        """Build the system of a table over the crossing of several hierarchies.

        The equations of dimension k are I x ... x H_k x ... x I (Kronecker products), with H_k the equations of its
        hierarchy; cells are ordered with the first dimension varying slowest. Codes that are the same cell as
        another (`Hierarchy.aliases`) have no cells of their own.

        Parameters
        ----------
        hierarchies : sequence of Hierarchy
        present : ndarray of int, optional
            Keys of the cells that there are, when the grid is sparse: positions in the full grid of distinct codes
            (row-major). All others are known to be zero.
        names : sequence of str, optional
            Names of the dimensions.

        Examples
        --------
        >>> s = LinearSystem.from_hierarchies([Hierarchy.flat(["a", "b"]), Hierarchy.flat(["m", "f"])])
        >>> s.A.shape, s.A.nnz, s.cells[-1]
        ((6, 9), 18, ('b', 'f'))
        """
        hierarchies = as_items(hierarchies, Hierarchy, "hierarchies", "Hierarchy")
        if names is not None and len(as_items(names, str, "names", "a name for every hierarchy")) != len(hierarchies):
            raise InputError(
                f"names must be a name for each of {counted(len(hierarchies), 'hierarchy', 'hierarchies')}"
            )
        grid = Grid(hierarchies, tuple(names or (f"d{k + 1}" for k in range(len(hierarchies)))))
        keys = None
        if present is not None:
            try:
                keys = np.unique(np.asarray(present, dtype=np.int64))
            except (TypeError, ValueError, OverflowError):
                raise InputError(f"present must be keys of cells, whole numbers, not {present!r}") from None
            if len(keys) and (keys[0] < 0 or keys[-1] >= grid.size):
                raise InputError(f"present names cells outside 0..{grid.size - 1}")
        return cls.from_grid(grid, keys)

    @classmethod
    def from_grid(cls, grid: Grid, keys: npt.NDArray[np.int64] | None = None) -> LinearSystem:
        """Build the system of a `Grid`, of all its cells or of those with the given keys (ascending)."""
        need(grid, Grid, "LinearSystem.from_grid", "the product of hierarchies")
        A = grid.equations(keys)
        return cls(A, np.zeros(A.shape[0]), grid.index(keys))

    @classmethod
    def merge(cls, systems: Sequence[LinearSystem]) -> LinearSystem:
        """Stack systems into one; cells with equal ids become one variable.

        Examples
        --------
        >>> one = LinearSystem.from_equations([("t", ["a", "b"])])
        >>> two = LinearSystem.from_equations([("t", ["c", "d"])])
        >>> LinearSystem.merge([one, two]).cells.tolist()
        ['t', 'a', 'b', 'c', 'd']
        """
        systems = as_items(systems, LinearSystem, "systems", "LinearSystem")
        if not systems:
            raise InputError("nothing to merge: give at least one linear system")
        cells = systems[0].cells
        for system in systems[1:]:
            cells = cells.append(system.cells[~system.cells.isin(cells)])
        blocks = []
        for system in systems:
            A = system.A.tocoo()
            columns = cells.get_indexer(system.cells)[A.coords[1]]
            blocks.append(sparse.coo_array((A.data, (A.coords[0], columns)), shape=(A.shape[0], len(cells))))
        starts = np.cumsum([0] + [s.n_equations for s in systems])

        def name(row: int) -> str:
            which = int(np.searchsorted(starts, row, side="right")) - 1
            return str(systems[which].equation(row - int(starts[which])))

        stacked = sparse.csr_array(sparse.vstack(blocks))
        return cls(stacked, np.concatenate([s.b for s in systems]), cells, name)

    def residuals(self, values: Floats) -> Floats:
        """Return A y - b for the given cell values (zero where the table adds up)."""
        given = as_numbers(values, "values", "a number for every cell")
        if given.shape != (self.n_cells,):
            raise InputError(f"values has shape {given.shape}; {self.n_cells} cells need ({self.n_cells},)")
        return np.asarray(self.A @ given - self.b)

    def label(self, cell: int) -> str:
        """Return the id of a cell as words: codes of a table joined by ' x '; a sum of cells has one name for all."""
        return label_of(self.cells[_position(cell, self.n_cells, "cell")])

    def labels(self, cells: npt.NDArray[np.int64]) -> list[str]:
        """Return the `label` of each of many cells."""
        return [label_of(cell) for cell in self.cells.take(cells).tolist()]

    def equation(self, row: int) -> str:
        """Return equation `row` in words, at most eight parts written out."""
        _position(row, self.n_equations, "equation")
        if self.name_equation is not None:
            return self.name_equation(row)
        lo, hi = int(self.A.indptr[row]), int(self.A.indptr[row + 1])
        terms = list(zip(self.A.indices[lo:hi], self.A.data[lo:hi], strict=True))
        left = [(j, -v) for j, v in terms if v < 0]
        right = [(j, v) for j, v in terms if v > 0]

        def side(part: list[tuple[int, float]], constant: float) -> str:
            words = [self.label(int(j)) if v == 1 else f"{v:g}*{self.label(int(j))}" for j, v in part]
            if len(words) > 8:
                words = [*words[:8], f"... ({len(part)} cells)"]
            if constant:
                words.append(f"{constant:g}")
            return " + ".join(words) or "0"

        return f"{side(left, float(self.b[row]))} = {side(right, 0.0)}"


def _position(given: int, size: int, what: str) -> int:
    if not isinstance(given, int | np.integer) or isinstance(given, bool) or not 0 <= given < size:
        raise InputError(f"there is no {what} {given!r}; they are numbered from 0 to {size - 1}")
    return int(given)


def _check_ids(cells: object) -> None:
    if not isinstance(cells, Sequence | np.ndarray | pd.Index) or isinstance(cells, str | bytes):
        raise InputError(f"cells must be the ids of all cells, not {cells!r}")


def as_matrix(given: Any, name: str) -> sparse.csr_array:
    """Return what has to be a matrix of numbers.

    Raises
    ------
    InputError
        If it is none.
    """
    try:
        found = sparse.csr_array(given, dtype=np.float64, copy=True)
    except (TypeError, ValueError):
        found = None
    if found is None or found.ndim != 2:
        raise InputError(f"{name} must be a matrix of numbers, with as many in every row")
    return found
