"""Keys that a command line gives twice, by two flags or by a flag and ``--set``: neither is dropped without a word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["GivenOnce"]


class GivenOnce:
    """Which words of a command line give which keys.

    Examples
    --------
    >>> once = GivenOnce()
    >>> once.note({"options": {"base": "5"}}, "--option base=5")
    []
    >>> once.note({"options": {"base": 1000.0}}, "--base 1000")
    ['options.base is given twice: by --option base=5 and by --base 1000; take one of them out']
    """

    def __init__(self) -> None:
        self._words: dict[tuple[str, ...], str] = {}

    def note(self, content: Mapping[str, Any], words: str) -> list[str]:
        """Note what words give; return what is wrong with that. The same flag may be repeated."""
        problems = []
        for key in _keys(content):
            for other, before in self._words.items():
                shorter = min(len(key), len(other))
                if key[:shorter] == other[:shorter] and before.split()[0] != words.split()[0]:
                    name = ".".join(filter(None, key[:shorter]))
                    problems.append(f"{name} is given twice: by {before} and by {words}; take one of them out")
                    break
            self._words[key] = words
        return problems


def _keys(content: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the keys of values; all sources of one hierarchy are one key."""
    from tabprotect.workflow.specification import SOURCES

    for name, value in content.items():
        if isinstance(value, Mapping):
            for key in _keys(value):
                whole = (name, *key)
                is_source = whole[0] == "hierarchy" and len(whole) == 3 and whole[2] in SOURCES
                yield (*whole[:2], "") if is_source else whole
        elif value is not None:
            yield (name,)
