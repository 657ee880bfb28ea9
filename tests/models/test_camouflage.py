"""The choice of patterns: the fast construction against the optimum of the model."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.models import camouflage as model
from tabprotect.query.camouflage import Absolute
from tabprotect.query.camouflage.bounds import Lattice
from tabprotect.query.camouflage.build import at_random, build, orders_of
from tabprotect.query.camouflage.construction import draw_patterns, draw_weights, group_sums, spread
from tabprotect.query.camouflage.data import Table, groups_of


@pytest.mark.parametrize("seed", range(4))
def test_the_fast_construction_is_near_the_optimum(seed):
    rng, n = np.random.default_rng(seed), 6
    columns = {"width": rng.lognormal(0, 0.7, n), "region": np.arange(n) % 2}
    table = Table({"x": rng.lognormal(3, 1, n)}, {}, columns, n)
    groups, patterns = groups_of(table, [(), ("region",)]), draw_patterns(n, 3, rng)
    bounds, weights, lattice = Absolute("width"), draw_weights(3, 20, rng), Lattice(1e-3, 20, 3)
    orders = orders_of(table, bounds, None, rng)
    rows = build("x", table, bounds, lattice, weights, patterns, groups, orders, at_random(rng.random(n)))
    entries = np.sort(rows, axis=1) - rows.min(axis=1)[:, None]
    members = np.vstack([np.ones(n), columns["region"] == 0, columns["region"] == 1]).astype(float)
    best = model.solve(entries, members)
    assert best.status == "optimal"
    assert spread(best.rows, groups) == pytest.approx(best.width, abs=1e-6)
    assert best.bound - 1e-6 <= spread(rows, groups) <= 1.1 * best.width + 0.05
    assert np.sort(best.rows, axis=1) == pytest.approx(entries)
    widths = np.ptp(group_sums(rows, groups), axis=1) / (members @ entries[:, -1])
    assert spread(rows, groups) == pytest.approx(widths.sum())
