"""Regret is counted from audited patterns that came in time, and the table of runs goes on where it stopped."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import regret, regret_runs
from benchmarks.regret import chosen_cases, details, limits_of, main, methods_of, numbers, page, regrets, summary
from benchmarks.regret_runs import CASES, Run, Runs, Task, measure, run_apart
from tabprotect.attack.audit import audit
from tabprotect.errors import InputError
from tabprotect.instances.families import family
from tabprotect.methods.suppression import SuppressionResult
from tabprotect.problem import Problem


@pytest.fixture(scope="module")
def tiny() -> Problem:
    return family("thin", 1, sizes=(3, 2))


@pytest.fixture(scope="module")
def least(tiny: Problem) -> float:
    """The least cost, by trying all patterns in which some cells besides the primaries are hidden."""
    others = np.flatnonzero(tiny.may_hide & ~tiny.must_hide)
    costs = []
    for bits in range(2 ** len(others)):
        pattern = tiny.must_hide.copy()
        pattern[others[[bits >> k & 1 == 1 for k in range(len(others))]]] = True
        costs.append((tiny.cost(pattern), bits, pattern))
    return next(
        cost
        for cost, _, pattern in sorted(costs, key=lambda one: one[:2])
        if audit(tiny, pattern, intervals=False).safe
    )


def row(method: str, cost: float | None, seconds: float = 1.0, seed: int = 0, limit: float = 10.0) -> Run:
    return Run("deep", seed, limit, method, 9, 2, 0, cost, 1.0, seconds, min(seconds, 0.5), "feasible")


@pytest.mark.parametrize(
    ("auto", "others", "expected", "best"),
    [
        (row("auto", 110.0), [row("exact", 100.0), row("greedy", 120.0)], 0.1, "exact"),
        (row("auto", 90.0), [row("exact", 100.0)], -0.1, "exact"),
        (row("auto", None), [row("exact", 100.0)], math.inf, "exact"),
        (row("auto", 100.0, seconds=13), [row("exact", 100.0)], math.inf, "exact"),
        (row("auto", 100.0), [row("exact", 50.0, seconds=13), row("greedy", 80.0)], 0.25, "greedy"),
        (row("auto", 100.0), [row("exact", None)], 0.0, ""),
        (row("auto", None), [row("exact", None)], None, ""),
        (row("auto", 0.0), [row("exact", 0.0)], 0.0, "exact"),
        (row("auto", 5.0), [row("exact", 0.0)], math.inf, "exact"),
    ],
)
def test_regret_against_the_best_answer_in_time(
    auto: Run, others: list[Run], expected: float | None, best: str
) -> None:
    (found,) = regrets([auto, *others, row("exact", 1.0, seed=1), row("exact", 1.0, limit=60.0)])
    assert found.regret == (None if expected is None else pytest.approx(expected))
    assert found.best == best


def test_a_run_of_auto_alone_has_no_regret() -> None:
    assert regrets([row("auto", 3.0)]) == []


def test_summary_gives_median_and_maximum_and_marks_what_is_too_dear() -> None:
    costs = {0: 100.0, 1: 101.0, 2: 130.0}
    rows = [
        one for seed, cost in costs.items() for one in (row("auto", cost, seed=seed), row("local", 100.0, seed=seed))
    ]
    line = summary(regrets(rows)).splitlines()[-1]
    assert "| deep (!) | 10 | 3 | +1.0 % | +30.0 % | local | 3/3 | 0 |" in line
    assert "(!)" not in summary(regrets(rows[:4]))
    assert "no answer" in summary(regrets([row("auto", None), row("local", 1.0)]))


def test_a_first_pattern_after_a_tenth_of_the_limit_is_counted() -> None:
    late = replace(row("auto", 100.0), first=1.2)
    assert "| 1/2 |" in summary(
        regrets([late, row("exact", 100.0), row("auto", 1.0, seed=1), row("exact", 1.0, seed=1)])
    )


def test_measured_costs_and_bounds_are_those_of_the_problem(tiny: Problem, least: float) -> None:
    measured = measure(Task("thin 8x8x8", 1, 60.0, "auto"), tiny)
    assert (measured.cost, measured.status) == (least, "optimal")
    assert measured.bound == pytest.approx(least)
    assert measured.first is not None
    assert measured.seconds is not None
    assert measured.first <= measured.seconds + 0.01
    assert measured.stages.endswith(" s")
    assert measured.chosen.startswith("auto: exact")


@pytest.mark.parametrize("method", ["auto", "exact", "greedy", "joint", "local"])
def test_in_a_fraction_of_a_second_a_run_has_a_safe_pattern_or_says_that_it_has_none(
    method: str, tiny: Problem, least: float
) -> None:
    measured = measure(Task("thin 8x8x8", 1, 0.3, method), tiny)
    if measured.cost is None:
        assert measured.status == "unknown"
    else:
        assert measured.cost >= least
        assert measured.status in ("optimal", "feasible")
    assert measured.bound is None or measured.bound <= least * (1 + 1e-9)
    assert (measured.chosen == "") == (method != "auto")


def test_the_audit_not_the_method_says_what_is_safe(monkeypatch: pytest.MonkeyPatch, tiny: Problem) -> None:
    def boasts(given: Problem, **_: object) -> SuppressionResult:
        return SuppressionResult(given, given.must_hide, "optimal", True, 0.0, 0.0)

    monkeypatch.setattr(regret_runs, "suppress", boasts)
    assert not audit(tiny, tiny.must_hide, intervals=False).safe
    measured = measure(Task("thin 8x8x8", 1, 0.5, "exact"), tiny)
    assert measured.cost is None
    assert measured.status.startswith("not safe: ")


def test_a_method_that_cannot_take_a_problem_is_a_row() -> None:
    measured = measure(Task("thin 8x8x8", 1, 0.5, "network"), family("thin", 1, sizes=(3, 3, 3)))
    assert measured.cost is None
    assert measured.status.startswith("refused: ")


def test_rows_come_back_from_the_file_and_are_not_run_again(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    rows = [
        replace(row("auto", 1.5), chosen='auto: exact, since "9 cells"', stages="tree 0.1 s (2), rest"),
        row("exact", None),
        Run("deep", 0, 10.0, "local", status="crash: the process ended with -9"),
    ]
    runs = Runs(path)
    for one in rows:
        runs.add(one)
    again = Runs(path)
    assert again.rows == rows
    other = Task("deep", 1, 10.0, "auto")
    assert again.missing([*(one.task for one in rows), other]) == [other]
    assert [file.name for file in tmp_path.iterdir()] == ["runs.csv"]


def test_files_that_are_no_table_of_runs_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="is no table of runs"):
        Runs(path)
    Runs(path := tmp_path / "more.csv").add(row("auto", 1.0))
    path.write_text(path.read_text().replace("deep,0,", "deep,zero,"))
    with pytest.raises(InputError, match=r"line 2: .*zero.*remove the line"):
        Runs(path)


def test_words_of_the_command_line() -> None:
    assert chosen_cases(["thin", "deep"]) == [case for case in CASES if case.startswith(("thin", "deep"))]
    assert chosen_cases([]) == list(CASES)
    with pytest.raises(InputError, match=r"(?s)did you mean 'deep'.*'wode'; did you mean 'wide'"):
        chosen_cases(["deeep", "wode"])
    with pytest.raises(InputError, match="not '3-,x'"):
        numbers("3-,x")
    with pytest.raises(InputError, match="limits are positive"):
        limits_of("10,0")
    with pytest.raises(InputError, match="did you mean 'greedy'"):
        methods_of("auto,gredy")
    with pytest.raises(InputError, match="no folder"):
        main(["--out", "nowhere/runs.csv"])


def test_every_case_is_a_problem_of_its_family() -> None:
    for name, (which, size) in CASES.items():
        if name.startswith(("thin", "margins 8", "margins 12", "margins 6-3")):
            problem = family(which, 0, **size)
            assert len(problem.primaries) > 20
            assert np.abs(problem.system.residuals(problem.values)).max() == 0


def test_interrupted_and_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, so that it is quick; the next test has one of its own."""
    asked: list[Task] = []

    def stopped_by_the_third(task: Task) -> Run:
        asked.append(task)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return measure(task, family("thin", task.seed, sizes=(3, 2)))

    monkeypatch.setattr(regret, "run_apart", stopped_by_the_third)
    out, table = tmp_path / "runs.csv", tmp_path / "table.md"
    words = ["--families", "thin 8x8x8", "--seeds", "0-1", "--limits", "60", "--methods", "auto,exact"]
    words += ["--out", str(out), "--page", str(table)]
    with pytest.raises(KeyboardInterrupt):
        main(words)
    third, finished = asked[2], [*asked[:2], *asked[3:]]  # a run that had begun meanwhile is finished
    assert [one.task for one in Runs(out).rows] == finished
    assert main(words) == 0
    assert sorted(asked, key=repr) == sorted(
        [third, *(Task("thin 8x8x8", seed, 60.0, method) for seed in (0, 1) for method in ("auto", "exact"))], key=repr
    )
    assert {one.regret for one in regrets(Runs(out).rows)} == {0.0}
    assert "| thin 8x8x8 | 60 | 2 | +0.0 % | +0.0 % | exact |" in table.read_text()
    assert details(Runs(out).rows) in table.read_text()
    written = table.read_text()
    assert main(words) == 0
    assert len(asked) == 5
    assert table.read_text() == written


def test_the_page_of_no_rows_is_a_page() -> None:
    assert page([], "command").startswith("# Regret of auto")


@pytest.mark.slow
def test_a_run_in_a_process_of_its_own() -> None:
    task = Task("thin 8x8x8", 0, 0.5, "joint")
    apart = run_apart(task)
    assert (apart.task, apart.cells, apart.primaries) == (task, 729, 73)
    assert (apart.cost is None) == (apart.status == "unknown")
    assert apart.seconds is not None
