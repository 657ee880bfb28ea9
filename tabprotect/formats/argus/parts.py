"""Words, numbers and brackets of commands."""

from __future__ import annotations

import re

__all__ = ["call_of", "check_count", "fields_of", "number_of", "plain", "split", "table_of"]


def fields_of(text: str) -> list[str]:
    """Split at commas outside of quotes, and take the quotes off.

    Examples
    --------
    >>> fields_of('"my, file.hst", 1 , ","')
    ['my, file.hst', '1', ',']
    """
    return [plain(part) for part in split(text, ",")] if text.strip() else []


def call_of(text: str) -> tuple[str, list[str]]:
    """Return the word before the brackets, in capitals, and the words in them.

    Examples
    --------
    >>> call_of("opt(1, 5)")
    ('OPT', ['1', '5'])
    """
    found = re.fullmatch(r"\s*([A-Za-z]+)\s*\(([^()]*)\)\s*", text)
    if found is None:
        raise ValueError(f"'{text.strip()}' should be a word with numbers in brackets, such as P(10,1)")
    return found[1].upper(), fields_of(found[2])


def split(text: str, sign: str) -> list[str]:
    """Split at a sign outside of quotes."""
    parts, inside, start = [], False, 0
    for i, letter in enumerate(text):
        if letter == '"':
            inside = not inside
        elif letter == sign and not inside:
            parts.append(text[start:i])
            start = i + 1
    if inside:
        raise ValueError("a quote is opened and not closed")
    return [*parts, text[start:]]


def plain(text: str) -> str:
    """Take blanks and quotes off."""
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def number_of(word: str, what: str) -> float:
    """Read a number, or say of what it is none."""
    try:
        number = float(word)
    except ValueError:
        raise ValueError(f"{what}: '{word.strip()}' is no number") from None
    if not abs(number) < float("inf"):
        raise ValueError(f"{what}: '{word.strip()}' is no finite number")
    return number


def check_count(name: str, numbers: list[float], least: int, most: int, what: str) -> None:
    """Refuse too few or too many numbers."""
    if not least <= len(numbers) <= most:
        raise ValueError(f"{name} has {len(numbers)} numbers in brackets; write {name}({what})")


def table_of(word: str, least: int = 1) -> int:
    """Read the number of a table."""
    if not (word.isascii() and word.isdigit() and int(word) >= least):
        raise ValueError(f"'{word}' should be the number of a table, from {least}")
    return int(word)
