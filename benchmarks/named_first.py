"""When three large problems with attackers have their first safe pattern: ``python -m benchmarks.named_first``.

The bundled register by division, region and size (20 and 40 s), the bundled instance singletons-large (18 s), and five
linked turnover tables (30 s; their folder is an argument). Seconds count from the call, the table or problem is made
before it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

import tabprotect as tp
from benchmarks.five_tables import CODES, EAST, EAST_REGIONS, EAST_TOTAL, RULES, TABLES
from tabprotect.instances import data, load

Call = Callable[..., Any]


def register() -> Call:
    """Return the call that protects the register."""
    by = ["division", "nuts", "size"]
    table = tp.tabulate(
        pd.read_csv(data("register.csv"), dtype={"division": str}), by, "turnover", contributor="enterprise_id",
        holding="group_id", hierarchies={name: tp.Hierarchy.read(data(f"{name}.hrc")) for name in by[:2]}, top=3,
    )  # fmt: skip
    return lambda **limits: tp.protect(table, ["p%=15", "threshold=3"], intervals=False, **limits)


def singletons() -> Call:
    """Return the call that solves the instance."""
    problem = load("singletons-large")
    return lambda **limits: tp.suppress(problem, **limits)


def five_tables(folder: Path) -> Call:
    """Return the call that protects the five tables, linked, the values of the East a measure of their own."""

    def codes(name: str) -> pd.DataFrame:
        return pd.read_csv(folder / f"rtauargus_{name}_corr_table.csv", dtype=str)

    nuts = tp.Hierarchy.from_columns(codes("nuts23_fr"), ["NUTS2", "NUTS3"])
    known = {"ACTIVITY": tp.Hierarchy.from_columns(codes("activity"), ["A10", "A21", "A88"]), "NUTS": nuts}
    below = [(c[:4], c) for c in nuts.leaves if c.startswith(EAST_REGIONS)]
    east = tp.Hierarchy.from_pairs([(EAST_TOTAL, c) for c in EAST_REGIONS] + below)
    parts = {}
    for name, by in TABLES.items():
        frame = pd.read_csv(folder / f"rtauargus_turnover_{name}.csv", dtype=CODES)
        mine = {c: h for c, h in (known | ({"NUTS": east} if name == EAST else {})).items() if c in by}
        parts[name] = tp.Table.from_cells(frame, by, "TOT", count="N_OBS", maxima="MAX", empty="drop", hierarchies=mine)
    linked = tp.link(parts, measure={EAST: "TOT of the East"})
    return lambda **limits: tp.protect(linked, list(RULES), intervals=False, **limits)


def run(name: str, call: Call, limit: float) -> str:
    """Make a release within a limit, and return a row of the table."""
    begun, costs = time.monotonic(), []

    def listen(progress: tp.Progress) -> None:
        if progress.cost is not None:
            costs.append((time.monotonic() - begun, progress.cost))

    made: Any = call(limits=limit, progress=listen)
    result: Any = getattr(made, "result", made)
    first = costs[0] if costs else (float("nan"), float("nan"))
    problem, spent = result.problem, time.monotonic() - begun
    counts = f"{problem.n_cells:,} | {len(problem.attackers)} | {limit:g}"
    return f"| {name} | {counts} | {first[0]:.1f} | {first[1]:,.0f} | {result.cost:,.0f} | {spent:.1f} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="?", type=Path, help="folder of the turnover tables that come with rtauargus")
    given = parser.parse_args()
    print("| problem | cells | attackers | limit s | first after s | its cost | cost at the end | everything s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    of_register, of_singletons = register(), singletons()
    runs: list[tuple[str, Call, float]] = [("register", of_register, limit) for limit in (20.0, 40.0)]
    runs.append(("singletons-large", of_singletons, 18.0))
    if given.tables is not None:
        runs.append(("five turnover tables", five_tables(given.tables), 30.0))
    for one in runs:
        print(run(*one), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
