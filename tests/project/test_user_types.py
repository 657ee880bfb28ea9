"""What a user of Python sees: types that a strict checker accepts, a help page in groups, the public names."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import tabprotect as tp

USER = Path(__file__).with_name("user_file.py")
WRONG = """
import tabprotect as tp

tp.suppress("a table")
tp.Round(base="five")
reveal_type(tp.audit)
"""


@pytest.fixture
def packages(checkout: Path, tmp_path: Path) -> Path:
    """A folder with the package as it is installed: the files of the wheel, and nothing beside it."""
    folder = tmp_path / "packages"
    shutil.copytree(checkout / "tabprotect", folder / "tabprotect", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("models", "instances"):
        shutil.copytree(checkout / name, folder / "tabprotect" / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.mark.slow
def test_a_strict_type_checker_accepts_what_users_write(packages: Path, tmp_path: Path) -> None:
    """As of any installed package, only the errors of the user's own files count."""
    assert (packages / "tabprotect" / "py.typed").exists()
    shutil.copy(USER, tmp_path / "user.py")
    (tmp_path / "wrong.py").write_text(WRONG)
    options = ["--strict", "--config-file=", "--follow-imports=silent", "--no-error-summary"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "user.py", "wrong.py"],
        cwd=tmp_path, env={**os.environ, "MYPYPATH": str(packages)}, capture_output=True, text=True,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert [line for line in lines if not line.startswith("wrong.py")] == [], done.stderr
    # the types are really seen: what is wrong is found
    assert [re.sub(r"^wrong.py:(\d+): (\w+): .*", r"\1 \2", line) for line in lines] == ["4 error", "5 error", "6 note"]
    assert "Problem" in lines[0]
    assert "Audit" in lines[2]


@pytest.mark.slow
def test_the_checkout_is_as_good_as_the_package(checkout: Path, tmp_path: Path) -> None:
    """`make setup` puts the path of the checkout beside the editable install, whose import hook mypy ignores."""
    assert "tabprotect_checkout.pth" in (checkout / "Makefile").read_text()
    venv.create(tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    where = [sys.executable, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    own, shared = (
        Path(subprocess.run([one, *where[1:]], capture_output=True, text=True, check=True).stdout.strip())
        for one in (str(python), sys.executable)
    )
    (own / "tabprotect_checkout.pth").write_text(f"{checkout}\n{shared}\n")
    (tmp_path / "user.py").write_text("import tabprotect as tp\n\nreveal_type(tp.audit)\n")
    options = ["--strict", "--config-file=", "--no-error-summary", f"--python-executable={python}"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "user.py"],
        cwd=tmp_path, env={name: one for name, one in os.environ.items() if name not in ("MYPYPATH", "PYTHONPATH")},
        capture_output=True, text=True,
    )  # fmt: skip
    assert "Audit" in done.stdout, done.stdout


def test_the_help_of_protect_is_in_groups_of_one_line_each() -> None:
    page = inspect.getdoc(tp.protect) or ""
    assert "handed to" not in page
    parameters = page[page.index("Parameters\n") : page.index("Returns\n")]
    for name in inspect.signature(tp.protect).parameters:
        assert re.search(rf"^[\w, *]*\b{name}\b", parameters, re.MULTILINE), f"'{name}' has no line in the help"


def test_dir_shows_what_is_public_and_nothing_else() -> None:
    assert dir(tp) == sorted(tp.__all__)
    assert not [name for name in dir(tp) if name.startswith("_") and name != "__version__"]
