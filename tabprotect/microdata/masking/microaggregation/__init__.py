"""Microaggregation: groups of at least k similar records release their averages."""

from __future__ import annotations

from tabprotect.microdata.masking.microaggregation import claims as _claims  # noqa: F401 (registers the checkers)
from tabprotect.microdata.masking.microaggregation.fuzzy import FuzzyMicroaggregation
from tabprotect.microdata.masking.microaggregation.method import Microaggregation

__all__ = ["FuzzyMicroaggregation", "Microaggregation"]
