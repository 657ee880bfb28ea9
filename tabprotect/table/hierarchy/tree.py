"""The graph behind a hierarchy: what is wrong with it, its codes in order, and the leaves of each."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import numpy as np
import numpy.typing as npt

from tabprotect.errors import Problems
from tabprotect.table.codes import some, sort_codes

__all__ = ["check_shape", "in_order", "members_of"]

Ints = npt.NDArray[np.int64]


def check_shape(graph: nx.DiGraph[str], splits: Sequence[tuple[str, Sequence[str]]], problems: Problems) -> None:
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


def in_order(graph: nx.DiGraph[str], splits: Sequence[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
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


def members_of(
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
