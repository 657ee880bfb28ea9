"""``tabprotect bench``: our engine and a peer on a set of instances, in one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EPILOG = """Examples:

[bold]tabprotect bench --set quick --time-limit 10 --out build/quick.csv[/]

[bold]tabprotect bench --set csplib --folder csplib --against tau-argus --time-limit 60 --out build/csplib.csv[/]
"""


def bench(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Instances of the set (all).")] = None,
    set_: Annotated[str, typer.Option("--set", help="quick, families, or csplib (with --folder).")] = "quick",
    folder: Annotated[
        Path | None, typer.Option("--folder", metavar="PATH", help="Where the .jj or .SIF files of csplib are.")
    ] = None,
    against: Annotated[
        str | None, typer.Option("--against", metavar="PEER", help="tau-argus (install it with `make peer`).")
    ] = None,
    time_limit: Annotated[float, typer.Option("--time-limit", metavar="SECONDS", min=0.1, help="For each run.")] = 60.0,
    seeds: Annotated[str, typer.Option("--seeds", metavar="N,N", help="Each is a run of its own.")] = "0",
    shuffle: Annotated[
        int | None,
        typer.Option("--shuffle", metavar="SEED", min=0, help="Other order of cells and other unit of weights."),
    ] = None,
    engine: Annotated[str, typer.Option("--engine", help="scip or highs.")] = "scip",
    method: Annotated[str, typer.Option("--method", help="Of `tabprotect protect`, such as auto.")] = "exact",
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE.csv", help="The table; .json, .md, .svg are written beside it.")
    ] = Path("build/bench.csv"),
) -> int:
    """Run a set of instances, and a peer beside it; every pattern is judged by the same audit.

    Works in a checkout of the project, where the folder benchmarks/ is.
    """
    import importlib
    import sys

    import tabprotect
    from tabprotect.errors import InputError

    checkout = Path(tabprotect.__file__).resolve().parents[1]
    if not (checkout / "benchmarks" / "bench.py").is_file():
        raise InputError("there is no folder benchmarks/ here; benchmarks run in a checkout of the project")
    if str(checkout) not in sys.path:
        sys.path.insert(0, str(checkout))
    harness = importlib.import_module("benchmarks.bench")
    options = ["--set", set_, "--time-limit", str(time_limit), "--seeds", seeds, "--out", str(out)]
    options += ["--engine", engine, "--method", method]
    options += ["--folder", str(folder)] if folder is not None else []
    options += ["--shuffle", str(shuffle)] if shuffle is not None else []
    options += ["--against", against] if against is not None else []
    return int(harness.main([*options, "--", *(names or [])]))
