"""Read and write the CSPLIB .jj form of cell suppression instances."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError, Problems
from tabprotect.formats.files import read_text, write_text
from tabprotect.formats.jj_lines import STATUS_OF, Lines
from tabprotect.problem import Problem, need_problem
from tabprotect.table.additivity import in_short
from tabprotect.table.system import LinearSystem

__all__ = ["JJ", "read_instance", "read_jj", "write_jj"]

#: endings of file names that `tabprotect.formats.read_instance` sends here
SUFFIXES = (".jj",)

#: largest |A y - b| accepted, as a share of the sum of the absolute terms of an equation
ADDITIVITY = 1e-9

_LETTER_OF = {int(status): letter for letter, status in STATUS_OF.items()}


@dataclass(frozen=True, eq=False)
class JJ:
    r"""A .jj file as it is written, before anything is asked of its numbers.

    Methods that start from tables which do not add up, or whose external bounds exclude the value (adjustment moves
    such a cell), read this; `problem` is the checked door for all others.

    Attributes
    ----------
    system : LinearSystem
    values, weights, lower, upper, lpl, upl, spl : ndarray, shape (cells,)
        ``lower`` and ``upper`` are absolute values (lb and ub of the file), in the unit of the table.
    status : ndarray of int8
        A `tabprotect.problem.Status` for every cell.
    name : str
        The path it came from, for messages.

    Examples
    --------
    >>> lines = ["0", "3", "0 5 5 s 0 9 0 0 0", "1 2 2 u 0 9 1 1 0", "2 3 3 s 0 9 0 0 0", "1"]
    >>> JJ.parse("\n".join([*lines, "0 3 : 0 (-1) 1 (1) 2 (1)"])).problem().primaries
    array([1])
    """

    system: LinearSystem
    values: npt.NDArray[np.float64]
    status: npt.NDArray[np.int8]
    weights: npt.NDArray[np.float64]
    lower: npt.NDArray[np.float64]
    upper: npt.NDArray[np.float64]
    lpl: npt.NDArray[np.float64]
    upl: npt.NDArray[np.float64]
    spl: npt.NDArray[np.float64]
    name: str = ".jj"

    @classmethod
    def read(cls, path: str | Path) -> JJ:
        """Read a file (``.jj`` or ``.jj.gz``)."""
        return cls.parse(read_text(path), str(path))

    @classmethod
    def parse(cls, text: str, name: str = ".jj") -> JJ:
        """Read the text of a file.

        Raises
        ------
        InputError
            Names every line that cannot be read, and what is wrong with it.
        """
        lines = Lines(text, name)
        ids, numbers, letters = lines.cells()
        A, rhs = lines.equations(ids)
        lines.end()
        status = np.array([STATUS_OF[letter] for letter in letters], dtype=np.int8)
        value, weight, lb, ub, lpl, upl, spl = numbers.T
        whole = all(word.isascii() and word.isdigit() and (word == "0" or word[0] != "0") for word in ids)
        cells = pd.Index([int(word) for word in ids]) if whole else pd.Index(list(ids), dtype=object)
        return cls(LinearSystem(A, rhs, cells), value, status, weight, lb, ub, lpl, upl, spl, name)

    def problem(self) -> Problem:
        """Return the cell suppression problem.

        Raises
        ------
        InputError
            If the table does not add up, or numbers of a cell cannot be (such as a bound that excludes the value).
        """
        problems = Problems()
        problems.found += [f"{self.name}: {what}" for what in self._residuals()]
        problem = None
        try:
            problem = Problem(
                self.system,
                self.values,
                self.status,
                self.lpl,
                self.upl,
                self.spl,
                self.weights,
                self.lower,
                self.upper,
            )
        except InputError as error:
            problems.found += [f"{self.name}: {what}" for what in error.problems]
        problems.raise_if_any()
        assert problem is not None
        return problem

    def adjustable(self) -> Problem:
        """Return the problem for methods that change values: they work on deviations (A z = 0), and so carry residuals.

        Sums that do not hold are left as they are, and bounds that exclude a value are opened up to it.

        Raises
        ------
        InputError
            If other numbers of a cell cannot be.
        """
        return Problem(
            self.system,
            self.values,
            self.status,
            self.lpl,
            self.upl,
            self.spl,
            self.weights,
            np.minimum(self.lower, self.values),
            np.maximum(self.upper, self.values),
        )

    def _residuals(self) -> list[str]:
        residual = self.system.residuals(self.values)
        scale = abs(self.system.A) @ np.abs(self.values) + np.abs(self.system.b)
        wrong = np.flatnonzero(np.abs(residual) > ADDITIVITY * np.maximum(scale, 1.0))
        if not len(wrong):
            return []
        worst = wrong[np.argsort(-np.abs(residual[wrong]), kind="stable")[:5]]
        listed = "; ".join(f"{in_short(self.system.equation(int(row)))} is off by {residual[row]:.6g}" for row in worst)
        listed += f"; and {len(wrong) - 5} more" if len(wrong) > 5 else ""
        cure = "mend the values, or use a method that adjusts them"
        return [f"{len(wrong)} of {self.system.n_equations} equations do not add up ({listed}); {cure}"]


def read_jj(path: str | Path) -> Problem:
    """Read a .jj (or .jj.gz) file as a cell suppression problem.

    A cell is ``id value weight status lb ub lpl upl spl``, an equation ``rhs count : id (coefficient) ...``.
    Status s is safe, u primary, m suppressed already (kept, not charged), p must be published, z fixed. The bounds
    are absolute values. A file whose table does not add up, or whose bounds exclude a value, is read by `JJ.read`.

    Raises
    ------
    InputError
        Names every line that cannot be read, every equation that does not add up, every impossible number.
    """
    return JJ.read(path).problem()


def write_jj(problem: Problem, path: str | Path) -> None:
    """Write a problem as a .jj file (compressed when the name ends in ``.gz``); `read_jj` gives it back.

    Cell ids are kept where they are whole numbers or single words, else cells are numbered from 0. Infinite external
    bounds are written ``inf``.

    Raises
    ------
    InputError
        If the problem holds what the form cannot (attackers with known cells), or the file cannot be written.
    """
    need_problem(problem, "write_jj")
    if problem.attackers:
        raise InputError(
            f"a .jj file cannot hold the {len(problem.attackers)} attackers of this problem; "
            "write dataclasses.replace(problem, attackers=()) to leave them out"
        )
    system = problem.system
    ids = [str(cell) for cell in system.cells]
    if isinstance(system.cells, pd.MultiIndex) or any(not i or set(i) & set(" \t:()") for i in ids):
        ids = [str(i) for i in range(system.n_cells)]
    columns = (problem.values, problem.weights, problem.lower, problem.upper, problem.lpl, problem.upl, problem.spl)
    value, weight, lb, ub, lpl, upl, spl = ([_word(v) for v in column.tolist()] for column in columns)
    letters = [_LETTER_OF[int(s)] for s in problem.status]
    lines = ["0", str(system.n_cells)]
    lines += map(" ".join, zip(ids, value, weight, letters, lb, ub, lpl, upl, spl, strict=True))
    lines.append(str(system.n_equations))
    A = system.A
    for rhs, (start, stop) in zip(system.b.tolist(), pairwise(A.indptr.tolist()), strict=True):
        terms = zip(A.indices[start:stop].tolist(), A.data[start:stop].tolist(), strict=True)
        lines.append(f"{_word(rhs)} {stop - start} : " + " ".join(f"{ids[j]} ({_word(v)})" for j, v in terms))
    write_text(path, "\n".join(lines) + "\n")


def _word(number: float) -> str:
    """The shortest decimal that reads back as the same float."""
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


read_instance = read_jj


def read_adjustable(path: str | Path) -> Problem:
    """Read a .jj (or .jj.gz) file as a problem for methods that change values; it need not add up."""
    return JJ.read(path).adjustable()
