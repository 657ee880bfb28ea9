"""Suppression in large tables by many small programmes around the cells in question."""

from tabprotect.methods.suppression.local.method import local

__all__ = ["local"]
