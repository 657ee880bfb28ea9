"""Whether a layout that was read is one: its columns, its parts and their axes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tabprotect.certificate.document import integers, list_of, mapping_of, positions, require, text_of

__all__ = ["check_columns", "check_parts"]


def check_columns(document: Mapping[str, Any], n: int) -> None:
    """Every row has a code in every column."""
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


def check_parts(document: Mapping[str, Any], n: int) -> None:
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
            require(len(set(place)) == len(codes), f"the page has codes of {axis['name']!r:.60} that no row has")
            column = columns.get(axis["name"])
            require(column is not None, f"the page has an axis {axis['name']!r:.60} that the table has not")
            assert column is not None
            rows = column["row"][first : first + size]
            same = all(k >= 0 and str(column["words"][k]) == codes[i] for k, i in zip(rows, place, strict=True))
            require(same, f"the page and the table have different codes of {axis['name']!r:.60}")
        first += size
    require(first == n, "the parts have fewer rows than the table")


def _check_axis(axis: Any) -> None:
    mapping_of(axis, "axis", ("name", "codes", "nodes", *({"labels"} & set(axis) if isinstance(axis, Mapping) else ())))
    text_of(axis["name"], "name of an axis")
    codes = list_of(axis["codes"], "codes")
    require(all(isinstance(code, str) for code in codes), "codes of an axis must be text")
    require(len(set(codes)) == len(codes), "an axis has a code twice")
    labels = list_of(axis.get("labels", []), "labels")
    require(len(labels) in (0, len(codes)) and all(isinstance(label, str) for label in labels), "malformed labels")
    for node in list_of(axis["nodes"], "nodes"):
        pair = integers(node, "node")
        require(len(pair) == 2 and 0 <= pair[0] < len(codes) and 0 <= pair[1] <= len(codes), "malformed nodes")
