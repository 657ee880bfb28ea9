"""``SUPPRESS``: which method of ours a command asks for, and its run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError
from tabprotect.formats.argus.commands import Suppress as Asked
from tabprotect.methods.adjustment.method import Adjust
from tabprotect.methods.rounding.method import Round
from tabprotect.methods.suppression.method import Suppress
from tabprotect.release.publication import Publication
from tabprotect.sensitivity.assess import assess
from tabprotect.sensitivity.costs import BoxCox
from tabprotect.solver.limits import Limits, Progress
from tabprotect.table.link import link
from tabprotect.table.table import Table
from tabprotect.workflow.argus.logbook import DIFFERENT, UNSAFE, Logbook
from tabprotect.workflow.argus.specified import Built, Specified
from tabprotect.workflow.protect import protect

__all__ = ["Means", "Protected", "protect_linked", "protect_one", "step_costs"]

MINUTES: Final = 10.0
"""Time for a search where the batch says nothing, as in tau-ARGUS."""

_OURS: Final = {"OPT": "exact", "MOD": "modular", "GH": "hypercube", "NET": "network"}

_COSTS: Final = {"frequency": "count", "unit": "unit"}


@dataclass(frozen=True)
class Means:
    """What a run may use.

    Parameters
    ----------
    limits : Limits, optional
        Instead of those of the batch.
    seed : int, optional
    allow_unsafe : bool
    progress : callable, optional
    """

    limits: Limits | None = None
    seed: int | None = None
    allow_unsafe: bool = False
    progress: Callable[[Progress], None] | None = None


@dataclass(frozen=True, eq=False)
class Protected:
    """A release, and where the cells of one table are in it.

    Attributes
    ----------
    release : Publication
    rows : slice
        Rows of the release that are this table.
    method : str
        As the batch calls it.
    """

    release: Publication
    rows: slice
    method: str

    @property
    def safe(self) -> bool:
        """Whether the release is judged safe."""
        return self.release.safe


def protect_one(spec: Specified, built: Built, asked: Asked, means: Means, log: Logbook) -> Protected:
    """Protect one table.

    Raises
    ------
    InputError
        If the method does not go with the table.
    """
    table = built.table
    release = _protect(table, built.everything, spec, asked, means, log, _cost(spec, built, log))
    _say(release, log)
    return Protected(release, slice(0, len(table.rows)), asked.method)


def protect_linked(
    specs: Sequence[Specified], built: Sequence[Built], asked: Asked, means: Means, log: Logbook
) -> list[Protected]:
    """Protect all tables at once, as one linked system.

    Raises
    ------
    InputError
        If the tables have different rules, or their common cells differ.
    """
    if len(specs) < 2:
        raise InputError(f"{asked.method}(0) protects linked tables, and there is one table; write {asked.method}(1)")
    first = specs[0]
    for spec in specs[1:]:
        if spec.rules != first.rules:
            raise InputError(f"linked tables need the same safety rules; those of {first.name} and {spec.name} differ")
    names = [spec.name for spec in specs]
    responses = {spec.name: built_.table.value_name for spec, built_ in zip(specs, built, strict=True)}
    linked = link({name: one.table for name, one in zip(names, built, strict=True)}, measure=responses)
    log.add(f"{len(names)} tables are one system of {linked.n_cells:,} cells, {linked.system.n_equations:,} equations")
    slices, decided, begin = [], [], 0
    for one in built:
        rows = slice(begin, begin + len(one.table.rows))
        begin = rows.stop
        cell = np.zeros(one.table.n_cells, np.int64)
        cell[one.table.row_cell] = linked.row_cell[rows]
        slices.append(rows)
        decided += [found.moved(cell, linked.n_cells) for found in one.decided]
    log.add("linked tables are joined cell by cell, and judged as one; no cover table is built", DIFFERENT)
    costs = {spec.asked.cost for spec in specs}
    cost = _COSTS.get(first.asked.cost) if len(costs) == 1 else None
    if len(costs) > 1 or "distance" in costs:
        log.add("the cost of hiding is that of the values: linked tables have one cost, and no distance", DIFFERENT)
    release = _protect(linked, (*built[0].rules, *decided), first, asked, means, log, cost)
    _say(release, log)
    return [Protected(release, rows, asked.method) for rows in slices]


def _protect(
    table: Table, rules: Sequence[Any], spec: Specified, asked: Asked, means: Means, log: Logbook, cost: Any
) -> Publication:
    numbers = [*asked.numbers, *[None] * 7]
    method: Any
    more: dict[str, Any] = {}
    minutes = MINUTES
    linked = bool(table.parts)
    if asked.method == "RND":
        base, steps, limit, parts, stop = numbers[:5]
        method = Round(base=base, steps=int(steps) if steps else "least")
        minutes = limit or MINUTES
        log.add("rounded values respect the protection levels, and the release is judged like any other", DIFFERENT)
        if parts:
            log.add("partitions are not used: the table is rounded as a whole", DIFFERENT)
        if stop in (1, 2):
            log.add(f"stopping rule {stop:g} is not used: the search ends with a proof, or at the limit", DIFFERENT)
    elif asked.method == "CTA":
        method = Adjust()
    else:
        power = spec.asked.power
        ours = "passes" if linked and asked.method == "MOD" else _OURS[asked.method]
        method = Suppress(cost, ours, transform=None if power == 1 else BoxCox(power))
        if asked.method == "OPT":
            minutes = numbers[0] or MINUTES
        if asked.method == "MOD":
            more["singletons"] = _singletons(numbers, log)
        if asked.method == "GH":
            if numbers[0] is not None:
                more["bounds"] = f"{numbers[0]:g}%"
                log.add(f"every intruder is taken to know each cell to within {numbers[0]:g} % beforehand")
            if numbers[2] is not None:
                more["singletons"] = bool(numbers[2])
    if "bounds" not in more and table.values.min(initial=0.0) < 0:
        least = 1.5 * float(table.values.min())
        more["bounds"] = (least, None)
        log.add(f"there are negative values: every intruder is taken to know that none lies below {least:g}", DIFFERENT)
    limits = means.limits or Limits(60.0 * minutes)
    log.add(f"{asked.method} is run as {method}")
    release: Publication = protect(
        table, list(rules), method, limits=limits, seed=means.seed, title=f"{spec.asked.response or 'count'}",
        allow_unsafe=means.allow_unsafe, progress=means.progress, intervals=False, **more,
    )  # fmt: skip
    return release


def _singletons(numbers: Sequence[float | None], log: Logbook) -> bool:
    switches = numbers[1:4]
    if any(number is not None for number in numbers[4:7]):
        log.add("scaling of costs and bounds as shares of values (the last numbers of MOD) play no part", DIFFERENT)
    if numbers[0] is not None:
        log.add("the time for each subtable plays no part; the limit is for the whole search", DIFFERENT)
    if all(number is None for number in switches):
        return True
    if switches[2]:
        log.add("sums of few contributors are found among all hidden cells, not by MinFreq", DIFFERENT)
    return any(switches[:2])


def _cost(spec: Specified, built: Built, log: Logbook) -> Any:
    if spec.asked.cost != "distance":
        return _COSTS.get(spec.asked.cost)
    sensitive = assess(built.table, built.everything)
    by_name = {v.name: v.distance or (1,) for v in spec.metadata.variables}
    log.add("a cell costs what its steps to the nearest sensitive cell cost, summed over dimensions", DIFFERENT)
    return step_costs(built.table, sensitive.primaries, by_name)


def step_costs(
    table: Table, primaries: npt.NDArray[np.int64], steps: Mapping[str, Sequence[int]]
) -> npt.NDArray[np.float64]:
    """Return what hiding each cell costs by its distance from the nearest sensitive cell.

    Two codes of a hierarchy are as many steps apart as the longer way of the two up to the first code above both; the
    k-th number of a dimension is the cost of k steps, the last one that of all further. The costs of all dimensions
    are added up.

    Parameters
    ----------
    table : Table
    primaries : ndarray of int
    steps : mapping of str to sequence of int
        By dimension.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": ["Total", "x", "y"], "v": [3.0, 1.0, 2.0]})
    >>> step_costs(Table.from_cells(frame, "a", "v"), np.array([1]), {"a": (2, 4)}).tolist()
    [2.0, 0.0, 2.0]
    """
    if not len(primaries):
        return np.ones(table.n_cells)
    cells = table.system.cells.to_frame(index=False)
    total = np.full((table.n_cells, len(primaries)), 0.0)
    for k, dimension in enumerate(table.dimensions):
        hierarchy = dimension.known
        charge = np.array([0.0, *steps.get(dimension.name, (1,))])
        place = np.array([hierarchy.position[code] for code in cells.iloc[:, k]])
        used, at = np.unique(place[primaries], return_inverse=True)
        apart = np.array([_steps(hierarchy.parents, code) for code in used])
        total += charge[np.minimum(apart, len(charge) - 1)][at].T[place]
    return np.asarray(total.min(axis=1))


def _steps(parents: npt.NDArray[np.int64], code: int) -> npt.NDArray[np.int64]:
    """Return how many steps every code is from one of them."""
    above: dict[int, int] = {}
    while code >= 0:
        above[code] = len(above)
        code = int(parents[code])
    found = np.zeros(len(parents), np.int64)
    for other in range(len(parents)):
        at, way = other, 0
        while at not in above:
            at, way = int(parents[at]), way + 1
        found[other] = max(way, above[at])
    return found


def _say(release: Publication, log: Logbook) -> None:
    log.add(str(release.summary()))
    if not release.safe:
        log.add("nothing that is for publication is written of this table", UNSAFE)
    if release.stopped:
        log.add("the limit ended the search; the best answer so far is taken")
