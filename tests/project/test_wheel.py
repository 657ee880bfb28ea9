"""The wheel, installed in an environment of its own away from the checkout, does the whole job."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from packaging.metadata import Metadata

pytestmark = pytest.mark.slow

IMPORTED = """
import pathlib, sys
import tabprotect, tabprotect.models, tabprotect.instances
for module in (tabprotect, tabprotect.models, tabprotect.instances):
    assert pathlib.Path(module.__file__).is_relative_to(sys.prefix), module.__file__
for name in ("py.typed", "r/tabprotect.R"):
    assert (pathlib.Path(tabprotect.__file__).parent / name).exists(), name
print(tabprotect.instances.load("eustat-investment").n_cells, len(tabprotect.instances.names()))
"""


def run(*command: object, cwd: Path) -> str:
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run([str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the source distribution, and the wheel built from that."""
    folder = tmp_path_factory.mktemp("built")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, checkout, cwd=folder)
    return folder


@pytest.fixture
def installed(built: Path, checkout: Path, tmp_path: Path) -> Path:
    """The bin folder of a fresh environment with the wheel in it."""
    (wheel,) = built.glob("*.whl")
    run(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    locked = checkout / "requirements" / "locked.txt"
    python = tmp_path / "venv" / "bin" / "python"
    # without compiling what is never imported
    run(python, "-m", "pip", "install", "--quiet", "--no-compile", "--constraint", locked, wheel, cwd=tmp_path)
    return python.parent


def test_what_the_index_would_refuse(built: Path, checkout: Path, tmp_path: Path) -> None:
    """The metadata of wheel and source distribution are valid, and the README is what they show."""
    (wheel,), (source,) = built.glob("*.whl"), built.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [one for one in archive.namelist() if one.endswith(".dist-info/METADATA")]
        found = Metadata.from_email(archive.read(name), validate=True)
    with tarfile.open(source) as archive:
        (member,) = [one for one in archive.getmembers() if one.name.count("/") == 1 and one.name.endswith("/PKG-INFO")]
        stream = archive.extractfile(member)
        assert stream is not None
        assert Metadata.from_email(stream.read(), validate=True).version == found.version
    assert found.description_content_type == "text/markdown"
    assert found.description == (checkout / "README.md").read_text(encoding="utf-8")
    if importlib.util.find_spec("twine") is not None:
        run(sys.executable, "-m", "twine", "check", "--strict", wheel, source, cwd=tmp_path)


def test_the_wheel_has_every_room_and_runs_the_demo(installed: Path, tmp_path: Path) -> None:
    assert run(installed / "python", "-c", IMPORTED, cwd=tmp_path).split()[0] == "16"
    assert (installed.parent / "share" / "man" / "man1" / "tabprotect.1").exists()
    run(installed / "tabprotect", "demo", "--work-limit", 10_000, "--out", tmp_path / "demo", cwd=tmp_path)
    assert {path.name for path in (tmp_path / "demo").iterdir()} >= {"publish", "internal"}
    run(installed / "tabprotect", "verify", tmp_path / "demo", cwd=tmp_path)
