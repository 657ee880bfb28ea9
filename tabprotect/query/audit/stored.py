"""The state of an auditor as bytes, so that a start need not go through all earlier answers."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from scipy import sparse

from tabprotect.errors import InputError
from tabprotect.query.audit.inference import Basis
from tabprotect.query.audit.partition import Partition
from tabprotect.query.audit.records import Records
from tabprotect.query.audit.state import State
from tabprotect.query.audit.witnesses import Worlds

__all__ = ["dump", "restore"]


def dump(state: State) -> bytes:
    """Return the partition, the basis, the answers and the remembered data sets (internal)."""
    p, basis = state.partition, state.basis
    parts: dict[str, Any] = {
        "class_of": p.class_of,
        "bits": p.bits,
        "queries": np.array(p.n_queries),
        "totals": np.array(state.totals),
    }
    if basis is not None:
        parts |= {"rows": basis.rows, "pivots": basis.pivots, "inverse": basis.inverse.astype(np.uint32)}
    for number, k in enumerate(state.knowledge):
        w = k.worlds
        parts |= {f"starts{number}": w.starts, f"index{number}": w.index}
        parts |= {f"moves{number}": w.moves, f"denominators{number}": w.denominators}
    file = io.BytesIO()
    np.savez(file, **parts)
    return file.getvalue()


def restore(content: bytes, records: Records, start: State) -> State:
    """Return the state that `dump` has written; `start` is the state of the same auditor before any answer.

    Raises
    ------
    InputError
        If it does not belong to these records.

    Examples
    --------
    >>> from tabprotect.query.audit import Auditor
    >>> a = Auditor(Records.of([5, 3, 2, 4]), "threshold=2")
    >>> fresh = a.state
    >>> _ = a.ask([0, 1]), a.ask([0, 1, 2, 3])
    >>> again = restore(dump(a.state), a.records, fresh)
    >>> again.totals, again.partition.class_of.tolist() == a.state.partition.class_of.tolist()
    ((8, 14), True)
    """
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        parts = {name: file[name] for name in file.files}
    partition = Partition(parts["class_of"], parts["bits"], int(parts["queries"]))
    totals = tuple(int(t) for t in parts["totals"])
    if len(partition.class_of) != len(records) or len(totals) != partition.n_queries:
        raise InputError("the log belongs to other data: their number of records differs")
    basis = None
    if "rows" in parts:
        basis = Basis.of(parts["rows"], parts["pivots"], parts["inverse"].astype(np.int64))
    state = start.with_partition(records, partition, basis, totals)
    return state.remembering([_worlds(parts, number, partition) for number in range(len(state.knowledge))])


def _worlds(parts: dict[str, Any], number: int, partition: Partition) -> Worlds:
    """Return the stored worlds of one intruder that give the same answers, in integers."""
    names = [f"{name}{number}" for name in ("starts", "index", "moves", "denominators")]
    if any(name not in parts for name in names):
        return Worlds.of([])
    worlds = Worlds(*(parts[name] for name in names))
    if worlds.index.max(initial=-1) >= partition.n_classes:
        return Worlds.of([])
    moves = sparse.csr_array((worlds.moves, worlds.index, worlds.starts), shape=(len(worlds), partition.n_classes))
    wrong = np.zeros(len(worlds), bool)
    for first in range(0, partition.n_queries, 64):
        some = np.arange(first, min(first + 64, partition.n_queries))
        wrong |= (moves @ partition.some(some).T.astype(np.int64)).any(axis=1)
    return worlds.taken(~wrong)
