"""The choice of patterns: the fast construction against the optimum of the model."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.models import camouflage as model
from tabprotect.query.camouflage import Absolute
from tabprotect.query.camouflage.build import build, orders_of
from tabprotect.query.camouflage.construction import draw_patterns, draw_weights, group_sums, spread
from tabprotect.query.camouflage.data import Table, groups_of


@pytest.mark.parametrize("seed", range(4))
def test_the_fast_construction_is_near_the_optimum(seed):
    rng, n = np.random.default_rng(seed), 6
    columns = {"width": rng.lognormal(0, 0.7, n), "region": np.arange(n) % 2}
    table = Table({"x": rng.lognormal(3, 1, n)}, {}, columns, n)
    groups, patterns = groups_of(table, [(), ("region",)]), draw_patterns(n, 3, rng)
    rule, weights = Absolute("width"), draw_weights(3, rng)
    rows = build("x", table, rule, weights, patterns, groups, orders_of(table, rule, None, rng))
    members = np.vstack([np.ones(n), columns["region"] == 0, columns["region"] == 1]).astype(float)
    best = model.solve(patterns * columns["width"][:, None], members)
    assert best.status == "optimal"
    assert spread(best.rows, groups) == pytest.approx(best.width, abs=1e-6)
    assert best.bound - 1e-6 <= spread(rows, groups) <= 1.1 * best.width + 0.05
    assert np.sort(best.rows, axis=1) == pytest.approx(patterns * columns["width"][:, None])
    widths = np.ptp(group_sums(rows, groups), axis=1) / (members @ columns["width"])
    assert spread(rows, groups) == pytest.approx(widths.sum())
