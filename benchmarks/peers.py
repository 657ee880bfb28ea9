"""Other programs that solve the same problems, each in an environment of its own."""

from __future__ import annotations

import json
import math
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, did_you_mean
from tabprotect.formats.jj import write_jj
from tabprotect.problem import Problem, Status
from tabprotect.table.system import LinearSystem

__all__ = ["PEERS", "Peer", "PeerAnswer", "TauArgus", "peer"]

CHECKOUT = Path(__file__).resolve().parents[1]

#: An infinite external bound is handed to peers as this many times the largest value of the table.
UNBOUNDED = 100.0


@dataclass(frozen=True, eq=False)
class PeerAnswer:
    """What a peer returned.

    Attributes
    ----------
    pattern : ndarray of bool or None
        Over the cells of the problem; None when there is no answer.
    seconds : float
        Of wall clock, without starting its interpreter where that can be told.
    failure : str
        Why there is no answer; empty when there is one.
    claim : str
        What it says of its answer, such as 'optimal'.
    version : str
    """

    pattern: npt.NDArray[np.bool_] | None
    seconds: float
    failure: str = ""
    claim: str = ""
    version: str = ""


class Peer(Protocol):
    """What the harness asks of a peer."""

    name: str

    def solve(self, problem: Problem, seconds: float, patience: float) -> PeerAnswer:
        """Protect a problem within a limit; it is killed after `seconds` * `patience` (and the start-up)."""


class TauArgus:
    """tau-ARGUS OPT (pytauargus), from its own virtual environment.

    Parameters
    ----------
    python : path, optional
        The interpreter of that environment; by default ``.venv-peer/bin/python`` of the checkout (``make peer``) or
        what the environment variable TABPROTECT_PEER_PYTHON says.
    """

    name = "tau-argus"

    def __init__(self, python: str | Path | None = None) -> None:
        default = os.environ.get("TABPROTECT_PEER_PYTHON", CHECKOUT / ".venv-peer" / "bin" / "python")
        self.python = Path(python or default)
        if not self.python.exists():
            raise InputError(f"the peer tau-argus is not installed ({self.python} is not there); run: make peer")

    def solve(self, problem: Problem, seconds: float, patience: float) -> PeerAnswer:
        """Its limit is in whole minutes, one at least; attackers with known cells cannot be stated to it."""
        minutes = max(1, math.floor(seconds / 60))
        with tempfile.TemporaryDirectory(prefix="tabprotect-peer-") as place:
            folder = Path(place)
            (folder / "log").mkdir()
            cells = for_peer(problem, folder / "in.jj")
            runner = [str(self.python), str(Path(__file__).with_name("tauargus_runner.py"))]
            started = time.monotonic()
            try:
                done = subprocess.run(
                    [*runner, "in.jj", "out.txt", str(minutes)],
                    cwd=folder,
                    capture_output=True,
                    text=True,
                    check=False,
                    timeout=patience * max(seconds, 60.0 * minutes),
                )
            except subprocess.TimeoutExpired:
                spent = time.monotonic() - started
                return PeerAnswer(None, spent, f"no answer in {spent:.0f} s (limit {60 * minutes} s), killed")
            spent = time.monotonic() - started
            if done.returncode:
                return PeerAnswer(None, spent, f"crash: {_ending(done.returncode)}")
            said = json.loads(done.stdout.splitlines()[-1])
            if said["code"]:
                return PeerAnswer(
                    None, said["seconds"], f"error {said['code']}: {said['message']}", "", said["version"]
                )
            words = (folder / "out.txt").read_text().split()
            pattern = problem.must_hide.copy()
            pattern[cells[[int(word) for word in words]]] = True
            log = "".join(path.read_text(errors="replace") for path in sorted(folder.rglob("*.log")))
            log += "".join(path.read_text(errors="replace") for path in sorted(folder.rglob("*logfile.txt")))
            claim = "optimal" if "SDC optimal solution" in log else "feasible"
            return PeerAnswer(pattern, said["seconds"], "", claim, f"pytauargus {said['version']}")


def _ending(code: int) -> str:
    names = {-11: "segmentation fault", -6: "aborted", -9: "killed (out of memory?)", -8: "floating point exception"}
    return names.get(code, f"exit code {code}")


def for_peer(problem: Problem, path: Path) -> npt.NDArray[np.int64]:
    """Write a problem without fixed cells, attackers and infinite bounds; returns which cell each line is."""
    kept = np.flatnonzero(problem.status != Status.ZERO)
    fixed = np.flatnonzero(problem.status == Status.ZERO)
    A = problem.system.A.tocsc()
    b = problem.system.b - A[:, fixed] @ problem.values[fixed]
    rows = np.flatnonzero(np.diff(A[:, kept].tocsr().indptr))
    system = LinearSystem(A[:, kept].tocsr()[rows], b[rows], np.arange(len(kept)))
    far = UNBOUNDED * max(1.0, float(np.abs(problem.values).max(initial=0.0)))

    def part(name: str) -> npt.NDArray[np.float64]:
        array: npt.NDArray[np.float64] = getattr(problem, name)[kept]
        return np.clip(array, -far, far) if name in ("lower", "upper") else array

    names = ("values", "lpl", "upl", "spl", "weights", "lower", "upper")
    arrays = {name: part(name) for name in names}
    write_jj(replace(problem, system=system, status=problem.status[kept], attackers=(), **arrays), path)
    return kept


#: Peers by name.
PEERS: dict[str, type[TauArgus]] = {TauArgus.name: TauArgus}


def peer(name: str) -> Peer:
    """Return the peer of that name.

    Raises
    ------
    InputError
        If there is none, or it is not installed.
    """
    if name not in PEERS:
        raise InputError(f"no peer '{name}'{did_you_mean(name, PEERS)}")
    return PEERS[name]()
