"""Granularity: how much of a table is single respondents."""

from tabprotect.methods.granularity.index import GranularityReport, HyperRow, granularity, granularity_index, kind_of
from tabprotect.methods.granularity.remove import Degranulated, remove_granularity

__all__ = [
    "Degranulated",
    "GranularityReport",
    "HyperRow",
    "granularity",
    "granularity_index",
    "kind_of",
    "remove_granularity",
]
