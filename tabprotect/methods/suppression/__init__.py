"""Cell suppression: which cells to hide besides the primary ones."""

from tabprotect.methods.suppression.result import SuppressionResult, Unprotectable
from tabprotect.methods.suppression.suppress import methods, suppress

__all__ = ["SuppressionResult", "Unprotectable", "methods", "suppress"]
