"""Who may import what, beyond what import-linter sees."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOMS = ("tabprotect", "models", "instances")


@cache
def imports(path: Path) -> tuple[str, ...]:
    """Full names of the modules that a file imports, wherever in it."""
    return tuple(named(path))


def named(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def sources(checkout: Path, *rooms: str) -> list[Path]:
    found = [path for room in rooms for path in sorted((checkout / room).rglob("*.py"))]
    assert found
    return found


#: Libraries that always come with another one and are its documented way to do a thing, or are called otherwise there.
COMPANIONS = {"pydantic_core", "sklearn", "PIL"}


@pytest.mark.slow
def test_every_library_that_is_imported_is_declared(checkout: Path) -> None:
    project = tomllib.loads((checkout / "pyproject.toml").read_text())["project"]
    extras = [
        name
        for group, names in project["optional-dependencies"].items()
        if group not in ("dev", "docs")
        for name in names
    ]
    declared = {re.split(r"[^\w-]", name)[0].replace("-", "_").lower() for name in [*project["dependencies"], *extras]}
    missing = {
        f"{path.relative_to(checkout)}: {top}"
        for path in sources(checkout, *ROOMS)
        for top in {name.split(".")[0] for name in imports(path)}
        if top not in sys.stdlib_module_names | COMPANIONS | {"tabprotect"} and top.lower() not in declared
    }
    assert missing == set()


@pytest.mark.slow
def test_rooms_know_each_other_by_their_installed_names(checkout: Path) -> None:
    """``models`` and ``instances`` exist as top-level names in a checkout only."""
    wrong = {
        f"{path.relative_to(checkout)}: {name}"
        for path in sources(checkout, *ROOMS, "tests", "benchmarks")
        for name in imports(path)
        if name.split(".")[0] in ("models", "instances")
    }
    assert wrong == set()


@pytest.mark.parametrize("room", ["errors.py", "problem.py", "solver", "table", "sensitivity", "attack", "methods"])
def test_no_method_knows_the_benchmark_instances(checkout: Path, room: str) -> None:
    path = checkout / "tabprotect" / room
    files = [path] if path.suffix else sources(checkout, f"tabprotect/{room}")
    assert not [file for file in files if any(name.startswith("tabprotect.instances") for name in imports(file))]


def test_the_verifier_needs_the_standard_library_only(checkout: Path) -> None:
    todo, seen = ["tabprotect.certificate.verify"], set()
    while todo:
        name = todo.pop()
        path = checkout / f"{name.replace('.', '/')}.py"
        if name not in seen and path.exists():
            seen.add(name)
            names = set(imports(path))
            assert {top.split(".")[0] for top in names} <= sys.stdlib_module_names | {"tabprotect"}, name
            todo += [inner for inner in names if inner.startswith("tabprotect")]
    assert "tabprotect.certificate.verify" in seen


def test_protecting_a_table_reads_no_statistics() -> None:
    """SciPy's take a second of the first pattern's time, and nothing on the way needs them."""
    text = "import sys, tabprotect.workflow.carry_out; print(sorted(m for m in sys.modules if m == 'scipy.stats'))"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
