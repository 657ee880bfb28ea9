"""Data of an office as they are given: a statement, a certificate, columns by name, a .jj or .csv file, a release."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from tabprotect.certificate.document import COLUMNS, PROBLEM, SHOWN, label_of, load
from tabprotect.certificate.limits import Limits, Malformed, Meter, fits, read_within, require
from tabprotect.certificate.numbers import Numbers, decimal
from tabprotect.certificate.shown import comparable

__all__ = ["Data", "Equation", "normalised", "of_statement", "read"]

Equation = tuple[tuple[tuple[str, int], ...], Fraction]

CERTIFICATE = Path("internal") / "certificate.json"
"""Where a release has its certificate."""

_JJ = ("cell", "values", "weights", "status", "lower", "upper", "lpl", "upl", "spl")


@dataclass(frozen=True)
class Data:
    """Cells by name, and as much of a problem as the data state; None where they do not."""

    names: list[str]
    columns: Mapping[str, Sequence[Any]]
    equations: list[Equation] | None = None
    attackers: list[tuple[str, tuple[str, ...], tuple[str, ...]]] | None = None
    integer: bool | None = None
    claim: Any = None
    shown: Any = None


def normalised(coefficients: Mapping[str, Fraction | int], rhs: Fraction | int) -> Equation | None:
    """Return an equation in its smallest whole numbers, the first coefficient by name positive; None for 0 = 0.

    Examples
    --------
    >>> normalised({"b": 2, "a": -2}, 4)
    ((('a', 1), ('b', -1)), Fraction(-2, 1))
    """
    kept = sorted((name, Fraction(c)) for name, c in coefficients.items() if c)
    if not kept:
        return ((), Fraction(1)) if rhs else None
    common = math.lcm(*(c.denominator for _, c in kept))
    whole = [int(c * common) for _, c in kept]
    divisor = math.gcd(*whole) * (1 if whole[0] > 0 else -1)
    return tuple((name, c // divisor) for (name, _), c in zip(kept, whole, strict=True)), Fraction(
        rhs
    ) * common / divisor


def of_statement(problem: Any, meter: Meter, claim: Any = None) -> Data:
    """Take the statement of a problem that is well formed."""
    numbers = Numbers(problem, meter)  # everything is well formed from here on
    names = [label_of(cell) for cell in problem["cells"]]
    built = []
    for row, rhs in zip(numbers.rows, problem["rhs"], strict=True):
        terms: dict[str, int] = {}
        for j, c in row:
            terms[names[j]] = terms.get(names[j], 0) + c
        built.append(normalised(terms, decimal(rhs, "rhs") * numbers.unit))
    attackers = [
        (a["name"], *(tuple(sorted({names[j] for j in a.get(kind, ())})) for kind in ("known", "spared")))
        for a in problem["attackers"]
    ]
    columns = {name: problem[name] for name in COLUMNS}
    equations = [e for e in built if e is not None]
    return Data(names, columns, equations, attackers, problem["integer"], claim, comparable(problem))


def read(against: Any, limits: Limits, meter: Meter) -> Data:
    """Read what `tabprotect.certificate.against.compare` takes.

    Raises
    ------
    Malformed
        If it cannot be read, or names no cells.
    """
    if isinstance(against, Mapping):
        return _of_mapping(against, meter)
    path = Path(against)
    if path.is_dir():
        path = path / CERTIFICATE
    kind = (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()
    if kind not in (".jj", ".csv"):
        return _of_mapping(load(path, limits), meter)
    raw = read_within(path, limits)
    fits(raw.replace(b" ", b",").replace(b"\n", b","), limits, path.name)
    try:
        text = raw.decode("utf-8-sig")
        return _of_jj(text, meter) if kind == ".jj" else _of_csv(text, meter)
    except (ValueError, IndexError, csv.Error) as error:
        raise Malformed(f"{path.name} cannot be read: {error}") from error


def _of_mapping(given: Mapping[str, Any], meter: Meter) -> Data:
    inner = given.get("problem")
    if isinstance(inner, Mapping):
        return of_statement(inner, meter, given.get("claim"))
    if set(given) - set(SHOWN) == set(PROBLEM):
        return of_statement(given, meter)
    named = {name: list(given[name]) for name in ("cell", *COLUMNS) if name in given}
    require("cell" in named and len(named) > 1, f"data to compare need 'cell' and any of {', '.join(COLUMNS)}")
    require(len({len(column) for column in named.values()}) == 1, "the columns of the data given differ in length")
    return Data([label_of(cell) for cell in named.pop("cell")], named)


def _of_csv(text: str, meter: Meter) -> Data:
    lines = [line for line in csv.reader(text.splitlines()) if line]
    require(bool(lines), "the data given are an empty file")
    names, rows = lines[0], lines[1:]
    meter.spend(10 * len(rows) * len(names))
    require(all(len(row) == len(names) for row in rows), "lines of the data given differ in length")
    columns = {name: [row[k] for row in rows] for k, name in enumerate(names)}
    return _of_mapping({name: column for name, column in columns.items() if name in ("cell", *COLUMNS)}, meter)


def _of_jj(text: str, meter: Meter) -> Data:
    """Read cells and equations; a .jj file knows no attackers and no integrality."""
    lines = text.splitlines()
    n = int(lines[1])
    require(0 <= n <= len(lines), "the data given announce more cells than lines")
    cells = [line.split() for line in lines[2 : 2 + n]]
    require(all(len(words) == len(_JJ) for words in cells), "a cell of the data given has not 9 entries")
    columns: dict[str, list[Any]] = {name: [words[k] for words in cells] for k, name in enumerate(_JJ)}
    columns["status"] = ["sumpz".index(letter) for letter in columns["status"]]
    names = columns.pop("cell")
    rows = lines[3 + n : 3 + n + int(lines[2 + n])]
    built = []
    for row in rows:
        left, _, right = row.partition(":")
        rhs, count = left.split()
        words = right.replace("(", " ").replace(")", " ").split()
        require(len(words) == 2 * int(count), "an equation of the data given has not as many terms as it says")
        meter.spend(10 * len(words))
        terms: dict[str, Fraction] = {}
        for name, c in zip(words[::2], words[1::2], strict=True):
            terms[name] = terms.get(name, Fraction(0)) + _asread(c, "coefficient")
        built.append(normalised(terms, _asread(rhs, "rhs")))
    return Data(names, columns, [e for e in built if e is not None])


def _asread(word: str, name: str) -> Fraction:
    """Return the decimal of the float that a word is read as."""
    return decimal(repr(float(word)), name)
