"""``--memory-limit`` reaches the search and ends it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def records(tmp_path: Path) -> Path:
    path = tmp_path / "r.csv"
    rows = [f"{'xyz'[k % 3]},{'pq'[k % 2]},{k},{10 + 7 * (k % 5)}" for k in range(30)]
    path.write_text("\n".join(["a,b,who,value", *rows, "x,p,99,900"]) + "\n")
    return path


def run(tabprotect: Callable[..., Any], records: Path, *more: object) -> Any:
    flags = ["--by", "a", "--by", "b", "--value", "value", "--contributor", "who", "--rule", "p%=15"]
    return tabprotect("protect", "--data", records, *flags, "--out", records.parent / "out", *more)


def test_enough_memory_changes_nothing(tabprotect: Callable[..., Any], records: Path) -> None:
    assert run(tabprotect, records, "--memory-limit", 1000).code == 0


def test_memory_that_is_not_enough_ends_with_the_best_safe_answer(
    tabprotect: Callable[..., Any], records: Path
) -> None:
    done = run(tabprotect, records, "--memory-limit", 0.001)
    assert done.code == 3
    assert tabprotect("verify", records.parent / "out").code == 0


def test_it_must_be_positive(tabprotect: Callable[..., Any], records: Path) -> None:
    assert run(tabprotect, records, "--memory-limit", 0).code == 2
