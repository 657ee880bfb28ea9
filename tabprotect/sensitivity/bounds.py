"""What every intruder knows of a cell before publication."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.counted import counted
from tabprotect.errors import InputError, Problems, did_you_mean
from tabprotect.table.table import Table

__all__ = ["Bound", "Bounds", "BoundsAsTyped", "bounds_in_words", "external_bounds"]

Floats = npt.NDArray[np.float64]
Bound = float | str | Sequence[float] | Floats
Bounds = str | tuple[Bound | None, Bound | None]
_DECIMAL_COMMA = re.compile(r"\d+,\d+\s*%?")


class BoundsAsTyped(tuple[Bound | None, Bound | None]):
    """Bounds that know the text they were read from, ``LOWER,UPPER`` or one bound for both sides.

    Attributes
    ----------
    text : str

    Examples
    --------
    >>> read = BoundsAsTyped.read("0,150%")
    >>> read, read.in_doubt, BoundsAsTyped.read("0, 150%").in_doubt, BoundsAsTyped.read("50%")
    ((0.0, '150%'), True, False, ('50%', '50%'))
    """

    text: str

    @classmethod
    def read(cls, text: str) -> BoundsAsTyped:
        """Read a text; either side may be left empty.

        Raises
        ------
        InputError
            If it is no pair, or nothing.
        """
        lower, sign, upper = (part.strip() for part in text.partition(","))
        if "," in upper or not text.strip(", "):
            raise InputError(
                f"bounds '{text}': write one bound, such as '50%', or LOWER,UPPER, such as '0, 150%' (decimals with a "
                "point)"
            )
        found = cls(_number(side) if side else None for side in (lower, upper if sign else lower))
        found.text = text
        return found

    @property
    def in_doubt(self) -> bool:
        """Whether it is one number to whoever writes decimals with a comma."""
        return _DECIMAL_COMMA.fullmatch(self.text.strip()) is not None


def _number(word: str) -> float | str:
    try:
        number = float(word)
    except ValueError:
        return word
    return number if math.isfinite(number) else word


def bounds_in_words(bounds: Bounds | None) -> str | None:
    """Say what intruders know of every cell; None where nothing was given.

    Examples
    --------
    >>> bounds_in_words((12.0, "5%")), bounds_in_words("50%"), bounds_in_words((None, 7))
    ('lower 12, upper 5%', '50%', 'upper 7')
    """
    if bounds is None:
        return None
    sides = (bounds,) if isinstance(bounds, str | int | float) else tuple(bounds)
    if not all(isinstance(side, int | float | str | None) for side in sides):
        return "as given"
    if len(sides) == 1:
        return str(sides[0])
    given = {name: side for name, side in zip(("lower", "upper"), sides, strict=False) if side is not None}
    return ", ".join(
        f"{name} {side if isinstance(side, str) else format(side, '.15g')}" for name, side in given.items()
    )


def external_bounds(
    table: Table, bounds: Bounds | None = None, single: tuple[Floats, Floats] | None = None
) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """Return the lower and upper external bound of every cell, and where the lower one is y >= 0 by default.

    Parameters
    ----------
    table : Table
    bounds : str or (lower, upper), optional
        Either side is a number for all cells, numbers, the name of a column, a text such as ``"50%"`` (that far
        from the value, as a percentage of its absolute amount), or None for the default. One text ``"50%"`` stands
        for both sides. The default is the table's columns ``lower`` and ``upper`` where there are such, and 0 and
        infinity elsewhere (and where these columns have no number).
    single : (lower, upper) of ndarray, shape (cells,), optional
        Bounds of single cells, which take the place of the others; nan where there is none.

    Returns
    -------
    lower, upper : ndarray, shape (cells,)
    by_default : ndarray of bool
        The lower bound is 0 because nothing else was given.

    Raises
    ------
    InputError
        Names the cells with values below or above their bounds; tables with negative values or contributions (the
        column ``negative``) need explicit bounds.

    Examples
    --------
    >>> from tabprotect.table.system import LinearSystem
    >>> table = Table(LinearSystem.from_equations([("t", ["a", "b"])]), np.array([30.0, 10, 20]))
    >>> lower, upper, _ = external_bounds(table, "50%")
    >>> lower.tolist(), upper.tolist()
    ([15.0, 5.0, 10.0], [45.0, 15.0, 30.0])
    """
    if isinstance(bounds, str):
        bounds = (bounds, bounds)
    elif bounds is not None and not (isinstance(bounds, tuple) and len(bounds) == 2):
        raise InputError(f"bounds must be a text such as '50%' or a pair (lower, upper), not {bounds!r}")
    below, above = bounds or (None, None)
    problems = Problems()
    if isinstance(bounds, BoundsAsTyped) and bounds.in_doubt and any(one.sign == "," for one in table.recognised):
        text = bounds.text.strip()
        two, one = (text.replace(",", sign) for sign in (", ", "."))
        problems.add(
            f"bounds '{text}' can be read in two ways beside data with a decimal comma: write '{two}' for "
            f"{bounds_in_words(bounds)}, or '{one}' for both sides"
        )
    lower = _side(table, below, "lower", -1, problems)
    upper = _side(table, above, "upper", +1, problems)
    problems.raise_if_any()
    if single is not None:
        lower, upper = (np.where(np.isnan(own), given, own) for own, given in zip(single, (lower, upper), strict=True))
    by_default = np.isnan(lower)
    lower = np.where(by_default, 0.0, lower)
    upper = np.where(np.isnan(upper), np.inf, upper)
    negative = by_default & (table.values < 0)
    if "negative" in table.columns:
        negative |= by_default & table.columns["negative"].astype(bool)
    if negative.any():
        names = _names(table, negative)
        problems.add(
            f"{counted(int(negative.sum()), 'cell is', 'cells are')} negative or with negative contributions "
            f"({names}), so y >= 0 cannot be "
            "assumed: say what intruders know, such as bounds='100%' or bounds=(-1e6, None), or give columns 'lower', "
            "'upper'"
        )
    for bad, one, several in (
        (lower > table.values, "lies below its lower", "lie below their lower"),
        (upper < table.values, "lies above its upper", "lie above their upper"),
    ):
        if (bad & ~negative).any():
            problems.add(
                f"{counted(int((bad & ~negative).sum()), f'value {one}', f'values {several}')} external bound: "
                f"{_names(table, bad & ~negative)}"
            )
    problems.raise_if_any()
    return lower, upper, by_default


def _side(table: Table, bound: Bound | None, name: str, sign: int, problems: Problems) -> Floats:
    """Return one side, nan where nothing is given."""
    if bound is None:
        bound = name if name in table.columns else np.nan
    if isinstance(bound, str) and bound.strip().endswith("%"):
        try:
            percent = float(bound.strip()[:-1])
        except ValueError:
            percent = -1.0
        if percent >= 0:
            return np.asarray(table.values + sign * np.abs(table.values) * percent / 100)
        problems.add(f"{name} bound '{bound}' is no percentage")
    elif isinstance(bound, str):
        if bound in table.columns:
            column: Any = pd.to_numeric(pd.Series(table.columns[bound]), errors="coerce")
            return np.asarray(column, dtype=np.float64)
        problems.add(f"{name} bound: there is no column '{bound}'{did_you_mean(bound, table.columns)}")
    else:
        array = np.asarray(bound, dtype=np.float64)
        if array.shape in ((), (table.n_cells,)):
            return np.broadcast_to(array, (table.n_cells,)).copy()
        problems.add(f"{name} bound has shape {array.shape}; {table.n_cells} cells need ({table.n_cells},)")
    return np.full(table.n_cells, np.nan)


def _names(table: Table, cells: npt.NDArray[np.bool_]) -> str:
    where = np.flatnonzero(cells)
    return ", ".join(table.system.label(int(i)) for i in where[:5]) + (", ..." if len(where) > 5 else "")
