"""Connected components, by a loop and by a matrix."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tabprotect.solver.connected import SMALL, connected


@given(st.integers(1, 12), st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=15))
def test_components_are_those_of_a_graph_and_numbered_by_their_first_nodes(
    nodes: int, edges: list[tuple[int, int]]
) -> None:
    ends = np.array(edges, np.int64).reshape(-1, 2) % nodes
    graph = nx.Graph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from(ends.tolist())
    expected = np.zeros(nodes, np.int64)
    for k, component in enumerate(sorted(nx.connected_components(graph), key=min)):
        expected[list(component)] = k
    assert connected(ends[:, 0], ends[:, 1], nodes).tolist() == expected.tolist()
    # with nodes that nothing joins, so many that a matrix is made
    alone = np.arange(2 * SMALL)
    many = connected(ends[:, 0], ends[:, 1], nodes + len(alone))
    assert many.tolist() == [*expected, *(expected.max() + 1 + alone)]


def test_nothing_hangs_together_without_nodes() -> None:
    none = np.zeros(0, np.int64)
    assert connected(none, none, 0).tolist() == []
