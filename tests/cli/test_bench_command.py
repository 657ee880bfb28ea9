"""``tabprotect bench`` hands its options to the harness; ``tabprotect instances`` lists what there is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--set", "csplip"], "no set 'csplip'"),
        (["--set", "csplib"], "--set csplib needs --folder"),
        (["--seeds", "a"], "--seeds takes whole numbers"),
        (["--engine", "cplex"], "no engine 'cplex'"),
        (["--method", "auot"], "no method 'auot'; did you mean 'auto'"),
        (["--against", "tau-argos"], "no peer 'tau-argos'"),
        (["flat9d"], "not in the set 'quick': flat9d"),
    ],
)
def test_bad_options_are_named(tabprotect: Callable[..., Any], options: list[str], words: str) -> None:
    done = tabprotect("bench", *options)
    assert done.code == 2
    assert words in done.err


@pytest.mark.slow
def test_a_set_is_run(tabprotect: Callable[..., Any], tmp_path: Path) -> None:
    done = tabprotect("bench", "unit-small", "--time-limit", 5, "--out", tmp_path / "b.csv")
    assert (done.code, done.err) == (0, "")
    assert pd.read_csv(tmp_path / "b.csv")["instance"].tolist() == ["unit-small"]


def test_the_index_tells_who_proved_what(tabprotect: Callable[..., Any]) -> None:
    short, long = tabprotect("instances"), tabprotect("instances", "--long")
    assert (short.code, long.code) == (0, 0)
    assert "gap %" in short.out
    assert "proof" not in short.out
    assert "proof" in long.out
    assert "arguments" in long.out
