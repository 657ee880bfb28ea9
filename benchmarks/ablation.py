"""What every option of suppression is worth: costs with another value as ratios to those with the defaults.

Run from the checkout: ``python -m benchmarks.ablation --options relaxation.progress=1e-2 master.floor=0 [--families
thin,hier2d,...] [--seeds 0-2] [--method auto] [--work 20000]``. Without a value, as in ``--options master.floor``, an
option is halved and doubled as far as its range goes; ``--all`` does that with every option that is one number, and
``--without`` leaves out one mechanism after the other (`WITHOUT`).
Families are small ones (`CASES`), or by name the larger ones of `benchmarks.regret_runs.CASES`.

Limits are of work, so that load and machine do not matter, but for the few options that are seconds. Every pattern is
audited; without a safe one the ratio is infinite. A second table has the ratios of bounds, where below 1 is worse.
Seeds 0-9 are for tuning, and no others are taken.
"""

from __future__ import annotations

import argparse
import math
import sys
from ast import literal_eval
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Any

from benchmarks.regret import numbers as seeds_of
from benchmarks.regret_runs import CASES as REGRET_CASES
from tabprotect.attack.audit import audit
from tabprotect.errors import InputError, collect, did_you_mean
from tabprotect.instances.families import family
from tabprotect.methods.suppression import methods, suppress
from tabprotect.methods.suppression.options import DEFAULTS, Options, changed, numbers
from tabprotect.problem import Problem
from tabprotect.solver.limits import Limits

#: Name -> family and sizes; small enough for many runs.
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "flat3d": ("flat3d", {}),
    "hier2d": ("hier2d", {"activity": (3, 3), "region": (3, 3)}),
    "hier3d": ("hier3d", {"activity": (3, 2), "region": (3, 2), "size": 3}),
    "thin": ("thin", {"sizes": (6, 6, 6)}),
    "margins": ("margins", {"d": 5, "k": 3, "categories": 3}),
    "singletons": ("singletons", {"activity": (4, 3), "region": (3, 2)}),
}

#: Values of options with which a mechanism is left out, or is as simple as it can be.
WITHOUT = (
    "choice.inside_limit_share=0",
    "choice.probe_cleanup_share=0",
    "choice.probe_limit_share=0",
    "choice.recombination_limit_share=0",
    "choice.second_after_share=0",
    "choice.tight_ratio=1",
    "choice.trial_gain=0",
    "schedule.cleanup_limit_share=0",
    "schedule.far_gap=1",
    "schedule.first_pool_gain=0",
    "schedule.pool_limit_share=0",
    "schedule.small_cells=0",
    "start.few_exposures=0",
    "start.late_limit_share=1",
    "start.learn_limit_share=0",
    "start.patient_limit_share=0",
    "circuits.cheaper_slice_share=0",
    "circuits.most_cells=0",
    "construction.bulk_cut_rounds=0",
    "construction.bulk_trials=0",
    "construction.reroutes=0",
    "construction.series_cells=0",
    "construction.sweep_growth=1e9",
    "root_solve.most_entries=0",
    "root_solve.branching_cells=0",
    "separation.equations=(0,)",
    "relaxation.covers=0",
    "relaxation.loose_slack=1e9",
    "relaxation.zero_half_columns=0",
    "master.floor=0",
    "master.near_equations=(400,)",
    "master.near_slack=1e9",
    "master.solutions=1",
    "master.whole_entries=0",
    "improvement.elite=1",
    "improvement.extra_cells=0",
    "improvement.extra_share=0",
    "improvement.noise=(0.0,)",
    "improvement.trust=(0.0,)",
    "improvement.unrewarded_share=0",
    "local.bound.loose_slack=1e9",
    "local.insiders.hidden_price=1",
    "local.insiders.known_price=1",
    "local.insiders.rounds=1",
    "local.insiders.whole_cells=0",
    "local.nearby.dear=1_000_000_000",
    "local.nearby.hidden_cells=1",
    "local.nearby.hidden_equations=1",
    "local.nearby.resolved=0",
    "local.nearby.same_share=1",
    "local.rebuild.charge_powers=(1.0,)",
    "local.rebuild.reopened=(6,)",
    "local.rebuild.trust=(0.0,)",
    "local.search.bound_limit_share=0",
    "local.search.cleanup_limit_share=0",
    "local.search.fair_share=0",
    "local.search.rounds_before_windows=1_000_000_000",
    "local.search.ruin_fade=1",
    "local.search.window_fade=1",
)

TUNING = range(10)
"""Seeds that options may be chosen on; others are for reporting only."""


@dataclass(frozen=True)
class Switch:
    """One option at another value."""

    name: str
    value: Any

    @property
    def options(self) -> Options:
        """All options with that value."""
        return changed(DEFAULTS, self.name, self.value)

    def __str__(self) -> str:
        return f"{self.name}={self.value}"


