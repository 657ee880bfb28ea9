"""Multiples that may rise (Eustat notebook, definition 1 of rounding): the model, enumeration, proofs, releases."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.attack.audit import audit
from tabprotect.attack.values import certify_values, seeing
from tabprotect.cli.app import run
from tabprotect.formats.jj import write_jj
from tabprotect.methods.distance import NORMS, distance_weights
from tabprotect.methods.rounding import judge
from tabprotect.methods.rounding import round as controlled
from tabprotect.models import rounding as model
from tabprotect.problem import Problem
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.system import LinearSystem
from tests.methods.rounding.tables import flat
from tests.random_problems import random_problem


def cube():
    """Four ones in a cube of 2 x 2 x 2: sums of lines are 1, of planes 2; base 2 has no zero-restricted one."""
    values = np.zeros((2, 2, 2))
    values[0, 0, 0] = values[0, 1, 1] = values[1, 0, 1] = values[1, 1, 0] = 1.0
    for axis in range(3):
        values = np.concatenate([values.sum(axis, keepdims=True), values], axis)
    three = LinearSystem.from_hierarchies([Hierarchy.flat(["1", "2"])] * 3)
    return Problem.from_arrays(three.A, values.ravel(), primary=[], lpl=0, upl=0, cells=three.cells)


def neighbours(problem, base):
    """The two multiples of every cell, from the definition alone."""
    for a in problem.values.tolist():
        below = Fraction(str(a)) / Fraction(str(base)) // 1
        yield int(below), int(below) + 1


def test_feasible_where_zero_restricted_rounding_is_not():
    problem = cube()
    assert controlled(problem, 2).status == "infeasible"
    result = controlled(problem, 2, rise=True)
    assert result.status == "optimal"
    assert result.rise
    assert result.steps == 0
    assert not problem.system.residuals(result.values).any()
    for v, (low, high) in zip((result.values / 2).tolist(), neighbours(problem, 2), strict=True):
        assert v in (low, high)
    # some multiple rose, which is what the other definition refuses
    assert np.any((problem.values % 2 == 0) & (result.values > problem.values))
    multiples, answer = model.solve(problem, 2, np.ones(problem.n_cells), rise=True)
    assert result.cost == pytest.approx(answer.objective)
    assert model.solve(problem, 2, np.ones(problem.n_cells))[0] is None
    assert judge(problem, 2.0 * multiples, 2, 0, rise=True).ok


def test_the_two_definitions_are_told_apart_by_the_judge():
    problem = Problem.from_arrays([[-1, 1, 1]], [10, 4, 6], primary=[], lpl=0, upl=0)
    up = np.array([15.0, 5, 10])
    assert judge(problem, up, 5, rise=True).ok
    assert judge(problem, up, 5).far == 1
    assert judge(problem, np.array([5.0, 0, 5]), 5, rise=True).far == 1
    assert judge(problem, np.array([20.0, 10, 10]), 5, rise=True).far == 2


@pytest.mark.parametrize("seed", range(12))
def test_equals_the_model(seed):
    protect = seed % 2 == 1
    problem = random_problem(seed, max_cells=18 if protect else 30)
    base = (1, 0.5, 3, 5, 0.3)[seed % 5]
    norm = "l1" if protect else NORMS[seed % 3]
    fast = controlled(problem, base, norm=norm, protect=protect, rise=True, steps=seed // 6)
    multiples, answer = model.solve(
        problem, base, distance_weights(problem, "unit"), norm=norm, protect=protect, rise=True, steps=seed // 6
    )
    assert (fast.values is None) == (multiples is None)
    if fast.values is not None:
        assert fast.status == "optimal"
        assert fast.cost == pytest.approx(answer.objective, rel=1e-4, abs=1e-5)
        assert judge(problem, fast.values, base, fast.steps, rise=True).ok


@pytest.mark.parametrize("seed", range(6))
def test_equals_enumeration(seed):
    problem = flat(2, 2, seed=seed, high=12)
    ranges = list(neighbours(problem, 3))
    inner = [i for i, code in enumerate(problem.system.cells) if "Total" not in code]
    best = None
    for choice in itertools.product(*(ranges[i] for i in inner)):
        table = np.array(choice, float).reshape(2, 2)
        table = np.concatenate([table.sum(0, keepdims=True), table])
        table = np.concatenate([table.sum(1, keepdims=True), table], 1).ravel()
        if all(v in pair for v, pair in zip(table.tolist(), ranges, strict=True)):
            cost = float(np.abs(3 * table - problem.values).sum())
            best = cost if best is None else min(best, cost)
    result = controlled(problem, 3, rise=True)
    assert result.cost == pytest.approx(best)
    assert result.cost <= controlled(problem, 3).cost


def test_the_proof_takes_it_and_the_other_claim_does_not():
    problem = Problem.from_arrays([[-1, 1, 1]], [10, 4, 6], primary=[1], lpl=1, upl=1, integer=True)
    values = np.array([15.0, 5, 10])
    for method, kept in (("rising", True), ("multiple", False)):
        claim = {"method": method, "base": "5", "steps": 0, "fixed": []}
        seen = seeing(problem, values, claim)
        found = certify_values(problem, values, claim, audit(seen, seen.may_hide)).verify()
        assert found.ok is kept
    # who sees 15 knows 10 to 19: a value may have risen by 5, not fallen by 5
    assert (seeing(problem, values, {**claim, "method": "rising"}).lower[0], seen.upper[0]) == (10, 19)


def firms():
    rng = np.random.default_rng(5)
    return pd.DataFrame({"region": rng.choice(list("abcd"), 60), "sex": rng.choice(["f", "m"], 60)})


def test_a_release_by_flag_and_its_verification(tmp_path):
    method = tp.Round(base=3, rise=True, levels=False)
    release = tp.protect(firms(), "threshold=3", method, by=["region", "sex"], allow_unsafe=True, seed=1)
    assert release.result.claim["method"] == "rising"
    assert release.verify().ok
    release.write(tmp_path / "out")
    claim = json.loads((tmp_path / "out" / "internal" / "certificate.json").read_text())["claim"]
    assert claim == {"method": "rising", "base": "3", "steps": 0, "fixed": []}


def test_an_instance_by_the_command_line(tmp_path):
    path = tmp_path / "cube.jj"
    write_jj(cube(), path)
    arguments = ["solve", str(path), "--method", "round", "--base", "2", "--rise"]
    assert run([*arguments, "--json", str(tmp_path / "o.json")]) == 0
    found = json.loads((tmp_path / "o.json").read_text())
    assert found["status"] == "optimal"
    assert found["rise"] is True
