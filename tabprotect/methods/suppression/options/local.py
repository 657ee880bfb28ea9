"""Options of the method for large tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tabprotect.methods.suppression.options.nearby import NearbyOptions
from tabprotect.methods.suppression.options.stage import Stage, Stages, number

__all__ = [
    "InsiderOptions",
    "LocalBoundOptions",
    "LocalOptions",
    "LocalSearchOptions",
    "NearbyOptions",
    "ParallelOptions",
    "RebuildOptions",
    "WindowOptions",
]


@dataclass(frozen=True, kw_only=True)
class LocalSearchOptions(Stage):
    """The course of the method for large tables.

    Parameters
    ----------
    start_price : float, default 1e-3
        Share of their weight that cells of a pattern to start from are charged.
    repairs : int, default 5
        Times that what the judge finds exposed is answered before the method gives up.
    judgement_multiple : float, default 1.5
        Multiple of the time of the judgement that found the first pattern safe that is set aside for the last one.
    judgement_time_share : float, default 0.3
        Share of the time of all judgements until then that is set aside for it at least: what was answered in one of
        them is looked up in the next one, but not for another pattern.
    attacker_time_share : float, default 0.3
        Share of the time for answering attackers at first that is set aside for doing so again.
    grace_seconds : float, default 5.0
        Seconds that are set aside for that at least.
    grace_limit_share : float, default 0.2
        But no more than this share of the time left.
    first_limit_share : float, default 1.0
        Share of the limits within which the first pattern has to be there; otherwise the method gives up.
    improve_limit_share : float, default 0.4
        Share of the limits until which ruin and recreate goes on where attackers know cells.
    cleanup_limit_share : float, default 0.95
        Share of what is left for the clean-up after that, and for looking further; with 0 there is no clean-up.
    bound_limit_share : float, default 0.2
        Share of what is left that of this is for a bound where there is none yet.
    cleanup_slices : int, default 10
        Times that its cost is reported.
    slice_limit_share : float, default 1.0
        Share of the time left after the first pattern within which ruin and recreate has to gain so much to go on, ...
    slice_gain : float, default 0.01
        ... as a share of the cost.
    fair_share : float, default 0.1
        Share of what goes to cheaper patterns that ruin and recreate, and windows, each get at least.
    rounds_before_windows : float, default 3
        Times that every secondary is tried before windows begin.
    ruin_fade : float, default 0.98
        Factor on the gains of ruin and recreate after every try.
    window_fade : float, default 0.9
        Factor on the gains of windows after every try.
    stage_work : int, default 50_000
        Work units of the first stage that is kept after the first pattern; every one has twice the work of the
        one before.
    stage_gain : float, default 1e-3
        Share of cost and of bound below which a stage that gained less is the last one without limits.
    """

    start_price: float = number(1e-3)
    repairs: int = number(5, least=1)
    judgement_multiple: float = number(1.5)
    judgement_time_share: float = number(0.3)
    attacker_time_share: float = number(0.3)
    grace_seconds: float = number(5.0)
    grace_limit_share: float = number(0.2, most=1)
    first_limit_share: float = number(1.0, most=1)
    improve_limit_share: float = number(0.4, most=1)
    cleanup_limit_share: float = number(0.95, most=1)
    bound_limit_share: float = number(0.2, most=1)
    cleanup_slices: int = number(10, least=1)
    slice_limit_share: float = number(1.0, most=1)
    slice_gain: float = number(0.01, most=1)
    fair_share: float = number(0.1, most=0.5)
    rounds_before_windows: float = number(3)
    ruin_fade: float = number(0.98, most=1)
    window_fade: float = number(0.9, most=1)
    stage_work: int = number(50_000, least=1)
    stage_gain: float = number(1e-3)


@dataclass(frozen=True, kw_only=True)
class ParallelOptions(Stage):
    """Targets that are looked at side by side.

    Parameters
    ----------
    batch : tuple[int, int], default (1, 32)
        Targets that are looked at in the same pattern, at first and at most.
    growth : int, default 50
        Targets done for each of a batch.
    """

    batch: tuple[int, int] = number((1, 32), least=1)
    growth: int = number(50, least=1)

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        if self.batch[0] > self.batch[-1]:
            yield "batch must ascend"


@dataclass(frozen=True, kw_only=True)
class RebuildOptions(Stage):
    """Ruin and recreate: a secondary is taken away, and what relied on it is answered anew.

    Parameters
    ----------
    most_users : int, default 40
        Witnesses of a cell beyond which it is not tried.
    usual_cells : float, default 6
        Cells of median weight that a target usually costs before there is a pattern.
    reopened : tuple[int, ...], default (3, 6, 12, 25)
        Targets around a secondary that are opened again, about; one drawn each time.
    trust : tuple[float, ...], default (0.0, 0.7, 0.9, 0.97)
        Shares by which a cell that the relaxation hides is cheaper; one drawn each time.
    avoided_price : float, default 1e3
        Multiple of its weight that a cell to be avoided is charged.
    charge_powers : tuple[float, ...], default (1.0, 0.0)
        Powers of how far a cell can move, as a share of the level, by which its charge is divided; one is chosen by
        trial.
    trial_targets : int, default 4
        Targets of the largest levels, and others, that are tried with each of them, ...
    trial_limit_share : float, default 0.15
        ... within this share of the limits.
    trial_gain : float, default 0.75
        Share of the cost, by targets answered, of the first power below which another one is taken.
    careful_limit_share : float, default 0.75
        Share of what is left of the limits of a first pattern after which what is open still is answered roughly, ...
    refine_limit_share : float, default 1.0
        ... and share of what is left then for answering that again.
    """

    most_users: int = number(40, least=1)
    usual_cells: float = number(6)
    reopened: tuple[int, ...] = number((3, 6, 12, 25), least=1)
    trust: tuple[float, ...] = number((0.0, 0.7, 0.9, 0.97), most=1)
    avoided_price: float = number(1e3)
    charge_powers: tuple[float, ...] = number((1.0, 0.0), most=1)
    trial_targets: int = number(4, least=1)
    trial_limit_share: float = number(0.15, most=1)
    trial_gain: float = number(0.75, most=1)
    careful_limit_share: float = number(0.75, most=1)
    refine_limit_share: float = number(1.0, most=1)


@dataclass(frozen=True, kw_only=True)
class WindowOptions(Stage):
    """Windows of the pattern, solved exactly.

    Parameters
    ----------
    targets : tuple[int, ...], default (3, 6, 12, 25)
        Targets that are opened again together, about, pass by pass.
    cells : tuple[int, ...], default (150, 400, 800, 1500)
        Cells of a window at most, pass by pass.
    equations : tuple[int, ...], default (1, 2, 2, 3)
        Equations away from the deviations that it replaces where a window ends, pass by pass.
    work : int, default 1000
        Work units of one window.
    setup_work : int, default 500
        Work units that stating and reducing a window counts for.
    """

    targets: tuple[int, ...] = number((3, 6, 12, 25), least=1)
    cells: tuple[int, ...] = number((150, 400, 800, 1500), least=1)
    equations: tuple[int, ...] = number((1, 2, 2, 3), least=1)
    work: int = number(1000, least=1)
    setup_work: int = number(500)

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        if not len(self.targets) == len(self.cells) == len(self.equations):
            yield "targets, cells and equations must have one number a pass each"


@dataclass(frozen=True, kw_only=True)
class InsiderOptions(Stage):
    """Attackers who know cells, answered near each cell.

    Parameters
    ----------
    hidden_price : float, default 1e-3
        Share of the median weight that hidden cells are charged, so that few of them move.
    known_price : float, default 20.0
        Cells that one which somebody knows counts for when deviations of few cells are looked for.
    many : int, default 50_000
        Pairs of an attacker and a target without a witness beyond which the judge does not look at them one by
        one.
    rounds : int, default 5
        Times that attackers are looked for who know cells of all witnesses of a target.
    usual_cells : float, default 60.0
        Cells of median weight beyond whose cost a deviation is looked for further away, and for fewer
        attackers.
    whole_cells : int, default 20_000
        Cells up to which what the judge finds exposed is answered by the cheapest deviation of the whole table.
    """

    hidden_price: float = number(1e-3)
    known_price: float = number(20.0)
    many: int = number(50_000)
    rounds: int = number(5, least=1)
    usual_cells: float = number(60.0)
    whole_cells: int = number(20_000)


@dataclass(frozen=True, kw_only=True)
class LocalBoundOptions(Stage):
    """The bound from local attacks.

    Parameters
    ----------
    equations : int, default 4
        Equations around its cell that an attack sees at last.
    progress : float, default 2e-3
        Share of the bound below which a round that lifts it makes attacks see further.
    chunk : int, default 32
        Attacks in one piece of work.
    at_once : int, default 1024
        Attacks that are stated before the first of them is solved.
    grace_seconds : float, default 0.5
        Seconds beyond a limit that pieces under way are waited for.
    loose_slack : float, default 0.5
        Slack (right-hand sides are 1) beyond which rows leave the programme now and then.
    """

    equations: int = number(4, least=1)
    progress: float = number(2e-3)
    chunk: int = number(32, least=1)
    at_once: int = number(1024, least=1)
    grace_seconds: float = number(0.5)
    loose_slack: float = number(0.5)


@dataclass(frozen=True, kw_only=True)
class LocalOptions(Stages):
    """Options of the method for large tables, step by step."""

    search: LocalSearchOptions = field(default_factory=LocalSearchOptions)
    nearby: NearbyOptions = field(default_factory=NearbyOptions)
    parallel: ParallelOptions = field(default_factory=ParallelOptions)
    rebuild: RebuildOptions = field(default_factory=RebuildOptions)
    windows: WindowOptions = field(default_factory=WindowOptions)
    insiders: InsiderOptions = field(default_factory=InsiderOptions)
    bound: LocalBoundOptions = field(default_factory=LocalBoundOptions)
