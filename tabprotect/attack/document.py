"""What a certificate looks like, and its numbers as Python integers; the standard library only."""

from __future__ import annotations

import csv
import gzip
import hashlib
import itertools
import json
import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

__all__ = [
    "FORMAT",
    "SECTIONS",
    "VALUES_FORMAT",
    "VERDICTS",
    "Malformed",
    "Numbers",
    "canonical",
    "compare",
    "digest",
    "fraction",
    "integers",
    "label_of",
    "list_of",
    "load",
    "positions",
    "question",
    "require",
    "seal",
]

FORMAT = "tabprotect-certificate/1"
VALUES_FORMAT = "tabprotect-values/1"
SECTIONS = (
    "format",
    "notice",
    "verdict",
    "cost",
    "bound",
    "claimed_bound",
    "residual",
    "digest",
    "publication",
    "pattern",
    "exposed",
    "unproven",
    "witnesses",
    "proof",
    "problem",
)
COLUMNS = ("values", "status", "lpl", "upl", "spl", "weights", "lower", "upper")
PROBLEM = ("cells", *COLUMNS, "rhs", "start", "cell", "coefficient", "attackers", "integer")
SAFE, PRIMARY, FORCED, PROTECTED, ZERO = range(5)
EXPONENT = 400
"""No number needs a larger exponent; one of a billion would keep the reader busy for ever."""

VERDICTS = ("safe", "LP-safe only", "not safe")


class Malformed(Exception):
    """What is written is not a certificate at all."""


def digest(section: Any) -> str:
    """Return the SHA-256 of a JSON value in canonical form."""
    if not isinstance(section, Mapping):
        return hashlib.sha256(canonical(section).encode()).hexdigest()
    state = hashlib.sha256(b"{")
    for number, name in enumerate(sorted(section)):  # entry by entry: the whole text may be large
        state.update(f"{',' if number else ''}{canonical(name)}:{canonical(section[name])}".encode())
    state.update(b"}")
    return state.hexdigest()


def seal(sections: Iterable[tuple[str, str]]) -> str:
    """Return the SHA-256 over the digests of all sections of a certificate but the seal."""
    return hashlib.sha256("\n".join(f"{name} {value}" for name, value in sections).encode()).hexdigest()


