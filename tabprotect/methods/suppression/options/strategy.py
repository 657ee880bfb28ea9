"""Options of the choice of a method, and of the shares of the limits."""

from __future__ import annotations

from dataclasses import dataclass

from tabprotect.methods.suppression.options.stage import Stage, number

__all__ = ["ChoiceOptions", "ScheduleOptions"]


@dataclass(frozen=True, kw_only=True)
class ChoiceOptions(Stage):
    """Which method `auto` begins with, and what a first pattern to start from may take.

    Parameters
    ----------
    whole_cells : int, default 1_000
        Cells of linked tables up to which they are handed to the exact engine as one system at once.
    own_start_cells : int, default 300
        Cells up to which the first pool of the exact engine is as good a start as any.
    always_exact_cells : int, default 3_000
        Cells up to which the exact engine is chosen, whatever the table is like.
    attacker_cells : int, default 5_000
        Cells up to which the exact engine takes two-way tables with attackers who know cells.
    never_exact_cells : int, default 30_000
        Cells beyond which every table is worked on locally, and linked tables are not solved as one system.
    inside_cells : int, default 12_000
        Cells up to which the exact engine searches among the cells of a pattern of local programmes that gain no more.
    near_equations : int, default 4
        Equations from a primary within which its surroundings are counted.
    near_primaries : int, default 30
        Primaries around which that is done.
    near_share : float, default 0.3
        Share of the cells up to which these surroundings are small enough for local programmes.
    two_way_equations : float, default 2.75
        Mean number of equations of a cell up to which a table counts as two-way: relaxations are tight there.
    two_way_primaries : int, default 400
        Primaries beyond which the relaxation of such a table takes longer than local programmes.
    tight_ratio : float, default 1.6
        Cost over bound of local programmes up to which the exact engine goes on from there.
    linked_equations : float, default 4.3
        Mean number of equations of a cell beyond which cheapest witnesses, or removal in bulk, are the better start:
        local programmes find dear patterns there, or none.
    dense_primaries : float, default 0.2
        Share of primaries among the cells beyond which solutions of the first pool are the better start.
    probe_limit_share : float, default 0.4
        Share of the limits for a first pattern that the exact engine starts from.
    second_after_share : float, default 0.5
        Share of the limits within which a first pattern has to be there, cleaned up, for another one to be made.
    gap_limit_share : float, default 0.1
        Share of the limits left then for a bound of local programmes, where there is no time for another pattern.
    local_slice_share : float, default 0.2
        Share of what is left after their first pattern within which local programmes have to gain something to go on;
        see `LocalSearchOptions.slice_limit_share`.
    local_limit_share : float, default 0.3
        Share of the limits left then for a bound and cheaper patterns of local programmes, where there is.
    second_limit_share : float, default 0.4
        Share of the limits left then for a pattern of cheapest witnesses.
    second_restarts : int, default 10
        How often cheapest witnesses look for a cheaper one in that time.
    recombination_limit_share : float, default 0.8
        Share of the limits left then for a search among the cells that one of the two hides.
    inside_limit_share : float, default 0.9
        The same among the cells of the first pattern, where there is no time for another one.
    inside_stall_share : float, default 0.05
        Share of these for which they may gain nothing (`ScheduleOptions.stall_limit_share`): the rest is left for the
        whole table.
    probe_work : int, default 500_000
        Work units that each first pattern, and a bound for it, may take.
    probe_patience : float, default 4.0
        Multiple of that share that a pattern of cheapest witnesses may seem to take, until it answers half of what is
        to be answered; then it may take the limits.
    completion_patience : float, default 10.0
        The same, of what is left of the limits, where it answers what local programmes left open: the first of these
        questions take far longer than the others.
    open_share : float, default 0.35
        Share of the questions below which local programmes go on themselves where they left so many open, ...
    answered_questions : int, default 500
        ... if they answered so many: the last ones of few take far longer than the others.
    witness_limit_share : float, default 0.9
        Share of what is left of the limits after which what cheapest witnesses leave open is answered roughly, ...
    rough_speedup : float, default 2.0
        ... or sooner, where the rest would take longer than that at so many times their rate of late. Local programmes
        that would not answer the rest in time at so many times theirs give way to removal in bulk.
    trial_gain : float, default 0.5
        Share of the cost, by targets answered, below which cells are charged by what they cost alone: cheapest
        witnesses are the start then, not local programmes.
    probe_cleanup_share : float, default 0.2
        Share of what it leaves of that for its clean-up.
    """

    whole_cells: int = number(1_000)
    own_start_cells: int = number(300)
    always_exact_cells: int = number(3_000)
    attacker_cells: int = number(5_000)
    never_exact_cells: int = number(30_000)
    inside_cells: int = number(12_000)
    near_equations: int = number(4, least=1)
    near_primaries: int = number(30, least=1)
    near_share: float = number(0.3, most=1)
    two_way_equations: float = number(2.75)
    two_way_primaries: int = number(400)
    tight_ratio: float = number(1.6, least=1)
    linked_equations: float = number(4.3)
    dense_primaries: float = number(0.2, most=1)
    probe_limit_share: float = number(0.4, most=1)
    second_after_share: float = number(0.5, most=1)
    gap_limit_share: float = number(0.1, most=1)
    local_slice_share: float = number(0.2, most=1)
    local_limit_share: float = number(0.3, most=1)
    second_limit_share: float = number(0.4, most=1)
    second_restarts: int = number(10)
    recombination_limit_share: float = number(0.8, most=1)
    inside_limit_share: float = number(0.9, most=1)
    inside_stall_share: float = number(0.05, most=1)
    probe_work: int = number(500_000)
    probe_patience: float = number(4.0)
    completion_patience: float = number(10.0)
    open_share: float = number(0.35, most=1)
    answered_questions: int = number(500)
    witness_limit_share: float = number(0.9, most=1)
    rough_speedup: float = number(2.0, least=1)
    trial_gain: float = number(0.5, most=1)
    probe_cleanup_share: float = number(0.2, most=1)


