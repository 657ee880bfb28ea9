"""What `auto` answers against the exact engine and tau-ARGUS's modular method, in the same time: one table.

Run from the checkout: ``python -m benchmarks.auto [--seconds 20] [--cells 11000] [--patience 60] [--out FILE]
[NAME ...]``, over the instances of the index (`tabprotect instances`) of at most so many cells, or those named.

Every pattern is judged by the same audit and charged at the weights of the problem. Where the peer answers, all are
measured by the protection levels that it computes. The table is written again after every instance, so a run can be
stopped.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.methods import Answer, ask_peer, ours
from benchmarks.peers import TauArgus
from tabprotect.errors import InputError
from tabprotect.instances import index, load

#: `auto` is to be at most so many times as dear as the exact engine.
ALLOWED = 1.05


@dataclass(frozen=True)
class Line:
    """One instance."""

    name: str
    cells: int
    auto: Answer
    exact: Answer
    peer: Answer

    @property
    def to_exact(self) -> float | None:
        """How many times as dear `auto` is."""
        return _ratio(self.auto, self.exact)

    @property
    def to_peer(self) -> float | None:
        """How many times as dear `auto` is as a pattern of the peer that protects."""
        return None if self.peer.note else _ratio(self.auto, self.peer)

    @property
    def missed(self) -> bool:
        """Whether `auto` is too dear, or has no answer where another has."""
        if self.auto.cost is None:
            return self.exact.cost is not None or (self.peer.cost is not None and not self.peer.note)
        return (self.to_exact or 0.0) > ALLOWED or (self.to_peer or 0.0) > 1.0


def _ratio(one: Answer, other: Answer) -> float | None:
    if one.cost is None or other.cost is None:
        return None
    return one.cost / other.cost if other.cost else float(one.cost > 0) + 1.0


def measure(name: str, seconds: float, patience: float, peer: TauArgus) -> Line:
    """Run one instance: the peer first, since it says by which levels all are measured."""
    problem, theirs = ask_peer(name, load(name), peer, patience)
    auto, exact = (ours(name, problem, method, seconds) for method in ("auto", "exact"))
    return Line(name, problem.n_cells, auto, exact, theirs)


def table(lines: Sequence[Line]) -> str:
    """Return one row an instance; what is too dear is marked."""
    heads = ("instance", "cells", "auto", "by", "s", "exact", "bound", "s", "MOD", "s", "auto / exact", "auto / MOD")
    rows = ["| " + " | ".join(heads) + " |", "| " + " | ".join("---" for _ in heads) + " |"]
    for line in lines:
        words = [line.name + (" (!)" if line.missed else ""), f"{line.cells:,}"]
        words += [_cost(line.auto), line.auto.way, _number(line.auto.seconds, 1)]
        words += [_cost(line.exact), _number(line.exact.bound), _number(line.exact.seconds, 1)]
        words += [_cost(line.peer), _number(line.peer.seconds, 1)]
        words += [_number(line.to_exact, 3), _number(line.to_peer, 3)]
        rows.append("| " + " | ".join(words) + " |")
    return "\n".join(rows)


def _number(value: float | None, digits: int = 0) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


def _cost(answer: Answer) -> str:
    cost = _number(answer.cost)
    return f"{cost} ({answer.note})" if cost and answer.note else cost or answer.note


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns 1 when `auto` missed what it is to reach."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="instances of the index (all that are small enough)")
    parser.add_argument("--seconds", type=float, default=20.0, help="limit of each of our runs (20)")
    parser.add_argument("--cells", type=int, default=11_000, help="of instances that are not named (11,000)")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds after which the peer is killed (60)")
    parser.add_argument("--out", type=Path, help="also write the table there")
    asked = parser.parse_args(argv)
    known = index()
    peer = TauArgus()
    lines: list[Line] = []
    for name in asked.names or known.index[known["cells"] <= asked.cells]:
        lines.append(measure(str(name), asked.seconds, asked.patience, peer))
        print(table(lines).splitlines()[-1], flush=True)
        if asked.out:
            asked.out.write_text(f"{_head(asked.seconds, asked.patience)}\n\n{table(lines)}\n")
    return int(any(line.missed for line in lines))


def _head(seconds: float, patience: float) -> str:
    """Return what was run, when and where."""
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    command = f"python -m benchmarks.auto --seconds {seconds:g} --patience {patience:g}"
    return "\n".join(
        (
            "# auto against the exact engine and tau-ARGUS MOD",
            "",
            f"{datetime.now(UTC):%Y-%m-%d}, {machine}: `{command}`.",
            "Limits are of wall clock; seconds are those of the processor, of the peer those of wall clock.",
            f"(!): dearer than {ALLOWED:g} times the exact engine, or than a pattern of MOD that protects.",
        )
    )


if __name__ == "__main__":
    try:
        sys.exit(main())
    except InputError as error:
        sys.exit(str(error))
