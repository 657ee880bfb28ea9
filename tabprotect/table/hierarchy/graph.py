"""The graph behind a hierarchy, without cycles: its codes in order, the leaves of each, and its equations."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from tabprotect.counted import counted
from tabprotect.errors import InputError, Problems, collect
from tabprotect.table.codes import some, sort_codes

__all__ = ["CodeGraph"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class CodeGraph:
    """Codes, and which code is the sum of which; `Hierarchy` says how to build one.

    Attributes
    ----------
    splits : tuple of (str, tuple of str)
        Equations: a code and the codes that add up to it.
    codes : tuple of str
        All codes, the total first and every code after all of its parents.
    labels : mapping of str to str
        What codes stand for, as far as that is known.
    file : str
        The code list that they come from, for the provenance of releases; empty for none.
    """

    splits: tuple[tuple[str, tuple[str, ...]], ...]
    codes: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict, compare=False)
    file: str = field(default="", compare=False)
    _members: tuple[Ints, ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        splits = _equations(self.splits)
        if isinstance(self.codes, str) or not isinstance(self.codes, Iterable):
            raise InputError(f"codes must be a list, not {self.codes!r}")
        named = dict.fromkeys([*map(str, self.codes), *(c for parent, parts in splits for c in (parent, *parts))])
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(named)
        graph.add_edges_from((parent, part) for parent, parts in splits for part in parts)
        with collect() as problems:
            _check_shape(graph, splits, problems)
        codes = _in_order(graph, splits)
        with collect() as problems:
            members = _members_of(codes, splits, problems)
        object.__setattr__(self, "splits", splits)
        object.__setattr__(self, "codes", codes)
        object.__setattr__(self, "labels", _labels(self.labels, codes))
        object.__setattr__(self, "_members", members)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(total={self.total!r}, {counted(len(self.codes), 'code')}, "
            f"{counted(len(self.leaves), 'leaf', 'leaves')})"
        )

    @property
    def total(self) -> str:
        """The code above all others."""
        return self.codes[0]

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Position of every code in `codes`."""
        return {code: i for i, code in enumerate(self.codes)}

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """Codes that are not split further."""
        parents = {parent for parent, _ in self.splits}
        return tuple(code for code in self.codes if code not in parents)

    @cached_property
    def members(self) -> sparse.csr_array:
        """Which leaves make up every code: bool, shape (codes, leaves)."""
        lengths = [len(m) for m in self._members]
        indices = np.concatenate(self._members)
        shape = (len(self.codes), len(self.leaves))
        return sparse.csr_array((np.ones(len(indices), bool), indices, np.cumsum([0, *lengths])), shape=shape)

    @cached_property
    def canonical(self) -> Ints:
        """Position of the code whose cell each code is: its own, or that of the code it is an alias of.

        Codes over the same leaves are one cell, such as a code and its only child.
        """
        first: dict[bytes, int] = {}
        return np.array([first.setdefault(m.tobytes(), i) for i, m in enumerate(self._members)], dtype=np.int64)

    @cached_property
    def distinct(self) -> Ints:
        """Positions of the codes that are cells of their own (all but the aliases)."""
        return np.unique(self.canonical)

    @cached_property
    def aliases(self) -> dict[str, str]:
        """Codes that are the same cell as an earlier code: {code: that code}."""
        return {self.codes[i]: self.codes[c] for i, c in enumerate(self.canonical) if i != c}

    @cached_property
    def equations(self) -> sparse.csr_array:
        """Parent (-1) = sum of children (+1): shape (equations, codes); columns of aliases are empty."""
        rows: dict[tuple[int, ...], None] = {}
        for parent, parts in self.splits:
            p = int(self.canonical[self.position[parent]])
            children = sorted(int(self.canonical[self.position[part]]) for part in parts)
            if children != [p]:
                rows[p, *children] = None
        indices = [code for row in rows for code in row]
        data = [-1.0 if k == 0 else 1.0 for row in rows for k in range(len(row))]
        indptr = np.cumsum([0, *map(len, rows)])
        return sparse.csr_array((data, indices, indptr), shape=(len(rows), len(self.codes)), dtype=np.float64)

    @cached_property
    def parents(self) -> Ints:
        """Position of the parent of every code, -1 for the total; the first one named where there are several."""
        parents = np.full(len(self.codes), -1, dtype=np.int64)
        for parent, parts in reversed(self.splits):
            parents[[self.position[part] for part in parts]] = self.position[parent]
        return parents

    @cached_property
    def levels(self) -> Ints:
        """Depth of every code below the total (0), along `parents`."""
        levels = np.zeros(len(self.codes), dtype=np.int64)
        for i, parent in enumerate(self.parents[1:], start=1):
            levels[i] = levels[parent] + 1
        return levels

    @cached_property
    def layers(self) -> tuple[Ints, ...]:
        """Codes sorted into layers without overlap: for every leaf the code of the layer above it, or -1.

        Every code that is a cell of its own is in exactly one layer, so tabulating all layers tabulates all codes.
        """
        layers: list[Ints] = []
        for code in self.distinct.tolist():
            members = self._members[code]
            layer = next((a for a in layers if (a[members] < 0).all()), None)
            if layer is None:
                layer = np.full(len(self.leaves), -1, dtype=np.int64)
                layers.append(layer)
            layer[members] = code
        return tuple(layers)

    @cached_property
    def leaf_of(self) -> Ints:
        """The leaf that is the same cell as a code (its position in `leaves`), -1 for codes over several leaves."""
        return np.array([int(m[0]) if len(m) == 1 else -1 for m in self._members], dtype=np.int64)

    @property
    def frame(self) -> pd.DataFrame:
        """Return the codes as a frame: code, parent, level, and the code whose cell it is.

        Examples
        --------
        >>> CodeGraph({"Total": ["m", "f"]}).frame
            code parent  level   cell
        0  Total             0  Total
        1      m  Total      1      m
        2      f  Total      1      f
        """
        codes = np.array([*self.codes, ""], dtype=object)
        columns = {"code": codes[:-1], "parent": codes[self.parents], "level": self.levels}
        return pd.DataFrame({**columns, "cell": codes[self.canonical]})


