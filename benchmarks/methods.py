"""The suppression methods side by side, and tau-ARGUS's modular method from the same microdata: one table.

Run from the checkout: ``python -m benchmarks.methods [--seconds 20] [--against tau-argus] [--methods a,b] [NAME ...]``,
where a NAME is one of `CASES` or the path of an instance (without the peer, which needs microdata).
Every pattern is judged by the same audit and charged at the weights of the problem; seconds are those of the processor.
A pattern of the peer that is not safe is told with the number of cells that it exposes; with a peer all are measured by
the protection levels that it computes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.peers import TauArgus
from tabprotect.attack.audit import audit
from tabprotect.errors import InputError, did_you_mean
from tabprotect.formats import read_instance
from tabprotect.instances.families import family, microdata
from tabprotect.instances.index import recipe
from tabprotect.methods.suppression import methods, suppress
from tabprotect.problem import Problem
from tabprotect.solver.limits import Limits
from tabprotect.table.hierarchy import Hierarchy

#: Name -> family, seed, sizes.
CASES: dict[str, tuple[str, int, dict[str, Any]]] = {
    "flat2d 10x10": ("flat2d", 1, {"rows": 10, "columns": 10}),
    "flat2d 30x30": ("flat2d", 2, {"rows": 30, "columns": 30}),
    "flat3d 6x6x6": ("flat3d", 1, {"a": 6, "b": 6, "c": 6}),
    "hier2d small": ("hier2d", 2, {"activity": (3, 2), "region": (3, 2)}),
    "hier2d medium": ("hier2d", 3, {"activity": (4, 3), "region": (3, 3)}),
    "hier2d deep": ("hier2d", 4, {"activity": (3, 3, 3), "region": (3, 3)}),
    "hier3d small": ("hier3d", 2, {"activity": (3, 2), "region": (2, 2), "size": 3}),
    "hier3d medium": ("hier3d", 3, {"activity": (4, 3), "region": (3, 2), "size": 3}),
}

PATIENCE = 120.0
"""Seconds after which the peer is killed."""

#: The rules of the families in the peer's words; the first of each kind are for enterprises, others for holdings.
RULES = "P(10,1)|FREQ(3,30)"
HOLDING_RULES = {"business": "P(0,0)|P(0,0)|P(15,1)|FREQ(0,0)|FREQ(3,30)"}

#: Its code for weights of one.
UNIT_COST = "-2"

#: Families that cannot be asked of the peer, and why.
CANNOT = {
    "table": "has no microdata",
    "linked": "is several tables",
    "singletons": "has attackers who know cells",
    "bounded": "has bounds that are published",
}


@dataclass(frozen=True)
class Answer:
    """What one method did with one case."""

    case: str
    method: str
    cost: float | None
    bound: float | None = None
    seconds: float | None = None
    note: str = ""
    way: str = ""  #: the method that `auto` chose


def ours(case: str, problem: Problem, method: str, seconds: float) -> Answer:
    """Run a method of ours; the cost is there only if the audit finds nothing."""
    started = time.process_time()
    try:
        result = suppress(problem, method=method, limits=Limits(seconds=seconds))
    except InputError as error:
        return Answer(case, method, None, note=str(error).partition(":")[0])
    spent = time.process_time() - started
    exposed = len(audit(problem, result.pattern, intervals=False).exposures)
    if exposed or not result.safe:
        return Answer(case, method, None, None, spent, f"{exposed} levels are missed; {result.message}")
    return Answer(case, method, problem.cost(result.pattern), result.bound, spent, way=_way(result.method))


def _way(method: str) -> str:
    return method.removeprefix("auto: ").partition(", since")[0] if method.startswith("auto") else ""


def ask_peer(case: str, problem: Problem, peer: TauArgus, patience: float = PATIENCE) -> tuple[Problem, Answer]:
    """Run tau-ARGUS MOD on the microdata of a case.

    Returns the problem with the protection levels that it gave to its primary cells (whole numbers, and smaller ones
    than ours where a cell fails both rules), so that all are measured by the same levels, and its answer to that.
    """
    name = "tau-ARGUS MOD"
    which, seed, sizes = CASES.get(case) or recipe(case)
    if why := CANNOT.get(which):
        return problem, Answer(case, name, None, note=why)
    data = microdata(which, seed, **sizes)
    by = list(data.dimensions)
    # codes of different lengths crash it
    short = {d: {c: f"{d[0]}{i:04d}" for i, c in enumerate(h.codes)} for d, h in data.dimensions.items()}
    with tempfile.TemporaryDirectory(prefix="tabprotect-peer-") as place:
        folder = Path(place)
        deep = {d: folder / f"{d}.hrc" for d, h in data.dimensions.items() if len(h.splits) > 1}
        for dimension, path in deep.items():
            path.write_text("\n".join(_hrc(data.dimensions[dimension], short[dimension])) + "\n")
        holding = which in HOLDING_RULES
        task = {
            "by": by,
            "value": "value",
            "rules": HOLDING_RULES.get(which, RULES),
            "suppress": "MOD(1,1,0,0,0)",
            "cost": UNIT_COST if which == "unit" else None,
            "holding": "holder" if holding else None,
            "hrc": {d: str(path) for d, path in deep.items()},
        }
        (folder / "task.json").write_text(json.dumps(task))
        columns = [*by, "value", *(["holder"] if holding else [])]
        frame = data.frame[columns].assign(**{d: data.frame[d].map(short[d]) for d in by})
        if holding:
            frame = frame.assign(holder=pd.factorize(frame["holder"])[0]).sort_values("holder", kind="stable")
        frame.to_csv(folder / "data.csv", index=False)
        runner = [str(peer.python), str(Path(__file__).with_name("tauargus_methods.py").resolve())]
        try:
            done = subprocess.run(runner, cwd=folder, capture_output=True, text=True, check=False, timeout=patience)
        except subprocess.TimeoutExpired:
            return problem, Answer(case, name, None, note=f"no answer in {patience:g} s, killed")
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [""])[-1]
        return problem, Answer(case, name, None, note=f"crash ({done.returncode}) {last}".rstrip())
    said = json.loads(done.stdout.splitlines()[-1])
    back = [{code: long for long, code in short[d].items()} for d in by]
    codes = [tuple(long.get(c.strip(), "Total") for long, c in zip(back, row, strict=False)) for row in said["cells"]]
    cells = problem.system.cells.get_indexer(pd.MultiIndex.from_tuples(codes))
    status, lower, upper = (np.array(column) for column in list(zip(*said["cells"], strict=True))[len(by) :])
    if set(cells[status == "U"].tolist()) != set(problem.primaries.tolist()):
        return problem, Answer(case, name, None, note="its primary cells are others")
    lpl, upl = problem.lpl.copy(), problem.upl.copy()
    lpl[cells[status == "U"]], upl[cells[status == "U"]] = lower[status == "U"], upper[status == "U"]
    problem = replace(problem, lpl=lpl, upl=upl)
    pattern = problem.must_hide.copy()
    pattern[cells[status == "M"]] = True
    if np.any(pattern & ~problem.may_hide):
        return problem, Answer(case, name, None, None, said["seconds"], "hides what must be published")
    exposed = len(audit(problem, pattern, intervals=False).exposed)
    note = f"{exposed} primary exposed" if exposed else ""
    return problem, Answer(case, name, problem.cost(pattern), None, said["seconds"], note)


def _hrc(hierarchy: Hierarchy, short: Mapping[str, str]) -> Iterator[str]:
    below = dict(hierarchy.splits)

    def walk(code: str, depth: int) -> Iterator[str]:
        for part in below.get(code, ()):
            yield "@" * depth + short[part]
            yield from walk(part, depth + 1)

    return walk(hierarchy.total, 0)


def table(answers: Sequence[Answer]) -> str:
    """Return the answers as a table, one line a case and method."""
    lines = ["| case | method | cost | bound | s | |", "| --- | --- | --- | --- | --- | --- |"]
    for a in answers:
        numbers = ["" if v is None else f"{v:,.0f}" for v in (a.cost, a.bound)]
        seconds = "" if a.seconds is None else f"{a.seconds:.1f}"
        lines.append(f"| {a.case} | {a.method} | {numbers[0]} | {numbers[1]} | {seconds} | {a.note} |")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"cases; all of {', '.join(CASES)} by default")
    parser.add_argument("--seconds", type=float, default=20.0, help="limit of each of our runs")
    parser.add_argument("--against", choices=[TauArgus.name], help="a peer, installed by `make peer`")
    parser.add_argument("--methods", default=",".join(m for m in methods() if m != "auto"))
    asked = parser.parse_args(argv)
    for name in asked.names:
        if name not in CASES and not Path(name).exists():
            raise InputError(f"no case '{name}'{did_you_mean(name, CASES)}")
    peer = TauArgus() if asked.against else None
    answers = []
    for case in asked.names or CASES:
        known = case in CASES
        problem = family(CASES[case][0], CASES[case][1], **CASES[case][2]) if known else read_instance(case)
        case = case if known else Path(case).name.partition(".")[0]
        print(f"{case}: {problem.n_cells:,} cells, {len(problem.primaries)} primary", file=sys.stderr, flush=True)
        if peer is not None and known:
            problem, answer = ask_peer(case, problem, peer)
            answers.append(answer)
        answers += [ours(case, problem, method, asked.seconds) for method in asked.methods.split(",")]
    print(table(answers))


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        sys.exit(str(error))
