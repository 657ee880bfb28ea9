"""The fast designs of noise against the statements of the problems."""

from __future__ import annotations

import itertools

import numpy as np
import pyomo.environ as pyo
import pytest

from tabprotect.methods.cell_key.table import design_perturbation
from tabprotect.microdata.masking.noise import same_covariance
from tabprotect.models import noise as model
from tabprotect.solver.pyomo import solve_model

DESIGNS = [
    {"deviation": 3, "variance": 1.5},
    {"deviation": 3, "variance": 1.5, "stay": 0.3},
    {"deviation": 5, "variance": 4.0, "blocked": 2},
    {"deviation": 2, "variance": 1.0, "step": 4},
    {"deviation": 4, "variance": 2.0, "blocked": 2, "stay": 0.4},
]


def entropy(p):
    p = p[p > 0]
    return float(-(p * np.log(p)).sum())


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_the_fast_design_is_the_optimum_of_the_statement(design):
    table = design_perturbation(**design)
    assert table.probabilities[0].max() == 1.0
    for count, p in enumerate(table.probabilities.tolist()):
        if count == 0:
            continue
        p = np.array(p)
        nearest = model.build(count, goal="variance", **design)
        solve_model(nearest)
        reached = float(p @ table.noise**2)
        # the variance wanted, or the nearest that there is
        assert abs(reached - design["variance"]) == pytest.approx(pyo.value(nearest.nearest), abs=1e-7)
        stated = model.build(count, **{**design, "variance": reached})
        for v, share in zip(stated.v, p.tolist(), strict=True):
            if stated.p[v].fixed:
                assert share == pytest.approx(stated.p[v].value, abs=1e-12)
            stated.p[v].value = share
        for constraint in (stated.whole, stated.unbiased, stated.wanted):
            assert pyo.value(constraint.body) == pytest.approx(float(pyo.value(constraint.upper)), abs=1e-9)
        # no probabilities have more: tangents of a concave function lie above it
        above = model.bounded(stated, p, off=1e-9)
        solve_model(above)
        free = np.array([not stated.p[v].fixed for v in stated.v])
        assert entropy(p[free]) <= pyo.value(above.bound) + 1e-7
        assert entropy(p[free]) >= pyo.value(above.bound) - 2e-5


def test_other_noise_of_the_same_moments_is_told_from_the_best():
    """The bound is above worse probabilities by as much as they are worse, so that it can refuse them."""
    best = design_perturbation(3, 1.5).probabilities[3]
    v = np.arange(-3, 4)
    # along a direction that keeps the sum, mean and variance
    free = np.linalg.svd(np.stack([np.ones(7), v, v**2]))[2][3]
    worse = best + 0.5 * free * (best / np.abs(free)).min()
    stated = model.build(3, 3, 1.5)
    above = model.bounded(stated, worse, tangents=200, off=1e-9)
    solve_model(above)
    assert pyo.value(above.bound) == pytest.approx(entropy(best), abs=1e-2)
    assert pyo.value(above.bound) >= entropy(best) - 1e-7
    assert entropy(worse) < entropy(best) - 1e-3


@pytest.mark.parametrize("seed", range(3))
def test_the_map_that_keeps_the_covariance_moves_records_least(seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((30, 2)) @ np.array([[2.0, 0.6], [0.0, 1.0]])
    x -= x.mean(axis=0)
    wanted = x.T @ x / len(x)
    noisy = x + 0.8 * rng.standard_normal(x.shape)
    noisy -= noisy.mean(axis=0)
    fast = same_covariance(noisy, wanted)
    assert fast.T @ fast / len(x) == pytest.approx(wanted)
    stated = model.nearest_map(noisy, wanted)
    answer = solve_model(stated, "scip_direct")
    assert answer.status == "optimal"
    moved = float(((fast - noisy) ** 2).sum())
    assert moved == pytest.approx(answer.objective, rel=1e-4, abs=1e-4)
    found = np.array([[pyo.value(stated.T[i, j]) for j in range(2)] for i in range(2)])
    assert noisy @ found == pytest.approx(fast, abs=2e-2)
    for signs in itertools.product((1.0, -1.0), repeat=2):
        # other roots of the covariance keep it, too, and move more
        root = np.linalg.cholesky(wanted).T * np.array(signs)[:, None]
        other = noisy @ np.linalg.inv(np.linalg.cholesky(noisy.T @ noisy / len(x)).T) @ root
        assert other.T @ other / len(x) == pytest.approx(wanted)
        assert ((other - noisy) ** 2).sum() >= moved - 1e-9
