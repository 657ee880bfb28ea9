"""The harness: judges everybody by the same audit, survives peers that crash or hang, and keeps the table."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import bench, peers
from benchmarks.isolated import Failure
from benchmarks.shuffled import weight_factor
from benchmarks.tables import markdown, profile, write
from tabprotect.errors import InputError
from tabprotect.formats.jj import read_jj, write_jj
from tabprotect.instances import load
from tabprotect.problem import Attacker, Status

CASE = bench.Case("eustat-investment")
PROBLEM = CASE.problem()
ASKED = bench.Asked(CASE, 10.0, 0, "scip")


def best():
    """A safe pattern of the smallest instance."""
    return bench.solve(ASKED).pattern


@pytest.fixture(scope="module")
def answer():
    pattern = best()
    cost = PROBLEM.cost(pattern)
    trace = ((0.1, None, 0.0), (0.2, 60.0, 10.0), (0.5, cost, 20.0))
    return bench.Ours(pattern, "optimal", cost, cost, 1.0, trace)


class Fake:
    """A peer that returns what it is told."""

    name = "fake"

    def __init__(self, pattern, seconds=0.3, failure=""):
        self.answer = peers.PeerAnswer(pattern, seconds, failure, "optimal")

    def solve(self, problem, seconds, patience):
        return self.answer


def test_our_run_keeps_its_trace():
    found = bench.solve(ASKED)
    assert found.status == "optimal"
    assert found.trace
    assert all(a[0] <= b[0] for a, b in zip(found.trace, found.trace[1:], strict=False))


def test_the_method_that_is_asked_for_is_run():
    asked = replace(ASKED, case=bench.Case("flat2d-20x20"))
    costs = [bench.solve(replace(asked, method=method)).cost for method in ("greedy", "hypercube")]
    assert costs[0] < costs[1]
    with pytest.raises(InputError, match="no method 'auot'; did you mean 'auto'"):
        bench.main(["--method", "auot"])


def test_patterns_are_charged_at_true_costs_and_compared_in_time(answer):
    row = bench.compare(ASKED, lambda _: answer, Fake(answer.pattern))
    assert (row.cost, row.gap, row.failure) == (37.0, 0.0, "")
    assert (row.peer_cost, row.peer_claim, row.peer_failure) == (37.0, "optimal", "")
    assert (row.cost_then, row.seconds_to_peer) == (60.0, 0.5)


def test_an_unsafe_pattern_has_no_cost_whoever_made_it(answer):
    bare = PROBLEM.must_hide
    row = bench.compare(ASKED, lambda _: replace(answer, pattern=bare, cost=0.0), Fake(bare))
    assert row.cost is None
    assert row.peer_cost is None
    assert row.failure.startswith("unsafe")
    assert row.peer_failure.startswith("unsafe")
    assert bench.judged(PROBLEM, np.zeros(PROBLEM.n_cells, bool)) == (None, "unsafe: 1 primaries published")


def test_a_pattern_that_hides_what_must_be_published_is_refused():
    status = PROBLEM.status.copy()
    status[int(np.flatnonzero(status == Status.SAFE)[0])] = Status.PROTECTED
    everything = np.ones(PROBLEM.n_cells, bool)
    assert bench.judged(replace(PROBLEM, status=status), everything) == (None, "hides what must be published")


def test_attackers_count_although_a_peer_does_not_know_them(answer):
    secondary = int(np.flatnonzero(answer.pattern & ~PROBLEM.must_hide)[0])
    watched = replace(PROBLEM, attackers=(Attacker("sole", (secondary,)),))
    cost, what = bench.judged(watched, answer.pattern)
    assert cost is None
    assert what.endswith("all of them towards attackers who know cells")


def test_failures_and_late_answers_are_reported(answer):
    row = bench.compare(ASKED, lambda _: Failure("crash: the process ended with -11"), Fake(None, 120.0, "killed"))
    assert (row.cost, row.failure) == (None, "crash: the process ended with -11")
    assert (row.peer_cost, row.peer_failure) == (None, "killed")
    late = bench.compare(ASKED, lambda _: replace(answer, seconds=12.5), Fake(answer.pattern, 80.0))
    assert (late.failure, late.peer_failure) == ("late: 12.5 s", "late: 80.0 s")
    wrong = bench.compare(ASKED, lambda _: replace(answer, cost=36.0), None)
    assert wrong.failure == "wrong cost: says 36.0"


def test_sets_name_their_instances(tmp_path):
    assert {"flat2d-4x5", "unit-small"} <= {case.name for case in bench.cases("quick")}
    assert len(bench.cases("quick")) < len(bench.cases("families"))
    assert [case.name for case in bench.cases("quick", None, ["flat2d-4x5"])] == ["flat2d-4x5"]
    write_jj(PROBLEM, tmp_path / "one.jj.gz")
    assert [case.problem().n_cells for case in bench.cases("csplib", tmp_path)] == [16]
    with pytest.raises(InputError, match="--folder"):
        bench.cases("csplib")
    with pytest.raises(InputError, match="holds no"):
        bench.cases("csplib", tmp_path / "none")
    with pytest.raises(InputError, match="not in the set 'quick': flat9d"):
        bench.cases("quick", None, ["flat9d"])


def test_an_instance_that_cannot_be_read_is_a_row_and_not_the_end(tmp_path, answer):
    path = tmp_path / "bad.jj"
    path.write_text("0\n1\n0 1 1 s 0 9 0 0 0\n1\n5 1 : 0 (1)\n")
    row = bench.compare(replace(ASKED, case=bench.Case("bad", str(path))), lambda _: answer, None)
    assert row.failure.startswith("not read: ")
    assert "do not add up" in row.failure


def interpreter(folder, script):
    """A command that takes the place of the peer's Python."""
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return peers.TauArgus(path)


