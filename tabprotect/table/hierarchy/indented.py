"""Indented code lists: what indents their lines, and how deep each is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import dedent

from tabprotect.counted import counted
from tabprotect.errors import InputError, Problems, collect
from tabprotect.table.hierarchy.codelists import Splits, check_total, rooted

__all__ = ["AT", "has_levels_apart", "splits_of_hrc"]

AT = "@"
"""What indents a line in tau-ARGUS."""

_APART = re.compile(rf"""(["']?)({AT}+)\1\s*[;,\t|]\s*(["']?)(.*?)\3\s*$""")
"""A line with its level in a column of its own, as sdcHierarchies writes it: '@@;AT1', '@' for the total."""

_SIGNS = {"\t": "a tab", " ": "a blank"}

Line = tuple[int, str]
"""The number of a line, and its text."""


def splits_of_hrc(text: str, leader: str | None, total: str | None) -> Splits:
    """Read indented text; see `Hierarchy.from_hrc`."""
    if not isinstance(text, str) or not isinstance(leader, str | None):
        raise InputError(f"an indented code list and its leader are texts, not {text!r} and {leader!r}")
    if total is not None:
        check_total(total)
    if leader == "":
        raise InputError("the leader is empty; give the text that indents a line by one level, such as '@'")
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    if leader in (None, AT) and has_levels_apart([line for _, line in lines]):
        leader, lines = AT, _joined(lines)
    if leader is None or leader.strip():
        # a list that is indented as a whole has no deeper level by that
        whole = dedent("\n".join(line for _, line in lines)).split("\n")
        lines = [(number, line) for (number, _), line in zip(lines, whole, strict=False)]
    children = _below(lines, _leader(lines) if leader is None else leader)
    roots = children.pop(None, [])
    if not roots:
        raise InputError("the hierarchy is empty: it has no codes")
    if total is None:
        total = roots[0] if len(roots) == 1 else "Total"
    return rooted(roots, {str(parent): parts for parent, parts in children.items()}, total)


def has_levels_apart(lines: Sequence[str]) -> bool:
    """Say whether lines have their level in a column of its own, below headings or without them.

    Examples
    --------
    >>> has_levels_apart(["level;name", "@;Total", "@@;N"]), has_levels_apart(["@N", "@@1"])
    (True, False)
    """
    first = bool(lines) and lines[0].startswith(("level", '"level"', "'level'"))
    return len(lines) > 1 + first and all(map(_APART.match, lines[first:]))


def _joined(lines: Sequence[Line]) -> list[Line]:
    """Put the level of every line in front of its code, the total outermost."""
    found = [(number, _APART.match(line)) for number, line in lines]
    return [(number, (len(one[2]) - 1) * AT + one[4]) for number, one in found if one is not None]


def _below(lines: Sequence[Line], leader: str) -> dict[str | None, list[str]]:
    """Return the codes below every code, those of the outermost level below None."""
    seen: dict[str, int] = {}
    path: list[str] = []
    children: dict[str | None, list[str]] = {}
    with collect() as problems:
        for number, line in lines:
            depth, rest = 0, line
            while rest.startswith(leader):
                depth, rest = depth + 1, rest[len(leader) :]
            code = rest.strip()
            if not code:
                problems.add(f"line {number} holds leaders but no code")
                continue
            if _blanks(rest) and not (depth and leader.strip()):
                problems.add(
                    f"line {number}: {_signs(rest)} before '{code}', where {_named(leader)} is one level; indent "
                    "all lines in the same way"
                )
            elif depth > len(path):
                above = f"the line above only {len(path) - 1}" if path else "there is none above it"
                problems.add(f"line {number}: '{code}' is {counted(depth, 'level')} deep but {above}")
                depth = len(path)
            if code in seen:
                problems.add(f"line {number}: code '{code}' is on line {seen[code]} already")
                continue
            seen[code] = number
            path[depth:] = [code]
            children.setdefault(path[depth - 1] if depth else None, []).append(code)
    return children


def _leader(lines: Sequence[Line]) -> str:
    """Return what indents lines by one level: '@', a tab, or as many blanks as the line that has the fewest.

    Raises
    ------
    InputError
        Names the lines that are indented in another way than the first one that is.
    """
    indented = [(number, line, _blanks(line) or AT) for number, line in lines if line.startswith(AT) or _blanks(line)]
    if not indented:
        return AT
    first, _, start = indented[0]
    sign, problems = start[0], Problems()
    for number, line, blanks in indented:
        if set(blanks) != {sign}:
            problems.add(
                f"line {number}: '{line.strip()}' is indented by {_signs(blanks)}, and line {first} by "
                f"{_signs(start)}; indent all lines in the same way"
            )
    problems.raise_if_any()
    if sign != " ":
        return sign
    least = min(len(blanks) for *_, blanks in indented)
    for number, line, blanks in indented:
        if len(blanks) % least:
            problems.add(
                f"line {number}: '{line.strip()}' is indented by {len(blanks)} blanks, and one level is {least}; "
                "indent every level by as many"
            )
    problems.raise_if_any()
    return sign * least


def _blanks(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _named(leader: str) -> str:
    if leader.strip():
        return f"'{leader}'"
    return _SIGNS.get(leader, f"{len(leader)} blanks" if set(leader) == {" "} else repr(leader))


def _signs(text: str) -> str:
    """Name the signs that indent a line."""
    blanks = _blanks(text)
    return " and ".join(_SIGNS.get(sign, repr(sign)) for sign in dict.fromkeys(blanks or text[:1]))
