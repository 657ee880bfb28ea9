"""Hierarchical tables of 100,000 cells, rounded and adjusted in minutes with a stated gap."""

from __future__ import annotations

import numpy as np
import pytest

import tabprotect as tp


@pytest.fixture(scope="module")
def table():
    problem = tp.instances.family("hier2d", seed=1, activity=[8, 7, 6], region=[8, 7, 7], per_cell=5)
    assert problem.n_cells > 90_000
    return problem


@pytest.mark.slow
def test_rounded(table):
    result = tp.round(table, 5, limits=tp.Limits(seconds=120))
    print(f"{table.n_cells} cells: {result.status}, gap {result.gap:.4%}, {result.seconds:.0f} s")
    assert result.verdict.ok
    assert result.jump < 5
    assert 0 <= result.gap < 0.01


@pytest.mark.slow
def test_adjusted(table):
    result = tp.adjust(table, limits=tp.Limits(seconds=30))
    print(f"{table.n_cells} cells: {result.status}, gap {result.gap:.4%}, {result.seconds:.0f} s")
    assert result.verdict.ok
    assert np.all(
        np.abs(result.deviations[table.primaries]) >= np.minimum(table.lpl, table.upl)[table.primaries] - 1e-6
    )
    assert 0 <= result.gap < 0.03
