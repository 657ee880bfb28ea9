"""Which of several sums to leave out so that the others can be answered together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tabprotect.query.audit.decision import Denial
from tabprotect.query.audit.needs import Needs, Target
from tabprotect.query.audit.options import DEFAULTS, Options
from tabprotect.query.audit.partition import Partition
from tabprotect.query.audit.records import Records
from tabprotect.query.audit.safety import Safety
from tabprotect.query.audit.search import NOTHING
from tabprotect.query.audit.state import State
from tabprotect.query.audit.task import Task
from tabprotect.query.audit.witnesses import Worlds

__all__ = ["conflicting"]


def conflicting(
    state: State, records: Records, first: int, costs: Sequence[int], work: int, options: Options = DEFAULTS
) -> Safety:
    """Judge a large system, and leave out new queries where a demand cannot be met otherwise.

    Where no data set meets a demand the duals name the answers that stand against it. The cheapest of the new ones
    among them is left out, and the search goes on without it. If some were left out the others may have coarser classes
    and other demands, so that they have to be judged again.

    Parameters
    ----------
    state : State
        With the new queries in it.
    records : Records
    first : int
        The first new query.
    costs : sequence of int
        What it costs to leave out a new query.
    work : int
        Simplex iterations that may be spent.
    options : Options

    Returns
    -------
    Safety
        Denied where the work was used up, or earlier answers alone stand against a demand.
    """
    result, out = Safety(), _Out(first, costs, [])
    for k in state.knowledge:
        task = _Relaxed.of(replace(state, basis=None), records, k, work - result.work, False, options)
        task.leave_out(out)
        denied = task.run()
        result.work += task.search.spent
        result.worlds.append(task.found)
        if denied is not None:
            result.denial, result.text = denied
            return result
    result.out = out.queries
    result.text = f"all demands are met by other data sets, with {len(result.out)} new sums left out"
    return result


@dataclass(eq=False)
class _Out:
    first: int
    costs: Sequence[int]
    queries: list[int]


@dataclass(eq=False)
class _Relaxed(Task):
    out: _Out = field(default_factory=lambda: _Out(0, (), []))

    def leave_out(self, out: _Out) -> None:
        """Take the queries that are left out from the partition."""
        self.out = out
        p = self.state.partition
        kept = np.ones(8 * p.bits.shape[1], bool)
        kept[self.out.queries] = False
        bits = p.bits & np.packbits(kept, bitorder="little")
        self.state = replace(self.state, partition=Partition(p.class_of, bits, p.n_queries))
        self.search = replace(self.search, partition=self.state.partition)

    def _each_union(self, need: Needs, target: Target) -> tuple[Denial, str] | None:
        while True:
            blame = self.search.blame
            if blame is None:
                return Denial.UNDECIDED, ""
            new = [q for q in np.flatnonzero(np.abs(blame) > NOTHING).tolist() if q >= self.out.first]
            if not new:
                return Denial.UNDECIDED, ""
            self.out.queries.append(min(new, key=lambda q: (self.out.costs[q - self.out.first], q)))
            self.leave_out(self.out)
            world = self._cover(need, target)
            if world is not None:
                self.found = self.found.plus(Worlds.of([world]))
                return None
