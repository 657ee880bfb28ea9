"""How the rows of a layout name their cells: stated in the certificate, and checked when a release is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tabprotect.certificate.document import label_of, require
from tabprotect.report.parts import PART

__all__ = ["check_rows", "shown_of"]


@dataclass(frozen=True)
class _Row:
    """A row of a layout: what it says, and what the id of its cell says."""

    cell: int
    codes: tuple[str, ...]
    own: tuple[str, ...]
    rest: tuple[str, ...]


def shown_of(document: Mapping[str, Any], cells: Sequence[Any], *, other: bool = True) -> dict[str, Any]:
    """Return what a certificate states of a layout: see `tabprotect.certificate.shown`.

    Parameters
    ----------
    document : mapping
        The layout.
    cells : sequence
        Ids of the cells of the problem.
    other : bool
        With the rows that go by other codes than their cells.
    """
    tables, further = [], []
    for number, part in enumerate(document["parts"]):
        rows = list(_rows(document, number, cells))
        known = Counter(row.rest for row in rows if row.codes == row.own) or Counter(row.rest for row in rows)
        rest = known.most_common(1)[0][0] if known else ()
        tables.append({"name": part["name"], "dimensions": [a["name"] for a in part["axes"]], "rest": list(rest)})
        further += [[number, row.cell, list(row.codes)] for row in rows if (row.codes, row.rest) != (row.own, rest)]
    return {
        "columns": [column["name"] for column in document["columns"]],
        "value": document["value"],
        "decimals": document["decimals"],
        "separate": document["separate"],
        "tables": tables,
        "other": further if other else [],
    }


def check_rows(document: Mapping[str, Any], cells: Sequence[Any], shown: Mapping[str, Any] | None) -> None:
    """Every column is stated, and every row goes by the codes of its cell.

    Columns are those of dimensions, and `PART`, which says of every row the name of its table. A row has a code in
    each dimension of its table and none in others, no two rows of a table have the same, and they are in the order of
    the codes. The codes are those in the id of the cell, whose further codes are those that the certificate states for
    the table (``rest``), or the certificate lists the row with its cell (``other``).

    Parameters
    ----------
    document : mapping
        A layout whose columns and parts are well formed.
    cells : sequence
        Ids of the cells of the problem.
    shown : mapping, optional
        As the certificate states it. Certificates of earlier versions state nothing: names are not checked then, and
        no row may go by other codes than its cell.

    Raises
    ------
    Malformed
    """
    told = shown_of(document, cells, other=False)
    stated = told if shown is None else shown
    for name, what in (("columns", "columns"), ("value", "name of values"), ("decimals", "decimals"),
                       ("separate", "statuses")):  # fmt: skip
        require(told[name] == stated[name], f"the {what} are not those of the certificate: {told[name]!r:.200}")
    tables = [(table["name"], table["dimensions"]) for table in told["tables"]]
    same = tables == [(table["name"], table["dimensions"]) for table in stated["tables"]]
    require(same, "the tables are not those of the certificate")
    _check_columns(document)
    listed = {(table, cell, *codes) for table, cell, codes in stated["other"]}
    for number, table in enumerate(stated["tables"]):
        rest, before, at = tuple(table["rest"]), (), document["parts"][number]["at"]
        wrong = []
        for k, row in enumerate(_rows(document, number, cells)):
            place = tuple(axis[k] for axis in at)
            require(k == 0 or before < place, f"rows are not in the order of their codes: {' x '.join(row.codes):.80}")
            before = place
            if (row.codes, row.rest) != (row.own, rest) and (number, row.cell, *row.codes) not in listed:
                wrong.append(" x ".join(row.codes)[:80])
        require(not wrong, f"rows go by other codes than their cells: {', '.join(wrong[:5])}")


def _check_columns(document: Mapping[str, Any]) -> None:
    """Columns are dimensions of tables, filled where the table has them, but for the one with the table's name."""
    parts = document["parts"]
    axes = [{axis["name"] for axis in part["axes"]} for part in parts]
    of_row = [number for number, part in enumerate(parts) for _ in part["at"][0]]
    foreign = [c["name"] for c in document["columns"] if not any(c["name"] in names for names in axes)]
    require(not set(foreign) - {PART}, f"columns that are no dimension of a table: {', '.join(foreign)[:200]}")
    require(PART in foreign or len(parts) == 1, f"several tables need the column '{PART}'")
    for column in document["columns"]:
        name, words = column["name"], column["words"]
        for number, k in zip(of_row, column["row"], strict=True):
            if name in foreign:
                require(k >= 0 and words[k] == parts[number]["name"], f"'{PART}' does not say the table of every row")
            else:
                require(k < 0 or name in axes[number], f"'{name:.40}' is no dimension of every table that has codes")


def _rows(document: Mapping[str, Any], number: int, cells: Sequence[Any]) -> Iterator[_Row]:
    """Yield the rows of a part; the ids of cells may have codes of further dimensions before those of the columns."""
    part = document["parts"][number]
    first = sum(len(before["at"][0]) for before in document["parts"][:number])
    names = {axis["name"] for one in document["parts"] for axis in one["axes"]}
    columns = [column["name"] for column in document["columns"] if column["name"] in names]
    mine = [columns.index(axis["name"]) for axis in part["axes"]]
    for k in range(len(part["at"][0])):
        cell = document["cell"][first + k]
        texts = [label_of(word) for word in (cells[cell] if isinstance(cells[cell], list) else [cells[cell]])]
        before = len(texts) - len(columns)
        own = tuple(texts[before + j] if before + j >= 0 else "" for j in mine)
        rest = tuple(text for j, text in enumerate(texts) if j - before not in mine)
        codes = tuple(axis["codes"][at[k]] for axis, at in zip(part["axes"], part["at"], strict=True))
        yield _Row(cell, codes, own, rest)
