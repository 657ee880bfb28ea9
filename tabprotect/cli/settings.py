"""Keys of a specification on the command line, and messages in the words of the command line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from typing import Any

from tabprotect.errors import collect

__all__ = ["as_flags", "read_settings"]

QUOTE = "'"
_QUOTED = ("decimal", "thousands", "separator")


def read_settings(words: Iterable[str]) -> dict[str, Any]:
    """Read ``key=value`` words: a value of TOML, or a bare text.

    Raises
    ------
    InputError
        Names every word that is not of this form.

    Examples
    --------
    >>> read_settings(["margins=add", "output.decimals=1", "hierarchy.nuts.lengths=[2, 3]"])
    {'margins': 'add', 'output': {'decimals': 1}, 'hierarchy': {'nuts': {'lengths': [2, 3]}}}
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
    try:
        return tomllib.loads(f"{key} = {value}")
    except tomllib.TOMLDecodeError:
        quoted = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        return tomllib.loads(f"{key} = {quoted}")


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


_COLUMNS = ("value", "shadow", "contributor", "holding", "weight", "request", "waiver", "count", "status", "lpl", "upl")
_FLAGS = ("decimal", "thousands", "separator", "encoding", "tolerance", "margins", "empty", "levels", "cost")
_SETTINGS = ("member", "sheet", "relation", "measure", "kind")

_CURES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"Dimension\('([^']*)', (missing|total)=\[?'?([^'\])]*)'?\]?\)", r"--\2 \1=\3"),
    (r"rename it with Dimension\(\.\.\., name=\.\.\.\)", "rename the column in the file"),
    (r"\bmissing=\['([^']*)'\]", r"--missing DIM=\1"),
    (r"\b(lengths|digits)=\[([\d, ]+)\]", lambda found: f"--{found[1]} DIM={found[2].replace(' ', '')}"),
    (r"\bby=\[([^\]]*)\]", lambda found: " ".join(f"--by {one.strip(' ' + QUOTE)}" for one in found[1].split(","))),
    (r"give top=\d+ to tabulate, or (\d+) columns of maxima to Table.from_cells", r"give --maximum COLUMN \1 times"),
    (r"the columns of maxima to Table.from_cells", "--maximum COLUMN"),
    (r"the column of counts to Table.from_cells", "--count COLUMN"),
    (r"\btabulate\((\w+)=\.\.\.\)", r"--\1 COLUMN"),
    (r"\bbounds=\(([^,]*), None\)", r"--set lower=\1"),
    (r"\bbounds='([^']*)'", r"--bounds \1"),
    (r"\bthreshold=(?=[\s;,.)]|$)", "--rule threshold=N"),
    (
        rf"\b({'|'.join(_COLUMNS)})=('[^']*'|\.\.\.)?( to tabulate)?(?=[\s;,.)]|$)",
        lambda found: f"--{found[1]} {(found[2] or '...').strip(QUOTE).replace('...', 'COLUMN')}",
    ),
    (
        rf"\b({'|'.join(_FLAGS)})=('[^']*'|[-+.\w]+)?(?=[\s;,.)]|$)",
        lambda found: (
            f"--{found[1]} {found[2] or ''}".rstrip() if found[1] in _QUOTED else f"--{found[1]} {_bare(found[2])}"
        ),
    ),
    (
        rf"\b({'|'.join(_SETTINGS)})=('[^']*'|[-+.\w]+)?(?=[\s;,.)]|$)",
        lambda found: f"--set {found[1]}={_bare(found[2])}",
    ),
)
"""How messages for Python name their cures, and what that is on the command line."""


def as_flags(message: str) -> str:
    """Write the cures of a message as they are given on the command line.

    Examples
    --------
    >>> as_flags("nothing decides; pass decimal=',' or decimal='.'")
    "nothing decides; pass --decimal ',' or --decimal '.'"
    >>> as_flags("let margins be computed: margins='add'")
    'let margins be computed: --margins add'
    >>> as_flags("name the total differently: Dimension('sector', total='all')")
    'name the total differently: --total sector=all'
    >>> as_flags("give contributor= to tabulate; pass digits=[2, 2, 1]; by=['region', 'size']")
    'give --contributor COLUMN; pass --digits DIM=2,2,1; --by region --by size'
    """
    for pattern, cure in _CURES:
        message = re.sub(pattern, cure, message)
    return message


def _bare(word: str | None) -> str:
    return "..." if word is None else word.strip(QUOTE)
