"""The protecting vectors as they are read when a query is answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Vectors"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Vectors:
    """Protecting vectors of all confidential fields; their hull, with the same weights in all fields, hides the truth.

    Attributes
    ----------
    of : Mapping of str to ndarray, shape (records, k)
    """

    of: Mapping[str, Floats]

    @property
    def k(self) -> int:
        """Number of vectors."""
        return int(next(iter(self.of.values())).shape[1])

    def read(self, field: str, records: Ints) -> Floats:
        """Return the k entries of some records: the only access that answering has, once for a field and record."""
        return self.of[field][records]
