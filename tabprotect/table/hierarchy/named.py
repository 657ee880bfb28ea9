"""Code lists with named columns, as offices publish them: parents, levels, or codes alone, and their labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pandas as pd

from tabprotect.errors import InputError, Problems, did_you_mean
from tabprotect.table.hierarchy.codelists import Splits, splits_of_flat, splits_of_pairs, splits_of_prefixes
from tabprotect.table.hierarchy.indented import AT, has_levels_apart
from tabprotect.table.read import SEPARATORS
from tabprotect.table.reading.recognised import decode

__all__ = ["NamedList", "is_named", "labels_in", "list_in"]

_NAMES: Final = {
    "code": ("code", "id", "notation", "codeid", "value", "child", "codevalue"),
    "parent": ("parent", "parentcode", "parentid", "broader", "parentnotation", "isparentof", "up"),
    "level": ("level", "lvl", "depth", "niveau", "ebene"),
    "label": ("label", "name", "description", "title", "labelen", "nameen", "descriptionen", "preflabel", "heading"),
}
"""Names of columns, without capitals, blanks and signs."""

_ALONE: Final = ("code", "codes", "id", "notation", "codeid", "codevalue")
"""Headings of a single column; other names of columns may be codes themselves."""

_HEADINGS: Final = "call it code (or id, notation, child), and others parent, level or label"


@dataclass(frozen=True)
class NamedList:
    """What a list says.

    Attributes
    ----------
    splits : splits and codes of a `Hierarchy`
    labels : dict
    form : {'parents', 'levels', 'prefixes', 'flat'}
    """

    splits: Splits
    labels: dict[str, str]
    form: str


def is_named(path: Path, data: bytes, encoding: str | None = None) -> bool:
    r"""Say whether a file is a code list with named columns, and no indented one.

    Raises
    ------
    InputError
        If it has columns, and their names are not known.

    Examples
    --------
    >>> is_named(Path("nace.csv"), b"parent;child\n;A\nA;01\n"), is_named(Path("nace.hrc"), b"A\n@01\n")
    (True, False)
    """
    if data[:4] in (b"PK\x03\x04", b"PAR1") or data[:2] == b"\x1f\x8b":
        return True
    lines = [line for line in decode(path, data, encoding).text.splitlines() if line.strip()]
    if has_levels_apart(lines):
        return False
    first = lines[0] if lines else ""
    named = {_plain(word) for separator in SEPARATORS for word in first.split(separator) if separator in first}
    if any(name in named for name in _NAMES["code"]):
        return True
    if any(line.startswith(AT) or line[0].isspace() for line in lines):
        return False
    for separator in SEPARATORS:
        if len(lines) > 1 and separator in first and len({line.count(separator) for line in lines}) == 1:
            raise InputError(
                f"{path}: the first line, '{first.strip()}', names no column of codes that is known; {_HEADINGS}; "
                f"where every column is a level, write a line a code, with the headings parent{separator}child; "
                f"or say leader='{AT}' if these are codes of an indented list"
            )
    return len(lines) > 1 and first.strip().strip('"').lower() in _ALONE


def list_in(
    frame: pd.DataFrame,
    path: str,
    given: Mapping[str, str | None] | None = None,
    lengths: Sequence[int] | None = None,
    separator: str | None = None,
    total: str | None = None,
) -> NamedList:
    """Return what a frame with a row a code says.

    Parameters
    ----------
    frame : DataFrame
    path : str
        Of its file, for messages.
    given : mapping, optional
        Columns by what they hold: 'code', 'parent', 'level', 'label'; by default those with usual names.
    lengths, separator, total
        See `tabprotect.formats.codelists.read_code_list`.

    Raises
    ------
    InputError
        Columns that are missing; levels that skip one.
    """
    problems, known = Problems(), given or {}
    columns = {role: _column(frame, role, known.get(role), path, problems) for role in _NAMES}
    problems.raise_if_any()
    code = columns["code"] or _alone(frame)
    if code is None:
        names = ", ".join(f"'{name}'" for name in frame.columns)
        raise InputError(f"{path}: no column of codes is known among {names}; {_HEADINGS}")
    codes = [_text(value) for value in frame[code]]
    if "" in codes:
        raise InputError(f"{path}: row {codes.index('') + 1} has no code")
    labels = {} if columns["label"] is None else _labels(frame, code, columns["label"])
    try:
        form, splits = _splits(frame, codes, columns, lengths, separator, total)
    except InputError as error:
        raise InputError(*(f"{path}: {problem}" for problem in error.problems)) from error
    return NamedList(splits, labels, form)


def labels_in(frame: pd.DataFrame, code: str) -> dict[str, str]:
    """Return the labels of codes from the column of a frame that has a usual name; none where there is no such column.

    Examples
    --------
    >>> labels_in(pd.DataFrame({"parent": ["T"], "child": ["N"], "Label": ["North"]}), "child")
    {'N': 'North'}
    """
    label = _column(frame, "label", None, "", Problems())
    return {} if label is None or code not in frame else _labels(frame, code, label)


def _labels(frame: pd.DataFrame, code: str, label: str) -> dict[str, str]:
    return {_text(one): _text(text) for one, text in zip(frame[code], frame[label], strict=True)}


def _alone(frame: pd.DataFrame) -> str | None:
    name = str(frame.columns[0])
    return name if frame.shape[1] == 1 and name.strip().lower() in _ALONE else None


def _splits(
    frame: pd.DataFrame,
    codes: list[str],
    columns: Mapping[str, str | None],
    lengths: Sequence[int] | None,
    separator: str | None,
    total: str | None,
) -> tuple[str, Splits]:
    top = total or "Total"
    below = [code for code in codes if code != top]
    if lengths is not None or separator is not None:
        # groups in the list are prefixes of other codes
        return "prefixes", splits_of_prefixes(below, lengths, separator, top)
    if columns["parent"] is not None:
        parents = [_text(value) or None for value in frame[columns["parent"]]]
        return "parents", _rooted(list(zip(parents, codes, strict=True)), total)
    if columns["level"] is not None:
        return "levels", _rooted(_by_level(codes, [_text(value) for value in frame[columns["level"]]]), total)
    return "flat", splits_of_flat(below, top)


def _rooted(pairs: list[tuple[str | None, str]], total: str | None) -> Splits:
    roots = [child for parent, child in pairs if parent is None]
    inner = {parent for parent, _ in pairs if parent is not None}
    if total is None and len(roots) == 1 and roots[0] in inner and len(pairs) > 2:
        pairs = [pair for pair in pairs if pair[1] != roots[0]]
    else:
        total = total or "Total"
    return splits_of_pairs(pairs, "parent", "child", total)


def _by_level(codes: list[str], levels: list[str]) -> list[tuple[str | None, str]]:
    """Return parents from levels; the list is in the order of the tree."""
    problems = Problems()
    path: list[str] = []
    pairs: list[tuple[str | None, str]] = []
    least = min((int(word) for word in levels if word.isdigit()), default=0)
    for row, (code, word) in enumerate(zip(codes, levels, strict=True), 1):
        if not word.isdigit():
            problems.add(f"row {row}: level '{word}' of code '{code}' is no whole number")
            continue
        depth = int(word) - least
        if depth > len(path):
            problems.add(
                f"row {row}: code '{code}' is of level {word}, and the row above is {depth - len(path)} levels up"
            )
            depth = len(path)
        pairs.append((path[depth - 1] if depth else None, code))
        path[depth:] = [code]
    problems.raise_if_any()
    return pairs


def _column(frame: pd.DataFrame, role: str, given: str | None, path: str, problems: Problems) -> str | None:
    if given is not None:
        if given not in frame:
            problems.add(f"{path}: no column '{given}'{did_you_mean(given, frame.columns)}")
        return given
    plain = {_plain(str(name)): str(name) for name in frame.columns}
    return next((plain[word] for word in _NAMES[role] if word in plain), None)


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalpha())


def _text(value: object) -> str:
    if value is None or value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
