"""Code lists (.cdl), hierarchies (.hrc) and changes to cells (.hst) of ARGUS."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tabprotect.counted import counted
from tabprotect.errors import InputError, Problems, did_you_mean
from tabprotect.formats.argus.text import read_lines
from tabprotect.formats.files import write_text
from tabprotect.kinds import of_kinds
from tabprotect.table.hierarchy import Hierarchy

__all__ = [
    "CHANGES",
    "Change",
    "read_apriori",
    "read_codelist",
    "read_hierarchy",
    "write_apriori",
    "write_codelist",
    "write_hierarchy",
]

CHANGES: Final = {"s": 0, "u": 0, "p": 0, "m": 0, "ml": 0, "c": 1, "w": 1, "pl": 2, "ab": 2}
"""What an a-priori file can change, and how many numbers follow."""


@dataclass(frozen=True)
class Change:
    """One line of an a-priori file.

    Parameters
    ----------
    codes : tuple of str
        One for every dimension; '' is the total.
    change : {'s', 'u', 'p', 'm', 'ml', 'c', 'w', 'pl', 'ab'}
    numbers : tuple of float
    """

    codes: tuple[str, ...]
    change: str
    numbers: tuple[float, ...] = ()


def read_codelist(path: str | Path) -> dict[str, str]:
    """Read a code list (.cdl): a code, a comma, its label. Blanks around codes are not part of them.

    Raises
    ------
    InputError
        Names the lines without a comma, and codes with two labels.
    """
    text = read_lines(path)
    problems = Problems()
    labels: dict[str, str] = {}
    for number, line in enumerate(text.lines, 1):
        if not line.strip():
            continue
        fields = next(csv.reader([line], skipinitialspace=True))
        code, label = fields[0].strip(), ",".join(fields[1:]).strip()
        if len(fields) < 2:
            problems.add(f"{text.name}, line {number}: '{line.strip()}' has no comma between code and label")
        elif labels.setdefault(code, label) != label:
            problems.add(f"{text.name}, line {number}: code '{code}' has the label '{labels[code]}' already")
    problems.raise_if_any()
    return labels


def write_codelist(labels: Mapping[str, str], path: str | Path) -> None:
    """Write a code list (.cdl); `read_codelist` gives it back."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    for code, label in labels.items():
        if "\n" in code + label or "\r" in code + label or not code.strip():
            raise InputError(f"code {code!r} with label {label!r} cannot be written: no line ends, no empty codes")
        writer.writerow([code, label])
    write_text(path, stream.getvalue())


def read_hierarchy(path: str | Path, leader: str = "@", total: str = "Total") -> Hierarchy:
    """Read an indented hierarchy (.hrc), in any of the usual encodings; see `Hierarchy.from_hrc`.

    Raises
    ------
    InputError
        Names the lines that are wrong.
    """
    text = read_lines(path)
    try:
        return Hierarchy.from_hrc("\n".join(text.lines), leader, total)
    except InputError as error:
        raise InputError(*(f"{text.name}: {problem}" for problem in error.problems)) from error


def write_hierarchy(hierarchy: Hierarchy, path: str | Path, leader: str = "@") -> None:
    """Write an indented hierarchy (.hrc); the total is not written, as ARGUS adds it itself.

    Raises
    ------
    InputError
        If the hierarchy is no tree, or a code cannot be written: it begins with the leader, has blanks around it, or
        is a code with a line end.
    """
    below: dict[str, list[str]] = {}
    with_parts = [parent for parent, _ in hierarchy.splits]
    several = sorted({parent for parent in with_parts if with_parts.count(parent) > 1})
    all_parts = [part for _, parts in hierarchy.splits for part in parts]
    several += sorted({part for part in all_parts if all_parts.count(part) > 1})
    if several:
        raise InputError(f"an .hrc file holds a tree only; {', '.join(several[:5])} belong to several groupings")
    for parent, parts in hierarchy.splits:
        below[parent] = list(parts)
    bad = [c for c in hierarchy.codes[1:] if c != c.strip() or c.startswith(leader) or len(c.splitlines()) != 1]
    if bad:
        raise InputError(f"codes that an .hrc file with leader '{leader}' cannot hold: {', '.join(map(repr, bad[:5]))}")
    lines: list[str] = []
    stack = [(code, 0) for code in reversed(below.get(hierarchy.total, []))]
    while stack:
        code, depth = stack.pop()
        lines.append(leader * depth + code)
        stack += [(part, depth + 1) for part in reversed(below.get(code, []))]
    write_text(path, "\n".join(lines) + "\n")


