"""Every number that the search for an adjustment was tuned with: for research, not for daily use."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULTS", "Options"]


@dataclass(frozen=True, kw_only=True)
class Options:
    """Sizes beyond which a table is treated as a large one, and shares of the clock.

    Attributes
    ----------
    exact_cells, exact_senses : int
        A problem of at most so many moving cells and free senses is solved exactly by default.
    senses_share : float
        Share of what the clock leaves for branch and bound over senses; the rest is for tangents where it did not end.
    relaxed_cells : int
        More cells are bounded by sizes alone: the whole relaxation takes long and gains little.
    plain_cells : int
        With more cells one good pattern is enough: every programme takes seconds.
    reduced_cells : int
        More cells than this are not worth the elimination that ties cells together.
    bound_share, turns_share : float
        Share of the clock for the relaxation and for turns; the programme itself gets the rest.
    patience : int
        Shakes or blocks in a row without gain that end the search.
    exact_seconds, exact_share : float
        After a stop exact decimals of the best answer are looked for so many seconds more, after a limit of time for
        that share of it if this is more.
    """

    exact_cells: int = 1500
    exact_senses: int = 120
    senses_share: float = 0.6
    relaxed_cells: int = 20_000
    plain_cells: int = 20_000
    reduced_cells: int = 40_000
    bound_share: float = 0.3
    turns_share: float = 0.35
    patience: int = 40
    exact_seconds: float = 1.0
    exact_share: float = 0.1


DEFAULTS = Options()
