"""Text that is safe to show on a terminal."""

from __future__ import annotations

__all__ = ["visible"]

_UNKNOWN = "\ufffd"
_SIGNS: dict[int, int | str] = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), _UNKNOWN),
    # what turns the direction of writing, and halves of characters that no encoding can write
    **dict.fromkeys([0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)], _UNKNOWN),
    **dict.fromkeys(range(0xD800, 0xE000), _UNKNOWN),
}


def visible(text: str) -> str:
    r"""Return the text with a sign in the place of every character that would command a terminal.

    New lines and tabs stay. Names of files and columns, and the codes of data, may hold anything.

    Examples
    --------
    >>> visible("a\x1b[2Jb")
    'a␛[2Jb'
    """
    return text.translate(_SIGNS)