def test_what_a_peer_hands_back_finds_its_way_to_the_cells(tmp_path):
    status = PROBLEM.status.copy()
    status[0] = Status.ZERO
    problem = replace(PROBLEM, status=status)
    said = '{"code": 0, "seconds": 0.5, "message": "", "version": "1"}'
    peer = interpreter(tmp_path, f"echo 4 > out.txt; echo SDC optimal solution > log/x.log; echo '{said}'")
    found = peer.solve(problem, 60.0, 2.0)
    assert found.failure == ""
    assert np.flatnonzero(found.pattern & ~problem.must_hide).tolist() == [5]
    assert (found.claim, found.seconds) == ("optimal", 0.5)


@pytest.mark.parametrize(
    ("script", "failure"),
    [
        ("kill -SEGV $$", "crash: segmentation fault"),
        ("exit 3", "crash: exit code 3"),
        ('echo \'{"code": 5012, "seconds": 0.1, "message": "no solver", "version": "1"}\'', "error 5012: no solver"),
    ],
)
def test_a_peer_that_fails_is_recorded(tmp_path, script, failure):
    assert interpreter(tmp_path, script).solve(PROBLEM, 60.0, 2.0).failure == failure


def test_a_peer_that_hangs_is_killed(tmp_path):
    found = interpreter(tmp_path, "exec sleep 60").solve(PROBLEM, 60.0, 0.01)
    assert found.pattern is None
    assert "killed" in found.failure
    assert found.seconds < 30


def test_peers_by_name_and_their_cure(monkeypatch, tmp_path):
    with pytest.raises(InputError, match="did you mean"):
        peers.peer("tau-argos")
    monkeypatch.setenv("TABPROTECT_PEER_PYTHON", str(tmp_path / "none"))
    with pytest.raises(InputError, match="make peer"):
        peers.peer("tau-argus")


def test_the_file_for_a_peer_has_no_fixed_cells_and_finite_bounds(tmp_path):
    problem = load("sparse-small")
    cells = peers.for_peer(problem, tmp_path / "in.jj")
    read = read_jj(tmp_path / "in.jj")
    assert len(cells) == read.n_cells < problem.n_cells
    assert not (problem.status[cells] == Status.ZERO).any()
    assert np.array_equal(read.values, problem.values[cells])
    assert np.array_equal(read.weights, problem.weights[cells])
    assert np.isfinite(read.upper).all()


