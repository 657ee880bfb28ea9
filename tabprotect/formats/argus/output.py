"""The six forms in which tau-ARGUS writes a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError
from tabprotect.formats.argus.rda import Metadata, Variable

__all__ = ["CONFIDENTIAL", "STATUS_NUMBERS", "Cells", "encode", "metadata_of"]

Floats = npt.NDArray[np.float64]

STATUS_NUMBERS: Final = {
    "safe": 1,
    "safe by hand": 2,
    "unsafe": 3,
    "request": 4,
    "frequency": 5,
    "zero": 6,
    "by hand": 9,
    "protected": 10,
    "secondary": 11,
    "secondary by hand": 12,
    "empty, not structural": 13,
    "empty": 14,
}
"""The numbers of the statuses that the option AS adds."""

_LETTERS: Final = {1: "S", 2: "S", 3: "U", 4: "U", 5: "U", 6: "U", 9: "U", 10: "P", 11: "M", 12: "M", 13: "E", 14: "E"}
_EMPTY: Final = (13, 14)

CONFIDENTIAL: Final = {4: "contributors and dominance", 5: "true values, costs and levels", 6: "true values and levels"}
"""Forms that show what must not be published, and what that is."""


@dataclass(frozen=True, eq=False)
class Cells:
    """What can be written of a table, a row a cell.

    Attributes
    ----------
    codes : DataFrame
        A column for every spanning variable.
    levels : DataFrame
        Level of every code, 0 for the total.
    name : str
        Of the response.
    values : ndarray
        What is published where cells are shown.
    hidden : ndarray of bool
    status : ndarray of int
        See `STATUS_NUMBERS`.
    places : int or None
        Decimals of the values; None writes them in full.
    original : ndarray, optional
        True values, where others are published.
    method : str
        '' where cells are hidden, else 'Round' or 'CTA'.
    counts, shadow, cost, lpl, upl, low, high : ndarray, optional
    top : ndarray, shape (cells, k), optional
        The largest contributions.
    sbs : ndarray of str
        Letters of the SBS form: A frequency, B one dominates, C two dominate, D secondary, V safe.
    """

    codes: pd.DataFrame
    levels: pd.DataFrame
    name: str
    values: Floats
    hidden: npt.NDArray[np.bool_]
    status: npt.NDArray[np.int64]
    places: int | None = None
    original: Floats | None = None
    method: str = ""
    counts: Floats | None = None
    shadow: Floats | None = None
    cost: Floats | None = None
    lpl: Floats | None = None
    upl: Floats | None = None
    low: Floats | None = None
    high: Floats | None = None
    top: Floats | None = None
    sbs: npt.NDArray[np.object_] | None = None

    def texts(self, numbers: Floats) -> list[str]:
        """Return numbers as text, with the decimals of the table; nan as nothing."""
        if self.places is None:
            return ["" if x != x else repr(float(x)) for x in numbers]
        return ["" if x != x else f"{x + 0.0:.{self.places}f}" for x in numbers]

    def shown(self) -> list[str]:
        """Return the values as text, with x for hidden ones."""
        return ["x" if gone else text for gone, text in zip(self.hidden, self.texts(self.values), strict=True)]


def encode(cells: Cells, form: int, options: Mapping[str, bool]) -> str:
    """Return a table as text in form 1 to 5.

    Parameters
    ----------
    cells : Cells
    form : int
        1 rows and columns, 2 a line a cell with names first, 3 the same without them, 4 SBS, 5 intermediate.
    options : mapping of str to bool
        AR, AS, FL, HL, QU, SE, SO as in tau-ARGUS.

    Raises
    ------
    InputError
        If the form does not go with the method, or a part of it is not known.
    """
    mark = ";" if form == 5 else ","
    if cells.method and form in (4, 5):
        raise InputError(f"form {form} shows hidden cells, and here values are changed; write form 1, 2 or 3")
    keep = np.ones(len(cells.values), bool)
    if options.get("SE", form == 4):
        keep = ~np.isin(cells.status, _EMPTY)
    write = _Codes(mark, bool(options.get("QU")))
    if form == 1:
        rows = _crossed(cells, write)
    elif form in (2, 3):
        rows = _lines(cells, write, bool(options.get("AS")), form == 2 or bool(options.get("FL")), keep)
    elif form == 4:
        rows = _sbs(cells, write, bool(options.get("HL")), keep)
    else:
        rows = _intermediate(cells, write, bool(options.get("SO")), bool(options.get("AR")), keep)
    return "".join(mark.join(row) + "\n" for row in rows)


@dataclass(frozen=True)
class _Codes:
    """Writes codes and names: in quotes where that is asked for or needed."""

    mark: str
    always: bool

    def __call__(self, word: str) -> str:
        if self.always or any(sign in word for sign in (self.mark, '"', "\n", "\r")):
            return '"' + word.replace('"', '""') + '"'
        return word

    def columns(self, frame: pd.DataFrame) -> list[list[str]]:
        """Return the columns of a frame, written."""
        return [[self(str(code)) for code in frame[name]] for name in frame.columns]


def _crossed(cells: Cells, write: _Codes) -> Iterable[list[str]]:
    """The first variable in rows, the second in columns, one block for every combination of the others."""
    names = list(cells.codes.columns)
    shown = np.array(cells.shown(), dtype=object)
    yield [write(f"{' x '.join(names)} | {cells.name}")]
    outer = names[2:]
    groups = cells.codes.groupby(outer, sort=False).indices if outer else {(): np.arange(len(shown))}
    for key, where in groups.items():
        if outer:
            words = key if isinstance(key, tuple) else (key,)
            yield [write(f"{name}: {word}") for name, word in zip(outer, words, strict=True)]
        block = cells.codes.iloc[where]
        columns = list(dict.fromkeys(block[names[1]])) if len(names) > 1 else [cells.name]
        text = dict(
            zip(block[names[: min(2, len(names))]].itertuples(index=False, name=None), shown[where], strict=True)
        )
        yield ["", *map(write, columns)]
        for row in dict.fromkeys(block[names[0]]):
            yield [write(row), *(text.get((row, c) if len(names) > 1 else (row,), "") for c in columns)]


def _lines(cells: Cells, write: _Codes, status: bool, names: bool, keep: npt.NDArray[np.bool_]) -> Iterable[list[str]]:
    suffix = f"_{cells.method}" if cells.method else ""
    header = [*map(write, cells.codes.columns), write(cells.name + suffix)]
    columns = write.columns(cells.codes)
    if status and cells.method:
        assert cells.original is not None
        columns += [cells.texts(cells.values), cells.texts(cells.original)]
        header.append(write(f"{cells.name}_Orig"))
    elif status:
        columns.append(cells.texts(cells.values))
    else:
        columns.append(cells.shown())
    if status and cells.method != "Round":
        columns.append([str(number) for number in cells.status])
        header.append(write("Status"))
    if names:
        yield header
    yield from (list(row) for row, kept in zip(zip(*columns, strict=True), keep, strict=True) if kept)


def _sbs(cells: Cells, write: _Codes, levels: bool, keep: npt.NDArray[np.bool_]) -> Iterable[list[str]]:
    if cells.counts is None or cells.sbs is None or cells.top is None or not cells.top.shape[1]:
        raise InputError("the SBS form needs the number of contributors and the largest contributions of every cell")
    columns: list[list[str]] = []
    for name, codes in zip(cells.codes.columns, write.columns(cells.codes), strict=True):
        if levels:
            columns.append([str(level) for level in cells.levels[name]])
        columns.append(codes)
    whole = np.abs(cells.values if cells.shadow is None else cells.shadow)
    share = 100 * cells.top[:, :2].sum(axis=1) / np.where(whole == 0, 1.0, whole)
    columns += [
        cells.texts(cells.values),
        [f"{n:g}" for n in cells.counts],
        [str(letter) for letter in cells.sbs],
        [f"{x:.2f}" for x in share],
    ]
    yield from (list(row) for row, kept in zip(zip(*columns, strict=True), keep, strict=True) if kept)


def _intermediate(
    cells: Cells, write: _Codes, status_only: bool, audit: bool, keep: npt.NDArray[np.bool_]
) -> Iterable[list[str]]:
    columns = [*write.columns(cells.codes), cells.texts(cells.values)]
    if cells.counts is not None:
        columns.append([f"{n:g}" for n in cells.counts])
    if cells.shadow is not None and not status_only:
        columns.append(cells.texts(cells.shadow))
    if cells.cost is not None:
        columns.append([repr(float(x)) for x in cells.cost])
    if cells.top is not None and not status_only:
        columns += [cells.texts(column) for column in cells.top.T]
    columns.append([_LETTERS[int(number)] for number in cells.status])
    for levels in (cells.lpl, cells.upl):
        columns.append([repr(float(x)) for x in (np.zeros(len(cells.values)) if levels is None else levels)])
    if audit:
        if cells.low is None or cells.high is None:
            raise InputError("option AR writes what an intruder finds out; protect the table first")
        columns += [[repr(float(x)) for x in side] for side in (cells.low, cells.high)]
    yield from (list(row) for row, kept in zip(zip(*columns, strict=True), keep, strict=True) if kept)


def metadata_of(cells: Cells, source: Metadata, *, status_only: bool = False, audit: bool = False) -> Metadata:
    """Return the metadata of what form 5 writes, so that it can be read as a table."""
    variables = []
    for name in cells.codes.columns:
        known = source.find(name) or Variable(name)
        variables.append(replace(known, start=0, width=0, recodable=True, truncable=False))
    variables.append(Variable(cells.name, numeric=True, decimals=cells.places or 0))
    if cells.counts is not None:
        variables.append(Variable("Freq", numeric=True, part="count"))
    if cells.shadow is not None and not status_only:
        variables.append(Variable("Shadow", numeric=True, part="shadow"))
    if cells.cost is not None:
        variables.append(Variable("Cost", numeric=True, part="cost"))
    if cells.top is not None and not status_only:
        variables += [Variable(f"Top{k + 1}", numeric=True, part="top") for k in range(cells.top.shape[1])]
    variables.append(Variable("Status", part="status"))
    variables += [Variable("LowerPL", numeric=True, part="lpl"), Variable("UpperPL", numeric=True, part="upl")]
    if audit:
        variables += [Variable("LowerRealised", numeric=True), Variable("UpperRealised", numeric=True)]
    return Metadata("table", tuple(variables), ";")
