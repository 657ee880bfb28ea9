"""Measures of disclosure risk."""

from __future__ import annotations

from tabprotect.microdata.risk.knowledge import AddedNoise, ConsecutiveGroups, FuzzyDraw, Knowledge, RankWindow
from tabprotect.microdata.risk.transparency import TransparencyRisk, transparency

__all__ = [
    "AddedNoise",
    "ConsecutiveGroups",
    "FuzzyDraw",
    "Knowledge",
    "RankWindow",
    "TransparencyRisk",
    "transparency",
]
