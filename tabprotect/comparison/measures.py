"""What a published table still tells about sensitive cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.attack.findings import Audit
from tabprotect.problem import Problem

__all__ = ["Risk", "risk"]


_SAME = 1e-12


@dataclass(frozen=True)
class Risk:
    """What an intruder who knows the method still learns about sensitive cells.

    Attributes
    ----------
    sensitive : int
        Primary cells.
    exposed : int
        Those of which an intruder comes nearer than a protection level allows.
    undecided : int
        Those that could not be judged within the limits (not counted as exposed, but not as safe either).
    exact : int
        Primaries whose value follows exactly.
    width : float or None
        Median width of the primaries' intervals, as a share of their value; infinite where no bound is known, None
        where intervals were not computed.
    knows : str
        What this intruder knows.
    """

    sensitive: int
    exposed: int
    undecided: int
    exact: int
    width: float | None
    knows: str


def risk(problem: Problem, found: Audit, knows: str) -> Risk:
    """Read an audit."""
    primaries = problem.primaries
    undecided = {e.key.cell for e in found.exposures if not e.decided} | {key.cell for key in found.unproven}
    exposed = set(found.shown.tolist()) | {e.key.cell for e in found.exposures if e.decided}
    place = np.searchsorted(found.public.cells, primaries)
    place = np.minimum(place, max(0, len(found.public.cells) - 1))
    seen = found.public.cells[place] == primaries if len(found.public.cells) else np.zeros(len(primaries), bool)
    width: float | None = None
    wide = np.zeros(len(primaries))
    wide[seen] = (found.public.high - found.public.low)[place[seen]]
    if not np.isnan(wide).any() and len(primaries):
        width = float(np.median(wide / np.maximum(np.abs(problem.values[primaries]), _SAME)))
        if not np.isfinite(width):
            width = float("inf")
    exact = int(np.isin(primaries, found.recomputable).sum() + np.sum(~seen))
    return Risk(len(primaries), len(exposed), len(undecided - exposed), exact, width, knows)
