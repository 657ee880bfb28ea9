"""The manual page is that of the command line as it is, and completion is there."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import typer.main

from tabprotect.cli.app import app


@pytest.fixture(autouse=True)
def commands_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists of names are filled in when a command is made ready, which changes those that are kept."""
    make = typer.main.get_command
    monkeypatch.setattr(typer.main, "get_command", getattr(make, "__wrapped__", make))


@pytest.fixture(scope="module")
def man(checkout: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_man", checkout / "docs" / "man.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_current(man: ModuleType) -> None:
    assert man.OUT.read_text(encoding="utf-8") == man.page(), "run python docs/man.py"


def test_every_command_and_option_is_on_the_page(man: ModuleType) -> None:
    page = man.page()
    group = typer.main.get_command(app)
    context = group.make_context("tabprotect", [], resilient_parsing=True)
    seen = 0
    for name in group.list_commands(context):
        section = page.split(f".SS tabprotect {name}\n".replace("-", "\\-"))[1].split("\n.S")[0]
        one = group.get_command(context, name)
        for option in one.get_params(context):
            if option.param_type_name == "option" and not option.hidden:
                assert all(text.replace("-", "\\-") in section for text in option.opts), (name, option.opts)
                seen += 1
    assert seen > 100


def test_markup_is_for_terminals_only(man: ModuleType) -> None:
    assert man.roff("[bold]a[/] \\[x] --b\n c\\d") == "a [x] \\-\\-b c\\ed"
    assert man.roff(".jj files") == "\\&.jj files"
    assert list(man.paragraphs("a\nb\n\n'c")) == ["a b", "\\&'c"]
    assert "[bold]" not in man.page()


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
def test_groff_has_nothing_to_say_about_it(man: ModuleType) -> None:
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-Kutf8", "-ww", man.OUT], capture_output=True, text=True, check=True
    )
    assert not done.stderr
    assert "Exit codes: 0 done" in " ".join(done.stdout.split())


@pytest.mark.parametrize(("typed", "expected"), [("tabprotect ver", "verify"), ("tabprotect verify --ag", "--against")])
def test_the_shell_completes_commands_and_options(typed: str, expected: str) -> None:
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" ")), "_TABPROTECT_COMPLETE": "complete_bash"}
    program = Path(sys.executable).with_name("tabprotect")
    done = subprocess.run([program], env=os.environ | words, capture_output=True, text=True, check=True)
    assert expected in done.stdout.split()
