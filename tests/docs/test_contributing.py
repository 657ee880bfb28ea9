"""The method that CONTRIBUTING adds: the diff applies, and the method is everywhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

COPIED = ("tabprotect", "models", "instances", "docs", "tests/methods", "tests/checker.py", "tests/conftest.py")


@pytest.mark.slow
def test_the_toy_method_is_everywhere(checkout: Path, tmp_path: Path) -> None:
    found = re.search(r"```diff\n(.*?)```", (checkout / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    (tmp_path / "toy.diff").write_text(found[1], encoding="utf-8")
    for name in (*COPIED, "pyproject.toml"):
        copy = shutil.copytree if (checkout / name).is_dir() else shutil.copy
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        copy(checkout / name, tmp_path / name)

    def run(*words: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(tmp_path), "COLUMNS": "200", "NO_COLOR": "1"}
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("git", "apply", "toy.diff")
    tests = ("tests/methods/rounding/test_down.py", "tests/methods/test_registry.py")
    run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
    ask = "import tabprotect.__main__ as m, sys; sys.exit(m.main())"
    assert "round-down" in run(sys.executable, "-c", ask, "protect", "--help")
    assert "round-down" in run(sys.executable, "-c", ask, "schema")
