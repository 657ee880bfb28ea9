"""Small random protection problems of every shape, from a seed or from hypothesis.

The equations are written out here by hand (no code of `tabprotect.table`); values are whole tenths, so that what adds
up does so exactly in decimals.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from hypothesis import strategies as st

from tabprotect.problem import Attacker, Problem, Status
from tabprotect.table.system import LinearSystem

KINDS = ("2d", "3d", "hierarchical", "linked", "merged", "general")
T = TypeVar("T")


class Chooser(Protocol):
    """Where the randomness comes from: a numpy generator or hypothesis."""

    def integer(self, low: int, high: int) -> int: ...


@dataclass
class FromSeed:
    """Choices of a numpy generator."""

    rng: np.random.Generator

    def integer(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))


@dataclass
class FromDraw:
    """Choices that hypothesis can shrink."""

    draw: Any

    def integer(self, low: int, high: int) -> int:
        return int(self.draw(st.integers(low, high)))


def random_problem(seed: int, *, max_cells: int = 40, kinds: Sequence[str] = KINDS) -> Problem:
    """Return the problem of a seed."""
    return _problem(FromSeed(np.random.default_rng(seed)), max_cells, kinds)


@st.composite
def problems(draw: Any, max_cells: int = 30, kinds: Sequence[str] = KINDS) -> Problem:
    """Hypothesis strategy for the same problems."""
    return _problem(FromDraw(draw), max_cells, kinds)


def _one(c: Chooser, options: Sequence[T]) -> T:
    return options[c.integer(0, len(options) - 1)]


def _chance(c: Chooser, percent: int) -> bool:
    return c.integer(1, 100) > 100 - percent


def _some(c: Chooser, options: Sequence[T], low: int, high: int) -> list[T]:
    left = list(options)
    return [left.pop(c.integer(0, len(left) - 1)) for _ in range(min(c.integer(low, high), len(left)))]


Equation = dict[Any, int]
Tree = dict[str, list[str]]


def _flat(name: str, n: int) -> Tree:
    return {name: [f"{name}{i}" for i in range(n)]}


def _deep(name: str, sizes: Sequence[int]) -> Tree:
    tree: Tree = {name: []}
    for i, n in enumerate(sizes):
        branch = f"{name}{i}"
        tree[name].append(branch)
        if n > 1:
            tree[branch] = [f"{branch}{k}" for k in range(n)]
    return tree


def _codes(tree: Tree) -> list[str]:
    return list(dict.fromkeys(code for parent, parts in tree.items() for code in [parent, *parts]))


def _crossed(trees: Sequence[Tree]) -> list[Equation]:
    """All sums of a table: every parent of every dimension, beside every code of the other dimensions."""
    equations = []
    for d, tree in enumerate(trees):
        others = [_codes(t) if k != d else [""] for k, t in enumerate(trees)]
        for parent, parts in tree.items():
            for rest in itertools.product(*others):
                terms: Equation = {(*rest[:d], parent, *rest[d + 1 :]): -1}
                for part in parts:
                    terms[(*rest[:d], part, *rest[d + 1 :])] = 1
                equations.append(terms)
    return equations


def _equations(c: Chooser, kind: str, max_cells: int) -> list[Equation]:
    if kind == "2d":
        rows = _one(c, [2, 2, 3, 3, 4, 5])
        return _crossed(
            [_flat("r", rows), _flat("c", max(2, min(_one(c, [2, 2, 3, 4, 5]), max_cells // (rows + 1) - 1)))]
        )
    if kind == "3d":
        last = 3 if max_cells >= 36 and _chance(c, 20) else 2
        return _crossed([_flat("r", 2), _flat("c", 2), _flat("s", last)])
    if kind == "hierarchical":
        sizes = _one(c, [(2, 2), (2, 1), (2, 3), (1, 2, 2)])
        tree = _deep("h", sizes)
        return _crossed([tree, _flat("c", max(2, min(c.integer(2, 4), max_cells // len(_codes(tree)) - 1)))])
    if kind == "linked":
        rows = _flat("r", c.integer(2, 3))
        one = [{("A", *k): v for k, v in e.items()} for e in _crossed([rows, _flat("c", c.integer(2, 3))])]
        two = [{("B", *k): v for k, v in e.items()} for e in _crossed([rows, _flat("d", c.integer(2, 3))])]
        return [{_shared(k): v for k, v in e.items()} for e in one + two]
    if kind == "merged":
        equations = _crossed([_deep("r", (2, 2)), _flat("c", 2)])
        cells = list(dict.fromkeys(k for e in equations for k in e))
        for k in _some(c, cells, 1, 4):
            equations.append({("same", *k): -1, k: 1})
        for e in _some(c, equations, 1, 3):
            equations.append({k: 2 * v for k, v in e.items()})
        return equations
    leaves: list[Any] = [f"x{i}" for i in range(c.integer(4, 9))]
    equations, cells = [], list(leaves)
    for number in range(c.integer(2, 6)):
        parts = _some(c, cells, 2, 4)
        if len(parts) >= 2:
            terms = {f"t{number}": -1} | {part: _one(c, [1, 1, 1, 2]) for part in parts}
            equations.append(terms)
            cells.append(f"t{number}")
    return equations


def _shared(key: tuple[str, str, str]) -> tuple[str, ...]:
    """Two tables over the same rows have their row margin in common."""
    return ("AB", key[1]) if key[2] in ("c", "d") else key


def _linked_tenths(c: Chooser, cells: list[Any], scale: int) -> dict[Any, int]:
    """Count both tables from the same records, each of one row, one column c and one column d."""
    rows, cs, ds = (
        sorted({k[p] for k in cells if len(k) > p and len(k[p]) == 2 and k[p][0] in name})
        for p, name in ((1, "r"), (2, "c"), (2, "d"))
    )
    records = {key: scale * c.integer(0, _one(c, [0, 5, 20, 200])) for key in itertools.product(rows, cs, ds)}

    def total(cell: tuple[str, ...]) -> int:
        return sum(v for key, v in records.items() if all(code in key for code in cell[1:] if len(code) == 2))

    return {cell: total(cell) for cell in cells}


def _tenths(c: Chooser, equations: list[Equation], cells: list[Any], negative: bool) -> dict[Any, int]:
    """Draw the leaves and add up the margins (an equation's -1 cell is determined by the others)."""
    if all(isinstance(cell, tuple) and cell[0] in ("A", "B", "AB") for cell in cells):
        return _linked_tenths(c, cells, 10)
    margin_of = [next(k for k, v in e.items() if v < 0) for e in equations]
    value: dict[Any, int] = {}
    step = _one(c, [10, 10, 5, 1])
    for cell in cells:
        if cell not in margin_of:
            size = _one(c, [0, 5, 20, 20, 100, 1000])
            value[cell] = step * c.integer(-size if negative else 0, size)
    todo = list(zip(margin_of, equations, strict=True))
    while todo:
        later = []
        for margin, e in todo:
            parts = [(k, v) for k, v in e.items() if k != margin]
            if all(k in value for k, _ in parts):
                value[margin] = sum(v * value[k] for k, v in parts) // -e[margin]
            else:
                later.append((margin, e))
        if len(later) == len(todo):
            raise AssertionError("the equations define no table")
        todo = later
    return value


def _problem(c: Chooser, max_cells: int, kinds: Sequence[str]) -> Problem:
    equations = _equations(c, _one(c, kinds), max_cells)
    cells = list(dict.fromkeys(k for e in equations for k in e))
    negative = _chance(c, 10)
    tenths = _tenths(c, equations, cells, negative)
    if _chance(c, 40):
        cells = _some(c, cells, len(cells), len(cells))
    n = len(cells)
    names = ["/".join(k) if isinstance(k, tuple) else k for k in cells]
    rename = dict(zip(cells, names, strict=True))
    system = LinearSystem.from_equations([{rename[k]: v for k, v in e.items()} for e in equations], cells=names)
    if _chance(c, 10):
        tenths[_one(c, cells)] += 1
    whole = np.array([tenths[k] for k in cells])

    status = np.zeros(n, np.int8)
    if _chance(c, 70):
        for i in np.flatnonzero(whole == 0):
            if _chance(c, 50):
                status[i] = Status.ZERO
    for i in _some(c, range(n), 0, 2):
        status[i] = Status.FORCED
    for i in _some(c, range(n), 0, c.integer(0, n // 5) if _chance(c, 40) else 1):
        status[i] = Status.PROTECTED
    for i in _some(c, range(n), 1, 4):
        status[i] = Status.PRIMARY

    low, high = _bounds(c, whole, negative)
    lpl, upl, spl = (np.zeros(n) for _ in range(3))
    for i in np.flatnonzero(status == Status.PRIMARY):
        room_down, room_up = whole[i] - low[i], high[i] - whole[i]
        lpl[i] = _level(c, whole[i], room_down)
        upl[i] = _level(c, whole[i], room_up)
        if _chance(c, 30):
            spl[i] = _level(c, whole[i], room_down + room_up)
    return Problem(
        system,
        whole / 10,
        status,
        lpl / 10,
        upl / 10,
        spl / 10,
        _weights(c, whole),
        low / 10,
        high / 10,
        _attackers(c, n, np.flatnonzero(status == Status.PRIMARY)),
    )


def _bounds(c: Chooser, whole: np.ndarray, negative: bool) -> tuple[np.ndarray, np.ndarray]:
    n, size = len(whole), np.abs(whole)
    no_limit = np.full(n, np.inf)
    kind = _one(c, ["nonnegative", "nonnegative", "percent", "doubled", "mixed", "unlimited"])
    if kind == "unlimited":
        return -no_limit, no_limit
    if kind == "percent":
        return np.floor(whole - size / 2), np.ceil(whole + size / 2)
    low = whole - size - 50.0 * negative
    if kind == "doubled":
        return low, whole + size + 10.0
    if kind == "mixed":
        high = np.array(
            [_one(c, [np.inf, float(whole[i]), float(whole[i] + 30), float(3 * size[i] + 10)]) for i in range(n)]
        )
        keep = np.array([_chance(c, 8) for _ in range(n)])
        return np.where(keep, whole, low), high
    return low, no_limit


def _level(c: Chooser, value: int, room: float) -> float:
    """Draw a level in whole tenths, mostly within reach, sometimes at its very end, rarely beyond."""
    if _chance(c, 4):
        return float(min(room, 1000) + 1)
    wanted = _one(c, [0, 1, 10, max(1, abs(int(value)) // 10), max(1, abs(int(value)) // 3), abs(int(value))])
    return float(min(wanted, room))


def _weights(c: Chooser, whole: np.ndarray) -> np.ndarray:
    n = len(whole)
    kind = _one(c, ["unit", "value", "some zero", "odd", "wide"])
    if kind == "unit":
        return np.ones(n)
    if kind == "value":
        return np.maximum(np.abs(whole) / 10, 1)
    if kind == "some zero":
        return np.array([float(c.integer(0, 4)) for _ in range(n)])
    if kind == "odd":
        return np.array([c.integer(1, 999) / 1000 for _ in range(n)])
    return np.array([float(10 ** c.integer(-3, 5)) for _ in range(n)])


def _attackers(c: Chooser, n: int, primary: np.ndarray) -> tuple[Attacker, ...]:
    if not _chance(c, 35):
        return ()
    found = []
    for number in range(c.integer(1, 2)):
        known = {_one(c, list(primary))} if _chance(c, 70) else set()
        known |= set(_some(c, range(n), 0 if known else 1, 2))
        found.append(Attacker(f"attacker {number}", tuple(sorted(int(k) for k in known))))
    return tuple(found)
