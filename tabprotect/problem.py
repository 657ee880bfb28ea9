"""A protection problem as every method sees it: arrays over the cells of one linear system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.counted import counted
from tabprotect.errors import InputError, as_bool, as_items, as_numbers, collect, need
from tabprotect.masks import cell_mask, pattern_mask
from tabprotect.table.system import LinearSystem, as_matrix
from tabprotect.views import many, view

__all__ = ["Attacker", "Problem", "Status", "need_problem"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class Status(IntEnum):
    """What a cell is before protection (tau-ARGUS letters in brackets)."""

    SAFE = 0  #: may be published or suppressed (s)
    PRIMARY = 1  #: sensitive: must be suppressed and protected (u)
    FORCED = 2  #: suppressed already, needs no protection of its own and is not charged (m)
    PROTECTED = 3  #: must be published
    ZERO = 4  #: structural zero or fixed cell: known to everybody, always published (z)


@dataclass(frozen=True)
class Attacker:
    """An intruder who knows some cells exactly, such as the only contributor of each of them.

    Such an attacker is tried on every primary cell that is neither known to him nor spared.

    Attributes
    ----------
    name : str
    known : tuple of int
        Positions of cells.
    holding : str
        Where rules look at individual contributors and at holdings: the holding that knows these cells; empty if none
        does, or if there is one level.
    spared : tuple of int
        Positions of cells that he is not asked about although he does not know them: no pattern keeps him from what
        their levels ask for. The others are asked (see `tabprotect.attack.insiders`).
    """

    name: str
    known: tuple[int, ...]
    holding: str = ""
    spared: tuple[int, ...] = ()

    @property
    def unasked(self) -> frozenset[int]:
        """Cells that he is not asked about: known ones and spared ones."""
        return frozenset((*self.known, *self.spared))

    def __repr__(self) -> str:
        return f"Attacker(knows {counted(len(self.known), 'cell')})"


@dataclass(frozen=True, eq=False)
class Problem:
    """Which cells are sensitive, how far they must be able to move, and what hiding a cell costs.

    All arrays have one entry a cell, in the order of ``system.cells``. Everything is stated in
    deviations z = y - values, so tables that carry rounding residuals work unchanged (A z = 0).

    Parameters
    ----------
    system : LinearSystem
    values : ndarray of float
        Nominal cell values, in the unit of the table.
    status : ndarray of int8
        A `Status` for every cell.
    lpl, upl, spl : ndarray of float
        Lower, upper and sliding protection levels (>= 0, unit of the values): the intruder's interval must reach
        ``values - lpl``, ``values + upl`` and be at least ``spl`` wide. Looked at for primaries only.
    weights : ndarray of float
        Cost of suppressing a cell (>= 0). Never scaled or rounded.
    lower, upper : ndarray of float
        External bounds that every intruder knows (lower <= values <= upper).
    attackers : tuple of Attacker
        Intruders with known cells, besides the one who knows only what is published.
    integer : bool
        True when intruders know that all values are integers (frequency tables).
    notes : tuple of str
        What was adjusted when the problem was stated, for reports.
    sums : int
        How many of the last cells are sums of hidden cells (`tabprotect.protect_unions`). Patterns of the table need
        not name them: nobody publishes them.

    Raises
    ------
    InputError
        Names every array of wrong length and every cell whose numbers cannot be.
    """

    system: LinearSystem
    values: Floats
    status: npt.NDArray[np.int8]
    lpl: Floats
    upl: Floats
    spl: Floats
    weights: Floats
    lower: Floats
    upper: Floats
    attackers: tuple[Attacker, ...] = ()
    integer: bool = False
    notes: tuple[str, ...] = ()
    sums: int = 0

    def __post_init__(self) -> None:
        need(self.system, LinearSystem, "a problem", "such as table.system")
        attackers = as_items(self.attackers, Attacker, "attackers", "tabprotect.Attacker")
        object.__setattr__(self, "attackers", attackers)
        object.__setattr__(self, "integer", as_bool(self.integer, "integer"))
        object.__setattr__(self, "notes", as_items(self.notes, str, "notes", "sentences"))
        n = self.system.n_cells
        if isinstance(self.sums, bool) or not isinstance(self.sums, int) or not 0 <= self.sums <= n:
            raise InputError(f"sums must be a number of cells, 0 to {n}, not {self.sums!r}")
        with collect() as problems:
            for name in ("values", "lpl", "upl", "spl", "weights", "lower", "upper"):
                array = as_numbers(getattr(self, name), name, "a number for every cell")
                object.__setattr__(self, name, array)
                if array.shape != (n,):
                    problems.add(f"{name} has shape {array.shape}; {n} cells need ({n},)")
            given = as_numbers(self.status, "status", "a Status for every cell")
            status = np.nan_to_num(given, nan=-1.0).astype(np.int8)
            object.__setattr__(self, "status", status)
            if status.shape != (n,):
                problems.add(f"status has shape {status.shape}; {n} cells need ({n},)")
        with collect() as problems:

            def refuse(bad: Bools, what: str) -> None:
                where = np.flatnonzero(bad)
                if len(where):
                    names = ", ".join(self.system.label(int(i)) for i in where[:5])
                    more = f" and {len(where) - 5} more" if len(where) > 5 else ""
                    problems.add(f"{what}: {names}{more}")

            refuse(~np.isfinite(self.values), "values must be numbers; missing or infinite in")
            refuse(~np.isin(status, [int(s) for s in Status]), "unknown status in")
            for name in ("lpl", "upl", "spl", "weights"):
                array = getattr(self, name)
                refuse(~(np.isfinite(array) & (array >= 0)), f"{name} must be finite and >= 0; it is not in")
            refuse(~(self.lower <= self.values), "lower external bound above the value in")
            refuse(~(self.upper >= self.values), "upper external bound below the value in")
            for attacker in self.attackers:
                if any(not 0 <= cell < n for cell in attacker.unasked):
                    problems.add(f"attacker '{attacker.name}' knows cells outside 0..{n - 1}")

    def __repr__(self) -> str:
        n = self.n_cells - self.sums
        cells = many(n, "cell") + (f" and {many(self.sums, 'sum')}" if self.sums else "")
        facts = [cells, many(self.system.n_equations, "equation")]
        found = {status: int(np.sum(self.status[:n] == status)) for status in Status if status != Status.SAFE}
        facts += [f"{n:,} {status.name.lower()}" for status, n in found.items() if n]
        if self.attackers:
            facts.append(counted(len(self.attackers), "attacker who knows cells", "attackers who know cells"))
        return f"Problem({', '.join(facts)}{', whole numbers' if self.integer else ''})"

    def _repr_html_(self) -> str:
        return view(self)

    @classmethod
    def from_arrays(
        cls,
        A: Any,
        values: Sequence[float] | Floats,
        primary: Sequence[int] | npt.NDArray[np.int64] | npt.NDArray[np.bool_],
        *,
        lpl: float | Sequence[float] | Floats,
        upl: float | Sequence[float] | Floats,
        spl: float | Sequence[float] | Floats = 0.0,
        b: Floats | None = None,
        weights: Sequence[float] | Floats | None = None,
        lower: float | Sequence[float] | Floats = 0.0,
        upper: float | Sequence[float] | Floats = np.inf,
        protected: Sequence[int] = (),
        forced: Sequence[int] = (),
        zero: Sequence[int] = (),
        attackers: Sequence[Attacker] = (),
        integer: bool = False,
        cells: Sequence[Any] | pd.Index | None = None,
    ) -> Problem:
        """Build a problem from arrays alone.

        Parameters
        ----------
        A : array or sparse array, shape (equations, cells)
        values : sequence of float
        primary, protected, forced, zero : sequence of int or of bool
            Positions of the cells with that `Status`, or one bool a cell; all others are safe.
        lpl, upl, spl : float or sequence of float
            Protection levels for all cells, or one number each (the unit of the values).
        b : ndarray, optional
            Right-hand sides (zeros).
        weights : sequence of float, optional
            Cost of suppression (by default max(|value|, 1)).
        lower, upper : float or sequence
            External bounds; y >= 0 by default, and no upper bound (infinite).

        Examples
        --------
        A 2 x 2 table with margins, whose first inner cell is sensitive:

        >>> A = [[-1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, -1, 1, 1, 0, 0, 0],
        ...      [0, 0, 0, 0, 0, 0, -1, 1, 1], [-1, 0, 0, 1, 0, 0, 1, 0, 0],
        ...      [0, -1, 0, 0, 1, 0, 0, 1, 0], [0, 0, -1, 0, 0, 1, 0, 0, 1]]
        >>> p = Problem.from_arrays(A, [20, 9, 11, 8, 3, 5, 12, 6, 6], primary=[4], lpl=1, upl=1)
        >>> p.primaries.tolist()
        [4]
        """
        A = as_matrix(A, "A")
        n = A.shape[1]
        array = _numbers("values", values)
        status = np.zeros(n, dtype=np.int8)
        with collect() as problems:
            for name, where, what in (
                ("primary", primary, Status.PRIMARY),
                ("forced", forced, Status.FORCED),
                ("protected", protected, Status.PROTECTED),
                ("zero", zero, Status.ZERO),
            ):
                if (mask := problems.attempt(cell_mask, where, n, name)) is not None:
                    status[mask] = what

        def full(name: str, x: float | Sequence[float] | Floats) -> Floats:
            given = _numbers(name, x)
            if given.shape not in ((), (n,)):
                raise InputError(f"{name} has shape {given.shape}; one number, or one for each of {n} cells, is needed")
            return np.broadcast_to(given, (n,)).copy()

        ids = pd.RangeIndex(n) if cells is None else cells if isinstance(cells, pd.Index) else pd.Index(cells)
        system = LinearSystem(A, np.zeros(A.shape[0]) if b is None else b, ids)
        return cls(
            system,
            array,
            status,
            full("lpl", lpl),
            full("upl", upl),
            full("spl", spl),
            np.maximum(np.abs(array), 1.0) if weights is None else _numbers("weights", weights),
            full("lower", lower),
            full("upper", upper),
            tuple(attackers),
            integer,
        )

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return self.system.n_cells

    @property
    def primaries(self) -> npt.NDArray[np.int64]:
        """Positions of the primary cells."""
        return np.flatnonzero(self.status == Status.PRIMARY)

    @property
    def down(self) -> Floats:
        """LB = values - lower: how far every intruder thinks a cell may go down (may be inf)."""
        return self.values - self.lower

    @property
    def up(self) -> Floats:
        """UB = upper - values: how far every intruder thinks a cell may go up (may be inf)."""
        return self.upper - self.values

    @property
    def must_hide(self) -> Bools:
        """Cells hidden in every pattern: primary or forced."""
        return np.isin(self.status, (Status.PRIMARY, Status.FORCED))

    @property
    def may_hide(self) -> Bools:
        """Cells that a pattern may suppress: all but protected ones and structural zeros."""
        return ~np.isin(self.status, (Status.PROTECTED, Status.ZERO))

    def cost(self, pattern: Bools) -> float:
        """Return the sum of weights of the secondary suppressions in a pattern; see `pattern_mask`."""
        secondary = pattern_mask(self, pattern) & ~self.must_hide
        return float(np.sum(self.weights[secondary]))


def _numbers(name: str, given: Any) -> npt.NDArray[np.float64]:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers: {error}") from None


def need_problem(given: object, who: str) -> None:
    """Refuse what is no problem.

    Raises
    ------
    InputError
    """
    need(given, Problem, who, "such as release.problem or what tabprotect.make_problem returns")
