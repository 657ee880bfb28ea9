"""Whoever waits is told within a second, and then every few."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tabprotect.cli import opening, progress
from tabprotect.cli.screen import Screen
from tabprotect.microdata import records
from tabprotect.solver.limits import Progress


@pytest.fixture
def _fast_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty seconds go by in every one, so that there is a line at every look."""
    clock, began = time.monotonic, time.monotonic()
    monkeypatch.setattr("time.monotonic", lambda: began + 20 * (clock() - began))


@pytest.mark.usefixtures("_fast_clock")
def test_a_silent_listener_hears_the_last_line_again() -> None:
    assert progress.QUIET_SECONDS <= 1
    assert progress.LINE_SECONDS + progress.LOOK_SECONDS <= 5
    stream = io.StringIO()
    with progress.Display(Screen(file=stream, width=100)) as display:
        time.sleep(0.6)
        display(Progress("root", cost=12.0, seconds=3.0))
        time.sleep(0.8)
    lines = stream.getvalue().splitlines()
    assert lines[0].startswith("start")
    assert sum(line.startswith("root  cost 12") for line in lines) >= 2
    assert len(lines) <= 7


def test_what_is_done_at_once_says_nothing() -> None:
    stream = io.StringIO()
    with progress.Display(Screen(file=stream, width=100)) as display:
        display(Progress("root"))
    assert not stream.getvalue()


def test_the_beginning_is_told_while_libraries_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert opening.SECONDS < 1
    for arguments, said in ((["demo"], "start  1 s\n"), (["demo", "--help"], ""), (["methods"], ""), ([], "")):
        stream = io.StringIO()
        monkeypatch.setattr(sys, "stderr", stream)
        with opening.opening(arguments, 0.05):
            time.sleep(0.2)
        assert stream.getvalue() == said
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with opening.opening(["demo"], 0.05):
        opening.over()
        time.sleep(0.2)
    assert not stream.getvalue()


def test_a_terminal_keeps_no_trace_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", stream)
    with opening.opening(["protect"], 0.05):
        time.sleep(0.2)
    assert stream.getvalue() == "start  1 s\r\x1b[K"


def test_nothing_heavy_is_read_before_the_first_words() -> None:
    text = "import sys, tabprotect.cli.opening; print([m for m in ('numpy', 'rich', 'typer') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.usefixtures("_fast_clock")
@pytest.mark.parametrize("command", ["mask", "risk", "compare-masks", "unsafe"])
def test_commands_on_records_speak_while_they_work(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tabprotect: Callable[..., Any]
) -> None:
    """The records are read as slowly as needed for the line to come again."""
    (tmp_path / "people.csv").write_text("age,income\n20,1\n30,2\n40,3\n50,4\n20,5\n")
    parts = {
        "mask": '[[steps]]\nmethod = "top-coding"\ncolumns = "age"\nthreshold = 45\n',
        "risk": '[[measures]]\nmeasure = "k-anonymity"\n',
        "compare-masks": '[[candidates]]\nmethod = "top-coding"\ncolumns = "age"\nthreshold = 45\n',
    }
    spec = tmp_path / "a.toml"
    spec.write_text(f'data = "people.csv"\n[schema]\nkeys = ["age"]\n{parts.get(command, "")}')
    read = records.read_typed

    def slowly(file: Any) -> Any:
        time.sleep(0.9)
        return read(file)

    monkeypatch.setattr(records, "read_typed", slowly)
    given = [tmp_path / "people.csv", "--keys", "age"] if command == "unsafe" else [spec]
    given += ["--out", tmp_path / "out"] if command in ("mask", "compare-masks") else []
    done = tabprotect(command, *given)
    assert done.code in (0, 1), done.err
    stage = {"mask": "read", "compare-masks": "compare", "unsafe": "count"}.get(command, command)
    assert done.err.count(f"{stage} ") >= 2, done.err
