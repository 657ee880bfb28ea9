"""Text files as they come from Windows: encodings, line ends, quotes, and the files that they name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

from tabprotect.errors import InputError, did_you_mean
from tabprotect.formats.files import read_bytes

__all__ = ["Found", "Text", "find_file", "quoted", "read_lines", "split_words"]

_WORD = re.compile(r'"([^"]*)"|[“”„]([^“”„]*)[“”„]|(\S+)')


@dataclass(frozen=True)
class Text:
    """Lines of a text file, without their ends, and the encoding that it was read in."""

    name: str
    lines: tuple[str, ...]
    encoding: str


@dataclass(frozen=True)
class Found:
    """A file that another one names: where it is, and what differs from the name ('' when nothing does)."""

    path: Path
    note: str = ""


def read_lines(path: str | Path) -> Text:
    """Read a text file in UTF-8 (with or without byte-order mark), UTF-16, or else Windows-1252.

    Raises
    ------
    InputError
        If the file cannot be read, or is not text.
    """
    data = read_bytes(path)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encodings = ["utf-16"]
    else:
        # cp1252 leaves five bytes undefined, which latin-1 takes
        encodings = ["utf-8-sig", "cp1252", "latin-1"]
    for encoding in encodings:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            raise InputError(f"{path} is a binary file, not text")
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        while lines and not lines[-1].strip("\x1a \t"):
            lines.pop()
        return Text(str(path), tuple(lines), encoding)
    raise InputError(f"{path}: not text in UTF-16, although it begins like it")


def split_words(line: str) -> list[str]:
    """Split at blanks; what is in quotes is one word.

    Examples
    --------
    >>> split_words('<CODELIST>  "my region.cdl" 9')
    ['<CODELIST>', 'my region.cdl', '9']
    """
    return [quotes or curly or plain for quotes, curly, plain in _WORD.findall(line)]


def quoted(word: str) -> str:
    """Put a word into quotes; the files of ARGUS know no way to write a quote in one.

    Raises
    ------
    InputError
        If the word holds a quote or a line end.
    """
    if any(sign in word for sign in '"\r\n'):
        raise InputError(f"{word!r} holds a quote or a line end, which this form cannot write")
    return f'"{word}"'


def find_file(name: str, folder: Path) -> Found:
    r"""Find a file that was named on Windows: back slashes, drives, any case.

    A relative name is looked for below `folder`. A full path that is not there is looked for by its last name in
    `folder`, since files move together.

    Raises
    ------
    InputError
        If there is no such file.
    """
    text = name.strip().strip('"').strip()
    if not text:
        raise InputError("no file name is given")
    windows = PureWindowsPath(text)
    parts = [part for part in windows.parts if part not in (windows.anchor, ".")]
    exact = Path(text)
    if exact.is_absolute() and exact.is_file():
        return Found(exact)
    tried = _descend(Path(folder) if not windows.anchor else Path("/"), parts)
    if tried is not None:
        same = tried == Path(folder).joinpath(*parts) or windows.anchor
        return Found(tried, "" if same else f"'{text}' is '{tried.name}' here: they differ in upper and lower case")
    if windows.anchor:
        beside = _descend(Path(folder), parts[-1:])
        if beside is not None:
            return Found(beside, f"'{text}' is not there; '{beside.name}' beside the batch was taken")
    try:
        near = [entry.name for entry in Path(folder).iterdir() if entry.is_file()]
    except OSError:
        near = []
    last = parts[-1] if parts else text
    raise InputError(f"there is no file '{text}'{did_you_mean(last, near)}")


def _descend(place: Path, parts: list[str]) -> Path | None:
    """Follow a path name by name, in any case where the exact one is not there."""
    for part in parts:
        below = place / part
        if part != ".." and not below.exists():
            try:
                below = next(entry for entry in sorted(place.iterdir()) if entry.name.casefold() == part.casefold())
            except (OSError, StopIteration):
                return None
        place = below
    return place if place.is_file() else None
