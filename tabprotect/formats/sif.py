"""Read the CUTEst SIF form in which the CSPLIB tables survive.

The problems CBS, DALE, HIER13, ... of CUTEst are programmes of minimum-distance adjustment (Castro 2006) over
deviations z of the cells of one table:

    minimise sum_i z_i^2 / a_i   subject to   A z = 0,   lower_i - a_i <= z_i <= upper_i - a_i,

where a sensitive cell must go up by its protection level at least. The table is taken out of them again:

- the equations are the rows of kind E;
- a value is a_i = 2 / Q_ii, written with seven digits there. Where the whole numbers next to all of them add up, those
  are the values. Values of 0 stand there as 1 (Q_ii = 2); a cell is taken to be 0 when its bounds say so;
- a cell with a lower bound above 0 is sensitive; the bound is its upper level, and its lower level is set equal to it.
  Its true lower external bound is not in the file: it is taken as 0 (or its value, if that is negative);
- a cell with both bounds 0 is fixed, and so is a cell of value 0 that cannot go down, as in .jj files;
- weights are max(|value|, 1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from tabprotect.counted import counted
from tabprotect.errors import InputError, did_you_mean
from tabprotect.formats.files import read_text
from tabprotect.formats.jj import JJ
from tabprotect.problem import Problem, Status
from tabprotect.table.system import LinearSystem

__all__ = ["parse_sif", "read_instance", "read_sif"]

#: endings of file names that `tabprotect.formats.read_instance` sends here
SUFFIXES = (".sif",)

_SECTIONS = ("NAME", "ROWS", "COLUMNS", "RHS", "BOUNDS", "QMATRIX", "QUADOBJ", "ENDATA")
_BOUNDS = ("LO", "UP", "FX", "FR", "MI", "PL")

#: values of 0 are written as this, to have a finite weight
_ZERO_AS = 1.0

#: a whole number is near a written value when they differ by this share (seven digits)
_DIGITS = 1e-6

Floats = npt.NDArray[np.float64]


@dataclass
class _Programme:
    """What a file says, by names."""

    rows: dict[str, int] = field(default_factory=dict)
    columns: dict[str, int] = field(default_factory=dict)
    entries: list[tuple[int, int, float]] = field(default_factory=list)
    rhs: dict[int, float] = field(default_factory=dict)
    lower: dict[int, float] = field(default_factory=dict)
    upper: dict[int, float] = field(default_factory=dict)
    diagonal: dict[int, float] = field(default_factory=dict)


def read_sif(path: str | Path) -> JJ:
    """Read a file (``.SIF`` or ``.SIF.gz``) as it is written; `JJ.problem` makes a problem of it.

    Raises
    ------
    InputError
        Names the line that cannot be read, or that is not of such a programme.
    """
    return parse_sif(read_text(path), str(path))


def read_instance(path: str | Path) -> Problem:
    """Read a file as a cell suppression problem."""
    return read_sif(path).problem()


def parse_sif(text: str, name: str = ".SIF") -> JJ:
    """Read the text of a file.

    Examples
    --------
    A row of two cells and their sum; the first may move by its whole value, and must go up by 2 at least:

    >>> text = '''NAME ROW
    ... ROWS
    ...  E  R1
    ...  N  COST
    ... COLUMNS
    ...     C1  R1  1
    ...     C2  R1  1
    ...     C3  R1  -1
    ... RHS
    ... BOUNDS
    ...  LO BOUND  C1  2
    ...  UP BOUND  C1  90
    ...  LO BOUND  C2  -6
    ...  UP BOUND  C2  94
    ...  LO BOUND  C3  -16
    ...  UP BOUND  C3  84
    ... QMATRIX
    ...     C1  C1  2.000000e-01
    ...     C2  C2  3.333333e-01
    ...     C3  C3  1.250000e-01
    ... ENDATA'''
    >>> table = parse_sif(text)
    >>> table.values.tolist(), table.problem().primaries.tolist(), table.upl.tolist()
    ([10.0, 6.0, 16.0], [0], [2.0, 0.0, 0.0])
    """
    return _table(_read(text, name), name)


def _read(text: str, name: str) -> _Programme:
    p = _Programme()
    free: set[str] = set()
    for where, section, words in _lines(text, name):
        if section == "ROWS" and len(words) == 2 and words[0] in ("E", "N"):
            if words[0] == "E":
                p.rows.setdefault(words[1], len(p.rows))
            else:
                free.add(words[1])
        elif section == "COLUMNS" and len(words) in (3, 5):
            j = p.columns.setdefault(words[0], len(p.columns))
            for row, number in zip(words[1::2], words[2::2], strict=True):
                if row in p.rows:
                    p.entries.append((p.rows[row], j, _number(number, where)))
                elif row not in free:
                    raise InputError(f"{where}: unknown row '{row}'{did_you_mean(row, list(p.rows)[:1000])}")
        elif section == "RHS" and len(words) in (3, 5):
            p.rhs |= {
                p.rows[r]: _number(v, where) for r, v in zip(words[1::2], words[2::2], strict=True) if r in p.rows
            }
        elif section == "BOUNDS" and len(words) in (3, 4) and words[0] in _BOUNDS:
            _bound(p, words, where)
        elif section in ("QMATRIX", "QUADOBJ") and len(words) == 3:
            if words[0] != words[1]:
                raise InputError(f"{where}: the objective joins two cells; this is no adjustment programme")
            p.diagonal[_column(p, words[0], where)] = _number(words[2], where)
        else:
            raise InputError(f"{where}: '{' '.join(words)[:60]}' does not belong into the section {section}")
    if not p.entries or not p.diagonal:
        what = "equations" if not p.entries else "quadratic objective (QMATRIX)"
        raise InputError(f"{name}: no {what}; this is no adjustment programme of CUTEst")
    return p


def _lines(text: str, name: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield place, section and words of every line of a section."""
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("*"):
            continue
        where = f"{name}, line {number}"
        words = line.split()
        if line[0].isspace():
            yield where, section, words
            continue
        section = words[0]
        if section not in _SECTIONS:
            raise InputError(f"{where}: unknown section '{section}'{did_you_mean(section, _SECTIONS)}")
        if section == "ENDATA":
            return
    raise InputError(f"{name}: no line ENDATA; is the file cut off?")


