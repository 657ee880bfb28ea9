"""The cells of a table in another form, beside those that were published."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tabprotect.formats.published import Published

CODES = {"region": {"Total": "_T"}, "size": {"Total": "_T"}}


def keyed(frame: pd.DataFrame, value: str) -> dict[tuple[str, ...], float | None]:
    numbers = pd.to_numeric(frame[value], errors="coerce").to_numpy(float, na_value=np.nan)
    rows = frame[["region", "size"]].astype(str).itertuples(index=False, name=None)
    return {row: None if np.isnan(number) else float(number) for row, number in zip(rows, numbers, strict=True)}


def expected(table: Published, total: str = "_T") -> dict[tuple[str, ...], float | None]:
    return keyed(table.frame.replace({"Total": total}), table.value)
