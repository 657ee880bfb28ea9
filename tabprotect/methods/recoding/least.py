"""The least roll-up of hierarchies that leaves no sensitive cell in a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.errors import InputError, did_you_mean
from tabprotect.methods.recoding.fewer_codes import codes_of_cells
from tabprotect.methods.recoding.result import RecodingResult
from tabprotect.solver.interrupts import cancel_on_interrupt
from tabprotect.solver.limits import Budget, Limits, Progress, as_limits
from tabprotect.solver.mip.milp import solve_milp
from tabprotect.solver.tolerances import OPTIMAL
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.table import Table

__all__ = ["least_recoding", "wrong_levels"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def least_recoding(
    table: Table,
    primaries: npt.ArrayLike,
    *,
    weights: npt.ArrayLike | None = None,
    keep: Mapping[str, int] | None = None,
    limits: Limits | float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> RecodingResult:
    """Roll categories up until no given cell is left, at the least loss.

    Giving up the parts of a code removes all cells of these parts (and of what is below them) from the table; the
    code itself and its cells stay. So what remains is a full table over fewer codes, without any hidden cell.

    Parameters
    ----------
    table : Table
        Over hierarchies that are trees.
    primaries : array of bool, shape (cells,), or of int
        The cells that must go, such as ``assess(table, rules).primaries``.
    weights : array of float, shape (cells,), optional
        Loss of every cell (>= 0); by default 1, so that the recoded table has as many cells as possible.
    keep : mapping of str to int, optional
        Down to which level the codes of a dimension must stay (0: its total only); other dimensions may lose all.
        A dimension kept to its deepest level is not recoded.
    limits : Limits or float, optional
    progress : callable, optional

    Returns
    -------
    RecodingResult

    Raises
    ------
    InputError
        Tables without hierarchies, or with codes that have several parents; weights below 0.

    Notes
    -----
    The programme is `tabprotect.models.recoding`: a binary k for every code with parts, k_child >= k_parent; every
    sensitive cell needs k = 1 for the parent of one of its codes; cells with the same parents are lost together.

    Examples
    --------
    >>> import pandas as pd
    >>> from tabprotect.table.dimension import Dimension
    >>> from tabprotect.table.tabulate import tabulate
    >>> tree = Hierarchy((("Total", ("N", "S")), ("N", ("n1", "n2")), ("S", ("s1", "s2"))))
    >>> data = pd.DataFrame({"region": ["n1", "n2", "n2", "s1", "s1", "s2", "s2"]})
    >>> counted = tabulate(data, [Dimension("region", tree)])
    >>> result = least_recoding(counted, counted.values == 1)
    >>> result.collapsed, result.cost, result.recoded().values.tolist()
    ({'region': ('N',)}, 2.0, [7.0, 3.0, 4.0, 2.0, 2.0])
    """
    budget = Budget(as_limits(limits), progress)
    n = table.n_cells
    given = np.asarray(primaries)
    mask = given if given.dtype == bool else np.isin(np.arange(n), given)
    loss = np.ones(n) if weights is None else np.asarray(weights, np.float64)
    if mask.shape != (n,) or loss.shape != (n,):
        raise InputError(
            f"primaries and weights must have an entry for each of {n} cells, not {mask.shape}, {loss.shape}"
        )
    if not np.all(np.isfinite(loss) & (loss >= 0)):
        raise InputError("weights must be numbers of at least 0")
    if wrong := wrong_levels(keep or {}):
        raise InputError(*wrong)
    programme = _Programme(table, mask, loss, keep or {})
    with cancel_on_interrupt(budget):
        return programme.solve(budget)


def wrong_levels(keep: Mapping[str, object]) -> list[str]:
    """Say which levels that codes must stay down to are none.

    Examples
    --------
    >>> wrong_levels({"age": "1", "region": 2})
    ["keep: the level of 'age' must be a whole number, 0 (its total only) or more, not '1'"]
    """
    return [
        f"keep: the level of '{name}' must be a whole number, 0 (its total only) or more, not {level!r}"
        for name, level in keep.items()
        if isinstance(level, bool) or not isinstance(level, int | np.integer) or level < 0
    ]


class _Programme:
    """Codes with parts, over all dimensions, and the classes of cells that are lost together."""

    def __init__(self, table: Table, primary: Bools, loss: Floats, keep: Mapping[str, int]) -> None:
        self.table = table
        names = [dimension.name for dimension in table.dimensions]
        if not table.dimensions or any(dimension.hierarchy is None for dimension in table.dimensions):
            raise InputError("recoding needs a table with a hierarchy for every dimension")
        if unknown := [name for name in keep if name not in names]:
            raise InputError(f"keep names '{unknown[0]}', which is no dimension{did_you_mean(unknown[0], names)}")
        self.codes: list[tuple[int, int]] = []
        self.free: list[bool] = []
        edges: list[tuple[int, int]] = []
        above = np.full((len(names), table.n_cells), -1)
        for d, dimension in enumerate(table.dimensions):
            hierarchy = dimension.hierarchy
            number, parent = _tree(hierarchy, dimension.name, len(self.codes))
            for code in number:
                self.codes.append((d, code))
                self.free.append(int(hierarchy.levels[code]) >= keep.get(dimension.name, 0))
                if parent[code] >= 0:
                    edges.append((number[parent[code]], number[code]))
            place = np.array([number.get(parent[code], -1) if parent[code] >= 0 else -1 for code in range(len(parent))])
            above[d] = place[codes_of_cells(table, dimension, d)]
        self.edges = np.array(edges, np.int64).reshape(-1, 2)
        # cells under the same codes in all dimensions are lost together; so are the sensitive ones among them
        classes, where = np.unique(above, axis=1, return_inverse=True)
        self.where = where.ravel()
        self.classes = classes.T
        self.loss = np.bincount(self.where, weights=loss, minlength=len(self.classes))
        self.sensitive = np.bincount(self.where, weights=primary, minlength=len(self.classes)) > 0
        self.primary = primary

    def solve(self, budget: Budget) -> RecodingResult:
        """Solve the programme."""
        free = np.array(self.free, dtype=bool)
        usable = self._of_codes(free)
        stuck = self.sensitive & ~usable.any(axis=1)
        if stuck.any():
            cells = np.flatnonzero(stuck[self.where] & self.primary)
            names = ", ".join(self.table.system.label(int(cell)) for cell in cells[:5])
            return self._result(None, None, budget, "infeasible", f"no code may be given up of: {names}")
        k, z = len(self.codes), len(self.classes)
        rows: list[sparse.csr_array] = []
        m = len(self.edges)
        ones, each = np.ones(m), np.arange(m)
        rows.append(_rows(each, self.edges[:, 1], ones, m, k + z) - _rows(each, self.edges[:, 0], ones, m, k + z))
        low = [np.zeros(m)]
        owner, dimension = np.nonzero(usable)
        lost = np.arange(len(owner))
        up = np.ones(len(owner))
        rows.append(
            _rows(lost, k + owner, up, len(owner), k + z)
            - _rows(lost, self.classes[owner, dimension], up, len(owner), k + z)
        )
        low.append(np.zeros(len(owner)))
        needed = np.flatnonzero(self.sensitive)
        row, dimension = np.nonzero(usable[needed])
        rows.append(_rows(row, self.classes[needed[row], dimension], np.ones(len(row)), len(needed), k + z))
        low.append(np.ones(len(needed)))
        lower = np.concatenate(low)
        answer = solve_milp(
            sparse.vstack(rows),
            lower,
            np.full(len(lower), np.inf),
            np.zeros(k + z),
            np.concatenate([free.astype(np.float64), np.ones(z)]),
            np.concatenate([np.zeros(k), self.loss]),
            np.arange(k + z) < k,
            budget=budget,
            gap=budget.limits.gap,
        )
        given_up = free.copy() if answer.x is None else answer.x[:k] > 0.5
        for parent, child in self.edges:
            given_up[child] |= given_up[parent] & free[child]
        cost = float(self.loss @ self._lost(given_up))
        bound = max(0.0, answer.bound or 0.0)
        proven = cost - bound <= OPTIMAL * max(cost, 1.0)
        return self._result(given_up, cost if proven else bound, budget, "optimal" if proven else "feasible", "")

    def _lost(self, given_up: Bools) -> Bools:
        return np.asarray(self._of_codes(given_up).any(axis=1))

    def _of_codes(self, some: Bools) -> Bools:
        """Return which of the codes above every class are among some, by dimension; -1 stands for none."""
        found = np.zeros(self.classes.shape, bool)
        there = self.classes >= 0
        found[there] = some[self.classes[there]]
        return found

    def _result(
        self,
        given_up: Bools | None,
        bound: float | None,
        budget: Budget,
        status: Literal["optimal", "feasible", "infeasible", "unknown"],
        message: str,
    ) -> RecodingResult:
        none = np.zeros(len(self.codes), bool)
        lost = self._lost(none if given_up is None else given_up)
        collapsed: dict[str, list[str]] = {}
        for (d, code), gone in zip(self.codes, none if given_up is None else given_up, strict=True):
            if gone:
                dimension = self.table.dimensions[d]
                collapsed.setdefault(dimension.name, []).append(str(dimension.hierarchy.codes[code]))
        return RecodingResult(
            self.table,
            {name: tuple(codes) for name, codes in collapsed.items()},
            lost[self.where],
            None if given_up is None else float(self.loss @ lost),
            bound,
            status,
            budget.seconds,
            budget.work,
            message,
        )


def _rows(row: Ints, column: Ints, value: Floats, m: int, n: int) -> sparse.csr_array:
    return sparse.csr_array((value, (row, column)), shape=(m, n))


def _tree(hierarchy: Hierarchy, name: str, start: int) -> tuple[dict[int, int], Ints]:
    """Return a number for every code with parts, and the parent of every code (both by canonical position)."""
    parent = np.full(len(hierarchy.codes), -1, np.int64)
    heads: list[int] = []
    A = hierarchy.equations
    for row in range(A.shape[0]):
        columns, signs = A.indices[A.indptr[row] : A.indptr[row + 1]], A.data[A.indptr[row] : A.indptr[row + 1]]
        head, parts = int(columns[signs < 0][0]), columns[signs > 0]
        if np.any(parent[parts] >= 0) or head in heads:
            code = (
                hierarchy.codes[int(parts[parent[parts] >= 0][0])]
                if np.any(parent[parts] >= 0)
                else hierarchy.codes[head]
            )
            raise InputError(
                f"dimension '{name}' is no tree: '{code}' is grouped in several ways; recode one grouping at a time"
            )
        parent[parts] = head
        heads.append(head)
    return {head: start + i for i, head in enumerate(heads)}, parent
