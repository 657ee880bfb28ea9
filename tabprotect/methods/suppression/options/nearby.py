"""Options of the search for cheapest deviations near a cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tabprotect.methods.suppression.options.stage import Stage, number

__all__ = ["NearbyOptions"]


@dataclass(frozen=True, kw_only=True)
class NearbyOptions(Stage):
    """Cheapest deviations within a few equations of a cell.

    Parameters
    ----------
    equations : tuple[int, ...], default (2, 3, 4, 5, 6, 7, 8, 10, 16, 1000)
        Equations that a deviation may reach over, one after the other.
    near_equations : int, default 4
        Equations beyond which a target without an answer may wait until others are answered.
    only_first : tuple[int, ...], default (5, 7, 8)
        Those of these reaches that are left out once something is found.
    sampled_primaries : int, default 50
        Primaries around which it is tried whether anything moves within the least reach.
    cells : tuple[int, int], default (1000, 40_000)
        Cells of a wider search at most once something is found: for what is cheap, and for what is dear.
    large_cells : int, default 60_000
        Cells beyond which only those that can move furthest are looked at, until that is without effect.
    hidden_equations : int, default 12
        Equations within which deviations among hidden cells are looked for, ...
    hidden_cells : int, default 800
        ... or cells, if those are fewer.
    dear : float, default 300
        Multiple of the usual cost from which a deviation counts as dear.
    cheap_share : float, default 0.05
        Share of the cost of what is dear that cells may cost in the last search for something cheaper.
    patience : int, default 2000
        Simplex iterations of a successful search after which there is no wider one; up to 20 times as many for
        what is dear.
    gain : float, default 0.97
        Share of the cost that a wider search has to come below, or it is idle; two idle ones are the last.
    resolved : int, default 2
        Times that a programme is solved again at other charges, ...
    resolved_iterations : int, default 500
        ... where it took at most so many iterations at first.
    unmoved_share : float, default 0.3
        Share of its range that a cell which did not move counts as moved when cells are charged anew; halved
        every time.
    same_share : float, default 0.95
        Share of the cells of a wider search from which the last one was nearly the same: it is left out.
    quick_iterations : int, default 8000
        Simplex iterations for a target that is to be answered quickly.
    thin : tuple[tuple[int, int], ...], default ((3, 4), (3, 7), (2, 10), (2, 1000))
        Cells of each equation, and equations, through which it is answered after that.
    """

    equations: tuple[int, ...] = number((2, 3, 4, 5, 6, 7, 8, 10, 16, 1000), least=1)
    near_equations: int = number(4)
    only_first: tuple[int, ...] = number((5, 7, 8))
    sampled_primaries: int = number(50, least=1)
    cells: tuple[int, int] = number((1000, 40_000), least=1)
    large_cells: int = number(60_000, least=1)
    hidden_equations: int = number(12, least=1)
    hidden_cells: int = number(800, least=1)
    dear: float = number(300, least=1e-9)
    cheap_share: float = number(0.05, most=1)
    patience: int = number(2000)
    gain: float = number(0.97, most=1)
    resolved: int = number(2)
    resolved_iterations: int = number(500)
    unmoved_share: float = number(0.3, least=1e-9, most=1)
    same_share: float = number(0.95, least=1e-9, most=1)
    quick_iterations: int = number(8000, least=1)
    thin: tuple[tuple[int, int], ...] = number(((3, 4), (3, 7), (2, 10), (2, 1000)), least=1)

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        if self.cells[0] > self.cells[-1]:
            yield "cells must ascend"
        if any(len(pair) != 2 for pair in self.thin):
            yield "thin must hold pairs"
