"""The two folders of a release: ``publish/`` may leave the building, ``internal/`` may not."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tabprotect.counted import counted
from tabprotect.errors import InputError, Problems
from tabprotect.formats.files import read_text
from tabprotect.formats.places import recover, usual_rights, writing_folder
from tabprotect.paths import possible

__all__ = [
    "CERTIFICATE",
    "INTERNAL",
    "MANIFEST",
    "MASKED",
    "MASKED_LARGE",
    "PUBLISH",
    "REASONS",
    "Content",
    "changed_files",
    "check_outside",
    "check_replaceable",
    "digests",
    "read_manifest",
    "write_release",
]

Content = bytes | Callable[[Path], object]

PUBLISH, INTERNAL = "publish", "internal"
MANIFEST = "release.json"
"""In the internal folder: what was asked for, and the digest of every other file of the release."""

REASONS = "not_safe"
"""In the manifest of a release that is not safe: why, in words."""

CERTIFICATE = "certificate.json"
"""In the internal folder: the proof."""

MASKED, MASKED_LARGE = "masked microdata", "large masked microdata"
"""Kinds of releases that are no tables, as their manifest names them."""


def write_release(
    folder: str | Path, publish: Mapping[str, Content], internal: Mapping[str, Content], facts: Mapping[str, Any]
) -> None:
    """Write a release whole or not at all; an earlier release in the same place is replaced.

    The internal folder and its files can be read by their owner only, from the start and whatever the umask.

    Parameters
    ----------
    folder : path
    publish, internal : mapping of file name to content
        Bytes, or a function that writes the file at the path it is given.
    facts : mapping
        What the manifest says besides the digests; JSON.

    Raises
    ------
    InputError
        If the folder holds anything but an earlier release as it was written, or cannot be written.
    """
    check_replaceable(folder)
    with writing_folder(folder) as place:
        written: dict[str, dict[str, str]] = {}
        for part, files in ((PUBLISH, publish), (INTERNAL, internal)):
            (place / part).mkdir(mode=0o700)
            rights = 0o600 if part == INTERNAL else usual_rights(0o666)
            written[part] = {name: _put(place / part / name, content, rights) for name, content in files.items()}
        text = json.dumps({**facts, **written}, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        _put(place / INTERNAL / MANIFEST, text.encode(), 0o600)
        (place / PUBLISH).chmod(usual_rights(0o777))


def _put(path: Path, content: Content, rights: int) -> str:
    """Write one file, which nobody else can read from the start, and return its digest."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    if callable(content):
        content(path)
    else:
        path.write_bytes(content)
    path.chmod(rights)
    return _digest(path)


def check_replaceable(folder: str | Path) -> None:
    """Refuse a place that holds what is not ours to replace.

    Raises
    ------
    InputError
        Names what is in the way.
    """
    folder = possible(folder)
    recover(folder)
    try:
        if not folder.exists():
            return
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from error
    if not folder.is_dir():
        raise InputError(f"{folder} is a file; name a folder for the release")
    try:
        found = {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}
    except OSError as error:
        raise InputError(f"{folder} cannot be read: {error.strerror or error}") from error
    if not found:
        return
    if not (folder / INTERNAL / MANIFEST).is_file():
        raise InputError(f"{folder} holds files but no release; name an empty or a new folder")
    manifest = read_manifest(folder)
    ours = {f"{part}/{name}" for part in (PUBLISH, INTERNAL) for name in manifest[part]} | {f"{INTERNAL}/{MANIFEST}"}
    foreign = sorted(found - {str(Path(name)) for name in ours})
    if foreign:
        raise InputError(
            f"{folder} holds a release and {counted(len(foreign), 'file')} not of it ({', '.join(foreign[:3])}); "
            "move them away, or name another folder"
        )


def read_manifest(folder: str | Path) -> dict[str, Any]:
    """Read what the internal folder says of a release.

    Raises
    ------
    InputError
        If there is no release, or its manifest is damaged.
    """
    recover(folder)
    path = Path(folder) / INTERNAL / MANIFEST
    if not path.is_file():
        raise InputError(f"{folder} is not a release: there is no {INTERNAL}/{MANIFEST} in it")
    try:
        manifest = json.loads(read_text(path))
        names = {part: dict(manifest[part]) for part in (PUBLISH, INTERNAL)}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"{path} is damaged: it does not list the files of the release ({error})") from error
    if any("/" in name or "\\" in name for files in names.values() for name in files):
        raise InputError(f"{path} is damaged: it names files outside of the release")
    return dict(manifest)


def changed_files(folder: str | Path) -> list[str]:
    """Return a sentence for every file that is missing, altered or new since the release was written.

    A release is its two folders and nothing beside them; what is public is a folder in it, no link to another.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    problems = Problems()
    if (folder / PUBLISH).is_symlink():
        problems.add(f"{PUBLISH} is a link, not a folder of the release")
    for name in sorted({path.name for path in folder.iterdir()} - {PUBLISH, INTERNAL}):
        problems.add(f"{name} is not part of the release, which is {PUBLISH}/ and {INTERNAL}/")
    for part in (PUBLISH, INTERNAL):
        known: dict[str, str] = manifest[part]
        for name, digest in known.items():
            path = folder / part / name
            if not path.is_file():
                problems.add(f"{part}/{name} is missing")
            elif _digest(path) != digest:
                problems.add(f"{part}/{name} was altered")
        there = {str(p.relative_to(folder / part)) for p in (folder / part).rglob("*") if not p.is_dir()}
        extra = there - set(known) - ({MANIFEST} if part == INTERNAL else set())
        for name in sorted(extra):
            problems.add(f"{part}/{name} is not part of the release")
    return problems.found


def check_outside(path: str | Path) -> None:
    """Refuse to write into a release, which would not be what was written any more.

    Raises
    ------
    InputError
        If a folder above the file is a release.
    """
    place = possible(path).absolute()
    for parent in (*place.parents, *Path(os.path.realpath(place)).parents):
        if (parent / INTERNAL / MANIFEST).is_file():
            raise InputError(f"{path} is in the release {parent}, which holds its own files only; name another place")


def digests(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the SHA-256 of every file.

    Examples
    --------
    >>> digests({"empty.txt": b""})["empty.txt"][:16]
    'e3b0c44298fc1c14'
    """
    return {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
