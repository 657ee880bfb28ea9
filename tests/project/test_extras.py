"""Without any of the optional libraries the core does its work, and what needs one of them says which extra has it."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

#: Extras with tools of developers, which users do not install.
TOOLS = {"dev", "docs"}

BLOCK = """
import sys
from importlib.abc import MetaPathFinder

BLOCKED = {blocked!r}

class Blocked(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocked())
"""


def name_of(requirement: str) -> str:
    return re.split(r"[\[<>=!~; ]", requirement, maxsplit=1)[0].lower().replace("_", "-")


@pytest.fixture(scope="module")
def blocked(checkout: Path) -> list[str]:
    """Modules of the extras that users install, less those of the core."""
    project = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    optional = {name_of(one) for extra, needed in extras.items() if extra not in TOOLS for one in needed}
    optional |= {"splink", "tenseal"}
    optional -= {name_of(one) for one in project["dependencies"]}
    known = packages_distributions()
    modules = {module for module, of in known.items() if {name_of(one) for one in of} & optional}
    assert {"polars", "openpyxl", "sklearn", "fastapi", "pysdmx"} <= modules
    return sorted(modules)


def run(code: str, blocked: list[str], cwd: Path) -> str:
    program = BLOCK.format(blocked=blocked) + code
    done = subprocess.run([sys.executable, "-c", program], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.slow
def test_every_public_name_is_there(blocked: list[str], tmp_path: Path) -> None:
    code = """
import tabprotect as tp
for name in tp.__all__:
    assert getattr(tp, name) is not None, name
for package in (tp.microdata, tp.query, tp.instances):
    for name in package.__all__:
        assert getattr(package, name) is not None, name
assert not set(BLOCKED) & {name.partition(".")[0] for name in sys.modules}
print(len(tp.__all__))
"""
    assert int(run(code, blocked, tmp_path)) > 60


def test_the_import_alone_is_light(tmp_path: Path) -> None:
    """No solver, no data frames, and nothing of plots, clusters and the web."""
    code = """
import tabprotect
heavy = {"pandas", "numpy", "scipy", "duckdb", "highspy", "pyscipopt", "pyomo", "matplotlib", "pyspark", "fastapi",
    "uvicorn", "sklearn", "openpyxl", "pysdmx", "polars", "typer"}
print(sorted(heavy & {name.partition(".")[0] for name in sys.modules}))
"""
    assert run(code, [], tmp_path).strip() == "[]"


@pytest.mark.slow
def test_every_command_shows_its_help(blocked: list[str], tmp_path: Path) -> None:
    code = """
from tabprotect.cli.app import app, run
import typer.main
group = typer.main.get_command(app)
names = list(group.commands)
for arguments in ([], *([name] for name in names)):
    assert run([*arguments, "--help"]) == 0, arguments
print(len(names))
"""
    assert int(run(code, blocked, tmp_path).split()[-1]) > 15


@pytest.mark.slow
def test_the_core_protects_and_masks_and_says_which_extra_is_missing(blocked: list[str], tmp_path: Path) -> None:
    code = """
import pandas as pd
import tabprotect as tp
import tabprotect.microdata as md
frame = pd.DataFrame({"region": list("nnnnnsssss"), "size": list("bbbssbbsss"), "turnover": range(10, 110, 10)})
release = tp.protect(frame, "threshold=3", by=["region", "size"])
assert release.safe and release.pattern.any()
release.write("out", ["csv", "parquet"])
assert release.verify().safe
masked = md.mask(frame, md.Schema(keys=["region"], confidential=["turnover"]), [md.PRAM("region")], seed=1)
assert masked.verify().holds and masked._repr_html_() and release._repr_html_()
try:
    release.write("excel", ["xlsx"])
except tp.InputError as error:
    print(error)
"""
    assert "tabprotect[excel]" in run(code, blocked, tmp_path)
    assert (tmp_path / "out" / "publish" / "table.csv").exists()
    assert not (tmp_path / "excel").exists()
