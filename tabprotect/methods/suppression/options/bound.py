"""Options of the relaxation, of the integer programmes over its rows, and of the proof of the bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tabprotect.methods.suppression.options.stage import Stage, number

__all__ = ["MasterOptions", "ProofOptions", "RelaxationOptions", "SeparationOptions"]


@dataclass(frozen=True, kw_only=True)
class SeparationOptions(Stage):
    """The attacks that find violated inequalities.

    Parameters
    ----------
    equations : tuple[int, ...], default (20, 60, 150, 400, 0)
        Equations around its cell that an attack sees at least, stage by stage; 0 for all.
    kept_entries : int, default 3_000_000
        Entries of the attack programmes that are kept with their bases.
    """

    equations: tuple[int, ...] = number((20, 60, 150, 400, 0))
    kept_entries: int = number(3_000_000)


@dataclass(frozen=True, kw_only=True)
class RelaxationOptions(Stage):
    """The linear relaxation of a core.

    Parameters
    ----------
    progress : float, default 3e-4
        Share of the bound below which a round that lifts it has stalled.
    stalls : float, default 3.0
        Stalled rounds after which a stage of separation ends.
    loose_slack : float, default 0.3
        Slack (right-hand sides are 1) beyond which a row leaves the programme for the pool.
    round_cuts : int, default 400
        Cuts after which a round of separation ends.
    covers : int, default 300
        Covers of single rows that come into the pool in a round at most.
    zero_half_columns : int, default 6000
        Cells beyond which zero-half cuts are not looked for.
    proof_halves : int, default 3
        Rounds of zero-half cuts before the bound is proven, after covers.
    """

    progress: float = number(3e-4)
    stalls: float = number(3.0)
    loose_slack: float = number(0.3)
    round_cuts: int = number(400, least=1)
    covers: int = number(300)
    zero_half_columns: int = number(6000)
    proof_halves: int = number(3)


@dataclass(frozen=True, kw_only=True)
class MasterOptions(Stage):
    """Integer programmes over pools of rows.

    Parameters
    ----------
    first_gap : float, default 0.02
        Gap to which the first pool is solved; it is halved after every pool.
    least_gap : float, default 2e-3
        Gap to which pools are solved at last, until their best pattern is safe.
    step_share : float, default 0.8
        Share of a step for the integer programme; the rest is for attacks at its solutions.
    near_slack : float, default 0.6
        Slack at the relaxed solution below which rows go into the integer programme.
    whole_entries : int, default 50_000
        Entries of the rows up to which useful pools are solved over all of them at once.
    solutions : int, default 8
        Solutions of a pool that are attacked at most.
    solution_ratio : float, default 1.3
        Cost over that of the cheapest solution up to which others are attacked.
    near_equations : tuple[int, ...], default (60, 400)
        Equations around its cell that an attack at a pattern sees, one after the other until one finds
        something.
    floor : float, default 1e-3
        Share that cells which a pattern does not hide count as hidden in attacks.
    floors : float, default 0.1
        Sum of these shares over all cells at most.
    exposures : int, default 300
        Exposures of one pattern that are turned into rows at most.
    """

    first_gap: float = number(0.02, most=1)
    least_gap: float = number(2e-3, most=1)
    step_share: float = number(0.8, least=0.01, most=1)
    near_slack: float = number(0.6)
    whole_entries: int = number(50_000)
    solutions: int = number(8, least=1)
    solution_ratio: float = number(1.3, least=1)
    near_equations: tuple[int, ...] = number((60, 400))
    floor: float = number(1e-3, most=1)
    floors: float = number(0.1)
    exposures: int = number(300, least=1)

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        if self.least_gap > self.first_gap:
            yield "least_gap must not exceed first_gap"


@dataclass(frozen=True, kw_only=True)
class ProofOptions(Stage):
    """The proof of the bound of a relaxation in exact arithmetic.

    Parameters
    ----------
    reduction_multiple : float, default 20.0
        Multiple of the time of the reduction that the proof takes at most, about; that is set aside.
    limit_share : float, default 0.2
        Share of a limit in seconds that is set aside at most; where it needs more, it is left out.
    cuts_share : float, default 0.3
        Share of that time in which joint cuts are looked for before.
    most_cells : int, default 20_000
        Cells up to which the bound is proven.
    """

    reduction_multiple: float = number(20.0)
    limit_share: float = number(0.2, most=1)
    cuts_share: float = number(0.3, most=1)
    most_cells: int = number(20_000)
