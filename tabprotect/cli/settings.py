"""Keys of a specification on the command line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabprotect.errors import collect, did_you_mean

if TYPE_CHECKING:
    from tabprotect.table.reading import File

__all__ = ["file_of", "read_settings"]

_BARE = re.compile(r"\s*[A-Za-z0-9_-]*\s*")


def read_settings(words: Iterable[str]) -> dict[str, Any]:
    """Read ``key=value`` words: a value of TOML, or a bare text.

    Raises
    ------
    InputError
        Names every word that is not of this form.

    Examples
    --------
    >>> read_settings(["margins=add", "output.decimals=1", "hierarchy.größe.lengths=[2, 3]"])
    {'margins': 'add', 'output': {'decimals': 1}, 'hierarchy': {'größe': {'lengths': [2, 3]}}}
    """
    found: dict[str, Any] = {}
    with collect() as problems:
        for word in words:
            key, sign, value = word.partition("=")
            if not sign or not key.strip():
                problems.add(f"--set '{word}': write KEY=VALUE, such as --set output.decimals=1")
                continue
            try:
                read = _value(key, value)
            except tomllib.TOMLDecodeError:
                problems.add(f"--set '{word}': the key is none; write it as in TOML, such as output.decimals=1")
                continue
            if not _put(found, read):
                problems.add(f"--set '{word}': given twice, or as a value and as a table")
    return found


def _value(key: str, value: str) -> dict[str, Any]:
    """Read a key and its value as TOML; names need no quotes, whatever letters they have, and texts need none."""
    text = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    named = ".".join(part if _BARE.fullmatch(part) else f'"{part.strip()}"' for part in key.split("."))
    for one, other in ((key, value), (key, text), (named, value)):
        try:
            return tomllib.loads(f"{one} = {other}")
        except tomllib.TOMLDecodeError:
            continue
    return tomllib.loads(f"{named} = {text}")


def _put(into: dict[str, Any], more: dict[str, Any]) -> bool:
    for name, value in more.items():
        there = into.get(name)
        if isinstance(there, dict) and isinstance(value, dict):
            if not _put(there, value):
                return False
        elif name in into:
            return False
        else:
            into[name] = value
    return True


def file_of(path: Path, flags: Mapping[str, str | None], settings: Iterable[str] | None) -> File:
    """Return a data file and what flags and ``key=value`` words say of it.

    Raises
    ------
    InputError
        Words that are no keys of files.

    Examples
    --------
    >>> file_of(Path("a.xlsx"), {"decimal": ","}, ["sheet=firms"])
    File('a.xlsx', decimal=',', sheet='firms')
    """
    from tabprotect.table.reading import File

    given: dict[str, Any] = {name: value for name, value in flags.items() if value is not None}
    known = [one.name for one in fields(File)[1:]]
    with collect() as problems:
        for name, value in read_settings(settings or ()).items():
            if name not in known:
                problems.add(f"--set {name}: no such key of a file{did_you_mean(name, known)}")
            if name in given:
                said = f"--{name} {given[name]} and by --set {name}={value}"
                problems.add(f"{name} is given twice: by {said}; take one of them out")
            given[name] = str(value)
    if given.get("separator") == "tab":
        given["separator"] = "\t"
    return File(path, **given)