@dataclass(frozen=True, kw_only=True)
class ScheduleOptions(Stage):
    """How the limits are shared out between incumbent and bound, and between the ways to raise the bound.

    Parameters
    ----------
    bound_limit_share : float, default 0.15
        Share of the limits that a method without a bound of its own leaves for one.
    first_limit_share : float, default 0.1
        Share of the limits for a first safe pattern, where attackers know cells.
    bound_work : int, default 20_000
        Work units that such a bound may take at least where there are no limits.
    cleanup_limit_share : float, default 0.05
        Share of the limits for the clean-up of the first patterns of small cores before anything else, ...
    small_cells : int, default 200
        ... which are those of at most so many cells, ...
    idle_trials : int, default 3
        ... until so many trials in a row find nothing cheaper.
    far_gap : float, default 0.3
        Gap beyond which the first pattern is cleaned up before anything else.
    far_cleanup_limit_share : float, default 0.9
        Share of the limits for that.
    slice_limit_share : float, default 0.04
        Share of the limits after which, at the latest, it is decided anew which side goes on.
    slice_spent_share : float, default 0.15
        Share of what was spent so far that a slice takes, if that is less.
    least_slice : float, default 0.02
        Share of the longest slice that the shortest one takes.
    fair_share : float, default 0.25
        Share of the time that the incumbent and the bound each get at least, ...
    incumbent_share : float, default 0.5
        ... and the incumbent ...
    close_gap : float, default 0.05
        ... where the gap is larger than this, so that no proof is near.
    pool_limit_share : float, default 0.2
        Share of the limits for which pools that are of use go on before anything else.
    pool_spent_multiple : float, default 2.0
        Multiple of what was spent so far that such a pool may take.
    first_pool_gain : float, default 0.1
        Share of the bound that a first pool with a nearly safe solution counts for at least.
    pool_wait : float, default 3.0
        Multiple of what was spent on the bound after which a pool that was cut short comes again.
    useless_pool_wait : float, default 12.0
        Multiple of what a first pool took, whose solution left most exposed, after which the next one comes.
    relaxation_slices : float, default 1.0
        Slices of a round of the relaxation at first.
    pool_slices : float, default 6.0
        Slices of a pool at first; one that is cut short has to start again.
    incumbent_slices : float, default 4.0
        Slices of a step towards a cheaper pattern at first.
    stall_limit_share : float, default 1.0
        Share of what is left of the limits for which a search may gain nothing, besides as long again as its last
        gain took, ...
    stall_gain : float, default 0.002
        ... which is this share of the cost at least.
    round_work : int, default 20_000
        Work units of the first round of a core that is searched in rounds.
    round_growth : int, default 2
        Work of a round as a multiple of the one before.
    """

    bound_limit_share: float = number(0.15, most=1)
    first_limit_share: float = number(0.1, most=1)
    bound_work: int = number(20_000)
    cleanup_limit_share: float = number(0.05, most=1)
    small_cells: int = number(200)
    idle_trials: int = number(3)
    far_gap: float = number(0.3)
    far_cleanup_limit_share: float = number(0.9, most=1)
    slice_limit_share: float = number(0.04, most=1)
    slice_spent_share: float = number(0.15)
    least_slice: float = number(0.02, most=1)
    fair_share: float = number(0.25, most=0.5)
    incumbent_share: float = number(0.5, most=1)
    close_gap: float = number(0.05, most=1)
    pool_limit_share: float = number(0.2, most=1)
    pool_spent_multiple: float = number(2.0)
    first_pool_gain: float = number(0.1)
    pool_wait: float = number(3.0)
    useless_pool_wait: float = number(12.0)
    relaxation_slices: float = number(1.0)
    pool_slices: float = number(6.0)
    incumbent_slices: float = number(4.0)
    stall_limit_share: float = number(1.0, most=1)
    stall_gain: float = number(0.002, most=1)
    round_work: int = number(20_000, least=1)
    round_growth: int = number(2, least=1)
