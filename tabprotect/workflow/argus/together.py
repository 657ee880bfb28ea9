"""Files for publication held against each other: what one hides, another must not show."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from tabprotect.workflow.argus.protection import Protected
from tabprotect.workflow.argus.specified import Built, Specified

__all__ = ["Shown", "Together"]


@dataclass(frozen=True, eq=False)
class Shown:
    """What one file for publication shows.

    Attributes
    ----------
    path : path
    name : str
        Of the table.
    cells : DataFrame
        Indexed by measure and codes (without those of totals): the true value, and the one that is shown (nan: none).
    """

    path: Path
    name: str
    cells: pd.DataFrame


@dataclass
class Together:
    """The files for publication so far."""

    files: list[Shown] = field(default_factory=list)

    def against(self, new: Shown) -> str:
        """Say which cell this file and an earlier one show differently; '' for none.

        Cells with the same codes, measure and true value are the same cell. A file that is written again does not
        count.
        """
        for old in self.files:
            if old.path == new.path:
                continue
            both = old.cells.add_suffix("_old").join(new.cells.add_suffix("_new"), how="inner")
            same = np.isclose(both["true_old"], both["true_new"], rtol=1e-9, atol=0)
            alike = np.isclose(both["shown_old"], both["shown_new"], rtol=1e-9, atol=0, equal_nan=True)
            bad = both.index[same & ~alike]
            if len(bad):
                cell = str(bad[0]).partition("|")[2] or "the total"
                more = f" and {len(bad) - 1} more cells" if len(bad) > 1 else ""
                return f"{old.path.name} ({old.name}) shows {cell}{more} differently"
        return ""

    def add(self, new: Shown) -> None:
        """Note a file; an earlier one of the same name is gone."""
        self.files = [old for old in self.files if old.path != new.path] + [new]

    @staticmethod
    def shown(path: Path, spec: Specified, built: Built, protected: Protected) -> Shown:
        """Return what a file shows of a table."""
        table, own = built.table, built.table.row_cell
        at = protected.release.table.row_cell[protected.rows]
        true = table.values[own]
        values = getattr(protected.release, "values", None)
        pattern = getattr(protected.release, "pattern", None)
        seen = true.copy() if values is None else values[at]
        if pattern is not None:
            seen = np.where(pattern[at], np.nan, seen)
        key = pd.Series([f"{spec.asked.response.casefold()}|"] * len(true), dtype=object)
        for dimension in sorted(table.dimensions, key=lambda d: d.name.casefold()):
            codes = table.rows[dimension.name].astype(str).reset_index(drop=True)
            key = key + (f"{dimension.name}=" + codes + " ").where(codes != dimension.known.total, "")
        cells = pd.DataFrame({"true": true, "shown": seen}, index=pd.Index(key))
        return Shown(path, spec.name, cells[~cells.index.duplicated()])
