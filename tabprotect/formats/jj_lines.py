"""Lines of the CSPLIB .jj form, read with everything that is wrong with each."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.counted import counted
from tabprotect.errors import InputError, did_you_mean
from tabprotect.problem import Status

__all__ = ["STATUS_OF", "Lines"]

STATUS_OF: Final = {
    "s": Status.SAFE,
    "u": Status.PRIMARY,
    "m": Status.FORCED,
    "z": Status.ZERO,
    "p": Status.PROTECTED,
}
"""What the letters of cells stand for."""

_COLUMNS = ("value", "weight", "lb", "ub", "lpl", "upl", "spl")
_SHOWN = 20  # problems named in one error


class Lines:
    """Walks through the lines; collects what is wrong with each and raises at the end of a section."""

    def __init__(self, text: str, name: str) -> None:
        self.lines = text.splitlines()
        self.name = name
        self.at = 0
        self.wrong: list[str] = []

    def refuse(self, what: str, line: int | None = None) -> None:
        """Note what is wrong with a line, by default the one that is read."""
        self.wrong.append(f"{self.name}, line {(self.at if line is None else line) + 1}: {what}")

    def settle(self) -> None:
        """Raise what was noted."""
        if len(self.wrong) > _SHOWN:
            self.wrong[_SHOWN:] = [f"{self.name}: and {len(self.wrong) - _SHOWN} more problems like these"]
        if self.wrong:
            raise InputError(*self.wrong)

    def fatal(self, what: str) -> InputError:
        """Return the error of what nobody can read on after."""
        self.refuse(what)
        return InputError(*self.wrong[:_SHOWN])

    def count(self, what: str) -> int:
        """Read a line that holds one whole number."""
        if self.at >= len(self.lines):
            raise self.fatal(f"the file ends where the number of {what} should be; is it cut off?")
        word = self.lines[self.at].strip()
        if not (word.isascii() and word.isdigit()):
            raise self.fatal(f"should be the number of {what}, not {_quoted(word)}; is this a .jj file?")
        self.at += 1
        if int(word) > len(self.lines) - self.at:
            self.at = len(self.lines)
            raise self.fatal(
                f"the file ends after {counted(len(self.lines), 'line')}, but {word} {what} were announced; "
                "is it cut off?"
            )
        return int(word)

    def cells(self) -> tuple[list[str], npt.NDArray[np.float64], list[str]]:
        """Read the section of cells: their ids, their numbers, and the letters of their statuses."""
        if not self.lines or self.lines[0].strip() != "0":
            raise self.fatal(f"a .jj file starts with a line '0', not {_quoted(self.lines[0] if self.lines else '')}")
        self.at = 1
        n = self.count("cells")
        rows = [line.split() for line in self.lines[self.at : self.at + n]]
        for number, row in enumerate(rows):
            if len(row) != 9:
                self.refuse(
                    f"a cell is 'id value weight status lb ub lpl upl spl' (9 words), here are {len(row)}",
                    self.at + number,
                )
        self.settle()
        letters = [row[3] for row in rows]
        for number, letter in enumerate(letters):
            if letter not in STATUS_OF:
                self.refuse(
                    f"cell {rows[number][0]}: unknown status '{letter}'{did_you_mean(letter, STATUS_OF)}",
                    self.at + number,
                )
        try:
            numbers = np.array([row[1:3] + row[4:] for row in rows], dtype=np.float64).reshape(n, len(_COLUMNS))
            good = bool(np.isfinite(np.delete(numbers, [2, 3], axis=1)).all() and not np.isnan(numbers).any())
        except ValueError:
            good = False
        if not good:
            for number, row in enumerate(rows):
                for column, word in zip(_COLUMNS, row[1:3] + row[4:], strict=True):
                    self.number(word, f"cell {row[0]}: {column}", self.at + number, column in ("lb", "ub"))
        ids = [row[0] for row in rows]
        first: dict[str, int] = {}
        for number, word in enumerate(ids):
            if first.setdefault(word, number) != number:
                self.refuse(f"cell {word} is there already, in line {self.at + first[word] + 1}", self.at + number)
        self.settle()
        self.at += n
        return ids, numbers, letters

    def number(self, word: str, what: str, line: int, may_be_infinite: bool = False) -> float:
        """Read a number; note what is wrong with it."""
        try:
            number = float(word)
        except ValueError:
            cure = "; write decimals with a point" if word.count(",") == 1 else ""
            self.refuse(f"{what} should be a number, not {_quoted(word)}{cure}", line)
            return 0.0
        if math.isnan(number) or (math.isinf(number) and not may_be_infinite):
            self.refuse(f"{what} should be a finite number, not {_quoted(word)}", line)
        return number

    def equations(self, ids: list[str]) -> tuple[sparse.csr_array, npt.NDArray[np.float64]]:
        """Read the section of equations: coefficients and right-hand sides."""
        m = self.count("equations")
        position = {word: i for i, word in enumerate(ids)}
        data: list[float] = []
        indices: list[int] = []
        indptr = [0]
        rhs = np.zeros(m)
        for number, line in enumerate(self.lines[self.at : self.at + m]):
            where = self.at + number
            head, colon, tail = line.partition(":")
            first = head.split()
            words = tail.replace("(", " ").replace(")", " ").split()
            if not colon or len(first) != 2 or len(words) % 2:
                self.refuse("an equation is 'rhs count : id (coefficient) id (coefficient) ...'", where)
                continue
            rhs[number] = self.number(first[0], "right-hand side", where)
            if first[1] != str(len(words) // 2):
                self.refuse(f"{first[1]} terms announced, {len(words) // 2} found", where)
            unknown = [word for word in words[::2] if word not in position]
            if unknown:
                self.refuse(f"unknown cell {', '.join(unknown[:5])}{did_you_mean(unknown[0], ids[:1000])}", where)
                continue
            if len(set(words[::2])) != len(words[::2]):
                self.refuse("the same cell twice in one equation", where)
            indices += [position[word] for word in words[::2]]
            data += [self.number(word, "coefficient", where) for word in words[1::2]]
            indptr.append(len(indices))
        self.settle()
        self.at += m
        return sparse.csr_array((data, indices, indptr), shape=(m, len(ids))), rhs

    def end(self) -> None:
        """Refuse lines after the last equation."""
        for number in range(self.at, len(self.lines)):
            if self.lines[number].strip():
                raise InputError(
                    f"{self.name}, line {number + 1}: the file should end here; "
                    "are there more equations than announced?"
                )


def _quoted(word: str) -> str:
    return f"'{word[:40]}...'" if len(word) > 40 else f"'{word}'"
