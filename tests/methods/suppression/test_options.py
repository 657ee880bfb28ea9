"""Options are documented, checked, and handed to whoever needs them."""

from __future__ import annotations

import re
import sys
from ast import literal_eval
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabprotect as tp
from tabprotect.errors import InputError
from tabprotect.instances import family, load
from tabprotect.methods.suppression import options as package
from tabprotect.methods.suppression.linked import suppress_linked
from tabprotect.methods.suppression.options import DEFAULTS, ChoiceOptions, Options, changed, differing, numbers
from tabprotect.methods.suppression.options.bound import MasterOptions
from tabprotect.methods.suppression.options.local import NearbyOptions, WindowOptions
from tabprotect.methods.suppression.options.stage import Stage, Stages
from tabprotect.methods.suppression.options.start import StartOptions
from tabprotect.methods.suppression.options.strategy import ScheduleOptions
from tabprotect.methods.suppression.suppress import methods, suppress
from tabprotect.solver.limits import Limits
from tests.random_problems import random_problem


def stages(options: Stages) -> Iterator[Stage]:
    """All stages, those of the methods for large tables and of the classic ones included."""
    for one in fields(options):
        part = getattr(options, one.name)
        if isinstance(part, Stages):
            yield from stages(part)
        else:
            yield part


@pytest.mark.parametrize("stage", list(stages(DEFAULTS)), ids=lambda stage: type(stage).__name__)
def test_every_option_is_documented_with_its_default(stage: Stage) -> None:
    said = re.findall(r"^    (\w+) : (.+), default (.+)$", type(stage).__doc__ or "", re.M)
    assert [name for name, *_ in said] == [one.name for one in fields(stage)]
    for (_, kind, default), one in zip(said, fields(stage), strict=True):
        assert kind == one.type
        assert literal_eval(default) == one.default


def test_every_option_is_read_somewhere() -> None:
    folder = Path(package.__file__).parent
    source = "\n".join(path.read_text() for path in folder.parent.rglob("*.py") if folder not in path.parents)
    unread = [name for name, _ in numbers(DEFAULTS) if not re.search(rf"\.{name.rpartition('.')[2]}\b", source)]
    assert unread == []


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> tuple[Options, set[str]]:
    """Options, and the names of options that are read from others than these."""
    given, others = Options(), set()
    mine = {id(stage) for stage in stages(given)}
    names = {(type(stage), one.name) for stage in stages(given) for one in fields(stage)}
    get = object.__getattribute__

    def noted(self: Stage, name: str) -> Any:
        if (type(self), name) in names and id(self) not in mine:
            caller = sys._getframe(1).f_code.co_name
            if caller not in ("__eq__", "numbers", "<genexpr>"):
                others.add(f"{type(self).__name__}.{name} in {caller}")
        return get(self, name)

    monkeypatch.setattr(Stage, "__getattribute__", noted, raising=False)
    return given, others


def test_what_is_read_elsewhere_is_noted(elsewhere: tuple[Options, set[str]]) -> None:
    _, others = elsewhere
    suppress(random_problem(4), method="exact")
    assert any(name.startswith("RelaxationOptions.") for name in others)


@pytest.mark.parametrize("method", methods())
def test_options_reach_all_that_a_method_does(elsewhere: tuple[Options, set[str]], method: str) -> None:
    given, others = elsewhere
    problems = [random_problem(seed) for seed in (3, 4, 12)]
    problems += [family("hier2d", seed=2, activity=(3, 2), region=(3, 2))]
    for problem in problems:
        try:
            suppress(problem, method=method, limits=Limits(work=400), options=given)
        except InputError:
            assert method == "network"
    assert others == set()


def test_options_reach_passes_and_what_follows_them(elsewhere: tuple[Options, set[str]]) -> None:
    given, others = elsewhere
    problem = load("linked-small")
    for together in (0, None):
        suppress_linked(
            problem, {"all": np.arange(problem.n_cells)}, together=together, limits=Limits(work=3000), options=given
        )
    assert others == set()


def test_options_reach_a_search_that_is_kept(elsewhere: tuple[Options, set[str]], tmp_path: Path) -> None:
    given, others = elsewhere
    for method in ("exact", "greedy", "local"):
        suppress(load("linked-small"), method=method, limits=Limits(work=2000), options=given, resume=tmp_path / "r")
    assert others == set()


def test_a_search_does_not_go_on_from_one_with_other_options(tmp_path: Path) -> None:
    problem = load("linked-small")
    suppress(problem, method="exact", resume=tmp_path / "r")
    with pytest.raises(InputError, match="r"):
        suppress(problem, method="exact", resume=tmp_path / "r", options=changed(Options(), "schedule.small_cells", 10))


def test_an_option_changes_what_a_search_does() -> None:
    problem, limits = load("linked-small"), Limits(work=500)
    assert suppress(problem, limits=limits).method.startswith("auto: exact (scip), since 268 cells")
    small = Options(choice=ChoiceOptions(always_exact_cells=10, never_exact_cells=100))
    result = suppress(problem, limits=limits, options=small)
    assert result.method == "auto: local, since 268 cells are more than 100"
    assert result.safe


def test_wrong_values_are_all_named() -> None:
    with pytest.raises(InputError, match=r"small_cells must be a whole number .*; round_work .* at least 1, not 0"):
        ScheduleOptions(small_cells=0.5, round_work=0)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="least_gap must not exceed first_gap"):
        MasterOptions(first_gap=0.1, least_gap=0.2)
    with pytest.raises(InputError, match="pool_limit_shares must ascend"):
        StartOptions(pool_limit_shares=(0.2, 0.1))
    with pytest.raises(InputError, match="pool_limit_shares must be a tuple of 2 numbers"):
        StartOptions(pool_limit_shares=(0.2,))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="equations must be a tuple of numbers"):
        NearbyOptions(equations=())
    with pytest.raises(InputError, match="one number a pass each"):
        WindowOptions(targets=(3, 6))
    with pytest.raises(InputError, match="must be a number from 0 to 1, not nan"):
        changed(Options(), "choice.near_share", float("nan"))
    with pytest.raises(InputError, match="schedule must be ScheduleOptions"):
        Options(schedule=0.5)  # type: ignore[arg-type]


def test_a_misspelt_option_is_asked_about() -> None:
    with pytest.raises(InputError, match=r"no option 'relaxation.progres'; did you mean 'relaxation.progress'"):
        changed(Options(), "relaxation.progres", 1e-3)
    with pytest.raises(InputError, match="options= takes"):
        suppress(load("linked-small"), options={"schedule.round_work": 3})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="options= takes"):
        tp.Suppress(options=3)  # type: ignore[arg-type]


def test_what_differs_from_the_defaults_is_named() -> None:
    assert differing(Options()) == {}
    assert differing(changed(Options(), "local.windows.work", 5)) == {"local.windows.work": 5}