def _bound(p: _Programme, words: list[str], where: str) -> None:
    kind, j = words[0], _column(p, words[2], where)
    number = _number(words[3], where) if len(words) == 4 else math.inf
    if kind in ("LO", "FX"):
        p.lower[j] = number
    if kind in ("UP", "FX"):
        p.upper[j] = number
    if kind in ("FR", "MI"):
        p.lower[j] = -math.inf


def _column(p: _Programme, word: str, where: str) -> int:
    if word not in p.columns:
        raise InputError(f"{where}: unknown column '{word}'{did_you_mean(word, list(p.columns)[:1000])}")
    return p.columns[word]


def _number(word: str, where: str) -> float:
    try:
        number = float(word)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise InputError(f"{where}: '{word[:40]}' should be a number")
    return number


def _table(p: _Programme, name: str) -> JJ:
    n, m = len(p.columns), len(p.rows)
    missing = [word for word, j in p.columns.items() if not p.diagonal.get(j, 0.0) > 0]
    if missing:
        raise InputError(
            f"{name}: no weight > 0 in QMATRIX for {counted(len(missing), 'column')} ({', '.join(missing[:5])})"
        )
    i_, j_, v_ = (np.array(part) for part in zip(*p.entries, strict=True))
    A = sparse.csr_array((v_, (i_.astype(int), j_.astype(int))), shape=(m, n))
    b = _filled(p.rhs, m, 0.0)
    if b.any():
        raise InputError(f"{name}: equations with a right-hand side; deviations have none")
    low, high = _filled(p.lower, n, 0.0), _filled(p.upper, n, math.inf)
    fixed, sensitive = (low == 0) & (high == 0), low > 0
    values = _values(2.0 / _filled(p.diagonal, n, 0.0), low, fixed, A)
    status = np.zeros(n, dtype=np.int8)
    status[fixed | ((low == 0) & (values == 0))], status[sensitive] = Status.ZERO, Status.PRIMARY
    level = np.where(sensitive, low, 0.0)
    lower = np.where(sensitive, np.minimum(0.0, values), values + low)
    names = pd.RangeIndex(n)
    system = LinearSystem(A, b, names)
    weights = np.maximum(np.abs(values), 1.0)
    return JJ(system, values, status, weights, lower, values + high, level, level.copy(), np.zeros(n), name)


def _filled(given: dict[int, float], n: int, default: float) -> Floats:
    array = np.full(n, default)
    array[list(given)] = list(given.values())
    return array


def _values(written: Floats, low: Floats, fixed: npt.NDArray[np.bool_], A: sparse.csr_array) -> Floats:
    """Return the values; the bounds of fixed cells do not tell whether 1 means 0, but the sums do."""
    zero = (written == _ZERO_AS) & (low == 0)
    whole = np.rint(written)
    if np.all(np.abs(whole - written) <= np.maximum(_DIGITS * written, _DIGITS)):
        for zeros in (zero, zero & ~fixed):
            values = np.where(zeros, 0.0, whole)
            if not (A @ values).any():
                return values
    return np.where(zero, 0.0, written)
