"""The head of a table as rows that fold and a few columns, bounded in size whatever the table holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tabprotect.report.axes import Axis

__all__ = ["Cell", "Folded", "Node", "folded", "short"]

Ints = npt.NDArray[np.int64]
Objects = npt.NDArray[np.object_]

MOST_ROWS = 80
MOST_COLUMNS = 10
MOST_LETTERS = 60
"""Longer codes and titles are cut."""


@dataclass(frozen=True)
class Cell:
    """What a cell shows, and the class of its style: 'safe', 'primary', 'secondary', ... or 'none'."""

    text: str
    word: str


@dataclass
class Node:
    """A row, and the rows that fold into it."""

    label: str
    depth: int
    cells: list[Cell]
    below: list[Node] = field(default_factory=list)


@dataclass(frozen=True)
class Folded:
    """Rows and columns of the head of a table.

    Attributes
    ----------
    corner : str
        Names of the dimensions.
    head : tuple of str
        Codes of the columns.
    nodes : tuple of Node
        The outermost rows.
    note : str
        What is left out.
    """

    corner: str
    head: tuple[str, ...]
    nodes: tuple[Node, ...]
    note: str


def short(text: object, most: int = MOST_LETTERS) -> str:
    """Return a text of at most so many letters.

    Examples
    --------
    >>> short("abcdef", 4)
    'abc…'
    """
    words = str(text)
    return words if len(words) <= most else words[: most - 1] + "…"


def folded(
    axes: Sequence[Axis],
    at: Sequence[Ints],
    text: Callable[[int], str],
    words: Objects,
    *,
    column: str,
    most: int = MOST_ROWS,
) -> Folded:
    """Return the shallowest codes of the first axis in rows and of the last one in columns.

    Axes between them are shown at their first code, as a rule the total.

    Parameters
    ----------
    axes : sequence of Axis
    at : sequence of ndarray of int
        For every axis the position of each cell's code.
    text : callable
        What a cell shows, by its position; asked for the cells that are shown only.
    words : ndarray of str
        The class of the style of every cell.
    column : str
        Head of the only column of a table with one axis.
    most : int
        Rows, at most.

    Examples
    --------
    >>> axis = Axis.of("region", ["T", "A", "B"], {"T": ["A", "B"]})
    >>> at, words = [np.arange(3)], np.full(3, "safe", dtype=object)
    >>> made = folded([axis], at, "945".__getitem__, words, column="turnover")
    >>> made.nodes[0].label, [(node.label, node.cells[0].text) for node in made.nodes[0].below], made.note
    ('T', [('A', '4'), ('B', '5')], '')
    """
    down, across = axes[0], axes[-1] if len(axes) > 1 else None
    here = np.ones(len(words), dtype=bool)
    for axis, codes in zip(axes[1:-1], at[1:-1], strict=True):
        here &= codes == (axis.nodes[0][0] if axis.nodes else 0)
    nodes, fewer = _shallowest(down.nodes, most)
    columns, narrower = ([0], 0) if across is None else _columns(across)
    place = np.flatnonzero(here & np.isin(at[0], [code for code, _ in nodes]))
    if across is not None:
        place = place[np.isin(at[-1][place], columns)]
    cell_at = {(int(at[0][i]), 0 if across is None else int(at[-1][i])): int(i) for i in place}
    shown = [
        Node(short(down.shown(code)), depth, [_cell(cell_at.get((code, k)), text, words) for k in columns])
        for code, depth in nodes
    ]
    left = [f"{axis.name}: {short(axis.shown(axis.nodes[0][0]))}" for axis in axes[1:-1] if axis.nodes]
    left += [f"{fewer:,} further lines of {down.name}"] if fewer else []
    left += [f"{narrower:,} further codes of {axes[-1].name}"] if narrower else []
    corner = down.name if across is None else f"{down.name} x {across.name}"
    head = (column,) if across is None else tuple(across.shown(code) for code in columns)
    return Folded(short(corner), tuple(map(short, head)), _nested(shown), " · ".join(map(short, left)))


def _cell(i: int | None, text: Callable[[int], str], words: Objects) -> Cell:
    return Cell("·", "none") if i is None else Cell(text(i), str(words[i]))


def _shallowest(nodes: Sequence[tuple[int, int]], most: int) -> tuple[list[tuple[int, int]], int]:
    """Return the first nodes of the least depth, in their order, and how many are left out."""
    depth = np.array([depth for _, depth in nodes], dtype=np.int64)
    kept = np.sort(np.argsort(depth, kind="stable")[:most])
    return [nodes[int(i)] for i in kept], len(nodes) - len(kept)


def _columns(axis: Axis) -> tuple[list[int], int]:
    nodes, _ = _shallowest(axis.nodes, MOST_COLUMNS)
    codes = list(dict.fromkeys(code for code, _ in nodes))
    return codes, len(axis.codes) - len(codes)


def _nested(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Put every row below the last one that is less deep."""
    outermost: list[Node] = []
    above: list[Node] = []
    for node in nodes:
        while above and above[-1].depth >= node.depth:
            above.pop()
        (above[-1].below if above else outermost).append(node)
        above.append(node)
    return tuple(outermost)
