"""What is said of a result beside its status."""

from __future__ import annotations

import json

from typer.testing import CliRunner

import tabprotect as tp
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
