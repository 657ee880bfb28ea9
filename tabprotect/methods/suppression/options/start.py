"""Options of first patterns, of construction and clean-up, and of the step from a pattern to a result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tabprotect.methods.suppression.options.stage import Stage, number

__all__ = ["CircuitOptions", "ConstructionOptions", "FinishOptions", "RootSolveOptions", "StartOptions"]


@dataclass(frozen=True, kw_only=True)
class StartOptions(Stage):
    """How the search of a core begins: a first pool, and a first safe pattern.

    Parameters
    ----------
    build_limit_share : float, default 0.3
        Share of the limits for a pattern of cheapest witnesses where hiding everything is safe.
    build_patience : float, default 2.0
        Multiple of that share that it may seem to take before it is given up.
    pool_limit_shares : tuple[float, float], default (0.02, 0.1)
        Least and largest share of the limits for the first pool.
    pool_spent_multiple : float, default 4.0
        Multiple of what was spent before it that the first pool gets, within these shares.
    learn_limit_share : float, default 0.25
        Share of the limits for completing the solutions of a useful first pool, and for rows at them.
    patient_limit_share : float, default 0.003
        Share of the limits before which a pattern with few exposures is not completed: the next one may be
        safe.
    few_exposures : int, default 3
        Exposures up to which a pattern has few.
    useless_exposed_share : float, default 0.5
        Share of the exposures without any secondary beyond which a pool that leaves them is of no use.
    before_bulk_limit_share : float, default 0.8
        Share of the limits that cheapest witnesses may take where removal in bulk is to follow if they do not end.
    bulk_limit_share : float, default 0.9
        Share of the limits for taking out in bulk where cheapest witnesses took too long.
    late_limit_share : float, default 0.02
        Share of the limits after which a first pool ends late: a safe pattern comes before its completion.
    attacker_targets : int, default 3000
        Targets beyond which those of attackers with known cells are separated only after an exposure.
    """

    build_limit_share: float = number(0.3, most=1)
    build_patience: float = number(2.0)
    pool_limit_shares: tuple[float, float] = number((0.02, 0.1), most=1)
    pool_spent_multiple: float = number(4.0)
    learn_limit_share: float = number(0.25, most=1)
    patient_limit_share: float = number(0.003, most=1)
    few_exposures: int = number(3)
    useless_exposed_share: float = number(0.5, most=1)
    before_bulk_limit_share: float = number(0.8, most=1)
    bulk_limit_share: float = number(0.9, most=1)
    late_limit_share: float = number(0.02, most=1)
    attacker_targets: int = number(3000)

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        if self.pool_limit_shares[0] > self.pool_limit_shares[-1]:
            yield "pool_limit_shares must ascend"


@dataclass(frozen=True, kw_only=True)
class CircuitOptions(Stage):
    """A first safe pattern from circuits, before any search.

    Parameters
    ----------
    most_cells : int, default 30_000
        Cells beyond which circuits take longer than local programmes, and a look at the sums of everything hidden too.
    level_quantiles : tuple[float, ...], default (0.5, 0.8, 0.95, 0.25, 1.0, 0.0)
        Quantiles of the levels for which circuits are looked for, in this order.
    cheaper_slice_share : float, default 0.4
        Share of the slice left after judging everything hidden that may go into a cheaper pattern.
    circuit_share : float, default 0.4
        Share of that for circuits.
    attacker_share : float, default 0.6
        Share of the rest for attackers by cheapest deviations, not by circuits.
    long_witness : float, default 10.0
        Multiple of the median number of cells of a witness beyond which one is taken only where nothing else is
        found.
    """

    most_cells: int = number(30_000)
    level_quantiles: tuple[float, ...] = number((0.5, 0.8, 0.95, 0.25, 1.0, 0.0), most=1)
    cheaper_slice_share: float = number(0.4, most=1)
    circuit_share: float = number(0.4, most=1)
    attacker_share: float = number(0.6, most=1)
    long_witness: float = number(10.0)


@dataclass(frozen=True, kw_only=True)
class ConstructionOptions(Stage):
    """Construction by cheapest witnesses, rerouting and clean-up.

    Parameters
    ----------
    sweep_growth : float, default 0.05
        Growth of the pattern, as a share, after which all open targets are looked at at once.
    trial_limit_share : float, default 0.1
        Share of the limits after which the rate of answers is looked at, ...
    late_limit_share : float, default 0.5
        ... and after which that of the last half of what was spent, or of the last quarter, has to suffice ...
    late_questions : int, default 50
        ... where at least so many questions were looked at in that half: few tell nothing. Not looked at where
        rough answers complete the pattern.
    question_limit_share : float, default 0.1
        Share of what is left of the limits that each of the first half of the questions may take.
    simplex_iterations : int, default 3000
        Simplex iterations, and so many more for every 5,000 columns, after which interior point takes over.
    put_off_ratio : float, default 5
        A question whose answer hides so many times as many more cells as the mean of those before waits, once, until
        all others are answered.
    series_cells : int, default 6000
        Hidden cells of a part beyond which series classes are not looked for again in the clean-up.
    rerouted : int, default 200
        Deviations that are led around a cell at most.
    reroutes : int, default 6
        Deviations that are tried as the way around at most.
    bulk_first_share : float, default 0.5
        Share of the dimensions of everything hidden that the first removal in bulk leaves.
    bulk_step : float, default 0.8
        Share of these that each further one leaves.
    bulk_removal_share : float, default 0.3
        Share of what is left of the limits after which a removal ends where it is; the next one goes on from there.
    bulk_trials : int, default 4
        Removals from the first one on that does not make the pattern cheaper.
    bulk_least_gain : float, default 0.015
        Share of the cost that a removal has to gain for another one to follow.
    bulk_cut_rounds : int, default 3
        Repairs of a question by attacker cuts alone, before one by the cheapest deviation.
    """

    sweep_growth: float = number(0.05)
    trial_limit_share: float = number(0.1, most=1)
    late_limit_share: float = number(0.5, most=1)
    late_questions: int = number(50)
    question_limit_share: float = number(0.1, most=1)
    simplex_iterations: int = number(3000, least=1)
    put_off_ratio: float = number(5.0)
    series_cells: int = number(6000)
    rerouted: int = number(200, least=1)
    reroutes: int = number(6)
    bulk_first_share: float = number(0.5, most=1)
    bulk_step: float = number(0.8, most=1)
    bulk_removal_share: float = number(0.3, most=1)
    bulk_trials: int = number(4)
    bulk_least_gain: float = number(0.015, most=1)
    bulk_cut_rounds: int = number(3)


@dataclass(frozen=True, kw_only=True)
class RootSolveOptions(Stage):
    """The root solve of a whole table, within a moment.

    Parameters
    ----------
    most_entries : int, default 5_000_000
        Entries of the inequalities from single equations beyond which it is not begun.
    few : int, default 10
        Cells hidden in part, or exposures, that are always few enough to go on.
    few_share : float, default 0.15
        Share of all cells hidden, or of all targets, up to which they are few, too.
    branching_cells : int, default 150
        Cells up to which own branching begins before a MIP solver would.
    whole_entries : int, default 50_000
        Entries of all bridges up to which all are stated to the MIP solver.
    rounds : int, default 12
        Patterns that are attacked at most.
    work : int, default 1000
        Work units, besides one for every cell.
    limit_share : float, default 0.2
        Share of the limits.
    least_seconds : float, default 0.1
        Seconds that it may take of any limit.
    """

    most_entries: int = number(5_000_000)
    few: int = number(10)
    few_share: float = number(0.15, most=1)
    branching_cells: int = number(150)
    whole_entries: int = number(50_000)
    rounds: int = number(12, least=1)
    work: int = number(1000)
    limit_share: float = number(0.2, most=1)
    least_seconds: float = number(0.1, least=1e-9)


@dataclass(frozen=True, kw_only=True)
class FinishOptions(Stage):
    """From the pattern of a search to a result.

    Parameters
    ----------
    build_limit_share : float, default 0.5
        Share of the limits for the repair of each part of an unsafe pattern.
    bulk_limit_share : float, default 0.5
        Share of the limits for taking out in bulk where that was not enough.
    grace_seconds : float, default 2.0
        Seconds after a limit in which a pattern may be repaired, or proven beyond repair.
    """

    build_limit_share: float = number(0.5, most=1)
    bulk_limit_share: float = number(0.5, most=1)
    grace_seconds: float = number(2.0)
