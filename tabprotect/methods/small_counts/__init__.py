"""Small count rounding."""

from tabprotect.methods.small_counts.result import SmallCountResult
from tabprotect.methods.small_counts.round import small_counts

__all__ = ["SmallCountResult", "small_counts"]
