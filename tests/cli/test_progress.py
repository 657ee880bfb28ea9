"""Whoever waits is told within a second, and then every few."""

from __future__ import annotations

import io
import subprocess
import sys
import time

import pytest

from tabprotect.cli import opening, progress
from tabprotect.cli.screen import Screen
from tabprotect.solver.limits import Progress


def test_a_silent_listener_hears_the_last_line_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert progress.QUIET_SECONDS <= 1
    assert progress.LINE_SECONDS + progress.LOOK_SECONDS <= 5
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.1)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.2)
    monkeypatch.setattr(progress, "LOOK_SECONDS", 0.02)
    stream = io.StringIO()
    with progress.Display(Screen(file=stream, width=100)) as display:
        time.sleep(0.5)
        display(Progress("root", cost=12.0, seconds=3.0))
        time.sleep(0.5)
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
    monkeypatch.setattr(opening, "SECONDS", 0.05)
    for arguments, said in ((["demo"], "start  1 s\n"), (["demo", "--help"], ""), (["methods"], ""), ([], "")):
        stream = io.StringIO()
        monkeypatch.setattr(sys, "stderr", stream)
        with opening.opening(arguments):
            time.sleep(0.2)
        assert stream.getvalue() == said
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with opening.opening(["demo"]):
        opening.over()
        time.sleep(0.2)
    assert not stream.getvalue()


def test_a_terminal_keeps_no_trace_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "SECONDS", 0.05)
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", stream)
    with opening.opening(["protect"]):
        time.sleep(0.2)
    assert stream.getvalue() == "start  1 s\r\x1b[K"


def test_nothing_heavy_is_read_before_the_first_words() -> None:
    text = "import sys, tabprotect.cli.opening; print([m for m in ('numpy', 'rich', 'typer') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
