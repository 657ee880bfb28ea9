"""The cells of a table as its page holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.report.axes import Axis

__all__ = ["Cube", "Detail", "StatusKey"]


@dataclass(frozen=True)
class StatusKey:
    """One status as the page shows it: its word, style class `id`, mark beside the value, and whether it hides."""

    id: str
    text: str
    symbol: str
    count: int
    mark: str = ""
    hidden: bool = False


@dataclass(frozen=True, eq=False)
class Detail:
    """One line of the box that opens over a cell of the internal page.

    Attributes
    ----------
    name : str
    of : sequence or mapping
        One entry a cell, or cell -> entry for the cells that have one: a number, a text, or a pair.
    words : sequence of str, optional
        When given, entries are positions in it.
    """

    name: str
    of: Sequence[Any] | Mapping[int, Any]
    words: Sequence[str] | None = None


@dataclass(frozen=True, eq=False)
class Cube:
    """The cells of one table on a page.

    Attributes
    ----------
    name : str
    axes : tuple of Axis
    at : tuple of ndarray of int
        For every axis the position of each cell's code in ``axis.codes``.
    value : ndarray of float
        nan shows as hidden.
    status : ndarray of int
        Positions in the list of `StatusKey`.
    details : tuple of Detail
    """

    name: str
    axes: tuple[Axis, ...]
    at: tuple[npt.NDArray[np.int64], ...]
    value: npt.NDArray[np.float64]
    status: npt.NDArray[np.int64]
    details: tuple[Detail, ...] = ()

    def shortened(self, most: int) -> Cube:
        """Leave out the deepest levels until at most `most` cells are left."""
        if len(self.value) <= most:
            return self
        level = np.zeros(len(self.value), np.int64)
        for axis, codes in zip(self.axes, self.at, strict=True):
            depth = np.full(len(axis.codes), np.iinfo(np.int64).max)
            for code, below in axis.nodes:
                depth[code] = min(depth[code], below)
            np.maximum(level, depth[codes], out=level)
        kept = np.flatnonzero(level < np.sort(level)[most])
        if not len(kept):
            kept = np.arange(most)
        place = {int(cell): i for i, cell in enumerate(kept)}
        return replace(
            self,
            at=tuple(codes[kept] for codes in self.at),
            value=self.value[kept],
            status=self.status[kept],
            details=tuple(replace(detail, of=_selected(detail.of, kept, place)) for detail in self.details),
        )

    def payload(self) -> dict[str, Any]:
        """Return what the script of the page reads."""
        content: dict[str, Any] = {
            "name": self.name,
            "axes": [
                {"name": a.name, "codes": a.codes, "nodes": a.nodes} | ({"labels": a.labels} if a.labels else {})
                for a in self.axes
            ],
            "at": [codes.tolist() for codes in self.at],
            "value": [None if v != v else int(v) if v.is_integer() else v for v in self.value.tolist()],
            "status": self.status.tolist(),
        }
        if self.details:
            content["detail"] = [
                {"name": d.name, "of": d.of} | ({} if d.words is None else {"words": d.words}) for d in self.details
            ]
        return content


def _selected(of: Sequence[Any] | Mapping[int, Any], kept: Any, place: Mapping[int, int]) -> Any:
    if isinstance(of, Mapping):
        return {place[cell]: entry for cell, entry in of.items() if cell in place}
    return [of[int(cell)] for cell in kept]
