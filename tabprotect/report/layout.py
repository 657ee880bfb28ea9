"""How the public files of a release are laid out: with the proof, all that is needed to make them again.

A layout holds codes, their order and their hierarchies, names and settings, and which cell of the problem each row
shows, but no value and no status. `Layout.table` takes those from the certificate, so that what is published is a
function of what was proven. Confidential, as it ties public rows to the certificate.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect._version import __version__
from tabprotect.certificate.document import (
    Malformed,
    integers,
    label_of,
    list_of,
    mapping_of,
    positions,
    require,
    text_of,
)
from tabprotect.errors import InputError
from tabprotect.formats.dialect import STANDARD, Dialect
from tabprotect.formats.frames import FRAME_FORMATS
from tabprotect.problem import Status
from tabprotect.report.axes import Axis
from tabprotect.report.parts import PART, Part, code_columns, parts_of
from tabprotect.report.public import (
    PRIMARY,
    PUBLISHED,
    SECONDARY,
    SUPPRESSED,
    PublicTable,
    assembled,
    free_name,
    public_files,
)
from tabprotect.table.table import Table

__all__ = ["LAYOUT", "Layout", "writers"]

LAYOUT = "layout.json"
"""Its name in the internal folder."""

_FORMAT = "tabprotect-layout/1"
_NOTICE = "CONFIDENTIAL. It ties the rows that are published to the certificate."
_ENTRIES = (
    "format",
    "notice",
    "title",
    "value",
    "decimals",
    "separate",
    "formats",
    "columns",
    "parts",
    "cell",
    "written",
)
_MOST_DECIMALS = 15


def writers(formats: Sequence[str]) -> dict[str, str]:
    """Return the versions of what determines the bytes of the public files."""
    needed = {"tabprotect": True, "pandas": True, "jinja2": True}
    needed |= {"pyarrow": "parquet" in formats, "openpyxl": "xlsx" in formats}
    return {
        name: __version__ if name == "tabprotect" else importlib.metadata.version(name)
        for name, use in needed.items()
        if use
    }


@dataclass(frozen=True, eq=False)
class Layout:
    """Codes, order and settings of the public files.

    Attributes
    ----------
    document : mapping
        As it is written.
    """

    document: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        table: Table,
        *,
        title: str,
        formats: Sequence[str],
        decimals: int | None = None,
        separate: bool = False,
        dialect: Dialect = STANDARD,
    ) -> Layout:
        """Return the layout of a table.

        Parameters
        ----------
        table : Table
        title : str
        formats : sequence of str
            Of the table.
        decimals : int, optional
            As it was asked for; by default the decimals that the values have.
        separate : bool
            Tell the public which hidden cells are primary.
        dialect : Dialect
            How text files are written.
        """
        parts = parts_of(table)
        order = np.concatenate([part.rows for part in parts])
        columns = []
        for name in code_columns(table):
            place, words = pd.factorize(table.rows[name].to_numpy()[order], use_na_sentinel=True)
            columns.append({"name": name, "words": [_plain(word) for word in words], "row": place.tolist()})
        return cls(
            {
                "format": _FORMAT,
                "notice": _NOTICE,
                "title": title,
                "value": str(table.value_name),
                "decimals": decimals,
                "separate": separate,
                "formats": list(formats),
                "columns": columns,
                "parts": [
                    {
                        "name": part.name,
                        "axes": [
                            {"name": a.name, "codes": list(a.codes), "nodes": [list(node) for node in a.nodes]}
                            for a in part.axes
                        ],
                        "at": [at.tolist() for at in part.at],
                    }
                    for part in parts
                ],
                "cell": table.row_cell[order].tolist(),
                "written": writers(formats),
                **({} if dialect == STANDARD else {"dialect": dialect.document()}),
            }
        )

    @classmethod
    def read(cls, document: Any, problem: Mapping[str, Any]) -> Layout:
        """Check a layout that was read against the problem of its certificate.

        Raises
        ------
        Malformed
            If it is none, or names other cells.
        """
        other = {"dialect"} & set(document) if isinstance(document, Mapping) else set()
        mapping_of(document, "layout", (*_ENTRIES, *other))
        try:
            Dialect.of(document.get("dialect"))
        except InputError as error:
            raise Malformed(f"'dialect' is none: {'; '.join(error.problems)}") from error
        require(document["format"] == _FORMAT, f"not a layout of the form {_FORMAT}")
        for name in ("notice", "title", "value"):
            text_of(document[name], name)
        decimals = document["decimals"]
        require(decimals is None or (type(decimals) is int and abs(decimals) <= _MOST_DECIMALS), "wrong 'decimals'")
        require(isinstance(document["separate"], bool), "'separate' must be true or false")
        formats = list_of(document["formats"], "formats")
        known = all(isinstance(kind, str) and kind in FRAME_FORMATS for kind in formats)
        require(known and len(set(formats)) == len(formats), "'formats' names what no table is written as")
        require(isinstance(document["written"], Mapping), "'written' must be an object")
        cell = positions(document["cell"], len(problem["cells"]), "cell")
        _check_columns(document, len(cell))
        _check_parts(document, len(cell))
        found = cls(document)
        found._check_names(problem["cells"])
        return found

    def _check_names(self, cells: Sequence[Any]) -> None:
        """Every cell has a row with the codes of its id, whatever other names it goes by."""
        columns = self.document["columns"]
        words = [
            ["" if k < 0 else str(c["words"][k]) for k in c["row"]]
            for c in columns
            if c["name"] != PART or len(columns) < 2
        ]
        named: dict[int, bool] = {}
        for row, cell in enumerate(self.document["cell"]):
            if not named.get(cell):
                ids = cells[cell] if isinstance(cells[cell], list) else [cells[cell]]
                texts = {label_of(part) for part in ids}
                named[cell] = all(not column[row] or column[row] in texts for column in words)
        wrong = [label_of(cells[cell]) for cell, same in named.items() if not same]
        require(not wrong, f"rows go by other codes than their cells: {', '.join(wrong[:5])}")

    def table(self, values: npt.NDArray[np.float64], hidden: Any, status: Any, note: str = "") -> PublicTable:
        """Return what the public gets.

        Parameters
        ----------
        values : ndarray, shape (cells of the problem,)
        hidden : ndarray of bool, or None
            None where values were changed and no cell is hidden.
        status : ndarray of int
            Tells primaries apart, where they are to be.
        note : str
            What the page says, where values were changed.
        """
        layout = self.document
        cell = np.array(layout["cell"], np.int64)
        frame = pd.DataFrame({c["name"]: _codes(c) for c in layout["columns"]})
        parts, first = [], 0
        for part in layout["parts"]:
            at = tuple(np.array(positions, np.int64) for positions in part["at"])
            axes = tuple(
                Axis(a["name"], tuple(a["codes"]), tuple((code, depth) for code, depth in a["nodes"]))
                for a in part["axes"]
            )
            size = len(at[0]) if at else 0
            parts.append(Part(part["name"], axes, np.arange(first, first + size), at))
            first += size
        words = None
        if hidden is not None:
            words = np.where(hidden, SUPPRESSED, PUBLISHED).astype(object)
            if layout["separate"]:
                words[hidden] = SECONDARY
                words[hidden & (status == Status.PRIMARY)] = PRIMARY
            words = words[cell]
        shown = np.where(False if hidden is None else hidden, np.nan, values)
        value = free_name(layout["value"], frame.columns)
        return assembled(frame, value, tuple(parts), shown, cell, words, layout["title"], layout["decimals"], note)

    def files(self, public: PublicTable) -> Mapping[str, bytes]:
        """Return the files of the public folder by name."""
        return public_files(public, self.document["formats"], self.dialect)

    @property
    def dialect(self) -> Dialect:
        """How text files are written."""
        return Dialect.of(self.document.get("dialect"))

    def encode(self) -> bytes:
        """Return the bytes of the file."""
        return (json.dumps(self.document, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n").encode()


def _plain(word: Any) -> str | int:
    return int(word) if isinstance(word, (int, np.integer)) and not isinstance(word, bool) else str(word)


def _codes(column: Mapping[str, Any]) -> Any:
    words = np.array([*column["words"], None], dtype=object)[np.array(column["row"], np.int64)]
    if column["words"] and all(type(word) is int for word in column["words"]) and min(column["row"], default=0) >= 0:
        return words.astype(np.int64)
    return pd.Series(words, dtype="str")


def _check_columns(document: Mapping[str, Any], n: int) -> None:
    columns = list_of(document["columns"], "columns")
    require(bool(columns), "'columns' names no codes")
    for column in columns:
        mapping_of(column, "column", ("name", "words", "row"))
        words = list_of(column["words"], "words")
        require(all(type(word) in (str, int) for word in words), "codes must be text or whole numbers")
        row = integers(column["row"], "row")
        require(len(row) == n and all(-1 <= k < len(words) for k in row), "'row' must give every row a code")
        require(all(type(w) is not int or abs(w) < 2**63 for w in words), "a code is too large a number")
    names = [text_of(column["name"], "name of a column") for column in columns]
    require(len(set(names)) == len(names), "two columns have the same name")


def _check_parts(document: Mapping[str, Any], n: int) -> None:
    """Parts lie one after the other; what their axes say of a row is what the columns say."""
    columns = {c["name"]: c for c in document["columns"]}
    parts = list_of(document["parts"], "parts")
    first = 0
    for part in parts:
        mapping_of(part, "part", ("name", "axes", "at"))
        text_of(part["name"], "name of a part")
        axes, at = list_of(part["axes"], "axes"), list_of(part["at"], "at")
        require(len(axes) == len(at) > 0, "'at' must say where every axis is")
        size = len(list_of(at[0], "at"))
        require(first + size <= n, "the parts have more rows than the table")
        for axis, place in zip(axes, at, strict=True):
            _check_axis(axis)
            codes = axis["codes"]
            require(len(positions(place, len(codes), "at")) == size, "'at' must give every row a code")
            column = columns.get(axis["name"])
            require(column is not None, f"the page has an axis {axis['name']!r:.60} that the table has not")
            assert column is not None
            rows = column["row"][first : first + size]
            same = all(k >= 0 and str(column["words"][k]) == codes[i] for k, i in zip(rows, place, strict=True))
            require(same, f"the page and the table have different codes of {axis['name']!r:.60}")
        first += size
    require(first == n, "the parts have fewer rows than the table")


def _check_axis(axis: Any) -> None:
    mapping_of(axis, "axis", ("name", "codes", "nodes"))
    text_of(axis["name"], "name of an axis")
    codes = list_of(axis["codes"], "codes")
    require(all(isinstance(code, str) for code in codes), "codes of an axis must be text")
    for node in list_of(axis["nodes"], "nodes"):
        pair = integers(node, "node")
        require(len(pair) == 2 and 0 <= pair[0] < len(codes) and 0 <= pair[1] <= len(codes), "malformed nodes")
