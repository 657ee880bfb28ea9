"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "INSTANCE",
    "Engine",
    "Gap",
    "MemoryLimit",
    "Method",
    "Resume",
    "Seed",
    "TimeLimit",
    "WorkLimit",
    "Workers",
    "in_bytes",
]

INSTANCE = typer.Argument(metavar="INSTANCE", help="A problem in a file, such as .jj or .jj.gz.", show_default=False)


def _methods(incomplete: str) -> list[str]:
    from tabprotect.cli.values import METHODS
    from tabprotect.methods.suppression import methods

    return [name for name in (*methods(), *METHODS) if name.startswith(incomplete)]


Method = Annotated[
    str,
    typer.Option(
        "--method",
        help="Suppression: {solved}. Other values: {changed}.",
        autocompletion=_methods,
    ),
]
TIME_LIMIT = typer.Option("--time-limit", metavar="SECONDS", min=0.0, help="Stop with the best answer then.")
WORK_LIMIT = typer.Option(
    "--work-limit", metavar="N", min=0, help="Stop after so many work units: the same answer everywhere."
)
MEMORY_LIMIT = typer.Option(
    "--memory-limit", metavar="GB", min=0.0, max=1e6, help="Stop when this process holds so much memory."
)
TimeLimit = Annotated[float | None, TIME_LIMIT]
WorkLimit = Annotated[int | None, WORK_LIMIT]
MemoryLimit = Annotated[float | None, MEMORY_LIMIT]
Workers = Annotated[
    int | None,
    typer.Option("--workers", metavar="N", min=1, help="Processes for independent parts (each within --memory-limit)."),
]
Resume = Annotated[
    Path | None,
    typer.Option(
        "--resume", metavar="DIR", help="Keep finished pieces there (confidential), and go on from them after a kill."
    ),
]
Gap = Annotated[float, typer.Option("--gap", min=0.0, max=1.0, help="Stop at this (cost - bound) / cost.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Same seed, same answer.")]
FreshSeed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        min=0,
        help="Same seed, same answer. Without one, methods that draw values at random draw a fresh secret one; all "
        "others take 0.",
    ),
]
Engine = Annotated[
    str | None,
    typer.Option("--engine", help="What solves suppression: scip, highs or pyomo.", show_default="scip"),
]


def in_bytes(gigabytes: float | None) -> int | None:
    """Return what --memory-limit says in bytes, as `Limits` takes it.

    Examples
    --------
    >>> in_bytes(1.5), in_bytes(None)
    (1500000000, None)
    """
    return None if gigabytes is None else int(10**9 * gigabytes)
