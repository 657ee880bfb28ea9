"""Recodings of ARGUS (.grc): new codes for old ones, or branches of a hierarchy that are closed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tabprotect.errors import InputError, Problems
from tabprotect.formats.argus.text import quoted, read_lines, split_words
from tabprotect.formats.files import write_text
from tabprotect.methods.recoding import RecodingRules

__all__ = ["Recoding", "read_recoding", "write_recoding"]


@dataclass(frozen=True)
class Recoding:
    """What a .grc file says: either `rules` or `closed`.

    Parameters
    ----------
    rules : RecodingRules, optional
        New codes for sets of old ones.
    closed : tuple of str
        Codes of a hierarchy whose parts are given up.
    missing : tuple of str
        Codes for "unknown" after the recoding.
    codelist : str
        File of labels after the recoding.
    """

    rules: RecodingRules | None = None
    closed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    codelist: str = ""


def read_recoding(path: str | Path) -> Recoding:
    """Read a .grc file of tau-ARGUS or mu-ARGUS.

    Raises
    ------
    InputError
        Every line that cannot be read.

    References
    ----------
    tau-ARGUS 4.1 manual, section 5.4; mu-ARGUS 5.1 manual, section 4.4.2.
    """
    text = read_lines(path)
    problems = Problems()
    missing: tuple[str, ...] = ()
    codelist = ""
    plain: list[str] = []
    filled = [line.strip() for line in text.lines if line.strip()]
    tree = bool(filled) and filled[0].upper() == "<TREERECODE>"
    for number, line in enumerate(text.lines, 1):
        words = split_words(line)
        keyword = words[0].upper() if words and words[0].startswith("<") else ""
        if keyword == "<MISSING>":
            missing = tuple(words[1:])
        elif keyword == "<CODELIST>":
            codelist = words[1] if len(words) > 1 else ""
        elif keyword and not (keyword == "<TREERECODE>" and line.strip() == filled[0]):
            problems.add(f"{text.name}, line {number}: '{words[0]}' is not known; there are <MISSING>, <CODELIST>")
        # blank lines keep the numbers of the lines
        plain.append("" if keyword else line.replace("–", "-"))
    problems.raise_if_any()
    if tree:
        closed = tuple(line.strip().strip('"') for line in plain if line.strip())
        if not closed:
            raise InputError(f"{text.name}: no code is named below <TREERECODE>")
        return Recoding(None, closed, missing, codelist)
    try:
        return Recoding(RecodingRules.parse("\n".join(plain)), (), missing, codelist)
    except InputError as error:
        raise InputError(*(f"{text.name}, {problem}" for problem in error.problems)) from None


def write_recoding(recoding: Recoding, path: str | Path) -> None:
    """Write a .grc file; `read_recoding` gives it back."""
    lines = ["<TREERECODE>", *recoding.closed] if recoding.rules is None else str(recoding.rules).splitlines()
    if recoding.missing:
        lines.append("<MISSING> " + " ".join(map(quoted, recoding.missing)))
    if recoding.codelist:
        lines.append(f"<CODELIST> {quoted(recoding.codelist)}")
    write_text(path, "\n".join(lines) + "\n")
