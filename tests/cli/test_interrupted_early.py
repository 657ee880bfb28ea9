"""Ctrl-C while an error is told, before the work begins or while libraries are read is no failure of the program."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tabprotect.cli import app

DEMO = ("demo", "--work-limit", "1000", "--out", "out")

MAIN = "import sys\nfrom tabprotect.cli import main\nsys.argv = ['tabprotect', *{arguments!r}]\n"

#: Ctrl-C below the first frame of some file, or of any file, that a condition holds for
AT = """
import os, signal, sys
from importlib.machinery import ExtensionFileLoader
LOADING = (ExtensionFileLoader.create_module.__code__, ExtensionFileLoader.exec_module.__code__)
class Finder:
    def find_spec(self, name, path=None, target=None):
        frame, parents = sys._getframe(), []
        while frame is not None:
            if frame.f_code in LOADING:
                parents.append(getattr(frame.f_locals.get("module"), "__name__", ""))
            frame = frame.f_back
        if not hasattr(Finder, "sent") and any(one.startswith({parent!r}) for one in parents):
            Finder.sent = True
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
"""

#: while the arguments are read, and in the end of an object
PARSING = """
import os, signal
import typer.core
real = typer.core.TyperGroup.make_context
def make_context(self, *given, **named):
    os.kill(os.getpid(), signal.SIGINT)
    return real(self, *given, **named)
typer.core.TyperGroup.make_context = make_context
"""

AT_AN_END = """
import os, signal
from tabprotect.cli import app
class Short:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(100):
            pass
real = app._run
def run(arguments, screen):
    one = Short()
    del one
    return real(arguments, screen)
app._run = run
"""

#: while a class is made: Python before 3.12 tells of a RuntimeError
IN_A_CLASS = """
import os, signal
from tabprotect.cli import app
class Named:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(100):
            pass
real = app._run
def run(arguments, screen):
    type("Owner", (), {"one": Named()})
    return real(arguments, screen)
app._run = run
"""


@pytest.mark.parametrize("place", ["_run", "_fail", "_plain_warnings"])
@pytest.mark.parametrize(("command", "code"), [("protect", 3), ("verify", 1)])
def test_the_code_is_that_of_an_end_without_an_answer(monkeypatch, capsys, tmp_path, place, command, code):
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(app, place, interrupted)
    assert app.run([command, str(tmp_path / "nowhere")]) == code
    told = "".join(capsys.readouterr())
    assert "Ended; " in told
    assert "report this line" not in told


@pytest.mark.parametrize(
    "before",
    [
        PARSING,
        AT_AN_END,
        IN_A_CLASS,
        *(AT.format(parent=parent) for parent in ("highspy", "numpy._core", "pandas._libs")),
    ],
    ids=["while arguments are read", "at the end of an object", "in a class", "highspy", "numpy", "pandas"],
)
def test_one_interrupt_is_heard_wherever_it_comes(tmp_path: Path, before: str) -> None:
    """An extension that is interrupted while it loads tells of an ImportError, and an object at its end of nothing."""
    text = before + MAIN.format(arguments=DEMO) + "main()\n"
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 3, done
    assert "Ended; nothing was written." in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("seconds", [0.0, 0.1, 0.3, 0.5, 0.7])
@pytest.mark.parametrize(("arguments", "code"), [(DEMO, 3), (("verify", "nowhere"), 1)], ids=["demo", "verify"])
def test_a_real_signal_at_any_moment(tmp_path: Path, arguments: tuple[str, ...], code: int, seconds: float) -> None:
    text = MAIN.format(arguments=arguments) + "print(flush=True)\nmain()\n"
    running = subprocess.Popen(
        [sys.executable, "-c", text], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stdout is not None
    running.stdout.readline()
    # `main` is about to be called
    time.sleep(0.01 + seconds)
    if running.poll() is not None:
        pytest.skip("it was over before")
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=120)
    # `verify` may have found out by then that there is nothing to check
    assert running.returncode in (code, 2 if arguments[0] == "verify" else code), said
    assert "Traceback" not in said
    assert said.count("Ended; ") + said.count("Bad input") + said.count("Stopping") >= 1
