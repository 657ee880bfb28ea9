"""What a problem says of the table that shows its cells; the standard library only.

The id of a cell is a code for every dimension, but neither the names of the dimensions nor further codes of a cell are
in it. The certificate of a release states them beside the cells, as ``shown``:

- ``columns``, ``value``, ``decimals``, ``separate``: the columns of codes, the name of the values, the decimals asked
  for, and whether primary and secondary cells have statuses of their own;
- ``tables``: the name of every table, its dimensions, and the codes that its cells have in the others (``rest``), as
  the totals of dimensions that a linked table has not;
- ``other``: rows that go by other codes than those of the id, such as those of a code with one part, which is that
  part: table, cell and codes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tabprotect.certificate.document import integers, label_of, list_of, mapping_of, positions, require, text_of

__all__ = ["check_shown", "comparable"]

ENTRIES = ("columns", "value", "decimals", "separate", "tables", "other")


def check_shown(shown: Any, n: int) -> None:
    """Check the types of what a problem of n cells says of the table.

    Raises
    ------
    Malformed
    """
    mapping_of(shown, "shown", ENTRIES)
    text_of(shown["value"], "value")
    require(shown["decimals"] is None or type(shown["decimals"]) is int, "'decimals' must be a whole number or null")
    require(isinstance(shown["separate"], bool), "'separate' must be true or false")
    _texts(shown["columns"], "columns")
    tables = list_of(shown["tables"], "tables")
    for table in tables:
        mapping_of(table, "table", ("name", "dimensions", "rest"))
        text_of(table["name"], "name of a table")
        _texts(table["dimensions"], "dimensions")
        _texts(table["rest"], "rest")
    for row in list_of(shown["other"], "other"):
        require(isinstance(row, list) and len(row) == 3, "'other' must hold table, cell and codes")
        positions(integers(row[:1], "table"), len(tables), "table")
        positions(row[1:2], n, "cell")
        _texts(row[2], "codes")


def _texts(value: Any, name: str) -> None:
    require(all(isinstance(text, str) for text in list_of(value, name)), f"'{name}' must hold text")


def comparable(problem: Mapping[str, Any]) -> Any:
    """Return what a problem says of the table in a form that does not depend on the order of its cells."""
    shown = problem.get("shown")
    if shown is None:
        return None
    other = sorted([table, label_of(problem["cells"][cell]), codes] for table, cell, codes in shown["other"])
    return {**shown, "other": other}
