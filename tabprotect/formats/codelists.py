"""Hierarchies from code lists as offices publish them: parents, levels, or prefixes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pandas as pd

from tabprotect.errors import InputError, Problems, did_you_mean
from tabprotect.kinds import of_kinds
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.reading.recognised import SEPARATORS, Recognised, decode
from tabprotect.table.reading.tabular import read_tabular

__all__ = ["CodeList", "is_code_list", "labels_in", "read_code_list"]

_NAMES: Final = {
    "code": ("code", "id", "notation", "codeid", "value", "child", "codevalue"),
    "parent": ("parent", "parentcode", "parentid", "broader", "parentnotation", "isparentof", "up"),
    "level": ("level", "lvl", "depth", "niveau", "ebene"),
    "label": ("label", "name", "description", "title", "labelen", "nameen", "descriptionen", "preflabel", "heading"),
}
"""Names of columns, without capitals, blanks and signs."""


@dataclass(frozen=True)
class CodeList:
    """A hierarchy, the labels of its codes, and how they were read.

    Attributes
    ----------
    hierarchy : Hierarchy
        With these labels.
    labels : dict
    form : {'parents', 'levels', 'prefixes', 'flat'}
    recognised : Recognised
    """

    hierarchy: Hierarchy
    labels: dict[str, str]
    form: str
    recognised: Recognised


@of_kinds()
def read_code_list(
    path: str | Path,
    *,
    code: str | None = None,
    parent: str | None = None,
    level: str | None = None,
    label: str | None = None,
    lengths: Sequence[int] | None = None,
    separator: str | None = None,
    total: str | None = None,
    **reading: str | None,
) -> CodeList:
    r"""Read a code list with a line a code, in any form that `read_tabular` reads.

    Lists with a column of parents, such as those of Eurostat's classification server (Order, Level, Code, Parent,
    Description); with levels and codes in the order of the tree; or with codes whose prefixes are the groups (NUTS:
    ``lengths=[2, 3, 4]``).

    Parameters
    ----------
    path : path
    code, parent, level, label : str, optional
        Columns; by default those with usual names.
    lengths : sequence of int, optional
        Characters of every level of the codes.
    separator : str, optional
        Or the sign between the levels of a code.
    total : str, optional
        Code above all others; needed where there are several at the top, by default 'Total' then.
    **reading
        Handed to `read_tabular` (`encoding`, `sheet`, ...).

    Raises
    ------
    InputError
        Columns that are missing; levels that skip one; what `Hierarchy` finds wrong.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "nace.csv"
    >>> _ = path.write_text("Order;Level;Code;Parent;Description\n1;1;A;;Agriculture\n2;2;01;A;Crops\n")
    >>> found = read_code_list(path)
    >>> found.form, found.hierarchy.codes, found.labels["01"]
    ('parents', ('Total', 'A', '01'), 'Crops')
    """
    frame, recognised = read_tabular(path, **reading)  # type: ignore[arg-type]
    problems = Problems()
    columns = {
        role: _column(frame, role, given, recognised.path, problems)
        for role, given in (("code", code), ("parent", parent), ("level", level), ("label", label))
    }
    problems.raise_if_any()
    if columns["code"] is None:
        raise InputError(f"{recognised.path}: no column of codes; pass code={did_you_mean('', frame.columns)}")
    codes = [_text(value) for value in frame[columns["code"]]]
    if "" in codes:
        raise InputError(f"{recognised.path}: row {codes.index('') + 1} has no code")
    labels = {}
    if columns["label"] is not None:
        labels = _labels(frame, columns["code"], columns["label"])
    try:
        form, hierarchy = _hierarchy(frame, codes, columns, lengths, separator, total)
    except InputError as error:
        raise InputError(*(f"{recognised.path}: {problem}" for problem in error.problems)) from error
    return CodeList(hierarchy.labelled(labels), labels, form, recognised)


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


def is_code_list(path: Path, data: bytes) -> bool:
    r"""Say whether a file is a code list with named columns, and no indented one.

    Examples
    --------
    >>> is_code_list(Path("nace.csv"), b"parent;child\n;A\nA;01\n"), is_code_list(Path("nace.hrc"), b"A\n@01\n")
    (True, False)
    """
    if data[:4] == b"PK\x03\x04" or data[:2] == b"\x1f\x8b":
        return True
    text = decode(path, data, None).text
    first = next((line for line in text.splitlines() if line.strip()), "")
    named = {_plain(word) for separator in SEPARATORS for word in first.split(separator) if separator in first}
    return any(name in named for name in _NAMES["code"])


def _hierarchy(
    frame: pd.DataFrame,
    codes: list[str],
    columns: dict[str, str | None],
    lengths: Sequence[int] | None,
    separator: str | None,
    total: str | None,
) -> tuple[str, Hierarchy]:
    if lengths is not None or separator is not None:
        top = total or "Total"
        # groups in the list are prefixes of other codes
        return "prefixes", Hierarchy.from_prefixes([c for c in codes if c != top], lengths, separator, top)
    if columns["parent"] is not None:
        parents = [_text(value) or None for value in frame[columns["parent"]]]
        return "parents", _rooted(list(zip(parents, codes, strict=True)), total)
    if columns["level"] is not None:
        return "levels", _rooted(_by_level(codes, [_text(value) for value in frame[columns["level"]]]), total)
    top = total or "Total"
    return "flat", Hierarchy.flat([c for c in codes if c != top], top)


def _rooted(pairs: list[tuple[str | None, str]], total: str | None) -> Hierarchy:
    roots = [child for parent, child in pairs if parent is None]
    inner = {parent for parent, _ in pairs if parent is not None}
    if total is None and len(roots) == 1 and roots[0] in inner and len(pairs) > 2:
        only = roots[0]
        return Hierarchy.from_pairs([pair for pair in pairs if pair[1] != only])
    return Hierarchy.from_pairs(pairs, total=total or "Total")


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
