"""Distances between the values of a column, by its scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt

from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import Scale

__all__ = ["category_distances"]

Floats = npt.NDArray[np.float64]


def category_distances(records: Records, name: str, values: Sequence[Any]) -> Floats:
    """Return distances between categories: steps in the order, steps in the value tree, or 0 and 1.

    They are divided by the largest one, so that every column counts alike. Codes that are not in the tree are at the
    largest distance from all others.

    Parameters
    ----------
    records : Records
    name : str
    values : sequence
        The categories, as `Records.categories` gives them.

    Returns
    -------
    ndarray, shape (categories, categories)

    Examples
    --------
    >>> import tabprotect.microdata as md
    >>> import pandas as pd
    >>> records = md.read_records(pd.DataFrame({"size": ["s", "m", "l"]}), md.Schema(orders={"size": ["s", "m", "l"]}))
    >>> category_distances(records, "size", ("s", "m", "l"))[0].tolist()
    [0.0, 0.5, 1.0]
    """
    m = len(values)
    scale = records.scale(name)
    if scale is Scale.TREE:
        found = _along(records.schema.hierarchies[name].splits, [str(v) for v in values])
    elif scale in (Scale.ORDERED, Scale.CONTINUOUS):
        found = np.abs(np.subtract.outer(np.arange(m), np.arange(m))).astype(np.float64)
    else:
        found = 1.0 - np.eye(m)
    return np.asarray(found / max(found.max(initial=0.0), 1.0))


def _along(splits: Sequence[tuple[str, tuple[str, ...]]], codes: list[str]) -> Floats:
    graph: nx.Graph[str] = nx.Graph()
    graph.add_edges_from((parent, part) for parent, parts in splits for part in parts)
    found = np.full((len(codes), len(codes)), np.nan)
    for i, code in enumerate(codes):
        if code in graph:
            steps = nx.single_source_shortest_path_length(graph, code)
            found[i] = [steps.get(other, np.nan) for other in codes]
        found[i, i] = 0.0
    return np.where(np.isnan(found), np.nanmax(found, initial=1.0), found)
