"""Keywords of .rda files, and how the words after each are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

__all__ = ["KEYWORDS", "PARTS"]

PARTS: Final = {
    "SHADOW": "shadow",
    "COST": "cost",
    "COSTVAR": "cost",
    "LOWERPL": "lpl",
    "UPPERPL": "upl",
}
"""What may follow ``<NUMERIC>`` in the metadata of a table."""


def _flag(name: str) -> Callable[[list[str]], dict[str, Any]]:
    def read(words: list[str]) -> dict[str, Any]:
        if words:
            raise ValueError("takes nothing after it")
        return {name: True}

    return read


def _word(name: str) -> Callable[[list[str]], dict[str, Any]]:
    def read(words: list[str]) -> dict[str, Any]:
        if len(words) != 1:
            raise ValueError("is followed by one word (in quotes if it holds blanks)")
        return {name: words[0]}

    return read


def _whole(name: str, many: bool = False) -> Callable[[list[str]], dict[str, Any]]:
    def read(words: list[str]) -> dict[str, Any]:
        if not words or (len(words) > 1 and not many) or not all(word.isascii() and word.isdigit() for word in words):
            raise ValueError(f"is followed by {'whole numbers' if many else 'a whole number'}")
        numbers = tuple(map(int, words))
        return {name: numbers if many else numbers[0]}

    return read


def _request(words: list[str]) -> dict[str, Any]:
    if not 1 <= len(words) <= 2:
        raise ValueError("is followed by one or two codes")
    return {"request": tuple(words)}


def _numeric(words: list[str]) -> dict[str, Any]:
    if not words:
        return {"numeric": True}
    part = PARTS.get(words[0].strip("<>").upper())
    if part is None or len(words) > 1:
        raise ValueError(f"may be followed by {', '.join(f'<{name}>' for name in PARTS)}")
    return {"numeric": True, "part": part}


def _part(part: str) -> Callable[[list[str]], dict[str, Any]]:
    return lambda words: {"part": part, **_flag("numeric")(words), **({"numeric": False} if part == "status" else {})}


KEYWORDS: Final[dict[str, Callable[[list[str]], dict[str, Any]]]] = {
    "RECODEABLE": _flag("recodable"),
    "RECODABLE": _flag("recodable"),
    "TOTCODE": _word("total"),
    "DISTANCE": _whole("distance", many=True),
    "CODELIST": _word("codelist"),
    "HIERARCHICAL": _flag("hierarchical"),
    "HIERLEVELS": _whole("levels", many=True),
    "HIERCODELIST": _word("hierarchy"),
    "HIERLEADSTRING": _word("leader"),
    "NUMERIC": _numeric,
    "DECIMALS": _whole("decimals"),
    "WEIGHT": _flag("weight"),
    "HOLDING": _flag("holding"),
    "REQUEST": _request,
    "TRUNCABLE": _flag("truncable"),
    "RECORDKEY": _flag("record_key"),
    "FREQUENCY": _part("count"),
    "MAXSCORE": _part("top"),
    "STATUS": _part("status"),
    "IDLEVEL": _whole("id_level"),
    "HOUSEHOLD": _flag("household"),
    "HOUSE_ID": _flag("house_id"),
    "SUPPRESSPRIORITY": _whole("priority"),
    "SUPPRESSWEIGHT": _whole("priority"),
    "RELATED": lambda words: {"related": tuple(words)},
}
"""Keywords of a variable, and what reads the words after each."""
