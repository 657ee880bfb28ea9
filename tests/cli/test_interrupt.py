"""Ctrl-C: a real SIGINT to a process of its own, and the exit code that is documented for what it leaves."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tabprotect.instances import data

pytestmark = pytest.mark.slow

REGISTER = (str(data("register.csv")), "--by", "division", "--by", "nuts2", "--by", "size", "--value", "turnover",
            "--contributor", "enterprise_id", "--holding", "group_id", "--hierarchy",
            f"division={data('division.hrc')}", "--rule", "p%=15", "--rule", "threshold=3")  # fmt: skip

#: a stage of the work, and the code that waits for it in the process itself
SENT = """
import os, signal, sys
from tabprotect.cli import main
from tabprotect.cli.progress import Display
shown = Display.__call__
def call(self, progress):
    if progress.stage in {stages!r} and not hasattr(Display, "sent"):
        Display.sent = True
        os.kill(os.getpid(), signal.SIGINT)
    shown(self, progress)
Display.__call__ = call
sys.argv = ["tabprotect", *{arguments!r}]
main()
"""


def interrupted(folder: Path, stages: set[str], *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a command line; send SIGINT once its progress is at one of some stages."""
    text = SENT.format(stages=stages, arguments=[str(one) for one in arguments])
    return subprocess.run(
        [sys.executable, "-c", text], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )


def test_protect_writes_the_best_answer_so_far(tmp_path: Path, tabprotect: Callable[..., Any]) -> None:
    done = interrupted(tmp_path, {"safe pattern"}, "protect", *REGISTER,
                       "--work-limit", 600_000, "--out", "out")  # fmt: skip
    assert "Stopping with the best answer so far" in done.stderr
    assert done.returncode == 3, done
    assert tabprotect("verify", tmp_path / "out").code == 0


@pytest.mark.parametrize("how", [(), ("--time-limit", 30)])
def test_the_demonstration_does_so_too(tmp_path: Path, tabprotect: Callable[..., Any], how: tuple[Any, ...]) -> None:
    done = interrupted(
        tmp_path, {"search", "improve", "clean-up", "root", "cleanup", "cuts"}, "demo", "--out", "out", *how
    )
    assert done.returncode == 3, done
    assert tabprotect("verify", tmp_path / "out").code == 0


def test_a_comparison_shows_what_it_has(tmp_path: Path) -> None:
    done = interrupted(tmp_path, {"audit"}, "compare", *REGISTER, "--method", "suppress:method=greedy", "--method",
                       "conventional-round:base=5", "--json", "out.json", "--work-limit", 30_000)  # fmt: skip
    assert done.returncode == 3, done
    assert len(json.loads((tmp_path / "out.json").read_text())["methods"]) == 2


def test_an_audit_that_is_not_decided_is_not_called_safe(tmp_path: Path, tabprotect: Callable[..., Any]) -> None:
    made = tabprotect("protect", *REGISTER, "--work-limit", 20_000, "--out", tmp_path / "out")
    assert made.code in (0, 3), made
    done = interrupted(tmp_path, {"audit"}, "audit", "out", "--json", "-")
    assert "Stopping with the best answer so far" in done.stderr
    verdict = json.loads(done.stdout)
    assert done.returncode == (3 if verdict["safe"] else 1)
    assert verdict["safe"] or any(not one["decided"] for one in verdict["exposures"])


def test_intervals_are_written_as_far_as_they_were_computed(tmp_path: Path, tabprotect: Callable[..., Any]) -> None:
    made = tabprotect("protect", *REGISTER, "--work-limit", 20_000, "--out", tmp_path / "out")
    assert made.code in (0, 3), made
    done = interrupted(tmp_path, {"intervals"}, "audit", "out", "--intervals", "i.csv")
    assert "were not computed within the limits" in done.stderr
    written = pd.read_csv(tmp_path / "i.csv")
    assert written["low"].notna().all()


def test_a_file_is_masked_whole_or_not_at_all(tmp_path: Path) -> None:
    """No part of a masked file is an answer: nothing is written."""
    draw = np.random.default_rng(1)
    people = pd.DataFrame({"income": draw.normal(size=60_000), "age": draw.integers(1, 99, 60_000)})
    people.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "people.toml").write_text(
        'data = "people.csv"\n[schema]\nconfidential = ["income"]\n[[steps]]\nmethod = "microaggregation"\n'
        'columns = ["income", "age"]\nk = 3\n'
    )
    text = (
        "import os, signal, sys\nfrom tabprotect import microdata\nfrom tabprotect.cli import main\n"
        "real = microdata.mask\n"
        # the first call compiles, which may swallow an interrupt
        "def mask(*given, **named):\n    real(*given, **named)\n    signal.setitimer(signal.ITIMER_REAL, 0.2)\n"
        "    return real(*given, **named)\n"
        "signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))\n"
        "microdata.mask = mask\n"
        "sys.argv = ['tabprotect', 'mask', 'people.toml', '--out', 'out']\nmain()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    err = done.stderr
    assert done.returncode == 3, err
    assert "Traceback" not in err
    assert "nothing was written" in err
    assert not (tmp_path / "out").exists()


AT_IMPORT = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r} and not hasattr(Finder, "sent"):
            Finder.sent = True
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
from tabprotect.cli import main
sys.argv = ["tabprotect", *{arguments!r}]
main()
"""


FIRST, LATER = "tabprotect.cli.app", "tabprotect.workflow.specified"


@pytest.mark.parametrize(
    ("module", "arguments", "code", "said"),
    [
        (FIRST, ("demo", "--out", "out"), 3, "nothing was written"),
        (LATER, ("demo", "--out", "out"), 3, "nothing was written"),
        (FIRST, ("mask", "a.toml", "--out", "out"), 3, "nothing was written"),
        (FIRST, ("verify", "release"), 1, ""),
        (FIRST, ("audit", "release"), 1, ""),
    ],
)
def test_before_there_is_an_answer(
    tmp_path: Path, module: str, arguments: tuple[str, ...], code: int, said: str
) -> None:
    text = AT_IMPORT.format(module=module, arguments=list(arguments))
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == code, done
    assert f"Ended; {said}" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_second_one_ends_at_once(tmp_path: Path) -> None:
    text = SENT.replace("shown(self, progress)", "os.kill(os.getpid(), signal.SIGINT)\n    shown(self, progress)")
    text = text.format(stages={"search"}, arguments=["demo", "--out", "out"])
    text = text.replace('and not hasattr(Display, "sent")', "")
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert "Stopping with the best answer so far" in done.stderr
    assert done.returncode == 130, done
    assert not (tmp_path / "out").exists()