def others(name: str) -> Iterator[Switch]:
    """Yield half and twice the default of an option, where it is one number and that is in its range.

    Examples
    --------
    >>> [str(switch) for switch in others("proof.limit_share")]
    ['proof.limit_share=0.1', 'proof.limit_share=0.4']
    """
    usual = dict(numbers(DEFAULTS))[name]
    if isinstance(usual, tuple):
        return
    for value in (usual // 2, 2 * usual) if isinstance(usual, int) else (usual / 2, 2 * usual):
        switch = Switch(name, value)
        try:
            switch.options  # noqa: B018
        except InputError:
            continue
        if value != usual:
            yield switch


def switches(words: Sequence[str]) -> list[Switch]:
    """Return what was asked for: ``name=value``, or ``name`` for half and twice the default.

    Raises
    ------
    InputError
        If there is no such option, or a value makes no sense for it; all of them are named.
    """
    with collect() as problems:
        found: list[Switch] = []
        for word in words:
            try:
                found += _switch(word)
            except InputError as error:
                problems.add(str(error))
    return found


def _switch(word: str) -> list[Switch]:
    name, given, text = word.partition("=")
    known = [each for each, _ in numbers(DEFAULTS)]
    if name not in known:
        raise InputError(f"no option '{name}'{did_you_mean(name, known)}")
    if not given:
        if not (found := list(others(name))):
            raise InputError(f"{name} has several numbers: state others, as in {name}={dict(numbers(DEFAULTS))[name]}")
        return found
    try:
        value = literal_eval(text)
    except (ValueError, SyntaxError) as error:
        raise InputError(f"{word}: '{text}' is neither a number nor a tuple of numbers") from error
    usual = dict(numbers(DEFAULTS))[name]
    switch = Switch(name, float(value) if isinstance(usual, float) and isinstance(value, int) else value)
    switch.options  # noqa: B018
    return [switch]


def outcome(problem: Problem, method: str, work: int, options: Options) -> tuple[float, float]:
    """Return what the pattern of a method costs, infinite unless the audit finds it safe, and the bound."""
    result = suppress(problem, method=method, limits=Limits(work=work), options=options)
    if result.cost is None or audit(problem, result.pattern, intervals=False).exposures:
        return math.inf, result.bound or 0.0
    return result.cost, result.bound or 0.0


def ratio(costs: Sequence[float], usual: Sequence[float]) -> float:
    """Return the geometric mean of the ratios; pairs without a pattern on either side count as equal.

    Examples
    --------
    >>> ratio([2.0, 8.0], [1.0, 4.0]), ratio([math.inf], [3.0]), ratio([math.inf, 0.0], [math.inf, 0.0])
    (2.0, inf, 1.0)
    """
    pairs = [
        1.0 if one == other else one / other if other else math.inf for one, other in zip(costs, usual, strict=True)
    ]
    if math.inf in pairs:
        return math.inf
    return 0.0 if 0.0 in pairs else geometric_mean(pairs)


def table(found: dict[Switch, dict[str, float]], cases: Sequence[str]) -> str:
    """Return the ratios as a table of Markdown."""
    rows = [f"| option | {' | '.join(cases)} |", f"| --- |{' --- |' * len(cases)}"]
    rows += [f"| `{switch}` | {' | '.join(f'{of[case]:.4f}' for case in cases)} |" for switch, of in found.items()]
    return "\n".join(rows)


def main(argv: Sequence[str] | None = None) -> int:
    """Run what was asked for and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--options", nargs="+", metavar="NAME[=VALUE]")
    what.add_argument("--all", action="store_true", help="every option that is one number, at half and twice of it")
    what.add_argument("--without", action="store_true", help="one mechanism after the other is left out")
    parser.add_argument("--families", default=",".join(CASES))
    parser.add_argument("--seeds", default="0-2")
    parser.add_argument("--method", default="auto")
    parser.add_argument("--work", type=int, default=20_000)
    given = parser.parse_args(argv)
    try:
        cases, seeds, asked = _checked(given)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    known = REGRET_CASES | CASES
    problems = {case: [family(known[case][0], seed=seed, **known[case][1]) for seed in seeds] for case in cases}

    def outcomes(case: str, options: Options) -> tuple[list[float], list[float]]:
        costs, bounds = zip(*(outcome(each, given.method, given.work, options) for each in problems[case]), strict=True)
        return list(costs), list(bounds)

    usual = {case: outcomes(case, DEFAULTS) for case in cases}
    costs: dict[Switch, dict[str, float]] = {}
    bounds: dict[Switch, dict[str, float]] = {}
    for switch in asked:
        found = {case: outcomes(case, switch.options) for case in cases}
        costs[switch], bounds[switch] = (
            {case: ratio(found[case][part], usual[case][part]) for case in cases} for part in (0, 1)
        )
        print(switch, costs[switch], bounds[switch], file=sys.stderr, flush=True)
    print(f"Costs\n\n{table(costs, cases)}\n\nBounds\n\n{table(bounds, cases)}")
    return 0


def _checked(given: argparse.Namespace) -> tuple[list[str], list[int], list[Switch]]:
    """Return families, seeds and switches; refuse what is not known."""
    cases = given.families.split(",")
    for case in cases:
        if case not in REGRET_CASES | CASES:
            raise InputError(f"no family '{case}'{did_you_mean(case, [*CASES, *REGRET_CASES])}")
    seeds = seeds_of(given.seeds)
    if late := [seed for seed in seeds if seed not in TUNING]:
        raise InputError(f"seeds {', '.join(map(str, late))} are for reporting only; options are chosen on 0-9")
    if given.method not in methods():
        raise InputError(f"no method '{given.method}'{did_you_mean(given.method, methods())}")
    if given.work < 1:
        raise InputError(f"--work must be at least 1, not {given.work}")
    if words := given.options or (WITHOUT if given.without else ()):
        return cases, seeds, switches(words)
    names = [name for name, value in numbers(DEFAULTS) if not isinstance(value, tuple)]
    return cases, seeds, [switch for name in names for switch in others(name)]


if __name__ == "__main__":
    sys.exit(main())
