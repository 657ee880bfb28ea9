"""Options of the classic methods."""

from __future__ import annotations

from dataclasses import dataclass, field

from tabprotect.methods.suppression.options.stage import Stage, Stages, number

__all__ = ["ClassicOptions", "JointOptions", "NetworkOptions", "PassesOptions"]


@dataclass(frozen=True, kw_only=True)
class JointOptions(Stage):
    """The joint linear programme.

    Parameters
    ----------
    rounds : int, default 12
        Programmes at most; what none of them answers is repaired target by target.
    reweighted : int, default 2
        Times that each is solved again at prices that fall where cells move already.
    missed_price : float, default 1e4
        Multiple of the mean weight per unit that a missed level costs.
    interior_point_cells : int, default 3000
        Cells beyond which interior point (with crossover) is used.
    """

    rounds: int = number(12, least=1)
    reweighted: int = number(2)
    missed_price: float = number(1e4)
    interior_point_cells: int = number(3000)


@dataclass(frozen=True, kw_only=True)
class NetworkOptions(Stage):
    """Shortest paths in two-way tables.

    Parameters
    ----------
    rounds : int, default 10
        Rounds after the first one.
    round_limit_share : float, default 0.1
        Share of what is left of the limits for one of them.
    noise : float, default 0.3
        Standard deviation of the logarithm of random factors on prices.
    hidden_price : float, default 1e-6
        Share of the least weight that a hidden cell is charged, so that paths are short.
    """

    rounds: int = number(10)
    round_limit_share: float = number(0.1, most=1)
    noise: float = number(0.3)
    hidden_price: float = number(1e-6)


@dataclass(frozen=True, kw_only=True)
class PassesOptions(Stage):
    """Passes over subtables, or over linked tables.

    Parameters
    ----------
    subtables_limit_share : float, default 0.6
        Share of the limits for the subtables of one table; the rest is for repair and clean-up of the whole.
    tables_limit_share : float, default 0.6
        The same for linked tables.
    before_exact_limit_share : float, default 0.5
        Share of the limits for all of that where the exact engine goes on from there.
    exact_cells : int, default 800
        Cells of a piece beyond which it is protected by cheapest witnesses and clean-up.
    piece_work : int, default 20_000
        Work units of the exact search in one piece, ...
    work : int, default 200_000
        ... or this many shared among all pieces, if that is more for each.
    gap : float, default 0.01
        Gap at which the search in a piece ends.
    visits : int, default 4
        Times that a piece is looked at at most.
    """

    subtables_limit_share: float = number(0.6, most=1)
    tables_limit_share: float = number(0.6, most=1)
    before_exact_limit_share: float = number(0.5, most=1)
    exact_cells: int = number(800)
    piece_work: int = number(20_000, least=1)
    work: int = number(200_000, least=1)
    gap: float = number(0.01, most=1)
    visits: int = number(4, least=1)


@dataclass(frozen=True, kw_only=True)
class ClassicOptions(Stages):
    """Options of the classic methods, step by step."""

    joint: JointOptions = field(default_factory=JointOptions)
    network: NetworkOptions = field(default_factory=NetworkOptions)
    passes: PassesOptions = field(default_factory=PassesOptions)
