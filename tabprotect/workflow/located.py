"""Paths in the content of a specification: made absolute, where they are relative to another folder than its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tabprotect.errors import Problems
from tabprotect.sensitivity.parse import parse_rule
from tabprotect.sensitivity.rule import Spoken

__all__ = ["located"]

_FILES: Mapping[str, Any] = {
    "data": True,
    "cells": True,
    "hierarchy": {"*": {"file": True, "pairs": True}},
    "previous": {"release": True},
    "output": {"folder": True},
    "options": {"rules": {"*": True}, "groupings": {"*": {"*": True}}},
}
"""Keys whose texts are paths; a table of one key may be a text in its place, such as the file of a hierarchy."""

_TABLES = ("hierarchy", "output", "options")
"""These may not."""

_RULES = ("rules", "holding_rules")


def located(content: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the content of a specification, unchecked, with absolute paths.

    Parameters
    ----------
    content : mapping
    folder : Path
        What its paths are relative to.

    Examples
    --------
    >>> content = {"data": "a.csv", "hierarchy": {"r": {"file": "r.hrc", "total": "all"}}, "rules": ["apriori=a.hst"]}
    >>> for key, value in located(content, Path("/work")).items():
    ...     print(key, value)
    data /work/a.csv
    hierarchy {'r': {'file': '/work/r.hrc', 'total': 'all'}}
    rules ['apriori=/work/a.hst']
    """
    found = dict(content)
    for key, files in _FILES.items():
        if key in found and not (key in _TABLES and isinstance(found[key], str)):
            found[key] = _placed(found[key], files, folder)
    for key in _RULES:
        if isinstance(found.get(key), list):
            found[key] = [_rule(text, folder) if isinstance(text, str) else text for text in found[key]]
    if isinstance(found.get("tables"), dict):
        found["tables"] = {
            name: located(one, folder) if isinstance(one, dict) else one for name, one in found["tables"].items()
        }
    return found


def _placed(given: Any, files: Any, folder: Path) -> Any:
    if isinstance(given, str):
        return str((folder / given).absolute())
    if not isinstance(given, dict) or not isinstance(files, Mapping):
        return given
    known = {key: files.get(key, files.get("*")) for key in given}
    return {key: one if known[key] is None else _placed(one, known[key], folder) for key, one in given.items()}


def _rule(text: str, folder: Path) -> str:
    """Return a rule, or several, with the files of those that have some; all others stay as they are written."""
    parts = []
    for part in text.split("|"):
        rule = Problems().attempt(parse_rule, part)
        placed = rule.located(folder.absolute()) if isinstance(rule, Spoken) else rule
        parts.append(part if placed == rule else str(placed))
    return "|".join(parts)
