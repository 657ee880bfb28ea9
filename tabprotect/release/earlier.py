"""The release of the last period, and how the next one takes it into account."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.attack.values import ValuesCertificate
from tabprotect.errors import InputError, collect
from tabprotect.paths import possible
from tabprotect.problem import Problem
from tabprotect.release.read import intact_release
from tabprotect.table.table import Table

__all__ = ["Earlier", "Previous", "check_last", "read_earlier"]

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Earlier:
    """A release of the last period, checked.

    Attributes
    ----------
    folder : Path or None
        None for a pattern that was given.
    problem : Problem or None
        Its table, with the sums that were protected as further cells; None for a pattern that was given.
    hidden : ndarray of bool, shape (cells of the problem,)
    position : mapping of str to int
        The cell of every label of the table.
    not_safe : tuple of str
        Why it was written as not safe; empty where it was not.
    """

    folder: Path | None
    problem: Problem | None = field(repr=False)
    hidden: Bools = field(repr=False)
    position: Mapping[str, int] = field(repr=False)
    not_safe: tuple[str, ...] = ()

    def match(self, table: Table) -> Ints:
        """Return the cell of this release for every cell of a table; -1 where it has none."""
        return np.array([self.position.get(table.system.label(i), -1) for i in range(table.n_cells)], np.int64)

    def hides(self, table: Table) -> Bools:
        """Return whether each cell of a table was hidden."""
        match = self.match(table)
        return (match >= 0) & self.hidden[match]


def check_last(folder: Path) -> Path:
    """Return the folder of the last release, if it is there.

    Raises
    ------
    InputError
    """
    if not possible(folder).is_dir():
        raise InputError(f"previous: there is no folder {folder}; name what a release was written to")
    return folder


def read_earlier(folder: Path) -> Earlier:
    """Read a release of the last period.

    Raises
    ------
    InputError
        If it is no release of hidden cells, or its files are not what was proven.
    """
    found = intact_release(folder)
    if isinstance(found.certificate, ValuesCertificate):
        raise InputError(f"{folder} publishes changed values, and has no pattern of hidden cells to keep")
    label = found.problem.system.label
    # sums of cells are behind those of the table
    position = {label(i): i for i in range(found.cells)}
    return Earlier(folder, found.problem, found.pattern, position, found.not_safe)


@dataclass(frozen=True, eq=False)
class Previous:
    """How the pattern of the last period is carried forward.

    Parameters
    ----------
    release : path, sequence of bool, or Earlier
        The folder of the release, or which cells of the table were hidden, one truth value a cell.
    factor : float
        Above 0 and at most 1: what the costs of cells hidden in the last period are multiplied by.
    keep : bool
        Cells that were hidden stay hidden, but for those that must be published.
    revision : bool
        Both releases are of the same quantities: what either publishes is known, both are audited so, and the
        release is safe only if both together are. It needs the folder of the release.

    Raises
    ------
    InputError
        Everything that is wrong with these.

    Examples
    --------
    >>> Previous("release2024", factor=2)
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: previous: factor must be a number above 0 and at most 1, not 2
    """

    release: Any
    factor: float = 0.1
    keep: bool = False
    revision: bool = False

    def __post_init__(self) -> None:
        factor = self.factor
        with collect() as problems:
            if isinstance(factor, bool) or not isinstance(factor, Real) or not 0 < factor <= 1:
                problems.add(f"previous: factor must be a number above 0 and at most 1, not {factor!r}")
            for name in ("keep", "revision"):
                if not isinstance(getattr(self, name), bool):
                    problems.add(f"previous: {name} must be True or False, not {getattr(self, name)!r}")
            if self.revision is True and not isinstance(self.release, str | PathLike | Earlier):
                problems.add("previous: a revision is audited with the release that it revises; give its folder")

    @classmethod
    def of(cls, given: Any) -> Previous | None:
        """Return what was given as one of these; a folder or a pattern with the defaults."""
        return given if given is None or isinstance(given, Previous) else cls(given)

    def read(self, table: Table) -> Earlier:
        """Return the pattern, matched with a table by the labels of its cells.

        Raises
        ------
        InputError
            If there is no such release, a pattern is not one of this table, or no cell is in both.
        """
        if isinstance(self.release, Earlier):
            earlier = self.release
        elif isinstance(self.release, str | PathLike):
            earlier = read_earlier(check_last(Path(self.release)))
        else:
            earlier = _by_hand(self.release, table)
        if not (earlier.match(table) >= 0).any():
            raise InputError(f"previous: no cell of the table is in {earlier.folder}; name the release of this table")
        return earlier


def _by_hand(given: Any, table: Table) -> Earlier:
    pattern = np.asarray(given)
    if pattern.dtype != np.bool_ or pattern.shape != (table.n_cells,):
        what = type(given).__name__ if pattern.shape == () else f"{pattern.dtype} of shape {pattern.shape}"
        raise InputError(
            f"previous: give the folder of a release, as release.write(folder) returns it, or one truth value for each "
            f"of the {table.n_cells} cells, not {what}"
        )
    position = {table.system.label(i): i for i in range(table.n_cells)}
    return Earlier(None, None, pattern.copy(), position)
