"""Is the problem inside a certificate the office's own? The standard library only.

Two problems are the same if they have the same cells by name, the same numbers, statuses and attackers, and the same
equations: as sets, each equation divided by the greatest common divisor of its numbers and its first coefficient made
positive. The order of cells and equations does not count. Certificates of releases must also show the cells under the
same names (`tabprotect.certificate.shown`). What a file cannot state is listed as not compared.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from tabprotect.certificate.document import COLUMNS, PROBLEM, SHOWN, label_of, load
from tabprotect.certificate.limits import UNLIMITED, Limits, Malformed, Meter, fits, read_within, require
from tabprotect.certificate.numbers import Numbers, decimal
from tabprotect.certificate.shown import comparable

__all__ = ["Comparison", "compare"]

Equation = tuple[tuple[tuple[str, int], ...], Fraction]

CERTIFICATE = Path("internal") / "certificate.json"
"""Where a release has its certificate."""

_JJ = ("cell", "values", "weights", "status", "lower", "upper", "lpl", "upl", "spl")


@dataclass
class Comparison:
    """What differs, what was compared, and what the data given do not state."""

    failures: list[str] = field(default_factory=list)
    compared: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def sentences(self) -> tuple[list[str], list[str]]:
        """Return what was checked and what was not."""
        checked = [f"the embedded problem against the data given: {', '.join(self.compared)}"]
        return checked, [f"{', '.join(self.missing)}: the data given do not state them"] if self.missing else []


@dataclass(frozen=True)
class _Data:
    names: list[str]
    columns: Mapping[str, Sequence[Any]]
    equations: list[Equation] | None = None
    attackers: list[tuple[str, tuple[str, ...], tuple[str, ...]]] | None = None
    integer: bool | None = None
    claim: Any = None
    shown: Any = None


def compare(document: Mapping[str, Any], against: Any, limits: Limits = UNLIMITED) -> Comparison:
    """Compare the problem of a certificate with the office's data.

    Parameters
    ----------
    document : mapping
        A certificate whose problem was found to be well formed.
    against : path or mapping
        A problem statement or a mapping with one as ``problem``, columns by name, a certificate or statement (.json), a
        .jj or .csv file, each also as .gz, or the folder of a release.
    limits : Limits

    Raises
    ------
    Malformed
        If the data cannot be read, or name no cells.
    OSError
        If a file cannot be read.
    """
    meter = Meter(limits)
    data = _read(against, limits, meter)
    own = _of_statement(document["problem"], meter, document.get("claim"))
    require(len(set(own.names)) == len(own.names), "cells of the certificate have the same name, so none can be found")
    require(len(set(data.names)) == len(data.names), "the data given name a cell twice")
    found = Comparison()
    sums = _sums(own, set(data.names))
    own = _without(own, sums)
    left, right = set(own.names), set(data.names)
    if left != right:
        for cells, where in ((left - right, "only in the certificate"), (right - left, "only in the data given")):
            if cells:
                found.failures.append(f"not the same cells: {_few(sorted(cells))} {where}")
        return found
    found.compared.append(f"cells (and {len(sums)} sums of them that are judged as cells, too)" if sums else "cells")
    _columns(own, data, found)
    _equations(own, data, found)
    whole = " (the certificate: whole numbers)" if own.integer else " (the certificate: any numbers)"
    for name, mine, theirs, said in (
        (
            "attackers",
            _sorted(own.attackers),
            _sorted(data.attackers),
            f" (the certificate: {len(own.attackers or ())})",
        ),
        ("integrality", own.integer, data.integer, whole),
        ("claim of the method", own.claim, data.claim, ""),
        ("names of columns and further codes of cells", own.shown, data.shown, ""),
    ):
        if theirs is None:
            if mine is not None:
                found.missing.append(f"{name}{said}")
            continue
        found.compared.append(name)
        if mine != theirs:
            found.failures.append(f"'{name}' differs from the data given")
    return found


def _sums(own: _Data, known: set[str]) -> set[str]:
    """Return the cells that the data given do not have, if each of them is but a name for a sum of those they have.

    Then an equation of its own defines it and nothing else mentions it, so that it restricts nobody but the intruder.
    """
    further = set(own.names) - known
    used: dict[str, int] = dict.fromkeys(further, 0)
    for terms, rhs in own.equations or ():
        here = [name for name, _ in terms if name in further]
        if here and (len(here) > 1 or rhs or any(abs(c) != 1 for _, c in terms)):
            return set()
        for name in here:
            used[name] += 1
    return further if all(count == 1 for count in used.values()) else set()


def _without(own: _Data, sums: set[str]) -> _Data:
    """Leave out cells that are sums."""
    if not sums:
        return own
    kept = [i for i, name in enumerate(own.names) if name not in sums]
    return _Data(
        [own.names[i] for i in kept],
        {name: [column[i] for i in kept] for name, column in own.columns.items()},
        [e for e in own.equations or () if not any(name in sums for name, _ in e[0])],
        [
            (name, tuple(c for c in known if c not in sums), tuple(c for c in spared if c not in sums))
            for name, known, spared in own.attackers or ()
        ],
        own.integer,
        own.claim,
        own.shown,
    )


def _sorted(attackers: Iterable[tuple[str, tuple[str, ...], tuple[str, ...]]] | None) -> Any:
    return None if attackers is None else sorted(attackers)


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _columns(own: _Data, data: _Data, found: Comparison) -> None:
    place = {name: i for i, name in enumerate(own.names)}
    for name in COLUMNS:
        if name not in data.columns:
            found.missing.append(name)
            continue
        found.compared.append(name)
        column = own.columns[name]
        pairs = zip(data.names, data.columns[name], strict=True)
        wrong = [cell for cell, given in pairs if not _equal(column[place[cell]], given, name)]
        if wrong:
            found.failures.append(f"'{name}' differs from the data given in {_few(wrong)}")


def _equal(written: Any, given: Any, name: str) -> bool:
    if given == written:
        return True
    if name == "status":
        return str(given).strip() == str(written)
    try:
        return float(written) == float(given)  # the decimals of a file are read as floats
    except (TypeError, ValueError, OverflowError):
        raise Malformed(f"the data given have {str(given)[:40]!r} in '{name}', which is not a number") from None


def _equations(own: _Data, data: _Data, found: Comparison) -> None:
    if data.equations is None:
        found.missing.append("equations")
        return
    found.compared.append("equations (as sets, each in its smallest whole numbers)")
    mine, theirs = set(own.equations or ()), set(data.equations)
    for left, where in ((mine - theirs, "only in the certificate"), (theirs - mine, "only in the data given")):
        if left:
            words = "; ".join(sorted(_words(equation) for equation in left)[:3])
            found.failures.append(f"{len(left)} equations are {where}: {words}{'; ...' if len(left) > 3 else ''}")


def _words(equation: Equation) -> str:
    terms, rhs = equation
    said = " ".join(f"{'+' if c > 0 else '-'} {'' if abs(c) == 1 else f'{abs(c)} '}{name}" for name, c in terms[:6])
    return f"{said}{' ...' if len(terms) > 6 else ''} = {rhs}"


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


def _of_statement(problem: Any, meter: Meter, claim: Any = None) -> _Data:
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
    return _Data(names, columns, equations, attackers, problem["integer"], claim, comparable(problem))


def _read(against: Any, limits: Limits, meter: Meter) -> _Data:
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


def _of_mapping(given: Mapping[str, Any], meter: Meter) -> _Data:
    inner = given.get("problem")
    if isinstance(inner, Mapping):
        return _of_statement(inner, meter, given.get("claim"))
    if set(given) - set(SHOWN) == set(PROBLEM):
        return _of_statement(given, meter)
    named = {name: list(given[name]) for name in ("cell", *COLUMNS) if name in given}
    require("cell" in named and len(named) > 1, f"data to compare need 'cell' and any of {', '.join(COLUMNS)}")
    require(len({len(column) for column in named.values()}) == 1, "the columns of the data given differ in length")
    return _Data([label_of(cell) for cell in named.pop("cell")], named)


def _of_csv(text: str, meter: Meter) -> _Data:
    lines = [line for line in csv.reader(text.splitlines()) if line]
    require(bool(lines), "the data given are an empty file")
    names, rows = lines[0], lines[1:]
    meter.spend(10 * len(rows) * len(names))
    require(all(len(row) == len(names) for row in rows), "lines of the data given differ in length")
    columns = {name: [row[k] for row in rows] for k, name in enumerate(names)}
    return _of_mapping({name: column for name, column in columns.items() if name in ("cell", *COLUMNS)}, meter)


def _of_jj(text: str, meter: Meter) -> _Data:
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
            terms[name] = terms.get(name, Fraction(0)) + _as_read(c, "coefficient")
        built.append(normalised(terms, _as_read(rhs, "rhs")))
    return _Data(names, columns, [e for e in built if e is not None])


def _as_read(word: str, name: str) -> Fraction:
    """Return the decimal of the float that a word is read as."""
    return decimal(repr(float(word)), name)
