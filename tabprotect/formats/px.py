"""PC-Axis files (.px): the tables of the Nordic statistical databases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tabprotect.errors import InputError
from tabprotect.formats.published import Published

__all__ = ["encode_px"]

HIDDEN, ABSENT = "..", "."
_WIDTH: Final = 240
"""Lines of a PC-Axis file have at most 256 characters."""


def encode_px(
    table: Published, *, matrix: str = "TABLE", subject: str = "Statistics", heading: Sequence[str] | None = None
) -> bytes:
    """Return a published table as a PC-Axis file, in UTF-8.

    Hidden cells are ``".."`` and said to be confidential; combinations without a cell are ``"."``.

    Parameters
    ----------
    table : Published
    matrix : str
        Name of the table, at most 20 characters.
    subject : str
        Subject area.
    heading : sequence of str, optional
        Dimensions in the columns; by default the last one.

    Raises
    ------
    InputError
        If a text holds a double quote, which the format has no sign for, or a dimension is not known.

    References
    ----------
    PC-Axis file format, version 2013 (Statistics Sweden).

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": ["T", "x"], "v": [5.0, None], "status": ["published", "suppressed"]})
    >>> print(encode_px(Published.of(frame)).decode().splitlines()[-1])
    5 "..";
    """
    names = list(table.dimensions)
    columns = names[-1:] if heading is None else list(heading)
    if unknown := [name for name in columns if name not in names]:
        raise InputError(f"heading names {', '.join(unknown)}; the dimensions are {', '.join(names)}")
    stub = [name for name in names if name not in columns]
    ordered = replace(
        table, frame=table.frame[[*stub, *columns, table.value, *([table.status] if table.status else [])]]
    )
    codes, rows = ordered.cube()
    lines = [
        'CHARSET="ANSI";', 'AXIS-VERSION="2013";', 'CODEPAGE="utf-8";', 'LANGUAGE="en";',
        f"DECIMALS={ordered.decimals};", f"SHOWDECIMALS={ordered.decimals};", *_line("MATRIX", [matrix[:20]]),
        *_line("SUBJECT-CODE", [subject[:20]]), *_line("SUBJECT-AREA", [subject]), *_line("TITLE", [table.title]),
        *_line("CONTENTS", [table.value]), *_line("UNITS", [table.unit or table.value]),
    ]  # fmt: skip
    lines += _line("SOURCE", [table.source]) if table.source else []
    lines += _line("STUB", stub) if stub else []
    lines += _line("HEADING", columns)
    for name, known in zip(ordered.dimensions, codes, strict=True):
        lines += _line(f"VALUES({_text(name)})", [table.label(name, code) for code in known])
    for name, known in zip(ordered.dimensions, codes, strict=True):
        lines += _line(f"CODES({_text(name)})", known)
    lines += ['DATASYMBOL1="not in the table";', 'DATASYMBOL2="confidential";', "DATA="]
    values, hidden, places = ordered.values, ordered.hidden, ordered.decimals
    words = [
        f'"{ABSENT}"' if row < 0 else f'"{HIDDEN}"' if hidden[row] else f"{values[row]:.{places}f}" for row in rows
    ]
    width = 1
    for known in codes[len(stub) :]:
        width *= len(known)
    lines += [" ".join(words[i : i + width]) for i in range(0, len(words), width)]
    lines[-1] += ";"
    return ("\r\n".join(lines) + "\r\n").encode()


def _text(word: str) -> str:
    if any(sign in word for sign in '"\r\n'):
        raise InputError(f"{word!r} holds a double quote or a line end, which PC-Axis cannot write")
    return f'"{word}"'


def _line(keyword: str, words: Sequence[str]) -> list[str]:
    """Write a keyword with texts, broken after commas."""
    lines, current = [], f"{keyword}="
    for i, word in enumerate(words):
        part = _text(word) + ("," if i < len(words) - 1 else ";")
        if len(current) + len(part) > _WIDTH:
            lines.append(current)
            current = ""
        current += part
    return [*lines, current]
