"""Round and adjust published and generated tables, beside a peer where there is one, and print what was reached.

Run from the checkout: ``python -m benchmarks.values rounding [--folder CSPLIB] [--against-peer]``,
``python -m benchmarks.values adjustment --folder CSPLIB``, ``python -m benchmarks.values large``.
Values are judged again in exact arithmetic, ours and the peer's. Norm l1; rounding with unit weights, adjustment with
weights 1/value and free senses.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import tabprotect as tp
from benchmarks.peers import CHECKOUT, for_peer
from tabprotect.errors import InputError
from tabprotect.formats.jj import JJ
from tabprotect.methods.rounding import judge
from tabprotect.problem import Problem, Status

Floats = npt.NDArray[np.float64]

CSPLIB = ("table8", "osorio", "hie1372d", "hier13", "hie1327d", "ninenew", "two5in6", "cbs", "dale")
ADJUSTED = ("targus", *CSPLIB)
BASES = {"ninenew": 5.0, "two5in6": 5.0}


def flat(*sizes: int) -> Problem:
    """A table of random counts below 100 with all its margins."""
    system = tp.LinearSystem.from_hierarchies([tp.Hierarchy.flat([f"c{i}" for i in range(n)]) for n in sizes])
    values = np.random.default_rng(0).integers(0, 100, sizes)
    for k in range(len(sizes)):
        values = np.concatenate([values.sum(k, keepdims=True), values], k)
    return Problem.from_arrays(system.A, values.ravel(), primary=[], lpl=0, upl=0, cells=system.cells)


def register() -> Problem:
    """Counts of the bundled register by activity and region, both with hierarchies."""
    dimensions = [tp.Dimension(name, tp.Hierarchy.read(tp.instances.data(f"{name}.hrc"))) for name in ("nace", "nuts")]
    return tp.make_problem(tp.tabulate(tp.instances.register(), dimensions), "threshold=3")


def tables(folder: Path | None) -> Iterator[tuple[str, Callable[[], Problem]]]:
    """What is rounded."""
    yield "20x20", lambda: flat(20, 20)
    yield "50x50", lambda: flat(50, 50)
    yield "10x10x10", lambda: flat(10, 10, 10)
    yield "nace x nuts", register
    for name in CSPLIB if folder is not None else ():
        yield name, lambda name=name: JJ.read(folder / f"{name}.jj").problem()  # type: ignore[misc]


def large() -> Problem:
    """A hierarchical table of about 100,000 cells, a third of them sensitive."""
    return tp.instances.family("hier2d", seed=1, activity=[8, 7, 6], region=[8, 7, 7], per_cell=5)


def peer_rounds(problem: Problem, base: float, seconds: float, zero_restricted: bool) -> tuple[Floats | None, str]:
    """Round with the peer; returns its values or None, and what it says."""
    python = Path(os.environ.get("TABPROTECT_PEER_PYTHON", CHECKOUT / ".venv-peer" / "bin" / "python"))
    if not python.exists():
        raise InputError(f"the peer is not installed ({python} is not there); run: make peer")
    plain = replace(
        problem,
        status=np.where(problem.status == Status.ZERO, Status.ZERO, Status.SAFE).astype(np.int8),
        weights=np.ones(problem.n_cells), lpl=np.zeros(problem.n_cells), upl=np.zeros(problem.n_cells),
        spl=np.zeros(problem.n_cells),
    )  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="tabprotect-peer-") as place:
        cells = for_peer(plain, Path(place) / "in.jj")
        runner = Path(__file__).with_name("tauargus_rounder.py")
        minutes = max(1, round(seconds / 60))
        words = [str(python), str(runner), "in.jj", "out.txt", f"{base:g}", str(minutes), str(int(zero_restricted))]
        started = time.monotonic()
        try:
            done = subprocess.run(
                words, cwd=place, capture_output=True, text=True, check=False, timeout=60 * minutes + 30
            )
        except subprocess.TimeoutExpired:
            return None, f"killed after {time.monotonic() - started:.0f} s"
        if done.returncode:
            return None, f"crash ({done.returncode})"
        said = json.loads(done.stdout.splitlines()[-1])
        out = Path(place) / "out.txt"
        if said["code"] or not out.exists():
            return None, f"no answer (code {said['code']}, {said['seconds']:.1f} s)"
        values = problem.values.copy()
        for line in re.findall(r"^\s*(\d+) from\s+\S+\s+to\s+(\S+)", out.read_text(), re.MULTILINE):
            values[cells[int(line[0])]] = float(line[1])
        return values, f"{said['seconds']:.1f} s"


def rounding(folder: Path | None, seconds: float, against_peer: bool, names: list[str], steps: int | None) -> None:
    """Round every table, to neighbouring multiples where that is possible, else with the fewest further steps."""
    heads = f"{'table':12} {'cells':>6} {'base':>5} {'steps':>5} {'distance':>12} {'bound':>12} {'gap':>8}"
    print(f"{heads} {'cpu s':>7} peer")
    for name, read in tables(folder):
        if names and name not in names:
            continue
        problem, base = read(), BASES.get(name, 5.0)
        started = time.process_time()
        allowed: Any = "least" if steps is None else steps
        found = tp.round(problem, base, steps=allowed, limits=tp.Limits(seconds=seconds))
        spent = time.process_time() - started
        told = ""
        if against_peer:
            values, told = peer_rounds(problem, base, seconds, found.steps == 0)
            if values is not None:
                verdict = judge(problem, values, base, found.steps)
                off = float(np.abs(values - problem.values).sum())
                told = f"distance {off:,.10g}, {told}" + ("" if verdict.ok else f", refused by the judge: {verdict}")
        cost, bound = (f"{v:,.10g}" if v is not None else "-" for v in (found.cost, found.bound))
        gap = "-" if found.gap is None else f"{100 * found.gap:.2f} %"
        taken = str(found.steps) + ("" if found.values is not None else "!")
        print(f"{name:12} {problem.n_cells:6} {base:5g} {taken:>5} {cost:>12} {bound:>12} {gap:>8} {spent:7.1f} {told}"
              + (f" ({found.message})" if found.message else ""), flush=True)  # fmt: skip


def adjustment(folder: Path, seconds: float, names: list[str]) -> None:
    """Adjust the published instances with free senses, beside the optimum with all senses up."""
    print(f"{'table':12} {'cells':>6} {'all up':>12} {'free':>12} {'bound':>12} {'gap':>8} {'cpu s':>7}")
    for name in names or ADJUSTED:
        problem = JJ.read(folder / f"{name}.jj").adjustable()
        up = tp.adjust(problem, senses="up")
        started = time.process_time()
        free = tp.adjust(problem, limits=tp.Limits(seconds=seconds))
        spent = time.process_time() - started
        numbers = (f"{v:,.6g}" if v is not None else "-" for v in (up.cost, free.cost, free.bound))
        columns = " ".join(f"{text:>12}" for text in numbers)
        gap = "-" if free.gap is None else f"{100 * free.gap:.2f} %"
        print(f"{name:12} {problem.n_cells:6} {columns} {gap:>8} {spent:7.1f}", flush=True)


def large_tables(seconds: float) -> None:
    """Round and adjust one large table, by every norm."""
    problem = large()
    for what, run in (
        ("rounded to base 5", lambda limits: tp.round(problem, 5, limits=limits)),
        ("adjusted", lambda limits: tp.adjust(problem, limits=limits)),
        ("adjusted by squares", lambda limits: tp.adjust(problem, norm="l2", limits=limits)),
        ("adjusted by the largest change", lambda limits: tp.adjust(problem, norm="linf", limits=limits)),
    ):
        started = time.process_time()
        found = run(tp.Limits(seconds=seconds))
        spent = time.process_time() - started
        gap = "-" if found.gap is None else f"{100 * found.gap:.2f} %"
        sizes = f"{problem.n_cells:,} cells, {len(problem.primaries):,} sensitive"
        print(f"{sizes}: {what}, {found.status}, gap {gap}, {found.seconds:.0f} s, {spent:.0f} CPU s", flush=True)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.values", description=__doc__.split("\n\n")[0])
    parser.add_argument("part", choices=("rounding", "adjustment", "large"))
    parser.add_argument("names", nargs="*", metavar="NAME", help="of tables; all by default")
    parser.add_argument("--folder", type=Path, help="where the .jj files are")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for each table")
    parser.add_argument("--against-peer", action="store_true", help="round with tau-ARGUS, too (`make peer`)")
    parser.add_argument("--steps", type=int, help="further bases allowed in rounding; by default the fewest possible")
    given = parser.parse_args()
    if given.part == "rounding":
        rounding(given.folder, given.time_limit, given.against_peer, given.names, given.steps)
    elif given.part == "large":
        large_tables(given.time_limit)
    elif given.folder is None:
        parser.error("adjustment needs --folder, where the .jj files are")
    else:
        adjustment(given.folder, given.time_limit, given.names)


if __name__ == "__main__":
    main()