def _equations(given: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the equations as tuples; those without parts say nothing and are left out."""
    try:
        entries = list(given.items()) if isinstance(given, Mapping) else list(given)
        if not any(isinstance(parts, str) for _, parts in entries):
            return tuple((str(parent), tuple(map(str, parts))) for parent, parts in entries if parts)
    except (TypeError, ValueError):
        pass
    raise InputError(
        "a hierarchy is made of codes with the lists of their parts, such as {'Total': ['A', 'B'], 'A': ['1', '2']}; "
        "a mapping of every code to the one above it is for Hierarchy.from_pairs"
    )


def _labels(given: Any, codes: Sequence[str]) -> dict[str, str]:
    """Return the labels of these codes, in their order; those of other codes are left out."""
    if not isinstance(given, Mapping) or not all(isinstance(label, str) for label in given.values()):
        shown = textwrap.shorten(repr(given), 60)
        raise InputError(f"labels must map codes to texts, such as {{'N': 'North'}}, not {shown}")
    words = {str(code): " ".join(label.split()) for code, label in given.items()}
    return {code: words[code] for code in codes if words.get(code)}


def _check_shape(graph: nx.DiGraph[str], splits: Sequence[tuple[str, Sequence[str]]], problems: Problems) -> None:
    """Note cycles, several or no totals, orphans, duplicates."""
    if not graph:
        problems.add("the hierarchy is empty: it has no codes")
        return
    for code in graph:
        if not code.strip():
            problems.add("a code is empty")
    for parent, parts in splits:
        twice = [part for i, part in enumerate(parts) if part in parts[:i]] if len(set(parts)) < len(parts) else []
        if twice:
            problems.add(f"'{parent}' names {some([repr(code) for code in dict.fromkeys(twice)])} more than once")
    for knot in nx.strongly_connected_components(graph):
        if len(knot) > 1 or any(graph.has_edge(code, code) for code in knot):
            cycle = [edge[0] for edge in nx.find_cycle(graph.subgraph(knot), sort_codes(knot)[0])]
            problems.add(f"a cycle: {' > '.join([*cycle, cycle[0]])}; no code can be part of itself")
    roots = [code for code, degree in graph.in_degree() if degree == 0]
    if len(roots) > 1:
        problems.add(
            f"{len(roots)} codes have no parent: {some([repr(code) for code in roots])}; "
            "give the code of the total that is above them"
        )
    if roots:
        reached = set(nx.descendants(graph, roots[0])).union(*(nx.descendants(graph, r) for r in roots[1:]), roots)
        orphans = [code for code in graph if code not in reached]
        if orphans:
            problems.add(f"orphans that hang on no total: {some([repr(code) for code in orphans])}")


def _in_order(graph: nx.DiGraph[str], splits: Sequence[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
    """Order the codes top-down: every code after all of its parents, children as given, depth first."""
    children: dict[str, list[str]] = {}
    for parent, parts in splits:
        children.setdefault(parent, []).extend(parts)
    preorder: dict[str, int] = {}
    stack = [code for code, degree in graph.in_degree() if degree == 0]
    while stack:
        code = stack.pop()
        if code not in preorder:
            preorder[code] = len(preorder)
            stack.extend(reversed(children.get(code, ())))
    return tuple(nx.lexicographical_topological_sort(graph, key=preorder.__getitem__))


def _members_of(
    codes: Sequence[str], splits: Sequence[tuple[str, Sequence[str]]], problems: Problems
) -> tuple[Ints, ...]:
    """Return the sorted leaf positions of every code; note codes counted twice or split inconsistently."""
    by_parent: dict[str, list[Sequence[str]]] = {}
    for parent, parts in splits:
        by_parent.setdefault(parent, []).append(parts)
    leaves = [code for code in codes if code not in by_parent]
    members: dict[str, Ints] = {leaf: np.array([i], dtype=np.int64) for i, leaf in enumerate(leaves)}
    for code in reversed(codes):
        for number, parts in enumerate(by_parent.get(code, ())):
            merged, counts = np.unique(np.concatenate([members[part] for part in parts]), return_counts=True)
            if (counts > 1).any():
                leaf = merged[counts > 1][0]
                through = [repr(part) for part in parts if leaf in members[part]]
                problems.add(f"'{leaves[leaf]}' is counted twice in '{code}', through {' and '.join(through)}")
            if number and not np.array_equal(merged, members[code]):
                difference = [repr(leaves[i]) for i in np.setxor1d(merged, members[code])]
                problems.add(f"'{code}' is split in two ways that do not cover the same leaves: {some(difference)}")
            if not number:
                members[code] = merged
    return tuple(members[code] for code in codes)