@of_kinds("dimensions", "separator", "ignore")
def read_apriori(
    path: str | Path, dimensions: int, *, separator: str | None = None, ignore: bool = False
) -> tuple[tuple[Change, ...], tuple[str, ...]]:
    """Read an a-priori file (.hst): for each line the codes of a cell, what changes, and numbers.

    Parameters
    ----------
    path : path
    dimensions : int
        How many codes every line has.
    separator : str, optional
        Between the fields; by default the first of ``;``, tab, ``,`` that is in the first line.
    ignore : bool
        Leave lines out that cannot be read.

    Returns
    -------
    changes : tuple of Change
    left_out : tuple of str
        What was wrong with the lines that were left out.

    Raises
    ------
    InputError
        Names every line that cannot be read, unless `ignore` is set.

    References
    ----------
    tau-ARGUS 4.1 manual, section 5.6.
    """
    text = read_lines(path)
    first = next((line for line in text.lines if line.strip()), "")
    mark = separator or next((sign for sign in ";\t," if sign in first), ";")
    if len(mark) != 1:
        raise InputError(f"{text.name}: the separator must be one character, not '{mark}'")
    changes: list[Change] = []
    wrong: list[str] = []
    for number, line in enumerate(text.lines, 1):
        if not line.strip():
            continue
        try:
            fields = [field.strip() for field in next(csv.reader([line], delimiter=mark, skipinitialspace=True))]
            changes.append(_change(fields, dimensions, mark))
        except (ValueError, csv.Error) as error:
            wrong.append(f"{text.name}, line {number}: {error}")
    if wrong and not ignore:
        raise InputError(*wrong)
    return tuple(changes), tuple(wrong)


def _change(fields: Sequence[str], dimensions: int, mark: str) -> Change:
    if len(fields) <= dimensions:
        raise ValueError(
            f"{counted(len(fields), 'field')}; wanted: {dimensions} codes and a change, with '{mark}' between them"
        )
    change = fields[dimensions].lower()
    if change not in CHANGES:
        raise ValueError(f"change '{fields[dimensions]}' means nothing{did_you_mean(change, CHANGES)}")
    words = [word for word in fields[dimensions + 1 :] if word]
    if len(words) != CHANGES[change]:
        raise ValueError(f"'{fields[dimensions]}' is followed by {CHANGES[change]} numbers, not {len(words)}")
    try:
        numbers = tuple(float(word.replace(",", ".") if mark != "," else word) for word in words)
    except ValueError:
        raise ValueError(f"not a number in {', '.join(words)}") from None
    if any(not abs(number) < float("inf") for number in numbers):
        raise ValueError(f"numbers must be finite, not {', '.join(words)}")
    if change in ("c", "w") and numbers[0] < 0:
        raise ValueError(f"costs must be at least 0, not {words[0]}")
    return Change(tuple(fields[:dimensions]), change, numbers)


def write_apriori(changes: Iterable[Change], path: str | Path, separator: str = ";") -> None:
    """Write an a-priori file (.hst); `read_apriori` gives it back."""
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=separator, lineterminator="\n")
    for change in changes:
        if any("\n" in code or "\r" in code or code != code.strip() for code in change.codes):
            raise InputError(f"codes {change.codes} cannot be written: no line ends, and no blanks around them")
        writer.writerow([*change.codes, change.change, *map(_number, change.numbers)])
    write_text(path, stream.getvalue())


def _number(number: float) -> str:
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
