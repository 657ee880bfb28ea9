"""Units with several records: a world that protects one class must not give the unit away in another."""

from __future__ import annotations

import numpy as np

from tabprotect.query.audit import Auditor, Records
from tabprotect.query.audit.needs import Targets
from tabprotect.query.audit.task import Task
from tabprotect.query.audit.witnesses import Worlds
from tabprotect.query.audit.worlds import World


def test_a_world_counts_only_if_the_unit_is_protected_everywhere():
    """Unit 0 has 50 in one class and 40 in another; raising the one and lowering the other leaves it exposed."""
    records = Records.of([50, 2, 40, 45, 9, 9], units=[0, 1, 0, 2, 3, 4])
    auditor = Auditor(records, "p%=30")
    state = auditor.state
    for members in ([0, 1, 4], [0, 1, 2, 3, 4]):
        state = state.with_query(records, auditor.members(members))
    k = state.knowledge[0]
    need = next(n for n in k.needs if n.side > 0)
    task = Task.of(state, records, k, 1000)
    class_of = state.partition.class_of
    first, second = int(class_of[0]), int(class_of[2])
    assert first != second
    targets = Targets(np.array([0]), np.array([0, 1]), np.array([first]), np.array([13]))
    assert task._elsewhere(need, targets[0]).tolist() == [second]
    moves = np.zeros(state.partition.n_classes, np.int64)
    moves[first] = 13
    assert task._met(Worlds.of([World(moves)]), need, targets).tolist() == [True]
    moves = moves.copy()
    moves[second] = -1
    assert task._met(Worlds.of([World(moves)]), need, targets).tolist() == [False]
