"""The fast solution of the dual against the statement of the problem."""

from __future__ import annotations

import itertools

import numpy as np
import pyomo.environ as pyo
import pytest

from tabprotect.microdata.synthesis.entropy import maximum_entropy
from tabprotect.models import maximum_entropy as model


@pytest.mark.parametrize("seed", range(4))
def test_no_distribution_beside_the_fast_one_has_more_entropy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.ones(24))
    states = np.unravel_index(np.arange(24), (2, 3, 4))
    shapes = (2, 3, 4)
    cells = [states[a] * shapes[b] + states[b] for a, b in itertools.combinations(range(3), 2)]
    number = rng.normal(size=24)
    wanted = [np.bincount(cell, weights=table) for cell in cells]
    p, _ = maximum_entropy([*cells, number], [*wanted, np.array([table @ number])])
    rows = [(cell == c).astype(float) for cell in cells for c in range(cell.max() + 1)]
    every = [row.tolist() for row in [*rows, number]]
    target = [*np.concatenate(wanted).tolist(), float(table @ number)]
    stated = model.build(every, target)
    for i, share in enumerate(p):
        stated.p[i].value = float(share)
    assert max(abs(pyo.value(stated.held[k].body) - target[k]) for k in stated.k) < 1e-6
    assert pyo.value(stated.entropy) == pytest.approx(-(p * np.log(p)).sum())
    solver = pyo.SolverFactory("appsi_highs")
    best = model.improvement(every, target, p.tolist(), off=1e-6)
    solver.solve(best)
    assert 0 <= pyo.value(best.gain) + 1e-9 < 1e-4
    # the table itself has the same margins, and can be improved upon
    other = model.improvement(every, target, table.tolist())
    solver.solve(other)
    assert pyo.value(other.gain) >= pyo.value(stated.entropy) + (table * np.log(table)).sum() - 1e-6
    assert pyo.value(other.gain) > 1e-3
