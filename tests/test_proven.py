"""What is said of a result beside its status."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from typer.testing import CliRunner

import tabprotect as tp
from tabprotect.attack.proof_rows import BoundProof
from tabprotect.cli.app import app
from tabprotect.proven import hidden_warnings, optimality


def _problem():
    # t = a + b, u = c + d; a was suppressed before, and can be recomputed; c is primary, d its secondary
    A = [[-1, 1, 1, 0, 0, 0], [0, 0, 0, -1, 1, 1]]
    return tp.Problem.from_arrays(
        A, [5, 2, 3, 9, 4, 5], primary=[4], forced=[1], lpl=1, upl=1, cells=list("tabucd"),
    )  # fmt: skip


def test_solve_warns_of_hidden_cells_that_can_be_recomputed(tmp_path):
    problem = _problem()
    result = tp.suppress(problem)
    assert result.safe
    (warning,) = hidden_warnings(result)
    assert "exactly: a" in warning
    assert hidden_warnings(tp.suppress(tp.instances.load("eustat-investment"))) == []
    path = tmp_path / "p.jj"
    tp.write_jj(problem, path)
    ran = CliRunner().invoke(app, ["solve", str(path), "--json", "-"])
    assert ran.exit_code == 0, ran.output
    said = json.loads(ran.stdout)
    assert len(said["warnings"]) == 1
    assert said["optimality"] == optimality(result)
    ran = CliRunner().invoke(app, ["solve", str(path)])
    assert "can be computed" in " ".join(ran.stdout.split())


def test_compare_warns_too_and_says_how_much_is_proven():
    compared = tp.compare(_problem(), ["suppress"])
    assert "can be computed by everybody" in compared.lines[0].message


@pytest.mark.parametrize("gap", [0.0, 0.1])
def test_a_bound_beyond_its_proof_is_marked_whatever_the_status(gap):
    register = tp.instances.register()
    table = tp.tabulate(register, ["division", "size"], "turnover", contributor="enterprise_id", holding="group_id")
    made = tp.protect(table, ["p%=15", "threshold=3"], limits=tp.Limits(gap=gap), intervals=False)
    result, proven = made.result, made.certificate.bound
    assert made.safe
    beyond = result.bound > 0 and (proven is None or float(proven) < result.bound * (1 - 1e-9))
    assert ("by the solver" in made.optimality) == beyond
    assert made.optimality.startswith(result.status)
    weak = replace(result, status="feasible", bound=0.9 * result.cost, cuts=BoundProof((), (), Fraction(0)))
    words = "feasible; by the solver within 10.00 %; proven in exact arithmetic to within 100.00 %"
    assert optimality(weak) == words


ROLES: dict[str, Any] = {"by": ["division", "size"], "value": "turnover", "contributor": "enterprise_id"}


@pytest.mark.slow
def test_distances_are_optimal_by_the_solver_only():
    made = tp.protect(tp.instances.register(), "p%=15", tp.Adjust(), seed=1, **ROLES)
    words = "optimal by the solver; no bound is proven in exact arithmetic"
    assert made.optimality == words
    summary = str(made.summary())
    assert words in summary
    assert "levels were enlarged at random (enlarge=0.5)" in summary
    squares = tp.protect(tp.instances.register(), "p%=15", tp.Adjust(norm="l2"), seed=1, **ROLES)
    assert squares.optimality == words.replace("the solver", squares.result.result.bounded_by)
    plain = tp.protect(tp.instances.register(), "p%=15", tp.Adjust(enlarge=0), **ROLES)
    assert "at random" not in str(plain.summary())


@pytest.mark.slow
def test_the_gap_of_a_result_says_how_much_of_it_is_proven():
    result = tp.suppress(tp.instances.load("hier2d-medium"), method="exact")
    assert (result.status, result.bound) == ("optimal", result.cost)
    proven = 100 * (1 - float(result.cuts.bound) / result.cost)
    assert proven > 0.1
    assert repr(result).endswith(f"gap 0.00 % by the solver, {proven:.2f} % proven)")
    assert repr(replace(result, cuts=None)).endswith("gap 0.00 % by the solver, none proven)")
    assert repr(tp.suppress(tp.instances.load("eustat-investment"))).endswith("gap 0.00 %)")
