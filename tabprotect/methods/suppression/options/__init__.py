"""Every number that the suppression methods were tuned with, stage by stage: for research, not for daily use.

Tolerances are no options: they are in `tabprotect.solver.tolerances`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from tabprotect.errors import InputError, did_you_mean
from tabprotect.methods.suppression.options.bound import (
    MasterOptions,
    ProofOptions,
    RelaxationOptions,
    SeparationOptions,
)
from tabprotect.methods.suppression.options.classic import ClassicOptions
from tabprotect.methods.suppression.options.local import LocalOptions
from tabprotect.methods.suppression.options.search import ImprovementOptions
from tabprotect.methods.suppression.options.stage import Stages
from tabprotect.methods.suppression.options.start import (
    CircuitOptions,
    ConstructionOptions,
    FinishOptions,
    RootSolveOptions,
    StartOptions,
)
from tabprotect.methods.suppression.options.strategy import ChoiceOptions, ScheduleOptions
from tabprotect.views import Short

__all__ = [
    "DEFAULTS",
    "ChoiceOptions",
    "CircuitOptions",
    "ClassicOptions",
    "ConstructionOptions",
    "FinishOptions",
    "ImprovementOptions",
    "LocalOptions",
    "MasterOptions",
    "Options",
    "ProofOptions",
    "RelaxationOptions",
    "RootSolveOptions",
    "ScheduleOptions",
    "SeparationOptions",
    "StartOptions",
    "changed",
    "differing",
    "numbers",
]


@dataclass(frozen=True, kw_only=True, repr=False)
class Options(Short, Stages):
    """What the suppression methods do, in numbers; the defaults are what was found to be best on many tables.

    No option makes an answer wrong: patterns are judged, and bounds proven, whatever the search was like. Answers
    differ in cost, in bound and in the time they take.

    Parameters
    ----------
    choice : ChoiceOptions
        Which method `auto` begins with, and what a first pattern to start from may take.
    schedule : ScheduleOptions
        How the limits are shared out between incumbent and bound, and between the ways to raise the bound.
    start : StartOptions
        How the search of a core begins: a first pool, and a first safe pattern.
    circuits : CircuitOptions
        A first safe pattern from circuits, before any search.
    construction : ConstructionOptions
        Construction by cheapest witnesses, rerouting and clean-up.
    root_solve : RootSolveOptions
        The root solve of a whole table, within a moment.
    finish : FinishOptions
        From the pattern of a search to a result.
    separation : SeparationOptions
        The attacks that find violated inequalities.
    relaxation : RelaxationOptions
        The linear relaxation of a core.
    master : MasterOptions
        Integer programmes over pools of rows.
    proof : ProofOptions
        The proof of the bound of a relaxation in exact arithmetic.
    improvement : ImprovementOptions
        Large-neighbourhood search around the incumbent.
    local : LocalOptions
        The method for large tables.
    classic : ClassicOptions
        The classic methods.

    Examples
    --------
    >>> from dataclasses import replace
    >>> Options(schedule=ScheduleOptions(small_cells=100)).schedule.small_cells
    100
    >>> changed(Options(), "relaxation.progress", 1e-3) == Options(relaxation=RelaxationOptions(progress=1e-3))
    True
    """

    choice: ChoiceOptions = field(default_factory=ChoiceOptions)
    schedule: ScheduleOptions = field(default_factory=ScheduleOptions)
    start: StartOptions = field(default_factory=StartOptions)
    circuits: CircuitOptions = field(default_factory=CircuitOptions)
    construction: ConstructionOptions = field(default_factory=ConstructionOptions)
    root_solve: RootSolveOptions = field(default_factory=RootSolveOptions)
    finish: FinishOptions = field(default_factory=FinishOptions)
    separation: SeparationOptions = field(default_factory=SeparationOptions)
    relaxation: RelaxationOptions = field(default_factory=RelaxationOptions)
    master: MasterOptions = field(default_factory=MasterOptions)
    proof: ProofOptions = field(default_factory=ProofOptions)
    improvement: ImprovementOptions = field(default_factory=ImprovementOptions)
    local: LocalOptions = field(default_factory=LocalOptions)
    classic: ClassicOptions = field(default_factory=ClassicOptions)


DEFAULTS: Final = Options()
"""What a search does that was given no options."""


def numbers(options: Stages) -> Iterator[tuple[str, Any]]:
    """Yield the name of every option, with the stages that it is in, and its value.

    Examples
    --------
    >>> dict(numbers(Options()))["local.windows.work"]
    1000
    """
    for one in fields(options):
        part = getattr(options, one.name)
        if isinstance(part, Stages):
            yield from ((f"{one.name}.{name}", value) for name, value in numbers(part))
        else:
            yield from ((f"{one.name}.{own.name}", getattr(part, own.name)) for own in fields(part))


def changed(options: Options, name: str, value: Any) -> Options:
    """Return options with another value for one of them.

    Parameters
    ----------
    options : Options
    name : str
        As `numbers` has it, such as 'relaxation.progress'.
    value : number or tuple
        Of the kind that the option has.

    Raises
    ------
    InputError
        If there is no such option, or the value makes no sense for it.
    """
    known = [each for each, _ in numbers(options)]
    if name not in known:
        raise InputError(f"no option '{name}'{did_you_mean(name, known)}")
    found: Options = _replaced(options, name.split("."), value)
    return found


def differing(options: Options) -> dict[str, Any]:
    """Return the options that are not the defaults, by name.

    Examples
    --------
    >>> differing(Options(schedule=ScheduleOptions(small_cells=50)))
    {'schedule.small_cells': 50}
    """
    usual = dict(numbers(DEFAULTS))
    return {name: value for name, value in numbers(options) if value != usual[name]}


def _replaced(part: Any, path: list[str], value: Any) -> Any:
    inner = value if len(path) == 1 else _replaced(getattr(part, path[0]), path[1:], value)
    return replace(part, **{path[0]: inner})
