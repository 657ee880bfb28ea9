"""The commands of a batch, with what follows each, read and checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tabprotect.errors import did_you_mean
from tabprotect.formats.argus.text import split_words

__all__ = [
    "Action",
    "Apriori",
    "Clear",
    "Cover",
    "GoInteractive",
    "Logbook",
    "OpenData",
    "OpenMetadata",
    "ReadData",
    "Recode",
    "SafetyRule",
    "Solver",
    "SpecifyTable",
    "Suppress",
    "VersionInfo",
    "WriteTable",
    "fields_of",
]

METHODS: Final = ("OPT", "MOD", "GH", "NET", "RND", "CTA")
OPTIONS: Final = ("AR", "AS", "FL", "HI", "HL", "QU", "SE", "SO", "TR")
COSTS: Final = {"-1": "frequency", "-2": "unit", "-3": "distance"}

#: how many of the first P, NK, FREQ, REQ rules are at the level of individuals
_INDIVIDUAL: Final = {"P": 2, "NK": 2, "FREQ": 1, "REQ": 1}


@dataclass(frozen=True)
class OpenData:
    """``OPENMICRODATA`` or, with `table`, ``OPENTABLEDATA``."""

    name: str
    table: bool


@dataclass(frozen=True)
class OpenMetadata:
    """``OPENMETADATA``."""

    name: str


@dataclass(frozen=True)
class SpecifyTable:
    """``SPECIFYTABLE``.

    Parameters
    ----------
    by : tuple of str
    response : str
        '' counts records (``<FREQ>``).
    shadow : str
        '' for the response.
    cost : str
        A variable, 'frequency', 'unit', 'distance', or '' for the response.
    power : float
        Box-Cox power of the cost (lambda).
    """

    by: tuple[str, ...]
    response: str
    shadow: str = ""
    cost: str = ""
    power: float = 1.0

    @classmethod
    def parse(cls, text: str) -> SpecifyTable:
        """Read what follows the keyword."""
        parts = [part.strip() for part in _split(text, "|")]
        by = tuple(split_words(parts[0].replace('""', '" "')))
        if len(parts) < 2 or not by or not parts[1]:
            raise ValueError('write "VAR1""VAR2"|"RESPONSE"|"SHADOW"|"COST"|LAMBDA')
        if len(set(by)) < len(by):
            raise ValueError(f"a variable spans the table twice: {', '.join(by)}")
        response, shadow, cost, power, *more = [*parts[1:], "", "", ""][: max(4, len(parts) - 1)]
        if "," in cost and not power:
            cost, _, power = cost.partition(",")
        if more:
            raise ValueError("too many parts: there are variables, response, shadow, cost and lambda")
        cost = _plain(cost)
        if re.fullmatch(r"-\d+", cost) and cost not in COSTS:
            raise ValueError(f"cost {cost} means nothing; -1 is the frequency, -2 one for every cell, -3 the distance")
        number = _number(power, "lambda") if power.strip() else 1.0
        if not 0 <= number <= 1:
            raise ValueError(f"lambda must lie between 0 and 1, not {number:g}")
        response = _plain(response)
        counted = response.strip("<>").upper() == "FREQ" and response.startswith("<")
        return cls(by, "" if counted else response, _plain(shadow), COSTS.get(cost, cost), number)


@dataclass(frozen=True)
class SafetyRule:
    """``SAFETYRULE``: rules in the words of `tabprotect.parse_rule`, at the level of individuals and of holdings."""

    individual: tuple[str, ...] = ()
    holding: tuple[str, ...] = ()
    weighted: bool = False
    missing_safe: bool = False
    manual: float = 20.0

    @classmethod
    def parse(cls, text: str) -> SafetyRule:
        """Read what follows the keyword."""
        found: dict[bool, list[str]] = {False: [], True: []}
        seen: dict[str, int] = {}
        general: dict[str, float] = {}
        for part in _split(text, "|"):
            if not part.strip():
                continue
            name, words = call_of(part)
            numbers = [_number(word, name) for word in words]
            if name in ("WGT", "MIS"):
                if numbers not in ([0.0], [1.0]):
                    raise ValueError(f"{name} is followed by 0 or 1 in brackets")
                general[name] = numbers[0]
            elif name == "MAN":
                _count(name, numbers, 1, 1, "per cent")
                general[name] = numbers[0]
            else:
                seen[name] = seen.get(name, 0) + 1
                most = 2 * _INDIVIDUAL.get(name, 0) or 1
                if seen[name] > most:
                    raise ValueError(f"{name} is given {seen[name]} times; at most {most} are allowed")
                rule = _rule(name, numbers)
                if rule is not None:
                    found[name in _INDIVIDUAL and seen[name] > _INDIVIDUAL[name]].append(rule)
        return cls(
            tuple(found[False]),
            tuple(found[True]),
            bool(general.get("WGT", 0)),
            bool(general.get("MIS", 0)),
            general.get("MAN", 20.0),
        )


def _rule(name: str, numbers: list[float]) -> str | None:
    """Return a rule as `tabprotect.parse_rule` reads it; None where its first number switches it off."""
    if name == "P":
        _count(name, numbers, 1, 3, "p, n")
        if not numbers[0]:
            return None
        if len(numbers) == 3 and numbers[1] != 100:
            return "pq=" + ",".join(f"{number:g}" for number in numbers)
        n = numbers[-1] if len(numbers) > 1 else 1
        return f"p%={numbers[0]:g},{n:g}"
    if name == "NK":
        _count(name, numbers, 2, 2, "n, k")
        return f"nk={numbers[0]:g},{numbers[1]:g}" if numbers[0] and numbers[1] else None
    if name == "FREQ":
        _count(name, numbers, 2, 2, "least number, range")
        return f"threshold={numbers[0]:g},{numbers[1]:g}" if numbers[0] else None
    if name == "ZERO":
        _count(name, numbers, 1, 1, "range")
        return f"zero={numbers[0]:g}" if numbers[0] else None
    if name == "REQ":
        _count(name, numbers, 3, 4, "percent 1, percent 2, least number, range")
        if not numbers[0]:
            return None
        least = f",{numbers[2]:g}" if len(numbers) == 4 else ""
        return f"request={numbers[0]:g},{numbers[1] or numbers[0]:g},{numbers[-1]:g}{least}"
    raise ValueError(
        f"rule {name} is not known{did_you_mean(name, ['P', 'NK', 'FREQ', 'ZERO', 'REQ', 'WGT', 'MIS', 'MAN'])}"
    )


@dataclass(frozen=True)
class ReadData:
    """``READMICRODATA`` or, with `table`, ``READTABLE`` with what to do about sums."""

    table: bool
    sums: int = 0
    keep_status: bool = False

    @classmethod
    def parse(cls, text: str, table: bool) -> ReadData:
        """Read what follows the keyword."""
        word = text.strip().strip("()").strip()
        if not table:
            return cls(False)
        found = re.fullmatch(r"([012]?)\s*,?\s*([TtFf]?)", word)
        if found is None or (found[2] and found[1] != "1"):
            raise ValueError(
                "is followed by 0 (sums are checked), 1 (missing totals are computed) or 2 (sums may be off)"
            )
        return cls(True, int(found[1] or 0), found[2].upper() == "T")


@dataclass(frozen=True)
class Apriori:
    """``APRIORI``."""

    name: str
    table: int
    separator: str
    ignore: bool = True
    expand: bool = False

    @classmethod
    def parse(cls, text: str) -> Apriori:
        """Read what follows the keyword."""
        words = fields_of(text)
        if not 2 <= len(words) <= 5 or not words[0]:
            raise ValueError('write "FILE.hst", TABLE, "SEPARATOR", IGNOREERROR, EXPANDTRIVIAL')
        name, table, separator, ignore, expand = [*words, "", "", ""][:5]
        for word in (ignore, expand):
            if word not in ("", "0", "1"):
                raise ValueError(f"IgnoreError and ExpandTrivial are 0 or 1, not '{word}'")
        return cls(name, _table(table), separator, ignore != "0", expand == "1")


@dataclass(frozen=True)
class Recode:
    """``RECODE``: a file, or the deepest level that is kept."""

    table: int
    variable: str
    how: str | int

    @classmethod
    def parse(cls, text: str) -> Recode:
        """Read what follows the keyword."""
        words = fields_of(text)
        if len(words) != 3 or not all(words):
            raise ValueError('write TABLE, VARIABLE, "FILE.grc", or TABLE, VARIABLE, LEVEL')
        level = re.fullmatch(r"[1-9]", words[2])
        return cls(_table(words[0]), words[1], int(words[2]) if level else words[2])


@dataclass(frozen=True)
class Suppress:
    """``SUPPRESS``: the method, the table (0: all, linked), and the numbers after it (None where one is left out)."""

    method: str
    table: int
    numbers: tuple[float | None, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Suppress:
        """Read what follows the keyword."""
        name, words = call_of(text)
        if name == "CKM":
            raise ValueError("CKM (cell keys) needs records with keys: write tabprotect protect --method cell-key")
        if name not in METHODS:
            raise ValueError(f"method {name} is not known{did_you_mean(name, METHODS)}")
        if not words:
            raise ValueError(f"{name} is followed by the number of a table in brackets, such as {name}(1)")
        table = _table(words[0], least=0)
        if table == 0 and name not in ("MOD", "GH", "OPT"):
            raise ValueError(f"{name}(0): linked tables go with MOD, GH and OPT")
        numbers = tuple(None if not word else _number(word, name) for word in words[1:])
        most = {"OPT": 1, "MOD": 7, "GH": 3, "NET": 0, "RND": 6, "CTA": 0}[name]
        if len(numbers) > most:
            raise ValueError(f"{name} has {len(words)} numbers in brackets; at most {most + 1} are known")
        if name == "RND" and (not numbers or not numbers[0] or numbers[0] <= 0):
            raise ValueError("RND needs a base above 0: RND(TABLE, BASE, STEPS, MAXTIME, PARTITIONS, STOPRULE)")
        if any(number is not None and number < 0 for number in numbers):
            raise ValueError(f"the numbers of {name} are at least 0")
        return cls(name, table, numbers)


@dataclass(frozen=True)
class WriteTable:
    """``WRITETABLE``: table, form (1 to 6), options, file."""

    table: int
    form: int
    options: Mapping[str, bool]
    name: str
    ignored: str = ""

    @classmethod
    def parse(cls, text: str) -> WriteTable:
        """Read what follows the keyword."""
        inside = re.fullmatch(r"\s*\((.*)\)\s*", text)
        words = fields_of(inside[1] if inside else text)
        if len(words) != 4 or not words[3]:
            raise ValueError('write (TABLE, FORM, OPTIONS, "FILE")')
        if words[1] == "7":
            raise ValueError("form 7 belongs to the cell-key method: write tabprotect protect --method cell-key")
        if not re.fullmatch("[1-6]", words[1]):
            raise ValueError(f"form must be 1 to 6, not '{words[1]}'")
        options, ignored = {}, ""
        rest = words[2].replace(" ", "").upper()
        while rest:
            found = re.match(r"([A-Z]{2})([+-])", rest)
            if found is None:
                ignored = rest
                break
            if found[1] not in OPTIONS:
                raise ValueError(f"option {found[1]} is not known{did_you_mean(found[1], OPTIONS)}")
            options[found[1]] = found[2] == "+"
            rest = rest[3:]
        return cls(_table(words[0]), int(words[1]), options, words[3], ignored)


@dataclass(frozen=True)
class Solver:
    """``SOLVER``: which one tau-ARGUS would take, and its licence."""

    name: str
    licence: str = ""

    @classmethod
    def parse(cls, text: str) -> Solver:
        """Read what follows the keyword."""
        words = fields_of(text)
        if not 1 <= len(words) <= 2 or words[0].upper() not in ("CPLEX", "XPRESS", "FREE"):
            raise ValueError("is followed by CPLEX, XPRESS or FREE, and perhaps a licence file")
        return cls(words[0].upper(), words[1] if len(words) > 1 else "")


@dataclass(frozen=True)
class Logbook:
    """``LOGBOOK``."""

    name: str


@dataclass(frozen=True)
class VersionInfo:
    """``VERSIONINFO``."""

    name: str


@dataclass(frozen=True)
class Cover:
    """``COVER``."""


@dataclass(frozen=True)
class Clear:
    """``CLEAR``."""


@dataclass(frozen=True)
class GoInteractive:
    """``GOINTERACTIVE``."""


Action = (
    OpenData | OpenMetadata | SpecifyTable | SafetyRule | ReadData | Apriori | Recode | Suppress | WriteTable | Solver
    | Logbook | VersionInfo | Cover | Clear | GoInteractive
)  # fmt: skip


def fields_of(text: str) -> list[str]:
    """Split at commas outside of quotes, and take the quotes off.

    Examples
    --------
    >>> fields_of('"my, file.hst", 1 , ","')
    ['my, file.hst', '1', ',']
    """
    return [_plain(part) for part in _split(text, ",")] if text.strip() else []


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


def _split(text: str, sign: str) -> list[str]:
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


def _plain(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def _number(word: str, what: str) -> float:
    try:
        number = float(word)
    except ValueError:
        raise ValueError(f"{what}: '{word.strip()}' is no number") from None
    if not abs(number) < float("inf"):
        raise ValueError(f"{what}: '{word.strip()}' is no finite number")
    return number


def _count(name: str, numbers: list[float], least: int, most: int, what: str) -> None:
    if not least <= len(numbers) <= most:
        raise ValueError(f"{name} has {len(numbers)} numbers in brackets; write {name}({what})")


def _table(word: str, least: int = 1) -> int:
    if not (word.isascii() and word.isdigit() and int(word) >= least):
        raise ValueError(f"'{word}' should be the number of a table, from {least}")
    return int(word)
