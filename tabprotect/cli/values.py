"""Methods that publish other values instead of hiding cells: what of the command line goes with which of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tabprotect.counted import counted
from tabprotect.errors import InputError, Problems, did_you_mean

if TYPE_CHECKING:
    from typing import TypeAlias

    from tabprotect.methods.adjustment import AdjustmentResult
    from tabprotect.methods.rounding import RoundingResult
    from tabprotect.methods.small_counts import SmallCountResult
    from tabprotect.problem import Problem
    from tabprotect.solver.limits import Limits, Progress

    Result: TypeAlias = AdjustmentResult | RoundingResult | SmallCountResult

__all__ = ["DEFAULT_SECONDS", "METHODS", "check_options", "exit_code", "run", "show", "summary"]

DEFAULT_SECONDS = 40.0
"""A search for values ends then unless the caller sets a limit of his own: proofs may take for ever."""

#: method -> options that go with it
METHODS: Mapping[str, tuple[str, ...]] = {
    "adjust": ("norm", "weights", "senses", "decimals", "preserve", "correlation"),
    "round": ("norm", "weights", "base", "steps", "levels", "rise"),
    "small-counts": ("norm", "weights", "base"),
    "unbiased-round": ("norm", "weights", "base"),
    "random-round": ("norm", "weights", "base"),
    "conventional-round": ("norm", "weights", "base"),
}

_ELSEWHERE = {
    "cell-key": "holds no keys of the records behind its cells; make them from microdata",
    "swap": "holds no records that could change places; make the table from microdata",
    "successive-round": "holds no codes of dimensions to go through layer by layer; round a table",
    "recode": "holds no hierarchies whose codes could be rolled up; recode a table",
}


def check_options(method: str, known: tuple[str, ...], given: Mapping[str, Any]) -> None:
    """Refuse unknown methods, and options that do not go with the method, all in one error.

    Raises
    ------
    InputError
    """
    if method not in METHODS and method not in known:
        from tabprotect.methods.registry import names

        if method in names():
            why = _ELSEWHERE.get(method, "is no place for this method; make a release")
            raise InputError(f"an instance {why}: tabprotect protect SPEC --method {method}")
        raise InputError(f"unknown method '{method}'{did_you_mean(method, (*known, *METHODS))}")
    problems = Problems()
    allowed = METHODS.get(method, ("engine", "workers", "resume"))
    for name, value in given.items():
        if value is not None and name not in allowed:
            fitting = [m for m, options in METHODS.items() if name in options]
            where = ", ".join(fitting) if fitting else "suppression (" + ", ".join(known) + ")"
            problems.add(f"--{name} does not go with --method {method}; it is for {where}")
    if "base" in allowed and given.get("base") is None:
        problems.add(f"--method {method} needs --base, such as --base 5")
    steps = given.get("steps")
    if steps is not None and steps != "least" and not (steps.isascii() and steps.isdigit()):
        problems.add(f"--steps is a whole number or 'least', not '{steps}'")
    problems.raise_if_any()


def run(
    problem: Problem,
    method: str,
    given: Mapping[str, Any],
    limits: Limits,
    seed: int | None,
    progress: Callable[[Progress], None],
) -> Result:
    """Call the method with what was given."""
    from tabprotect.methods import rounding
    from tabprotect.methods.adjustment import adjust
    from tabprotect.methods.adjustment.preserve import keep
    from tabprotect.methods.small_counts import small_counts

    options = {name: value for name, value in given.items() if value is not None}
    if method == "adjust":
        kept = keep(problem, options.pop("preserve", "nothing"), options.pop("correlation", None))
        return adjust(problem, **options, preserve=kept, limits=limits, seed=seed or 0, progress=progress)
    base = options.pop("base")
    if method == "round":
        steps = options.pop("steps", "0")
        return rounding.round(
            problem,
            base,
            steps=steps if steps == "least" else int(steps),
            protect=bool(options.pop("levels", False)),
            rise=bool(options.pop("rise", False)),
            **options,
            limits=limits,
            seed=seed or 0,
            progress=progress,
        )
    if method == "small-counts":
        return small_counts(problem, base, **options, limits=limits, seed=seed or 0, progress=progress)
    if method == "conventional-round":
        return rounding.conventional_rounding(problem, base, **options)
    other = rounding.unbiased_rounding if method == "unbiased-round" else rounding.random_rounding
    return other(problem, base, seed=seed, **options)


def summary(result: Result) -> dict[str, Any]:
    """Return a result as JSON holds it."""
    from math import isfinite

    from tabprotect.methods.adjustment import AdjustmentResult
    from tabprotect.methods.rounding import RoundingResult
    from tabprotect.proven import optimality

    label = result.problem.system.label

    def finite(x: float | None) -> float | None:
        return x if x is not None and isfinite(x) else None

    def named(values: Any) -> dict[str, float] | None:
        return None if values is None else {label(i): float(v) for i, v in enumerate(values)}

    content: dict[str, Any] = {
        "status": result.status,
        "optimality": optimality(result),
        "cost": finite(result.cost),
        "bound": finite(result.bound),
        "gap": finite(result.gap),
        "values": named(result.values),
    }
    if isinstance(result, RoundingResult):
        content |= {"base": result.base, "steps": result.steps, "loss": result.loss, "jump": result.jump}
        if result.rise:
            content["rise"] = True
        if result.seed is not None:
            content["seed"] = result.seed
        why = result.diagnosis
        content["relaxation"] = why and {
            "steps": why.steps,
            "proven": why.proven,
            "cells": [label(int(i)) for i in why.cells],
            "taken": why.taken,
            "bound": why.least,
            "smallest": why.smallest,
            "values": named(why.values),
        }
    elif isinstance(result, AdjustmentResult):
        primaries = result.problem.primaries.tolist()
        content["senses"] = {label(p): int(s) for p, s in zip(primaries, result.senses, strict=True)}
    else:
        content["base"] = result.base
    return content | {"seconds": round(result.seconds, 3), "message": result.message}


def exit_code(result: Result) -> int:
    """Return what the end of a run means for the caller."""
    from tabprotect.cli.exits import Exit

    if result.values is None:
        return Exit.UNSAFE
    return Exit.LIMIT if result.stopped_by else Exit.DONE


def show(console: Any, name: str, result: Result) -> None:
    """Print a result."""
    import numpy as np

    from tabprotect.cli.screen import cells_table, facts, number, reached
    from tabprotect.methods.rounding import RoundingResult
    from tabprotect.proven import optimality

    problem = result.problem
    lines = reached(name, optimality(result), result)
    if result.values is not None:
        moved = np.abs(result.values - problem.values)
        lines.append(
            ("changed", f"{counted(int(np.sum(moved > 0)), 'cell')}, by up to {number(float(moved.max(initial=0)))}")
        )
    if isinstance(result, RoundingResult):
        lines.append(("base", f"{number(result.base)}, further steps allowed: {result.steps}"))
        if result.values is not None:
            lines.append(("sums", "add up exactly" if result.additive else f"are off by up to {number(result.loss)}"))
    name = getattr(result, "method", "")
    lines += [*([("method", name)] if name else []), ("time", f"{result.seconds:.1f} s")]
    if result.message:
        lines.append(("message", result.message))
    facts(console, lines)
    if isinstance(result, RoundingResult) and result.diagnosis is not None and len(result.diagnosis.cells):
        console.print("\nCells that go further than to a neighbouring multiple:", style="bold")
        told, after = result.diagnosis.cells.tolist(), result.diagnosis.values
        shown = result.values if result.values is not None else after
        rows = [(problem.system.label(i), float(problem.values[i]), *(() if shown is None else (float(shown[i]),)))
                for i in told]  # fmt: skip
        cells_table(console, ["cell", "value", *(() if shown is None else ("rounded",))], rows)
