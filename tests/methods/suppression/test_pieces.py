"""Suppression in pieces: any number of workers, workers that die, and runs that are killed, all with one answer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from tabprotect.errors import InputError
from tabprotect.instances.large import large
from tabprotect.methods.suppression import suppress
from tabprotect.methods.suppression.large import rebuild
from tabprotect.methods.suppression.large.answers import Answers
from tabprotect.methods.suppression.large.parallel import ParallelSearch
from tabprotect.methods.suppression.options import Options, ScheduleOptions
from tabprotect.methods.suppression.options.local import (
    LocalBoundOptions,
    LocalOptions,
    LocalSearchOptions,
    ParallelOptions,
)
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.problem import Problem
from tabprotect.solver.limits import Limits, Progress
from tabprotect.solver.tasks.pieces import processes, processors
from tabprotect.table.system import LinearSystem
from tests.checker import Judge
from tests.quick import first
from tests.random_problems import random_problem

KILLED_RUN = """
import os, signal, sys
from tabprotect.solver.tasks.store import Store
from tests.methods.suppression.test_pieces import several, solve
keep, left = Store.put, [int(sys.argv[2])]
def put(store, name, answer):
    left[0] -= 1
    if left[0] == 0 and sys.argv[3] == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    keep(store, name, answer)
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
Store.put = put
solve(several(), sys.argv[4], resume=sys.argv[1])
"""


SEEDS = (1, 6, 16, 19, 21, 22)
"""Of problems without insiders, in which everything can be protected."""


def several(count: int = 6) -> Problem:
    """Independent problems side by side."""
    parts = [random_problem(seed) for seed in SEEDS[:count]]
    together = {
        name: np.concatenate([getattr(p, name) for p in parts])
        for name in ("values", "status", "lpl", "upl", "spl", "weights", "lower", "upper")
    }
    A = sparse.block_diag([p.system.A for p in parts], format="csr")
    b = np.concatenate([p.system.b for p in parts])
    return Problem(LinearSystem(A, b, pd.RangeIndex(len(together["values"]))), **together)


SHORT_ROUNDS = Options(
    schedule=ScheduleOptions(round_work=100),
    local=LocalOptions(search=LocalSearchOptions(stage_work=100), bound=LocalBoundOptions(chunk=4)),
)


def solve(problem: Problem, method: str, **means: Any) -> SuppressionResult:
    return suppress(problem, method=method, limits=Limits(work=6000), seed=3, options=SHORT_ROUNDS, **means)


def same(a: SuppressionResult, b: SuppressionResult) -> None:
    assert np.array_equal(a.pattern, b.pattern)
    assert (a.status, a.cost, a.bound, a.work, a.stopped) == (b.status, b.cost, b.bound, b.work, b.stopped)
    assert a.cuts == b.cuts


@pytest.mark.slow
@pytest.mark.parametrize("method", ["exact", "greedy", "local"])
def test_one_answer_for_any_number_of_workers(tmp_path: Path, method: str) -> None:
    problem = several()
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(3) as three:
        alone = solve(problem, method, executor=one)
        same(alone, solve(problem, method, executor=three))
    if method != "local":  # in stages it works on the bound otherwise
        same(alone, solve(problem, method, resume=tmp_path / "r"))
    resumed = solve(problem, method, resume=tmp_path / "r")
    same(resumed, solve(problem, method, resume=tmp_path / "r"))
    if method == "exact":
        assert alone.status == "optimal"
        assert alone.cuts is not None
        assert alone.cost == pytest.approx(suppress(problem, method="exact").cost)
    assert Judge(problem).safe(alone.pattern)


@pytest.mark.parametrize("seed", first(4, range(12)))
def test_rounds_find_the_optimum(tmp_path: Path, seed: int) -> None:
    problem = random_problem(seed)
    whole = suppress(problem, method="exact")
    in_rounds = suppress(problem, method="exact", resume=tmp_path / "r", options=SHORT_ROUNDS)
    assert (in_rounds.status, in_rounds.cost) == (whole.status, pytest.approx(whole.cost))
    assert {u.cell for u in in_rounds.unprotectable} == {u.cell for u in whole.unprotectable}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "when", "piece"),
    [("exact", "after", 2), ("exact", "before", 5), ("greedy", "after", 1), ("local", "after", 2)],
)
def test_a_killed_run_goes_on(tmp_path: Path, checkout: Path, method: str, when: str, piece: int) -> None:
    folder = tmp_path / "resume"
    command = [sys.executable, "-c", KILLED_RUN, str(folder), str(piece), when, method]
    killed = subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=300)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert len(list(folder.glob("*.piece"))) == piece - (when == "before")
    problem = several()
    same(solve(problem, method, resume=folder), solve(problem, method, resume=tmp_path / "in one go"))


@pytest.mark.slow
@pytest.mark.parametrize(("method", "stage"), [("exact", "rounds"), ("local", "bound")])
def test_a_dead_worker_changes_nothing(method: str, stage: str) -> None:
    problem = several()
    with processes(2) as pool:
        assert isinstance(pool, ProcessPoolExecutor)

        killed: list[int] = []

        def kill(progress: Progress) -> None:
            if progress.stage == stage and pool._processes and not killed:
                killed.append(next(iter(pool._processes)))
                os.kill(killed[0], signal.SIGKILL)

        found = solve(problem, method, executor=pool, progress=kill)
    assert killed
    with ThreadPoolExecutor(2) as threads:
        same(found, solve(problem, method, executor=threads))


@pytest.mark.slow
def test_stages_are_safe_bounded_and_repeatable(tmp_path: Path) -> None:
    problem = several(4)
    found = solve(problem, "local", resume=tmp_path / "r")
    assert len(list((tmp_path / "r").glob("*.piece"))) > 1
    assert Judge(problem).safe(found.pattern)
    assert found.cost <= solve(problem, "local").cost * 1.2
    assert 0 < found.bound <= suppress(problem, method="exact").cost + 1e-6
    same(found, solve(problem, "local", resume=tmp_path / "r"))
    same(found, solve(problem, "local", resume=tmp_path / "other"))


def test_a_folder_of_another_problem_is_refused(tmp_path: Path) -> None:
    solve(several(2), "greedy", resume=tmp_path / "r")
    with pytest.raises(InputError, match="another problem"):
        solve(several(3), "greedy", resume=tmp_path / "r")


@pytest.mark.parametrize("method", ["modular", "joint"])
def test_methods_without_pieces_say_so(method: str) -> None:
    with ThreadPoolExecutor(1) as pool, pytest.raises(InputError, match=r"executor= .*go.* with method="):
        solve(several(2), method, executor=pool)


def test_local_works_in_as_many_threads_as_an_executor_has_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    class Watched(ParallelSearch):
        def __init__(self, answers: Answers, threads: int, options: ParallelOptions) -> None:
            asked.append(threads)
            super().__init__(answers, threads, options)

    monkeypatch.setattr(rebuild, "ParallelSearch", Watched)
    problem = several(2)
    with ThreadPoolExecutor(3) as pool:
        same(solve(problem, "local", executor=pool), solve(problem, "local"))
    assert asked == [3, processors()]


@pytest.mark.slow
def test_auto_begins_locally_with_workers_too(tmp_path: Path) -> None:
    problem = large(1100, primaries=0.1, seed=1)
    limits = Limits(work=8000)
    alone = suppress(problem, limits=limits, options=SHORT_ROUNDS)
    with ThreadPoolExecutor(2) as pool:
        found = suppress(problem, limits=limits, executor=pool, options=SHORT_ROUNDS)
    kept = suppress(problem, limits=limits, resume=tmp_path / "r", options=SHORT_ROUNDS)
    assert found.method.startswith("auto: local, then recombination, then exact")
    assert found.safe
    assert found.cost == pytest.approx(alone.cost, rel=0.1)
    # local programmes whose work is kept in a folder go in stages, which count other work than one go
    assert np.array_equal(found.pattern, kept.pattern)
    assert (found.status, found.cost, found.bound) == (kept.status, kept.cost, kept.bound)
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(2) as two:
        same(found, suppress(problem, limits=limits, executor=one, options=SHORT_ROUNDS))
        same(kept, suppress(problem, limits=limits, executor=two, resume=tmp_path / "s", options=SHORT_ROUNDS))
    same(kept, suppress(problem, limits=limits, resume=tmp_path / "r", options=SHORT_ROUNDS))


def test_what_has_no_pieces_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="do not go with engine='pyomo'"):
        suppress(several(2), method="exact", engine="pyomo", resume=tmp_path / "r")


@pytest.mark.dask
@pytest.mark.parametrize(("method", "stage"), [("exact", "rounds"), ("local", "bound")])
def test_a_dask_worker_that_is_killed_in_mid_run(tmp_path: Path, method: str, stage: str) -> None:
    distributed = pytest.importorskip("distributed")
    problem = several()
    reports = 0
    cluster = distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None, local_directory=str(tmp_path)
    )
    with cluster, distributed.Client(cluster) as client:
        workers = client.run(os.getpid)
        assert len(set(workers.values())) == 3

        def kill(progress: Progress) -> None:
            nonlocal reports
            if progress.stage == stage:
                reports += 1
                if reports == 2:
                    os.kill(next(iter(workers.values())), signal.SIGKILL)

        found = solve(problem, method, executor=client.get_executor(), progress=kill)
        judged = judge_intervals(problem, found, client.get_executor())
    assert reports >= 2
    with ThreadPoolExecutor(1) as alone:
        same(found, solve(problem, method, executor=alone))
        assert judged == judge_intervals(problem, found, alone)
    assert Judge(problem).safe(found.pattern)


def judge_intervals(problem: Problem, result: SuppressionResult, executor: Executor) -> list[Any]:
    from tabprotect.attack.audit import audit

    judgement = audit(problem, result.pattern, intervals=True, executor=executor)
    assert judgement.safe
    return [judgement.public.low.tolist(), judgement.public.high.tolist()]
