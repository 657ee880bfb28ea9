"""Choosing a method: score, confidentiality map, recommendation, disclosure report."""

from __future__ import annotations

from tabprotect.microdata.choosing.compare import Candidate, Comparison, compare_masks, expand_grid
from tabprotect.microdata.choosing.report import disclosure_report
from tabprotect.microdata.choosing.score import Score, score

__all__ = ["Candidate", "Comparison", "Score", "compare_masks", "disclosure_report", "expand_grid", "score"]
