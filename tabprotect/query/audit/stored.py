"""The state of an auditor as bytes, so that a start need not go through all earlier answers."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from tabprotect.errors import InputError
from tabprotect.query.audit.inference import Basis
from tabprotect.query.audit.partition import Partition
from tabprotect.query.audit.records import Records
from tabprotect.query.audit.state import State

__all__ = ["dump", "restore"]


def dump(state: State) -> bytes:
    """Return the partition, the basis and the answers (internal: answers to the basis are in it).

    Remembered data sets are left out; they are found again when needed.
    """
    p, basis = state.partition, state.basis
    parts: dict[str, Any] = {
        "class_of": p.class_of,
        "bits": p.bits,
        "queries": np.array(p.n_queries),
        "totals": np.array(state.totals),
    }
    if basis is not None:
        parts |= {"rows": basis.rows, "pivots": basis.pivots, "inverse": basis.inverse.astype(np.uint32)}
    file = io.BytesIO()
    np.savez_compressed(file, **parts)
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
        basis = Basis(parts["rows"], parts["pivots"], parts["inverse"].astype(np.int64))
    return start.with_partition(records, partition, basis, totals)