def canonical(value: Any) -> str:
    """Return the JSON text of a value: sorted names, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


class Numbers:
    """The numbers of a problem as integers: values, bounds and levels times `scale`, coefficients times `unit`.

    Intruders who know that all values are integers see levels and external bounds rounded to integers.

    Parameters
    ----------
    problem : mapping
        The section ``problem`` of a certificate.
    """

    def __init__(self, problem: Mapping[str, Any]) -> None:
        require(set(problem) == set(PROBLEM), f"the problem must have exactly the entries {', '.join(PROBLEM)}")
        self.n = n = len(list_of(problem["cells"], "cells"))
        self._memo: dict[str, Fraction | None] = {}
        column = {name: self._column(problem, name, n) for name in COLUMNS if name != "status"}
        self.status = integers(problem["status"], "status")
        require(len(self.status) == n and all(SAFE <= s <= ZERO for s in self.status), "status must be 0 to 4 a cell")
        self.integer = problem["integer"]
        require(isinstance(self.integer, bool), "'integer' must be true or false")
        finite = [
            v for name in COLUMNS if name not in ("status", "weights") for v in set(column[name]) if v is not None
        ]
        scale = math.lcm(1, *{v.denominator for v in finite})
        value, down, up = (scaled(column[name], scale) for name in ("values", "lower", "upper"))
        levels = {side: scaled(column[name], scale) for side, name in ((1, "upl"), (-1, "lpl"), (0, "spl"))}
        require(all(v is not None for c in (value, *levels.values()) for v in c), "values and levels must be finite")
        self.values: list[int] = [v for v in value if v is not None]
        self.need = {side: [v for v in level if v is not None] for side, level in levels.items()}
        self.scale = scale
        self.down = [None if d is None else v - d for v, d in zip(self.values, down, strict=True)]
        self.up = [None if u is None else u - v for v, u in zip(self.values, up, strict=True)]
        self._equations(problem)
        if self.integer:
            self._round()
        inside = all(v is None or v >= 0 for distances in (self.down, self.up) for v in distances)
        require(inside, "values must lie within their external bounds")
        require(all(v >= 0 for level in self.need.values() for v in level), "protection levels must be >= 0")
        weights = column["weights"]
        require(all(w is not None and w >= 0 for w in weights), "weights must be finite and >= 0")
        self.weights = [w for w in weights if w is not None]
        self.known: list[frozenset[int]] = []
        for attacker in list_of(problem["attackers"], "attackers"):
            require(set(attacker) == {"name", "known"}, "an attacker has a name and known cells")
            self.known.append(frozenset(positions(attacker["known"], n, "known cells")))

    def _column(self, problem: Mapping[str, Any], name: str, n: int | None = None) -> list[Fraction | None]:
        column = list_of(problem[name], name)
        require(n is None or len(column) == n, f"'{name}' must have {n} entries")
        for text in set(column):
            if text not in self._memo:
                self._memo[text] = None if text in ("inf", "-inf") else fraction(text, name)
        return [self._memo[text] for text in column]

    def _equations(self, problem: Mapping[str, Any]) -> None:
        coefficients, rhs = self._column(problem, "coefficient"), self._column(problem, "rhs")
        start, cell = integers(problem["start"], "start"), positions(problem["cell"], self.n, "cell")
        self.unit = math.lcm(1, *{c.denominator for c in set(coefficients) if c is not None})
        number = scaled(coefficients, self.unit)
        shape = len(start) == len(rhs) + 1 and start[0] == 0 and start[-1] == len(cell) == len(number)
        require(shape and start == sorted(start) and None not in number and None not in rhs, "malformed equations")
        self.rows = [
            [(j, c) for j, c in zip(cell[lo:hi], number[lo:hi], strict=True) if c is not None]
            for lo, hi in itertools.pairwise(start)
        ]
        factor = self.unit * self.scale
        sums = [Fraction(sum(c * self.values[j] for j, c in row), factor) for row in self.rows]
        self.residual = max((abs(s - (r or 0)) for s, r in zip(sums, rhs, strict=True)), default=Fraction(0))
        self.columns: list[list[tuple[int, int]]] = [[] for _ in range(self.n)]
        for i, row in enumerate(self.rows):
            for j, c in row:
                self.columns[j].append((i, c))

    def _round(self) -> None:
        s = self.scale
        require(all(v % s == 0 for v in self.values), "values of an integer problem must be integers")
        self.values = [v // s for v in self.values]
        self.down = [None if d is None else d // s for d in self.down]
        self.up = [None if u is None else u // s for u in self.up]
        self.need = {side: [-(-v // s) for v in levels] for side, levels in self.need.items()}
        self.scale = 1

    def must_hide(self, cell: int) -> bool:
        """Primary or forced: hidden in every pattern."""
        return self.status[cell] in (PRIMARY, FORCED)

    def is_open(self, cell: int) -> bool:
        """Whether hiding the cell is a choice that costs something."""
        return self.status[cell] == SAFE and self.weights[cell] > 0

    def questions(self) -> list[tuple[int, int]]:
        """Return (cell, side) of every level that the public intruder must not beat; 0 asks for SPL."""
        primary = [p for p in range(self.n) if self.status[p] == PRIMARY]
        up, down, wide = (self.need[side] for side in (1, -1, 0))
        return [
            (p, side)
            for p in primary
            for side in (1, -1, 0)
            if (self.need[side][p] > 0 if side else wide[p] > up[p] + down[p])
        ]


def require(holds: bool, failure: str) -> None:
    """Raise `Malformed` unless a condition holds."""
    if not holds:
        raise Malformed(failure)


def list_of(value: Any, name: str) -> list[Any]:
    """Return a value that must be a list."""
    if not isinstance(value, list):
        raise Malformed(f"'{name}' must be a list")
    return value


def integers(value: Any, name: str) -> list[int]:
    """Return a value that must be a list of integers."""
    require(all(type(v) is int for v in list_of(value, name)), f"'{name}' must hold integers")
    return list(value)


def positions(value: Any, n: int, name: str) -> list[int]:
    """Return a value that must be a list of integers in 0..n-1."""
    found = integers(value, name)
    require(not found or (min(found) >= 0 and max(found) < n), f"'{name}' must lie in 0..{n - 1}")
    return found


def question(value: Any) -> tuple[int, int, int]:
    """Return a value that must be attacker, cell and side."""
    key = integers(value, "key")
    require(len(key) == 3, "a question is attacker, cell and side")
    return key[0], key[1], key[2]


def fraction(text: Any, name: str) -> Fraction:
    """Return a number that must be written as text: a decimal or a fraction."""
    try:
        require(isinstance(text, str), f"'{name}' must hold numbers written as text, not {text!r}")
        exponent = text.lower().partition("e")[2]
        require(abs(int(exponent or 0)) <= EXPONENT, f"'{name}' holds {text!r}, which no floating-point number can be")
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise Malformed(f"'{name}' holds {text!r}, which is not a number") from None


def scaled(column: Iterable[Fraction | None], scale: int) -> list[int | None]:
    return [None if v is None else v.numerator * (scale // v.denominator) for v in column]


def label_of(cell: Any) -> str:
    """Return the id of a cell as words."""
    return " x ".join(str(part) for part in cell) if isinstance(cell, (list, tuple)) else str(cell)


def load(source: Any, *, data: bool = False) -> Mapping[str, Any]:
    """Read a mapping, a JSON file (plain or .gz), or, for data, a .jj or .csv file."""
    if isinstance(source, Mapping):
        found: Mapping[str, Any] = source
    else:
        path = Path(source)
        raw = path.read_bytes()
        try:
            text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
            if data and path.suffix == ".jj":
                return _read_jj(text)
            if data and path.suffix == ".csv":
                lines = list(csv.DictReader(text.splitlines()))
                return {name: [line[name] for line in lines] for name in (lines[0] if lines else {})}
            found = json.loads(text, object_pairs_hook=_no_duplicates)
        except RecursionError:
            raise Malformed(f"{path.name} cannot be read: it is nested too deeply") from None
        except (ValueError, EOFError, gzip.BadGzipFile, IndexError) as error:
            raise Malformed(f"{path.name} cannot be read: {error}") from error
    require(isinstance(found, Mapping), "not a certificate: the outermost value must be an object")
    inner = found.get("problem")
    return inner if data and isinstance(inner, Mapping) else found


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an entry occurs twice")
    return found


def _read_jj(text: str) -> dict[str, Any]:
    lines = text.splitlines()
    n = int(lines[1])
    cells = [line.split() for line in lines[2 : 2 + n]]
    names = ("cell", "values", "weights", "status", "lower", "upper", "lpl", "upl", "spl")
    columns = dict(zip(names, map(list, zip(*cells, strict=True)), strict=True))
    return columns | {"status": [str("sumpz".index(letter)) for letter in columns["status"]]}


def compare(problem: Mapping[str, Any], data: Mapping[str, Any]) -> list[str]:
    """Compare the embedded problem with the office's data, number by number."""
    if set(data) == set(PROBLEM):
        same = {name for name in PROBLEM if problem[name] == data[name]}
        if len(same) == len(PROBLEM):
            return []
        left = [name for name in PROBLEM if name not in same and name not in COLUMNS]
        found = [f"'{name}' differs from the data given" for name in left]
        if "cells" in left:
            return found
        data = {"cell": data["cells"], **{name: data[name] for name in COLUMNS}}
    else:
        found = []
    require(
        "cell" in data and len(set(data) & set(COLUMNS)) > 0,
        f"data to compare need 'cell' and any of {', '.join(COLUMNS)}",
    )
    place = {label_of(cell): i for i, cell in enumerate(problem["cells"])}
    names = [label_of(cell) for cell in data["cell"]]
    missing = sorted(place.keys() - set(names))[:5] + sorted(set(names) - place.keys())[:5]
    if missing:
        return [*found, f"not the same cells: {', '.join(missing)}"]
    for name in COLUMNS:
        if name in data:
            wrong = [c for c, v in zip(names, data[name], strict=True) if not _equal(problem[name][place[c]], v)]
            if wrong:
                found.append(f"'{name}' differs from the data given in {', '.join(wrong[:5])}")
    return found


def _equal(written: Any, given: Any) -> bool:
    texts = [v if isinstance(v, str) else repr(v) if type(v) is int else repr(float(v)) for v in (written, given)]
    return texts[0] == texts[1] or (
        not any("inf" in t or "nan" in t for t in texts) and Fraction(texts[0]) == Fraction(texts[1])
    )
