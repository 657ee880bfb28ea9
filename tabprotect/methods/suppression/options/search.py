"""Options of the search for cheaper patterns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tabprotect.methods.suppression.options.stage import Stage, number

__all__ = ["ImprovementOptions"]


@dataclass(frozen=True, kw_only=True)
class ImprovementOptions(Stage):
    """Large-neighbourhood search around the incumbent.

    Parameters
    ----------
    noise : tuple[float, ...], default (0.0, 0.1, 0.2, 0.4)
        Standard deviations of the logarithm of random factors on prices, one drawn each time.
    trust : tuple[float, ...], default (0.7, 0.9, 0.97)
        Shares by which a cell that the relaxation hides is cheaper, one drawn each time.
    cleanup_ratio : float, default 2.0
        Cost over that of the incumbent up to which a new pattern is cleaned up.
    stored_share : float, default 0.7
        Share of the patterns built anew that are built of stored deviations, from a part of another: that takes a
        tenth of the time of cheapest witnesses, which the others are built of.
    deviation : float, default 0.02
        Share by which a pattern that steps start from may be dearer than the incumbent; a random part of it each time.
    elite : int, default 6
        Last patterns that are kept to be joined with the incumbent.
    extra_cells : int, default 40
        Cells that are hidden besides those of the incumbent at most, ...
    extra_share : float, default 0.5
        ... and this share of its secondaries more.
    kept_cuts : int, default 1000
        Last attacker cuts that are kept from one clean-up to the next.
    opened_equations : tuple[int, int], default (5, 60)
        Least number of equations around a hidden cell in which cells are hidden, or published, and the number that it
        stays below.
    unrewarded_share : float, default 0.3
        Share of all that was spent that may go into completing pool solutions without effect.
    """

    noise: tuple[float, ...] = number((0.0, 0.1, 0.2, 0.4))
    trust: tuple[float, ...] = number((0.7, 0.9, 0.97), most=1)
    cleanup_ratio: float = number(2.0)
    stored_share: float = number(0.7, most=1)
    deviation: float = number(0.02, most=1)
    elite: int = number(6, least=1)
    extra_cells: int = number(40)
    extra_share: float = number(0.5)
    kept_cuts: int = number(1000)
    opened_equations: tuple[int, int] = number((5, 60))
    unrewarded_share: float = number(0.3, most=1)

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        if self.opened_equations[0] >= self.opened_equations[-1]:
            yield "opened_equations must ascend"
