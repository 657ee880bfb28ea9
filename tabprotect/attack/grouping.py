"""Questions that share a programme: of whole components, and of levels of similar size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

__all__ = ["batches", "by_level"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_BATCH = 4000
"""Columns of one simultaneous programme; larger only when one component is."""

_LEVEL_RANGE = 2.0**13
"""Levels within this ratio share a programme, so that its numbers stay comparable."""


def batches(component: Ints, size: Ints) -> Iterator[slice]:
    """Cut a sorted list of components into slices of whole components of about `_BATCH` columns."""
    start, total = 0, 0
    for i in range(len(component)):
        if i and component[i] != component[i - 1]:
            if total + size[component[i]] > _BATCH:
                yield slice(start, i)
                start, total = i, 0
            total += int(size[component[i]])
        elif i == 0:
            total = int(size[component[0]])
    if len(component):
        yield slice(start, len(component))


def by_level(need: Floats) -> Iterator[Ints]:
    """Group levels so that those of one group lie within `_LEVEL_RANGE`."""
    order = np.argsort(need, kind="stable")
    start = 0
    for i in range(1, len(order) + 1):
        if i == len(order) or need[order[i]] > need[order[start]] * _LEVEL_RANGE:
            yield np.sort(order[start:i])
            start = i
