"""Global recodings by hand, as tau-ARGUS writes them in .grc files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from tabprotect.errors import InputError, Problems, did_you_mean
from tabprotect.table.reading.plain import read_plain_text

__all__ = ["RecodingRules"]

_WORD = r'(?:"[^"\n]*"|[^\s",:-][^\s",:-]*)'
_ITEM = re.compile(rf"\s*(?P<low>{_WORD})?\s*(?P<dash>-)?\s*(?P<high>{_WORD})?\s*")


@dataclass(frozen=True)
class RecodingRules:
    r"""New codes for sets of old ones.

    The text has a line for every new code: the code, a colon, then old codes and ranges of old codes with commas
    between them; a range without an end is open::

        1:  - 49
        2: 50 - 99
        3: 100, 102, 110 - 149
        4: 150 -

    Codes are text, compared from the right: shorter codes are filled up with blanks on the left, so that 5 < 10 <
    100, but 05 and 5 are different codes. Codes with blanks, hyphens, commas or colons go into double quotes. Old
    codes that no line names stay as they are.

    Parameters
    ----------
    rules : tuple of (str, tuple of (str or None, str or None))
        New code, and ranges of old codes with both ends included; None for an open end.

    Raises
    ------
    InputError
        Every line that cannot be read, and new codes given twice.

    References
    ----------
    tau-ARGUS 4.1 manual, sections 4.2.2 and 5.4; libtauargus, ``TauArgus::ParseRecodeStringLine`` (blanks on the left).

    Examples
    --------
    >>> recode = RecodingRules.parse("young: - 29\nold: 60, 65 -")
    >>> recode.apply(["5", "29", "30", "60", "64", "65", "100"])
    ['young', 'young', '30', 'old', '64', 'old', 'old']
    """

    rules: tuple[tuple[str, tuple[tuple[str | None, str | None], ...]], ...]

    @classmethod
    def parse(cls, text: str) -> RecodingRules:
        """Read the text of a .grc file."""
        problems = Problems()
        rules: dict[str, tuple[tuple[str | None, str | None], ...]] = {}
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip():
                continue
            head = re.match(rf"\s*({_WORD})\s*:(.*)$", line)
            if head is None:
                quotes = "; codes with hyphens, blanks or commas go into double quotes" if ":" in line else ""
                problems.add(f"line {number}: '{line.strip()}' has no new code with a colon after it{quotes}")
                continue
            new, items = _plain(head[1]), _split(head[2])
            ranges = []
            for item in items:
                found = _ITEM.fullmatch(item)
                low, high = (_plain(found[end]) for end in ("low", "high")) if found else (None, None)
                dash = bool(found and found["dash"])
                if (low is None and high is None) or (not dash and high is not None):
                    problems.add(f"line {number}: '{item.strip()}' is neither a code nor a range such as 05 - 07")
                    continue
                if low is not None and high is not None and _key(low, 0, high) > _key(high, 0, low):
                    problems.add(f"line {number}: the range {low} - {high} is upside down")
                ranges.append((low, high) if dash else (low, low))
            if new in rules:
                problems.add(f"line {number}: the new code '{new}' has a line already")
            rules[str(new)] = tuple(ranges)
        problems.raise_if_any()
        if not rules:
            raise InputError("the recoding is empty; a line is a new code, a colon, and old codes")
        return cls(tuple(rules.items()))

    @classmethod
    def read(cls, path: str | Path) -> RecodingRules:
        """Read a .grc file."""
        try:
            text = read_plain_text(path)
        except InputError as error:
            raise InputError(*(f"recoding {problem}" for problem in error.problems)) from error
        try:
            return cls.parse(text)
        except InputError as error:
            raise InputError(*(f"{path}, {problem}" for problem in error.problems)) from None

    def __str__(self) -> str:
        lines = []
        for new, ranges in self.rules:
            items = (
                _quoted(low) if low == high else f"{_quoted(low)} - {_quoted(high)}".strip() for low, high in ranges
            )
            lines.append(f"{_quoted(new)}: {', '.join(items)}")
        return "\n".join(lines)

    def mapping(self, codes: Iterable[str]) -> dict[str, str]:
        """Return the new code of every old one.

        Raises
        ------
        InputError
            Old codes that fall under several new ones, and single codes of the recoding that do not occur.
        """
        old = sorted({str(code) for code in codes})
        width = max(
            [len(code) for code in old] + [len(end) for _, r in self.rules for pair in r for end in pair if end]
        )
        mapping: dict[str, str] = {}
        problems = Problems()
        for new, ranges in self.rules:
            for low, high in ranges:
                bottom, top = ("" if low is None else low.rjust(width)), (None if high is None else high.rjust(width))
                hits = [c for c in old if bottom <= c.rjust(width) and (top is None or c.rjust(width) <= top)]
                if low is not None and low == high and not hits:
                    problems.add(f"code '{low}' of new code '{new}' does not occur{did_you_mean(low, old)}")
                for code in hits:
                    if mapping.get(code, new) != new:
                        problems.add(f"code '{code}' falls under both '{mapping[code]}' and '{new}'")
                    mapping[code] = new
        problems.raise_if_any()
        return {code: mapping.get(code, code) for code in old}

    def apply(self, codes: Any) -> Any:
        """Return codes recoded: a list for a list, a series for a series. Missing codes stay missing."""
        series = pd.Series(codes, dtype=object) if not isinstance(codes, pd.Series) else codes.astype(object)
        there = series.notna()
        mapping = self.mapping(series[there].map(str))
        result = series.where(~there, series.map(lambda code: mapping.get(str(code))))
        return result if isinstance(codes, pd.Series) else result.tolist()


def _plain(word: str | None) -> str | None:
    return None if word is None else word.strip('"')


def _quoted(word: str | None) -> str:
    if word is None:
        return ""
    return f'"{word}"' if re.search(r"[\s,:-]", word) or not word else word


def _split(text: str) -> list[str]:
    """Split at commas outside of quotes."""
    return re.findall(r'(?:"[^"]*"|[^,"])+', text)


def _key(code: str, least: int, other: str) -> str:
    return code.rjust(max(least, len(code), len(other)))
