"""The fragments make a changelog: every one is of a known kind and gets into it, under the version."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path


def fragments(checkout: Path) -> list[Path]:
    return sorted(path for path in (checkout / "changelog.d").iterdir() if path.name != "README.md")


def test_fragments_have_known_kinds_and_say_something(checkout: Path) -> None:
    settings = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["towncrier"]
    kinds = {one["directory"] for one in settings["type"]}
    for path in fragments(checkout):
        name, kind, suffix = path.name.rsplit(".", 2)
        assert (kind in kinds, suffix, bool(name)) == (True, "md", True), path.name
        assert path.read_text(encoding="utf-8").strip(), path.name


def test_the_changelog_of_a_version_is_assembled(checkout: Path) -> None:
    """A draft: nothing is written, and no fragment is used up."""
    before = fragments(checkout)
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "9.9.9", "--date", "2030-01-31"]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "## 9.9.9 (2030-01-31)" in done.stdout
    flat = " ".join(done.stdout.split())
    for path in before:
        first = " ".join(path.read_text(encoding="utf-8").split())[:40]
        assert first in flat, path.name
    assert fragments(checkout) == before
