"""Methods that hide cells: how an instance is solved by one, and what is said of its pattern."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from tabprotect.counted import counted

if TYPE_CHECKING:
    from tabprotect.methods.suppression.result import SuppressionResult
    from tabprotect.problem import Problem
    from tabprotect.solver.limits import Limits, Progress

__all__ = ["exit_code", "run", "show", "summary"]


def run(
    problem: Problem,
    method: str,
    given: Mapping[str, Any],
    limits: Limits,
    seed: int | None,
    progress: Callable[[Progress], None],
) -> SuppressionResult:
    """Call the method with what was given."""
    from tabprotect.methods.suppression import suppress
    from tabprotect.solver.tasks.pieces import processes

    workers = given["workers"]
    with nullcontext() if workers is None else processes(workers) as executor:
        return suppress(
            problem,
            method=method,
            limits=limits,
            seed=seed or 0,
            engine=given["engine"] or "scip",
            progress=progress,
            executor=executor,
            resume=given["resume"],
        )


def summary(result: SuppressionResult) -> dict[str, Any]:
    """Return a result as JSON holds it."""
    from math import isfinite

    from tabprotect.formats.pattern import cell_ids
    from tabprotect.proven import hidden_warnings, optimality

    def finite(x: float | None) -> float | None:
        return x if x is not None and isfinite(x) else None

    return {
        "status": result.status,
        "cost": finite(result.cost),
        "bound": finite(result.bound),
        "gap": finite(result.gap),
        "suppressed": cell_ids(result.problem.system, result.suppressed),
        "safe": bool(result.safe),
        "seconds": round(result.seconds, 3),
        "optimality": optimality(result),
        "warnings": hidden_warnings(result),
        "message": result.message,
    }


def exit_code(result: SuppressionResult) -> int:
    """Return what the end of a run means for the caller."""
    from tabprotect.cli.exits import Exit

    if not result.safe:
        return Exit.UNSAFE
    return Exit.LIMIT if result.stopped else Exit.DONE


def show(console: Any, name: str, result: SuppressionResult) -> None:
    """Print a result."""
    from rich.text import Text

    from tabprotect.cli.screen import cells_table, facts, reached, verdict
    from tabprotect.proven import hidden_warnings, optimality

    lines = reached(name, Text.assemble(f"{optimality(result)}, ", verdict(result.safe)), result)
    hidden = f"{counted(len(result.suppressed), 'cell')}, {len(result.secondaries):,} of them secondary"
    lines += [("hidden", hidden), ("method", result.method), ("time", f"{result.seconds:.1f} s")]
    if result.message:
        lines.append(("message", result.message))
    lines += [("warning", line) for line in hidden_warnings(result)]
    facts(console, lines)
    if result.unprotectable:
        console.print("\nNo pattern can protect:", style="bold")
        label = result.problem.system.label
        rows = [(label(u.cell), *u.reachable, *u.needed, u.reason) for u in result.unprotectable]
        cells_table(console, ["cell", "reaches", "to", "needs", "to", "reason"], rows)
