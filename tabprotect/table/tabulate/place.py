"""Where data frames that are not computed yet live: what tabulation needs of such a place."""

from __future__ import annotations

from typing import Any, Protocol

import narwhals as nw
import pyarrow as pa

__all__ = ["Place"]

Frame = nw.LazyFrame[Any]


class Place(Protocol):
    """Where the data are: the few things that narwhals has no words for."""

    def numbered(self, frame: Frame) -> Frame:
        """Return the frame, computed once, with a further column ``row``: 0, 1, ... in the order of the data."""
        ...

    def keep(self, frame: Frame) -> Frame:
        """Compute a frame once, there, for several uses."""
        ...

    def lend(self, table: pa.Table) -> Frame:
        """Bring a small table there."""
        ...

    def take(self, frame: Frame) -> pa.Table:
        """Compute a frame and bring it here."""
        ...
