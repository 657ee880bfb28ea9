"""What a public folder shows: cells, values, and the sums that they make."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

__all__ = ["Key", "Shown", "read"]

Floats = npt.NDArray[np.float64]

Key = tuple[tuple[str, str], ...]
"""A cell: dimensions and codes, totals left out."""

_DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)


@dataclass(frozen=True, eq=False)
class Shown:
    """What is published.

    Attributes
    ----------
    cells : tuple of Key
    values : ndarray, shape (cells,)
        nan where no file shows the value.
    equations : sparse array, shape (equations, cells)
        Each adds up to zero: 1 for the sum, -1 for its parts.
    leaves : ndarray of bool, shape (cells,)
        Cells that are no sums.
    """

    cells: tuple[Key, ...]
    values: Floats
    equations: sparse.csr_array
    leaves: npt.NDArray[np.bool_]


def read(folder: Path) -> Shown:
    """Read the page and the tables of a public folder."""
    found = _DATA.search((folder / "index.html").read_text(encoding="utf-8"))
    assert found is not None, "the page holds no data"
    tables = json.loads(found[1])["tables"]
    position: dict[Key, int] = {}
    values: list[float] = []
    rows: list[list[tuple[int, float]]] = []
    sums: set[int] = set()
    for table in tables:
        axes = table["axes"]
        trees = [_tree(axis["nodes"]) for axis in axes]
        place: dict[tuple[int, ...], int] = {}
        for *at, value in zip(*table["at"], table["value"], strict=True):
            cell = position.setdefault(_key(axes, trees, at), len(position))
            if cell == len(values):
                values.append(np.nan)
            if value is not None:
                values[cell] = float(value)
            place[tuple(at)] = cell
        rows += _sums(trees, place, sums)
    for key, value in _of_files(folder, tables):
        values[position[key]] = value
    number = [k for k, row in enumerate(rows) for _ in row]
    cell_of, sign = [cell for row in rows for cell, _ in row], [sign for row in rows for _, sign in row]
    equations = sparse.csr_array((sign, (number, cell_of)), shape=(len(rows), len(values)))
    leaves = np.ones(len(values), bool)
    leaves[list(sums)] = False
    return Shown(tuple(position), np.array(values), equations, leaves)


def _tree(nodes: Sequence[Sequence[int]]) -> tuple[int | None, dict[int, list[int]]]:
    """Return the total of a dimension, if it has one, and the parts of every code."""
    tops = [code for code, depth in nodes if depth == 0]
    parts: dict[int, list[int]] = {}
    above: list[int] = []
    for code, depth in nodes:
        del above[depth:]
        if above and code not in parts.setdefault(above[-1], []):
            parts[above[-1]].append(code)
        above.append(code)
    return (tops[0] if len(tops) == 1 else None), parts


def _key(axes: Sequence[Any], trees: Sequence[Any], at: Sequence[int]) -> Key:
    return tuple(
        sorted(
            (axis["name"], axis["codes"][code])
            for axis, (total, _), code in zip(axes, trees, at, strict=True)
            if code != total
        )
    )


def _sums(trees: Sequence[Any], place: dict[tuple[int, ...], int], sums: set[int]) -> Iterator[list[tuple[int, float]]]:
    for k, (_, parts) in enumerate(trees):
        lines = {(at[:k], at[k + 1 :]) for at in place}
        for (before, after), (whole, codes) in product(sorted(lines), parts.items()):
            cell = place.get((*before, whole, *after))
            below = [place[at] for code in codes if (at := (*before, code, *after)) in place]
            if cell is None:
                assert not below, "a part of a sum is published and the sum is left out"
            elif below != [cell]:
                sums.add(cell)
                yield [(cell, 1.0), *((part, -1.0) for part in below)]


def _of_files(folder: Path, tables: Sequence[Any]) -> Iterator[tuple[Key, float]]:
    """Yield the values of the CSV file, which may have more digits than the page, or show more."""
    with (folder / "table.csv").open(encoding="utf-8", newline="") as stream:
        names, *rows = csv.reader(stream)
    by_name = {table["name"]: table["axes"] for table in tables}
    linked = len(tables) > 1
    width = len({axis["name"] for table in tables for axis in table["axes"]}) + linked
    totals = {
        (table["name"], axis["name"]): None if total is None else axis["codes"][total]
        for table in tables
        for axis in table["axes"]
        for total, _ in [_tree(axis["nodes"])]
    }
    for row in rows:
        if not row[width]:
            continue
        table = row[0] if linked else tables[0]["name"]
        mine = {axis["name"] for axis in by_name[table]}
        codes = [(n, c) for n, c in zip(names[linked:width], row[linked:width], strict=True) if n in mine]
        yield tuple(sorted((n, c) for n, c in codes if c != totals[table, n])), float(row[width])
