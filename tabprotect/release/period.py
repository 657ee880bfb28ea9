"""The folder of a period: a folder for every release of it, and what is to be known of all of them."""

from __future__ import annotations

import json
from pathlib import Path

from tabprotect.errors import InputError
from tabprotect.formats.files import read_text
from tabprotect.formats.folder import INTERNAL
from tabprotect.paths import possible

__all__ = ["PERIOD", "parts_of", "releases_in"]

PERIOD = "period.json"
"""In the internal folder of a period: its parts, and what is to be known of them."""


def parts_of(folder: Path) -> tuple[str, ...] | None:
    """Return the names of the releases in the folder of a period; None if it is no such folder.

    Raises
    ------
    InputError
        If the file that names them is damaged.
    """
    path = folder / INTERNAL / PERIOD
    if not path.is_file():
        return None
    try:
        parts = json.loads(read_text(path))["parts"]
        if not isinstance(parts, list) or any(Path(str(part)).name != part for part in parts):
            raise ValueError("its parts must be a list of names of folders")
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is damaged ({error})") from error
    return tuple(parts)


def releases_in(target: Path) -> tuple[Path, ...]:
    """Return the folder of every release of a period; what is no period stands for itself.

    Raises
    ------
    InputError
        If a release of the period is missing, or something else is in the folder.
    """
    parts = parts_of(target) if possible(target).is_dir() else None
    if parts is None:
        return (target,)
    missing = [part for part in parts if not (target / part).is_dir()]
    if missing or not parts:
        raise InputError(f"{target} lacks releases of its period: {', '.join(missing) or 'it names none'}")
    foreign = sorted({path.name for path in target.iterdir()} - {*parts, INTERNAL})
    if foreign:
        raise InputError(f"{target} holds what is not of its releases: {', '.join(foreign[:3])}; move it away")
    return tuple(target / part for part in parts)
