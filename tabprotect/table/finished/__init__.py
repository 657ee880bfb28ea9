"""Finished tables: cells that somebody else has tabulated, checked before anything is built on them."""

from tabprotect.table.finished.build import table_of_cells
from tabprotect.table.finished.columns import Columns

__all__ = ["Columns", "table_of_cells"]
