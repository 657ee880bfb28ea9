"""A run of `protect` that was killed goes on in its folder and makes the same release."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.errors import InputError

RUN = """
import os, signal, sys
from tabprotect.solver.tasks.store import Store
from tests.workflow.test_resume import release
keep, left = Store.put, [2]
def put(store, name, answer):
    keep(store, name, answer)
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
Store.put = put
release(resume=sys.argv[1])
"""


def release(rule: str = "p%=15", **words: object) -> tp.Release:
    register = tp.instances.register()
    some = register[register["division"].isin(["36", "37", "38", "39"])]
    by = ["division", tp.Dimension("nuts", tp.Hierarchy.read(tp.instances.data("nuts.hrc")))]
    return tp.protect(
        some,
        [rule],
        by=by,
        value="turnover",
        contributor="enterprise_id",
        holding="group_id",
        limits=tp.Limits(work=20_000),
        **words,
    )


@pytest.mark.slow
def test_a_killed_run_makes_the_same_release(tmp_path: Path, checkout: Path) -> None:
    folder = tmp_path / "resume"
    command = [sys.executable, "-c", RUN, str(folder)]
    killed = subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=300)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert len(list(folder.glob("*.piece"))) == 2
    resumed, whole = release(resume=folder), release(resume=tmp_path / "in one go")
    pd.testing.assert_frame_equal(resumed.published, whole.published)
    one, other = resumed.result, whole.result
    assert (one.cost, one.bound, one.work, one.status) == (other.cost, other.bound, other.work, other.status)
    assert resumed.safe
    with pytest.raises(InputError, match="another problem"):
        release(rule="p%=30", resume=folder)
