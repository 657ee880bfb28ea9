"""The reference has every public name, and nothing else."""

from __future__ import annotations

import importlib.util
from ast import literal_eval
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import tabprotect as tp
import tabprotect.instances
from tabprotect.methods.suppression.options import DEFAULTS, numbers


@pytest.fixture
def hooks(checkout: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_hooks", checkout / "docs" / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_name_is_in_the_reference(hooks: ModuleType) -> None:
    names = {name.rsplit(".", 1)[1] for name in (*hooks.shown_names(), *hooks.further_names())}
    assert set(tp.__all__) - {"__version__", "instances", "microdata", "models", "query"} <= names
    assert set(tabprotect.instances.__all__) - {"FAMILIES"} <= names


def test_the_reference_shows_only_what_there_is(hooks: ModuleType) -> None:
    for name in hooks.shown_names():
        module, _, last = name.rpartition(".")
        if module == "tabprotect":
            assert last in (*tp.__all__, "errors"), name


def test_every_decision_is_on_their_index(hooks: ModuleType, checkout: Path) -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="decisions/index.md"))
    index = hooks.on_page_markdown("", page)
    for path in (checkout / "docs" / "decisions").glob("[0-9]*.md"):
        assert f"({path.name})" in index


def test_the_page_of_options_has_every_option(hooks: ModuleType) -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="options.md"))
    shown, stage = [], ""
    for line in hooks.on_page_markdown("", page).splitlines():
        if line.startswith("## "):
            stage = line.strip("# `")
        elif line.startswith("| `"):
            name, default = line.split("|")[1:3]
            shown.append((f"{stage}.{name.strip(' `')}", literal_eval(default.strip())))
    assert shown == list(numbers(DEFAULTS))
