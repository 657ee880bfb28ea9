"""The commands of a batch, with what follows each, read and checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tabprotect.errors import did_you_mean
from tabprotect.formats.argus.parts import call_of, fields_of, number_of, plain, split, table_of
from tabprotect.formats.argus.safety import SafetyRule
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
        parts = [part.strip() for part in split(text, "|")]
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
        cost = plain(cost)
        if re.fullmatch(r"-\d+", cost) and cost not in COSTS:
            raise ValueError(f"cost {cost} means nothing; -1 is the frequency, -2 one for every cell, -3 the distance")
        number = number_of(power, "lambda") if power.strip() else 1.0
        if not 0 <= number <= 1:
            raise ValueError(f"lambda must lie between 0 and 1, not {number:g}")
        response = plain(response)
        counted = response.strip("<>").upper() == "FREQ" and response.startswith("<")
        return cls(by, "" if counted else response, plain(shadow), COSTS.get(cost, cost), number)


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
        return cls(name, table_of(table), separator, ignore != "0", expand == "1")


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
        return cls(table_of(words[0]), words[1], int(words[2]) if level else words[2])


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
        table = table_of(words[0], least=0)
        if table == 0 and name not in ("MOD", "GH", "OPT"):
            raise ValueError(f"{name}(0): linked tables go with MOD, GH and OPT")
        numbers = tuple(None if not word else number_of(word, name) for word in words[1:])
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
        return cls(table_of(words[0]), int(words[1]), options, words[3], ignored)


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
