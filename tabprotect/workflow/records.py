"""What methods need of records: the records themselves, keys of cells, or the table of swapped records."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.methods.cell_key import cell_keys, record_keys
from tabprotect.methods.cell_key.method import CellKey
from tabprotect.table.reading import Recognised, is_file, read_frame

__all__ = ["keys_of_cells", "microdata", "numbers_of"]

Ints = npt.NDArray[np.int64]


def keys_of_cells(data: Any, method: CellKey, seed: int, by: Any, empty: str | None) -> Ints:
    """Add up the keys of the records of every cell; they are drawn by the seed where the data hold none.

    Parameters
    ----------
    data, by, empty
        As the table was tabulated.
    method : CellKey
    seed : int

    Raises
    ------
    InputError
        If the column of keys is absent or holds other things.
    """
    given: dict[str, Any] = {} if empty is None else {"empty": empty}
    if method.key is not None:
        return cell_keys(data, by, method.key, **given)
    frame, _ = microdata(data)
    name = "key"
    while name in frame:
        name += "_"
    return cell_keys(frame.assign(**{name: record_keys(len(frame), seed)}), by, name, **given)


def microdata(data: Any, numbers: Collection[str] = ()) -> tuple[pd.DataFrame, tuple[Recognised, ...]]:
    """Return microdata as a pandas frame (of text files every column as text but for `numbers`), and how it was read.

    Raises
    ------
    InputError
        If a file cannot be read.
    """
    if is_file(data):
        read, found = read_frame(data, list(numbers))
        return read, (found,)
    frame = nw.from_native(data)
    whole = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return whole.to_pandas(), ()


def numbers_of(roles: Mapping[str, Any]) -> list[str]:
    """Return the columns of microdata that are numbers, not codes."""
    return [roles[name] for name in ("value", "shadow", "cost", "weight") if roles.get(name) is not None]
