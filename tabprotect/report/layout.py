"""How the public files of a release are laid out: with the proof, all that is needed to make them again.

A layout holds codes, their order and their hierarchies, names and settings, and which cell of the problem each row
shows, but no value and no status. `Layout.table` takes those from the certificate, so that what is published is a
function of what was proven. Confidential, as it ties public rows to the certificate.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect._version import __version__
from tabprotect.certificate.document import (
    Malformed,
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
from tabprotect.report.layout_checks import check_columns, check_parts
from tabprotect.report.parts import Part, code_columns, published_parts
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
from tabprotect.report.row_names import check_rows, shown_of
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
_OPTIONAL = {"dialect", "unit", "source", "fixed"}
"""Where they say something; layouts of earlier versions have none of them."""

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
        unit: str = "",
        source: str = "",
        formats: Sequence[str],
        decimals: int | None = None,
        separate: bool = False,
        dialect: Dialect = STANDARD,
    ) -> Layout:
        """Return the layout of a table.

        Parameters
        ----------
        table : Table
        title, unit, source : str
            Of the page.
        formats : sequence of str
            Of the table.
        decimals : int, optional
            As it was asked for; by default the decimals that the values have.
        separate : bool
            Tell the public which hidden cells are primary.
        dialect : Dialect
            How text files are written.
        """
        parts = published_parts(table)
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
                            | ({"labels": list(a.labels)} if a.labels else {})
                            for a in part.axes
                        ],
                        "at": [at.tolist() for at in part.at],
                    }
                    for part in parts
                ],
                "cell": table.row_cell[order].tolist(),
                "written": writers(formats),
                **({} if decimals is None else {"fixed": True}),
                **({"unit": unit} if unit else {}),
                **({"source": source} if source else {}),
                **({} if dialect == STANDARD else {"dialect": dialect.document()}),
            }
        )

    @classmethod
    def read(cls, document: Any, problem: Mapping[str, Any]) -> Layout:
        """Check a layout that was read against the problem of its certificate.

        Raises
        ------
        Malformed
            If it is none, or names cells otherwise than the certificate does (`tabprotect.report.row_names`).
        """
        other = _OPTIONAL & set(document) if isinstance(document, Mapping) else set()
        mapping_of(document, "layout", (*_ENTRIES, *other))
        try:
            Dialect.of(document.get("dialect"))
        except InputError as error:
            raise Malformed(f"'dialect' is none: {'; '.join(error.problems)}") from error
        require(document["format"] == _FORMAT, f"not a layout of the form {_FORMAT}")
        for name in ("notice", "title", "value", *({"unit", "source"} & other)):
            text_of(document[name], name)
        decimals = document["decimals"]
        require(decimals is None or (type(decimals) is int and abs(decimals) <= _MOST_DECIMALS), "wrong 'decimals'")
        for name in ("separate", *({"fixed"} & other)):
            require(isinstance(document[name], bool), f"'{name}' must be true or false")
        formats = list_of(document["formats"], "formats")
        known = all(isinstance(kind, str) and kind in FRAME_FORMATS for kind in formats)
        require(known and len(set(formats)) == len(formats), "'formats' names what no table is written as")
        require(isinstance(document["written"], Mapping), "'written' must be an object")
        cell = positions(document["cell"], len(problem["cells"]), "cell")
        check_columns(document, len(cell))
        check_parts(document, len(cell))
        check_rows(document, problem["cells"], problem.get("shown"))
        return cls(document)

    def shown(self, cells: Sequence[Any]) -> dict[str, Any]:
        """Return what the certificate states of the table; see `tabprotect.certificate.shown`."""
        return shown_of(self.document, cells)

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
                Axis(
                    a["name"],
                    tuple(a["codes"]),
                    tuple((code, depth) for code, depth in a["nodes"]),
                    tuple(a.get("labels", ())),
                )
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
        made = assembled(frame, value, tuple(parts), shown, cell, words, layout["title"], layout["decimals"], note)
        beside = {"unit": layout.get("unit", ""), "source": layout.get("source", "")}
        return replace(made, **beside, fixed=layout.get("fixed", False))

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