def test_the_table_is_written_in_every_form(tmp_path, answer):
    rows = [asdict(bench.compare(ASKED, lambda _: answer, other)) for other in (Fake(answer.pattern), Fake(None))]
    write(tmp_path / "out" / "table.csv", rows, {"set": "quick"})
    frame = pd.read_csv(tmp_path / "out" / "table.csv")
    assert frame["cost"].tolist() == [37.0, 37.0]
    assert "trace" not in frame
    document = json.loads((tmp_path / "out" / "table.json").read_text())
    assert document["run"]["set"] == "quick"
    assert document["rows"][0]["trace"][1] == [0.2, 60.0, 10.0]
    assert (tmp_path / "out" / "table.md").read_text().startswith("| instance | cells |")
    pytest.importorskip("matplotlib")
    assert "<svg" in (tmp_path / "out" / "table.svg").read_text()


def test_profiles_count_the_unanswered():
    ours, theirs = profile(np.array([[1.0, 3.0], [2.0, 1.0], [5.0, np.nan], [np.nan, np.nan]]))
    assert ours[0].tolist() == [1.0, 1.0, 2.0]
    assert ours[1].tolist() == [0.25, 0.5, 0.75]
    assert theirs[0].tolist() == [1.0, 3.0]


def test_markdown_leaves_out_what_is_missing():
    frame = pd.DataFrame([{"instance": "x|y", "seconds": 1.25, "cost": 0.5, "gap": np.nan, "failure": ""}])
    assert markdown(frame).splitlines()[2] == "| x/y | 0.5 | | 1.2 | |"


@pytest.mark.parametrize("name", ["unit-small", "singletons-small"])
def test_a_shuffled_problem_is_the_same_one(name):
    problem, moved = load(name), bench.Case(name, shuffle=4).problem()
    factor = weight_factor(4)
    order = np.random.default_rng([4, 0]).permutation(problem.n_cells)
    assert not np.array_equal(order, np.arange(problem.n_cells))
    everything = problem.may_hide
    assert moved.cost(everything[order]) == problem.cost(everything) * factor
    assert abs(moved.system.residuals(moved.values)).max() == abs(problem.system.residuals(problem.values)).max()
    assert bench.judged(moved, everything[order])[1] == bench.judged(problem, everything)[1]
    assert factor != 1.0


def test_costs_are_told_in_the_unit_of_the_instance(answer):
    case = bench.Case("eustat-investment", shuffle=4)
    row = bench.in_unit(bench.compare(ASKED, lambda _: answer, Fake(answer.pattern)), case.factor)
    assert row.cost == row.bound == row.peer_cost == 37.0 / case.factor
    assert row.trace[1] == (0.2, 60.0 / case.factor, 10.0 / case.factor)


@pytest.mark.slow
def test_the_command_runs_a_set(tmp_path, capsys):
    out = tmp_path / "b.csv"
    assert (
        bench.main(["eustat-investment", "--time-limit", "5", "--out", str(out), "--seeds", "0,1", "--shuffle", "5"])
        == 0
    )
    assert pd.read_csv(out)["cost"].tolist() == [37.0, 37.0]
    assert capsys.readouterr().out.startswith("eustat-investment: 37, bound 37")


@pytest.mark.slow
@pytest.mark.peer
def test_the_true_peer_proves_what_we_prove():
    path = Path(peers.CHECKOUT) / ".venv-peer" / "bin" / "python"
    if not path.exists():
        pytest.skip("needs the peer: make peer")
    found = peers.TauArgus(path).solve(PROBLEM, 60.0, 2.0)
    assert bench.judged(PROBLEM, found.pattern) == (37.0, "")
    assert found.claim == "optimal"
    assert found.version.startswith("pytauargus")
