"""The project's own papers: lock file, decisions, changelog."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

FRAGMENT = re.compile(r"(\+[\w-]+|\d+)\.(added|changed|fixed|removed)\.md")


def test_locked_versions_cover_every_dependency_and_name_no_place(checkout: Path) -> None:
    text = (checkout / "requirements" / "locked.txt").read_text()
    locked = dict(re.findall(r"^([\w.-]+)==(\S+)", text, flags=re.MULTILINE))
    project = tomllib.loads((checkout / "pyproject.toml").read_text())["project"]
    extras = [
        name
        for group in ("dev", "docs", "polars", "excel", "plot", "microdata", "query", "serve", "sdmx", "delegation")
        for name in project["optional-dependencies"][group]
    ]
    wanted = {re.split(r"[^\w-]", name)[0].lower() for name in [*project["dependencies"], *extras]}
    assert wanted - set(locked) == set()
    assert not re.search(r"://|@|^-", text, flags=re.MULTILINE)


def test_every_decision_has_a_number_of_its_own_and_a_title(checkout: Path) -> None:
    decisions = sorted((checkout / "docs" / "decisions").glob("[0-9]*.md"))
    assert decisions
    numbers = [int(path.name.split("-")[0]) for path in decisions]
    assert len(set(numbers)) == len(numbers)
    for path in decisions:
        assert path.read_text().startswith("# "), path.name


def required(names: Iterable[str]) -> set[str]:
    """All distributions that these need, directly or not."""
    found: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop().lower().replace("_", "-")
        if name not in found:
            found.add(name)
            needs = [Requirement(text) for text in metadata.requires(name) or []]
            todo += [need.name for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    return found


def test_nothing_that_is_required_is_under_the_gpl_or_lgpl(checkout: Path) -> None:
    project = tomllib.loads((checkout / "pyproject.toml").read_text())["project"]
    names = required(Requirement(text).name for text in project["dependencies"])
    assert len(names) > len(project["dependencies"])
    for name in names:
        about = metadata.metadata(name)
        words = [about.get("License-Expression") or "", *(about.get_all("Classifier") or [])]
        licence = " ".join(word for word in words if word and ("License" in word or "::" not in word))
        assert licence or about.get("License"), f"{name} states no licence"
        assert not re.search(r"\b[AL]?GPL|General Public", licence), f"{name}: {licence}"


def test_changelog_fragments_have_a_kind_and_say_something(checkout: Path) -> None:
    for path in (checkout / "changelog.d").glob("*.md"):
        if path.name != "README.md":
            assert FRAGMENT.fullmatch(path.name), path.name
            assert len(path.read_text().split()) >= 3, path.name
