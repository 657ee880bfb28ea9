"""TOML written: tables of plain values, as much of the format as protocols need."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

__all__ = ["toml_of"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_of(content: Mapping[str, Any]) -> str:
    """Return a TOML document: plain values first, then a section for every table of keys.

    Examples
    --------
    >>> print(toml_of({"by": ["a", "b"], "total": {"a": "T"}, "trial": [{"method": "auto"}]}), end="")
    by = ["a", "b"]
    <BLANKLINE>
    [total]
    a = "T"
    <BLANKLINE>
    [[trial]]
    method = "auto"
    """
    return "\n".join(_lines(content, "")).lstrip("\n") + "\n"


def _lines(content: Mapping[str, Any], path: str) -> list[str]:
    lines, below = [], []
    for name, value in content.items():
        place = f"{path}.{_key(name)}" if path else _key(name)
        if isinstance(value, Mapping):
            inner = _lines(value, place)
            plain = not value or not all(isinstance(one, Mapping) for one in value.values())
            below += (["", f"[{place}]", *inner] if plain else inner) if value or path else []
        elif isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value):
            for one in value:
                below += ["", f"[[{place}]]", *_lines(one, place)]
        elif value is not None:
            lines.append(f"{_key(name)} = {_value(value)}")
    return lines + below


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(one) for one in value)}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items()) + "}"
    return repr(value)


def _text(text: str) -> str:
    # a JSON text is a TOML text but for the sign 127, which TOML wants escaped
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
