"""The ablation takes options and seeds that it knows, and its ratios say what an option is worth."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from benchmarks.ablation import CASES, WITHOUT, Switch, main, others, outcome, ratio, switches
from tabprotect.errors import InputError
from tabprotect.instances import family
from tabprotect.methods.suppression.options import DEFAULTS, numbers


def test_switches_have_the_values_asked_for_or_half_and_twice_the_default() -> None:
    assert switches(["relaxation.progress=1e-2", "improvement.extra_cells"]) == [
        Switch("relaxation.progress", 1e-2),
        Switch("improvement.extra_cells", 20),
        Switch("improvement.extra_cells", 80),
    ]
    assert switches(["separation.equations=(20, 0)"])[0].options.separation.equations == (20, 0)
    assert [str(one) for one in others("relaxation.stalls")] == ["relaxation.stalls=1.5", "relaxation.stalls=6.0"]
    single = [name for name, value in numbers(DEFAULTS) if not isinstance(value, tuple)]
    assert all(list(others(name)) for name in single)


def test_what_is_left_out_is_in_by_default() -> None:
    assert all(switch.options != DEFAULTS for switch in switches(WITHOUT))


def test_what_is_wrong_is_all_named() -> None:
    with pytest.raises(InputError) as caught:
        switches(["schedule.small_cel=1", "schedule.round_work=0", "schedule.round_work=a", "separation.equations"])
    for part in ("did you mean 'schedule.small_cells'", "round_work must be", "'a' is neither", "has several numbers"):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--seeds", "9-10"], "seeds 10 are for reporting only"),
        (["--families", "hier2"], "did you mean 'hier2d'"),
        (["--method", "exakt"], "did you mean 'exact'"),
        (["--work", "0"], "at least 1"),
    ],
)
def test_only_what_is_known_is_run(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--options", "schedule.round_work=3", *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("case", CASES)
def test_every_family_can_be_built(case: str) -> None:
    name, sizes = CASES[case]
    assert len(family(name, seed=0, **sizes).primaries) > 0


def test_a_pattern_that_is_not_found_costs_more_than_any() -> None:
    problem = family("hier2d", seed=1)
    known = replace(problem, lower=problem.values, upper=problem.values)
    assert outcome(known, "greedy", 1, DEFAULTS)[0] == math.inf
    cost, bound = outcome(problem, "exact", 3000, DEFAULTS)
    assert bound <= cost < outcome(problem, "hypercube", 3000, DEFAULTS)[0] < math.inf


def test_ratios() -> None:
    assert ratio([2.0, 1.0], [1.0, 2.0]) == 1.0
    assert ratio([0.0], [0.0]) == 1.0
    assert ratio([1.0], [0.0]) == math.inf
    assert ratio([3.0, 1.0], [math.inf, 1.0]) == 0.0


def test_tables_of_the_ratios_of_costs_and_of_bounds_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--options", "choice.always_exact_cells=0", "--families", "hier2d", "--seeds", "0", "--work", "300"]
    assert main(words) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line]
    assert [lines[0], lines[4]] == ["Costs", "Bounds"]
    for head, row in ((lines[1], lines[3]), (lines[5], lines[7])):
        assert head == "| option | hier2d |"
        assert row.startswith("| `choice.always_exact_cells=0` | ")
